"""Histories of the two OpenAI dialects: one message or item for each result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.dialects.histories import Entry, Piece, Rest, Slot, Spoken, argument_text, id_of, name_of, text_of
from toolcrib.dialects.openai_responses import CALLS
from toolcrib.wire import Message


@dataclass(slots=True)
class ChatShape:
    """OpenAI Chat: one `tool` message for each call; `function` messages answer a legacy `function_call`."""

    by_name: bool = False

    def split(self, messages: Sequence[Message]) -> list[Entry]:
        entries: list[Entry] = []
        for place, message in enumerate(messages):
            role, legacy = message.get("role"), message.get("function_call")
            calls = message.get("tool_calls")
            written = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
            if role in ("tool", "function"):
                id_ = id_of(message.get("tool_call_id"))
                entries.append(Piece(id=id_, name=name_of(message.get("name")), payload=message, place=place))
            elif role == "assistant" and written:
                slots = [Slot(id=id_of(call.get("id")), name=name_of(_function(call).get("name"))) for call in written]
                entries.append(Spoken(echo=[message], calls=slots))
            elif role == "assistant" and isinstance(legacy, dict):
                entries.append(Spoken(echo=[message], calls=[Slot(id="", name=name_of(legacy.get("name")))]))
            else:
                empty = role == "assistant" and calls == []
                kept = {key: value for key, value in message.items() if not (empty and key == "tool_calls")}
                entries.append(Rest(message=kept, place=place))
        return entries

    def spoken(self, said: Spoken) -> list[Message]:
        message = said.echo[0]
        if "tool_calls" not in message:
            return [message | {"function_call": _with_text(message["function_call"])}]
        written = [call for call in message["tool_calls"] if isinstance(call, dict)]
        return [
            message | {"tool_calls": [_chat_call(call, slot) for call, slot in zip(written, said.calls, strict=True)]}
        ]

    def answers(self, said: Spoken, base: Mapping[str, Any], rest: Message | None) -> list[Message]:
        legacy = "tool_calls" not in said.echo[0]
        payloads = [(slot, slot.answer.payload) for slot in said.calls if slot.answer is not None]
        if legacy:
            return [payload | {"role": "function", "name": slot.name} for slot, payload in payloads]
        return [payload | {"role": "tool", "tool_call_id": slot.wire_id} for slot, payload in payloads]

    def payload(self, answer: Message) -> dict[str, Any]:
        return answer

    def text(self, payload: Mapping[str, Any]) -> str:
        return text_of(payload.get("content"))


def _function(call: Mapping[str, Any]) -> Mapping[str, Any]:
    found = call.get("function") or call.get("custom")
    return found if isinstance(found, dict) else {}


def _with_text(function: dict[str, Any]) -> dict[str, Any]:
    return function | {"arguments": argument_text(function.get("arguments"))}


def _chat_call(call: dict[str, Any], slot: Slot) -> dict[str, Any]:
    mended = call | {"id": slot.wire_id}
    if isinstance(call.get("function"), dict):
        mended["function"] = _with_text(call["function"])
    return mended


@dataclass(slots=True)
class ResponsesShape:
    """OpenAI Responses: a flat list of items; a run of the model's items is what one response said."""

    by_name: bool = False

    def split(self, messages: Sequence[Message]) -> list[Entry]:
        # A history with references continues what the provider keeps: results may answer calls that are not here.
        elsewhere = any(item.get("type") == "item_reference" for item in messages)
        known = {item.get("call_id") for item in messages if item.get("type") in CALLS}
        entries: list[Entry] = []
        run: list[Message] = []
        for place, item in enumerate(_distinct(messages)):
            if _is_spoken(item):
                run.append(item)
                continue
            entries += _run_entries(run)
            run = []
            if item.get("type") in _OUTPUTS and not (elsewhere and item.get("call_id") not in known):
                entries.append(Piece(id=id_of(item.get("call_id")), name="", payload=item, place=place))
            else:
                entries.append(Rest(message=item, place=place))
        return entries + _run_entries(run)

    def spoken(self, said: Spoken) -> list[Message]:
        slots = iter(said.calls)
        return [_response_call(item, next(slots)) if item.get("type") in CALLS else item for item in said.echo]

    def answers(self, said: Spoken, base: Mapping[str, Any], rest: Message | None) -> list[Message]:
        items = [item for item in said.echo if item.get("type") in CALLS]
        return [
            slot.answer.payload | {"type": CALLS[item["type"]][1], "call_id": slot.wire_id}
            for item, slot in zip(items, said.calls, strict=True)
            if slot.answer is not None
        ]

    def payload(self, answer: Message) -> dict[str, Any]:
        return answer

    def text(self, payload: Mapping[str, Any]) -> str:
        return text_of(payload.get("output"))


_OUTPUTS = frozenset(output for _, output in CALLS.values())


def _is_spoken(item: Mapping[str, Any]) -> bool:
    kind = item.get("type")
    if kind is None or kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or str(kind).endswith("_call")


def _run_entries(run: list[Message]) -> list[Entry]:
    # Reasoning without the item it led to is refused.
    while run and run[-1].get("type") == "reasoning":
        run = run[:-1]
    calls = [item for item in run if item.get("type") in CALLS]
    if not calls:
        return [Rest(message=item, place=-1) for item in run]
    return [Spoken(echo=run, calls=[Slot(id=id_of(i.get("call_id")), name=name_of(i.get("name"))) for i in calls])]


def _distinct(items: Sequence[Message]) -> list[Message]:
    """The items with no id twice, which the API refuses: a copy goes, a different call loses its (optional) item id."""
    seen: dict[str, Message] = {}
    kept: list[Message] = []
    for item in items:
        id_ = item.get("id")
        if not isinstance(id_, str) or item.get("type") == "item_reference":
            kept.append(item)
        elif id_ not in seen:
            seen[id_] = item
            kept.append(item)
        elif item != seen[id_]:
            optional = item.get("type") in CALLS or item.get("type") in _OUTPUTS
            kept.append({key: value for key, value in item.items() if not (optional and key == "id")})
    return kept


def _response_call(item: Message, slot: Slot) -> Message:
    mended = item | {"call_id": slot.wire_id}
    return mended | {"arguments": argument_text(item.get("arguments"))} if item["type"] == "function_call" else mended
