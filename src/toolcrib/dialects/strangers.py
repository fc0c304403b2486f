"""Names for what is no model response of ours, so that an error says what it was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Test = Callable[[dict[str, Any]], bool]
_BEDROCK_EVENTS = {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"}
_COHERE_EVENTS = ("message-", "content-", "tool-call-", "tool-plan-", "citation-")
_USER_ROLES = ("user", "system", "developer", "tool", "function")


def stranger(value: Any) -> str:
    """What a plain JSON value is, in a few words: 'an Amazon Bedrock Converse response', 'a dict with keys ...'."""
    if isinstance(value, dict):
        return next((name for name, test in _STRANGERS if test(value)), None) or _keys(value)
    if isinstance(value, list):
        return _list(value)
    if isinstance(value, str):
        return f"plain text: {value.strip()[:60]!r}" if value.strip() else "an empty text"
    return "nothing" if value is None else "a truth value" if isinstance(value, bool) else "a number"


def stranger_event(event: dict[str, Any]) -> str | None:
    """The name of a stream that is no dialect of ours, by one event; None where it does not tell."""
    return next((name for name, test in _STREAMS if test(event)), None)


def _keys(value: dict[str, Any]) -> str:
    keys = [repr(key[:40]) for key in list(value)[:8]]
    more = ", ..." if len(value) > len(keys) else ""
    return f"a dict with keys {', '.join(keys)}{more}" if keys else "an empty dict"


def _list(value: list[Any]) -> str:
    dicts = [item for item in value if isinstance(item, dict)]
    if not dicts:
        return f"a list of {len(value)} items that are no messages" if value else "an empty list"
    if any(item.get("role") in _USER_ROLES for item in dicts):
        return "a history of messages; pass the model's last message alone"
    if any(_is_agent_event(item) for item in dicts):
        return "the event list of an agent program (as Claude Code prints); it runs its tools itself"
    if all(isinstance(item.get("function"), dict) for item in dicts):
        return "a list of tool calls; pass the assistant message that holds them"
    if all("role" in item for item in dicts):
        return "a list of messages; pass one message alone"
    first = stranger_event(dicts[0]) or stranger(dicts[0])
    return f"a list of {len(value)}: {first}"


def _is_bedrock(value: dict[str, Any]) -> bool:
    output = value.get("output")
    if isinstance(output, dict) and "message" in output:
        return True
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    return "toolUse" in value or any(isinstance(block, dict) and "toolUse" in block for block in blocks)


def _is_cohere(value: dict[str, Any]) -> bool:
    message = value.get("message")
    if not isinstance(message, dict) or "choices" in value or "done" in value:
        return "tool_plan" in value or ("generation_id" in value and "text" in value)
    reason = value.get("finish_reason")
    return "tool_plan" in message or (isinstance(reason, str) and reason.isupper())


def _is_ollama(value: dict[str, Any]) -> bool:
    return "done" in value and "model" in value


def _is_agent_event(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    if "parent_tool_use_id" in value or ("session_id" in value and kind in ("system", "result", "assistant", "user")):
        return True
    return kind in ("assistant", "user") and isinstance(value.get("message"), dict)


def _is_interaction(value: dict[str, Any]) -> bool:
    inner = value.get("interaction")
    if isinstance(inner, dict) or value.get("object") == "interaction" or isinstance(value.get("event_type"), str):
        return True
    return isinstance(value.get("steps"), list) and "status" in value


def _is_request(value: dict[str, Any]) -> bool:
    asks = ("messages", "input", "contents", "prompt")
    return any(key in value for key in asks) and not {"choices", "output", "candidates", "content"} & value.keys()


def _is_langchain(value: dict[str, Any]) -> bool:
    return value.get("type") in ("ai", "AIMessageChunk") or ("lc" in value and "kwargs" in value)


def _is_legacy(value: dict[str, Any]) -> bool:
    choices = value.get("choices")
    return value.get("object") == "text_completion" or (
        isinstance(choices, list) and any(isinstance(choice, dict) and "text" in choice for choice in choices)
    )


def _is_embeddings(value: dict[str, Any]) -> bool:
    data = value.get("data")
    held = value.get("object") == "list" and isinstance(data, list)
    return "embeddings" in value or "embedding" in value or (held and any("embedding" in item for item in _dicts(data)))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


_STREAMS: tuple[tuple[str, Test], ...] = (
    ("an Amazon Bedrock Converse stream", lambda value: bool(_BEDROCK_EVENTS & value.keys())),
    ("a Gemini Interactions API stream", _is_interaction),
    ("a Cohere stream", lambda value: str(value.get("type", "")).startswith(_COHERE_EVENTS)),
    ("an Ollama stream; its OpenAI-compatible endpoint is understood", _is_ollama),
    ("the event list of an agent program (as Claude Code prints); it runs its tools itself", _is_agent_event),
)

_STRANGERS: tuple[tuple[str, Test], ...] = (
    ("an Amazon Bedrock Converse response", _is_bedrock),
    ("a Cohere response", _is_cohere),
    ("a Gemini Interactions API response", _is_interaction),
    ("an Ollama response; its OpenAI-compatible endpoint is understood", _is_ollama),
    ("an event of an agent program (as Claude Code prints); it runs its tools itself", _is_agent_event),
    ("a LangChain message; toolcrib.adapters has a part for LangChain", _is_langchain),
    ("a legacy text completion, which has no calls", _is_legacy),
    ("an embeddings response", _is_embeddings),
    ("a chat completion without a message", lambda value: value.get("object") == "chat.completion"),
    ("a JSON-RPC message", lambda value: "jsonrpc" in value),
    ("a request to a model, not its response", _is_request),
    ("a message that is not the model's", lambda value: value.get("role") in _USER_ROLES),
    *_STREAMS,
)
