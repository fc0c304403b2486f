"""The chunks of a streamed chat completion, put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.dialects.chat_calls import CallPieces
from toolcrib.dialects.fault import error_text, provider_error
from toolcrib.errors import CutReply, ReplyError

#: Texts in a delta that name something; they are said once or repeated, never continued.
_SAID_WHOLE = frozenset({"role", "id", "type", "name", "format", "index", "signature", "encrypted_content"})


class ChatAssembler:
    """Choice 0 of a stream; whole once a finish reason has come."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._message: dict[str, Any] = {"role": "assistant"}
        self._calls = CallPieces()
        self._legacy = CallPieces()
        self._reason: str | None = None

    def feed(self, event: Mapping[str, Any]) -> None:
        """Takes a chunk; anything else (usage alone, keep-alives, filters' reports) changes no message."""
        fault = provider_error(dict(event))
        if fault is not None:
            raise ReplyError(f"the provider reports an error in the stream: {fault}")
        for key in ("id", "created", "model", "usage", "service_tier", "system_fingerprint"):
            if event.get(key) is not None and (key == "usage" or key not in self._head):
                self._head[key] = event[key]
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                self._choice(choice)

    def whole(self) -> dict[str, Any]:
        """A chat completion with one choice."""
        if self._reason is None:
            raise CutReply("the stream ended before its finish_reason")
        message = {"content": None, **self._message}
        calls = self._calls.whole()
        if calls:
            message["tool_calls"] = calls
        for call in self._legacy.whole():
            message["function_call"] = call["function"]
        choice = {"index": 0, "message": message, "finish_reason": self._reason}
        return {"object": "chat.completion", **self._head, "choices": [choice]}

    def _choice(self, choice: Mapping[str, Any]) -> None:
        if choice.get("error"):
            raise ReplyError(f"the provider reports an error in the stream: {error_text(choice['error'])}")
        if choice.get("finish_reason") == "error":
            raise ReplyError("the provider reports an error in the stream (finish_reason 'error')")
        delta = choice.get("delta")
        if isinstance(delta, dict):
            self._delta(delta)
        if isinstance(choice.get("finish_reason"), str) and choice["finish_reason"].strip():
            self._reason = choice["finish_reason"]

    def _delta(self, delta: Mapping[str, Any]) -> None:
        pieces = delta.get("tool_calls")
        if isinstance(pieces, list):
            self._calls.take(pieces)
        if isinstance(delta.get("function_call"), dict):
            self._legacy.take([{"index": 0, "function": delta["function_call"]}])
        rest = {key: value for key, value in delta.items() if key not in ("tool_calls", "function_call", "index")}
        merge(self._message, rest)


def merge(into: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Adds a delta: texts are continued, lists are lengthened, dicts are merged, anything else is replaced."""
    for key, value in delta.items():
        known = into.get(key)
        if value is None or (key in _SAID_WHOLE and value == ""):
            continue
        if isinstance(value, str) and isinstance(known, str) and key not in _SAID_WHOLE:
            into[key] = known + value
        elif isinstance(value, dict):
            into[key] = dict(known) if isinstance(known, dict) else {}
            merge(into[key], value)
        elif isinstance(value, (str, list)) and isinstance(known, (str, list)) and key not in _SAID_WHOLE:
            into[key] = _parts(known) + _parts(value)
        else:
            into[key] = value


def _parts(content: str | list[Any]) -> list[Any]:
    """Content that comes now as a text and now as parts, as parts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content
