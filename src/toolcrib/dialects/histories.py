"""How each dialect's history keeps its calls and their results: taken apart for mending, and written again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic_core import to_json

from toolcrib.dialects.arguments import object_of
from toolcrib.dialects.openai_responses import CALLS
from toolcrib.wire import Message


@dataclass(slots=True, kw_only=True)
class Slot:
    """One call of an assistant's message. id: as written, "" where nothing; `wire_id` is what goes out."""

    id: str
    name: str
    wire_id: str = ""
    answer: Piece | None = None


@dataclass(slots=True, kw_only=True)
class Spoken:
    """One message of the assistant, or one run of its items, with its calls in order."""

    echo: list[Message]
    calls: list[Slot]


@dataclass(slots=True, kw_only=True)
class Piece:
    """One result. place: the position of the message it came in, -1 where it is new."""

    id: str
    name: str
    payload: dict[str, Any]
    place: int = -1


@dataclass(slots=True, kw_only=True)
class Rest:
    """Anything else. mixed: it stood in one message with results."""

    message: Message
    place: int
    mixed: bool = False


Entry = Spoken | Piece | Rest


class Shape(Protocol):
    """One dialect's way to keep calls and results in a history."""

    #: Whether a result without an id finds its call by the tool's name.
    by_name: bool

    def split(self, messages: Sequence[Message]) -> list[Entry]:
        """The history in order; the results of one message come before what else it holds."""

    def spoken(self, said: Spoken) -> list[Message]:
        """The assistant's message as it goes out: ids from `wire_id`, arguments as the provider takes them."""

    def answers(self, said: Spoken, base: Mapping[str, Any], rest: Message | None) -> list[Message]:
        """The results of all its calls. base: the message they came in; rest: what stood beside them there."""

    def payload(self, answer: Message) -> dict[str, Any]:
        """The one result in a message that a format wrote."""

    def text(self, payload: Mapping[str, Any]) -> str:
        """What a result says, "" where it is no text."""


def text_of(content: Any) -> str:
    """The text of a content: itself, or that of its parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def argument_text(given: Any) -> str:
    """Arguments as a provider wants them in text: null and nothing are {}, a second layer of encoding is taken off."""
    if given is None:
        return "{}"
    if not isinstance(given, str):
        return to_json(given).decode()
    if given.strip() in ("", "null"):
        return "{}"
    return _unwrapped(given) or given


def argument_object(given: Any) -> dict[str, Any]:
    """Arguments where a provider wants an object; {} where they hold none."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        return {}
    return object_of(_unwrapped(given) or given) or {}


def _unwrapped(text: str) -> str | None:
    """The object's text inside a JSON string; None where it is none."""
    if not text.lstrip().startswith('"'):
        return None
    try:
        inner = json.loads(text)
    except ValueError:
        return None
    return inner if isinstance(inner, str) and object_of(inner) is not None else None


def _id(value: Any) -> str:
    return value.strip() and value if isinstance(value, str) else "" if value is None else str(value)


def _name(value: Any) -> str:
    return value if isinstance(value, str) else ""


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
                id_ = _id(message.get("tool_call_id"))
                entries.append(Piece(id=id_, name=_name(message.get("name")), payload=message, place=place))
            elif role == "assistant" and written:
                slots = [Slot(id=_id(call.get("id")), name=_name(_function(call).get("name"))) for call in written]
                entries.append(Spoken(echo=[message], calls=slots))
            elif role == "assistant" and isinstance(legacy, dict):
                entries.append(Spoken(echo=[message], calls=[Slot(id="", name=_name(legacy.get("name")))]))
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
                entries.append(Piece(id=_id(item.get("call_id")), name="", payload=item, place=place))
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
    return [Spoken(echo=run, calls=[Slot(id=_id(i.get("call_id")), name=_name(i.get("name"))) for i in calls])]


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
        return [Slot(id=_id(call.get("id")), name=_name(call.get("name")))]

    def _is_result(self, block: Mapping[str, Any]) -> bool:
        if self.by_name:
            return isinstance(block.get("functionResponse"), dict)
        return block.get("type") == "tool_result"

    def _piece(self, block: dict[str, Any], place: int) -> Piece:
        given = block["functionResponse"] if self.by_name else block
        id_ = given.get("id" if self.by_name else "tool_use_id")
        return Piece(id=_id(id_), name=_name(given.get("name")), payload=block, place=place)

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


def shape_of(dialect: str) -> Shape:
    """The shape of a dialect's histories."""
    if dialect == "openai":
        return ChatShape()
    if dialect == "openai-responses":
        return ResponsesShape()
    gemini = dialect == "gemini"
    return BlocksShape(
        key="parts" if gemini else "content", assistant="model" if gemini else "assistant", by_name=gemini
    )
