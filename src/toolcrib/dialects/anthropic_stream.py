"""The events of one Anthropic Messages stream, put together into the message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.dialects.arguments import object_of
from toolcrib.dialects.fault import error_text
from toolcrib.errors import CutReply, ReplyError

EVENTS = frozenset(
    {
        "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
        "content_block_stop", "ping",
    }
)  # fmt: skip


class AnthropicAssembler:
    """Puts the events of one stream together.

    Whole at `message_stop`, with a stop reason and every block stopped. A `tool_use` whose text is no JSON object keeps
    that text as its `input`: reading the message then leaves it to be refused.
    """

    def __init__(self) -> None:
        self._message: dict[str, Any] | None = None
        self._blocks: list[dict[str, Any]] = []
        self._texts: dict[int, list[str]] = {}
        self._open: dict[int, int] = {}
        self._stopped = False

    def feed(self, event: Mapping[str, Any]) -> None:
        kind = event.get("type")
        if kind == "error":
            raise ReplyError(f"the provider reports an error in the stream: {error_text(event.get('error'))}")
        if kind == "message_start":
            self._begin(event)
        elif kind == "content_block_start":
            self._begin_block(event)
        elif kind == "content_block_delta":
            self._grow(event)
        elif kind == "content_block_stop":
            self._close(event)
        elif kind == "message_delta":
            self._end(event)
        elif kind == "message_stop":
            self._stopped = True

    def whole(self) -> dict[str, Any]:
        message = self._message
        if message is None:
            raise CutReply("the stream ended before its message began")
        if not self._stopped or message.get("stop_reason") is None:
            raise CutReply("the stream ended before message_stop: none of its calls may run")
        if self._open:
            raise CutReply("the stream ended with a content block still open: none of its calls may run")
        return message | {"content": [self._block(position) for position in range(len(self._blocks))]}

    def _begin(self, event: Mapping[str, Any]) -> None:
        if self._message is not None:
            raise ReplyError("the stream holds more than one message; give them one by one")
        message = event.get("message")
        self._message = dict(message) if isinstance(message, Mapping) else {}
        content = self._message.get("content")
        self._blocks = (
            [dict(block) for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
        )

    def _begin_block(self, event: Mapping[str, Any]) -> None:
        block = event.get("content_block")
        # An index used again begins a new block: some gateways never count on.
        index = event.get("index")
        self._open[index if isinstance(index, int) else len(self._blocks)] = len(self._blocks)
        self._blocks.append(dict(block) if isinstance(block, Mapping) else {})

    def _close(self, event: Mapping[str, Any]) -> None:
        index = self._index(event)
        if index is not None:
            self._open.pop(index, None)

    def _index(self, event: Mapping[str, Any]) -> int | None:
        """The index of an event; that of the block begun last where it names none."""
        index = event.get("index")
        if isinstance(index, int):
            return index
        return next(reversed(self._open), None)

    def _grow(self, event: Mapping[str, Any]) -> None:
        delta = event.get("delta")
        if not isinstance(delta, Mapping):
            return
        index = self._index(event)
        position = None if index is None else self._open.get(index)
        if position is None:
            raise ReplyError("the stream continues a content block that it has not begun")
        block = self._blocks[position]
        for key, piece in delta.items():
            if key == "type" or piece is None:
                continue
            if key == "partial_json":
                self._texts.setdefault(position, []).append(str(piece))
            elif key == "citation":
                block["citations"] = [*(block.get("citations") or ()), piece]
            elif key == "signature" and block.get("signature") == piece:
                continue
            elif isinstance(piece, str) and isinstance(block.get(key, ""), str):
                block[key] = block.get(key, "") + piece
            else:
                block[key] = piece

    def _end(self, event: Mapping[str, Any]) -> None:
        if self._message is None:
            raise ReplyError("the stream ends a message that it has not begun")
        for key, value in event.items():
            if key == "delta" and isinstance(value, Mapping):
                self._message |= {name: item for name, item in value.items() if item is not None}
            elif key == "usage" and isinstance(value, Mapping):
                before = self._message.get("usage")
                self._message["usage"] = {**(before if isinstance(before, Mapping) else {}), **value}
            elif key not in ("type", "delta", "usage"):
                self._message[key] = value

    def _block(self, position: int) -> dict[str, Any]:
        block, text = self._blocks[position], "".join(self._texts.get(position, ()))
        if text.strip():
            found = object_of(text)
            return block | {"input": text if found is None else found}
        return block
