"""OpenAI Chat Completions, and the many providers that speak it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.call import Result, Tool, digest
from toolcrib.dialects.cut import cut_text, may_cut
from toolcrib.dialects.events import no_response
from toolcrib.dialects.fault import error_text, provider_error
from toolcrib.dialects.openai_chat_stream import ChatAssembler
from toolcrib.dialects.pairing import pair_ids, written_id
from toolcrib.dialects.told import told_text
from toolcrib.errors import ReplyError
from toolcrib.wire import Asked, Assembler, Message, Reply, ToolView


class OpenAIChatFormat:
    """One `tool` message for each call, after the assistant message that made them."""

    name = "openai"
    name_pattern = r"[a-zA-Z0-9_-]+"
    name_length = 64

    def view(self, name: str, tool: Tool) -> ToolView:
        """The tool under that name; strict where its schema allows it."""
        from toolcrib.dialects.schemas import openai

        bent = openai.view(tool.model_parameters, name=name)
        function: dict[str, Any] = {"name": name, "parameters": bent.parameters}
        if tool.description.strip():
            function["description"] = openai.cut_description(tool.description)
        if bent.strict:
            function["strict"] = True
        return ToolView(
            spec={"type": "function", "function": function}, restore=bent.restore, warnings=tuple(bent.notes)
        )

    def tools(self, views: Sequence[ToolView]) -> list[dict[str, Any]]:
        """The value of `tools`."""
        return [view.spec for view in views]

    def request(self, views: Sequence[ToolView]) -> dict[str, Any]:
        """`tools`, absent when there are none: some servers refuse an empty list."""
        return {"tools": self.tools(views)} if views else {}

    def reads(self, payload: Any) -> bool:
        """A whole chat completion or a bare assistant message."""
        return isinstance(payload, dict) and (_choice(payload) is not None or _is_message(payload))

    def streams(self, event: Any) -> bool:
        """A chunk of a chat completion."""
        if not isinstance(event, dict):
            return False
        if event.get("object") == "chat.completion.chunk":
            return True
        choices = event.get("choices")
        return isinstance(choices, list) and any(isinstance(choice, dict) and "delta" in choice for choice in choices)

    def read(self, payload: Any) -> Reply:
        """Choice 0 of a completion, or the message itself."""
        choice = _choice(payload)
        if choice is None:
            if _is_message(payload):
                return _reply(payload, None, None)
            fault = provider_error(payload)
            if fault is not None:
                raise ReplyError(f"the provider reports an error: {fault}")
            raise no_response("no chat completion")
        if choice.get("error"):
            raise ReplyError(f"the provider reports an error: {error_text(choice['error'])}")
        response_id = payload.get("id")
        return _reply(choice["message"], choice.get("finish_reason"), response_id or None)

    def assembler(self) -> Assembler:
        """For one stream of chunks."""
        return ChatAssembler()

    def results(self, reply: Reply, results: Sequence[Result]) -> list[Message]:
        """One `tool` message for each call; one `function` message for a legacy `function_call`."""
        legacy = not any(message.get("tool_calls") for message in reply.echo)
        return [
            {"role": "function", "name": asked.name, "content": told_text(result)}
            if legacy
            else {"role": "tool", "tool_call_id": asked.id, "content": told_text(result)}
            for asked, result in zip(reply.calls, results, strict=True)
        ]


def _choice(payload: Any) -> dict[str, Any] | None:
    """The choice that is read: index 0, else the first."""
    choices = payload.get("choices") if isinstance(payload, dict) else None
    if not isinstance(choices, list):
        return None
    whole = [choice for choice in choices if isinstance(choice, dict) and isinstance(choice.get("message"), dict)]
    return next((choice for choice in whole if choice.get("index") in (0, None)), whole[0] if whole else None)


def _is_message(payload: Any) -> bool:
    """A bare assistant message, told from an Anthropic one by where it keeps its calls."""
    if not isinstance(payload, dict) or payload.get("role", "assistant") != "assistant" or "type" in payload:
        return False
    calls = payload.get("tool_calls")
    if isinstance(calls, list) and calls:
        return all(isinstance(call, dict) and ("function" in call or "custom" in call) for call in calls)
    if isinstance(payload.get("function_call"), dict) and "parts" not in payload:
        return True
    if "role" not in payload or "parts" in payload:
        return False
    content = payload.get("content")
    return isinstance(content, str) or (content is None and bool({"content", "refusal", "audio"} & payload.keys()))


def _reply(message: dict[str, Any], reason: Any, response_id: str | None) -> Reply:
    echo = {"role": "assistant"} | {key: value for key, value in message.items() if key != "parsed"}
    # Servers send these two empty or null, and refuse them so when they come back.
    for key in ("tool_calls", "function_call"):
        if key in echo and not echo[key]:
            del echo[key]
    audio = echo.get("audio")
    if isinstance(audio, dict) and audio.get("id"):
        echo["audio"] = {"id": audio["id"]}
    written: list[dict[str, Any]] = [call for call in echo.get("tool_calls") or [] if isinstance(call, dict)]
    calls: list[Asked] = []
    salt = response_id or digest(message)
    if written:
        ids = pair_ids([call.get("id") for call in written], salt=salt)
        echo["tool_calls"] = [_echoed(call, id) for call, id in zip(written, ids, strict=True)]
        calls = [_asked(call, id) for call, id in zip(written, ids, strict=True)]
    elif isinstance(echo.get("function_call"), dict):
        function = echo["function_call"]
        echo["function_call"] = _function(function)
        calls = [_asked({"function": function}, pair_ids([None], salt=salt)[0])]
    if calls and may_cut(reason):
        calls[-1] = _cut(calls[-1], custom=bool(written) and "custom" in written[-1])
    if not calls and echo.get("content") is None and not (echo.get("refusal") or echo.get("audio")):
        echo["content"] = ""
    return Reply(
        dialect="openai",
        echo=[echo],
        calls=tuple(calls),
        text=_text(echo.get("content")),
        response_id=response_id,
        problem=_problem(reason, calls),
    )


def _problem(reason: Any, calls: list[Asked]) -> str | None:
    if not calls and reason in ("tool_calls", "function_call"):
        return f"the provider says it stopped for calls (finish_reason {reason!r}), but its reply holds none"
    return None


def _echoed(call: dict[str, Any], id: str) -> dict[str, Any]:
    echoed = {**call, "id": id}
    if isinstance(call.get("function"), dict):
        echoed["function"] = _function(call["function"])
    return echoed


def _function(function: dict[str, Any]) -> dict[str, Any]:
    """The function part as a request may carry it: the arguments are a text."""
    kept = {key: value for key, value in function.items() if key != "parsed_arguments"}
    if not isinstance(kept.get("arguments"), str):
        from pydantic_core import to_json

        given = kept.get("arguments")
        kept["arguments"] = "{}" if given is None else to_json(given).decode()
    return kept


def _asked(call: dict[str, Any], id: str) -> Asked:
    custom = call.get("custom")
    function = custom if isinstance(custom, dict) else call.get("function")
    function = function if isinstance(function, dict) else {}
    given = function.get("input" if isinstance(custom, dict) else "arguments")
    name = function.get("name")
    return Asked(
        name=name if isinstance(name, str) else "",
        id=id,
        provider_call_id=written_id(call.get("id")),
        raw=given if isinstance(given, str) else ("" if given is None else None),
        arguments=None if isinstance(given, str) else given,
    )


def _cut(asked: Asked, *, custom: bool) -> Asked:
    """The last call of a reply that was stopped: without a letter of arguments it only seems to have none."""
    if asked.raw is None or not (custom or not asked.raw.strip()):
        return asked
    return Asked(name=asked.name, id=asked.id, provider_call_id=asked.provider_call_id, raw=cut_text(asked.raw))


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(part for part in parts if isinstance(part, str))
