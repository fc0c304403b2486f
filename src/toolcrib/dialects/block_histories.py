"""Histories of Anthropic and Gemini: the results of one message stand in one message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.dialects.histories import Entry, Piece, Rest, Slot, Spoken, argument_object, id_of, name_of, text_of
from toolcrib.wire import Message


@dataclass(slots=True)
class BlocksShape:
    """Anthropic and Gemini: the results of one message stand in one message of the user, before what else it holds."""

    #: The key of the list: `content` or `parts`; the assistant's role.
    key: str
    assistant: str
    by_name: bool

    def split(self, messages: Sequence[Message]) -> list[Entry]:
        entries: list[Entry] = []
        for place, message in enumerate(messages):
            listed = message.get(self.key)
            blocks = [block for block in listed if isinstance(block, dict)] if isinstance(listed, list) else []
            if message.get("role") == self.assistant:
                slots = [slot for block in blocks for slot in self._slots(block)]
                entries.append(Spoken(echo=[message], calls=slots) if slots else Rest(message=message, place=place))
                continue
            pieces = [self._piece(block, place) for block in blocks if self._is_result(block)]
            if not pieces:
                entries.append(Rest(message=message, place=place))
                continue
            entries += pieces
            others = [block for block in listed or () if not (isinstance(block, dict) and self._is_result(block))]
            if others:
                entries.append(Rest(message=message | {self.key: others}, place=place, mixed=True))
        return entries

    def spoken(self, said: Spoken) -> list[Message]:
        slots = iter(said.calls)
        message = said.echo[0]
        blocks = [
            self._mended(block, next(slots)) if isinstance(block, dict) and self._slots(block) else block
            for block in message[self.key]
        ]
        return [message | {self.key: blocks}]

    def answers(self, said: Spoken, base: Mapping[str, Any], rest: Message | None) -> list[Message]:
        blocks = [self._answer(slot, slot.answer.payload) for slot in said.calls if slot.answer is not None]
        others = rest[self.key] if rest is not None else []
        return [{**({"role": "user"} | dict(base)), self.key: [*blocks, *others]}]

    def payload(self, answer: Message) -> dict[str, Any]:
        found: dict[str, Any] = answer[self.key][0]
        return found

    def text(self, payload: Mapping[str, Any]) -> str:
        if self.by_name:
            response = payload["functionResponse"].get("response")
            return text_of(response.get("error")) if isinstance(response, dict) else ""
        return text_of(payload.get("content"))

    def _slots(self, block: Mapping[str, Any]) -> list[Slot]:
        call = block.get("functionCall") if self.by_name else block if block.get("type") == "tool_use" else None
        if not isinstance(call, dict):
            return []
        return [Slot(id=id_of(call.get("id")), name=name_of(call.get("name")))]

    def _is_result(self, block: Mapping[str, Any]) -> bool:
        if self.by_name:
            return isinstance(block.get("functionResponse"), dict)
        return block.get("type") == "tool_result"

    def _piece(self, block: dict[str, Any], place: int) -> Piece:
        given = block["functionResponse"] if self.by_name else block
        id_ = given.get("id" if self.by_name else "tool_use_id")
        return Piece(id=id_of(id_), name=name_of(given.get("name")), payload=block, place=place)

    def _mended(self, block: dict[str, Any], slot: Slot) -> dict[str, Any]:
        if not self.by_name:
            return block | {"id": slot.wire_id, "input": argument_object(block.get("input"))}
        call = _with_id(block["functionCall"], slot)
        if "args" in call:
            call["args"] = argument_object(call["args"])
        return block | {"functionCall": call}

    def _answer(self, slot: Slot, payload: dict[str, Any]) -> dict[str, Any]:
        if not self.by_name:
            return payload | {"tool_use_id": slot.wire_id}
        return payload | {"functionResponse": _with_id(payload["functionResponse"], slot) | {"name": slot.name}}


def _with_id(given: Mapping[str, Any], slot: Slot) -> dict[str, Any]:
    kept = {key: value for key, value in given.items() if key != "id" or slot.wire_id}
    return kept | ({"id": slot.wire_id} if slot.wire_id else {})
