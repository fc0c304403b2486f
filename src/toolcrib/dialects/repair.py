"""Mends a history so that its provider takes it: every call with exactly one result, next to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib import words
from toolcrib.call import Result
from toolcrib.dialects import format_of
from toolcrib.dialects.histories import Entry, Piece, Rest, Shape, Slot, Spoken, shape_of
from toolcrib.dialects.pairing import pair_ids
from toolcrib.dialects.plain import is_model, plain
from toolcrib.errors import ReplyError
from toolcrib.frozen import NotJson
from toolcrib.wire import Answer, Asked, Message, Reply

#: What a model is told of a call that has no result and of which nothing is known.
INTERRUPTED = (
    "This call was interrupted: its result is not recorded here and its outcome is unknown. "
    "Its effect may or may not have happened. Verify before repeating it."
)
#: Results that stand for a missing one: anything truer takes their place.
_STAND_INS = (INTERRUPTED, words.text("outcome_unknown"), words.text("not_started"))
_ANTHROPIC_ENDS = ("tool_use", "tool_result")
_BENT = re.compile(r"[\W_]+")


def repair(messages: Sequence[Any], format_name: str, answer: Answer) -> list[Message]:
    """The history as plain messages that its provider accepts; what was in order stays as it was.

    messages: one dialect's messages, SDK objects or dicts (openai-responses: items; gemini: contents); not changed.
    answer: asked for the true result of a call that has none, or only a stand-in; None where nothing is known, and the
    model is then told so. After each message with calls stand its results, one for each call in their order; a result
    without an earlier call is left out, of several for one call the first true one stays. Blank and repeated ids are
    minted anew on both sides. Mending twice changes nothing more. Raises ReplyError for what is no list of messages.
    """
    shape = shape_of(format_name)
    history = _history(messages, "gemini" if shape.by_name else format_name)
    entries = shape.split(history)
    _pair(entries, shape)
    turns = [entry for entry in entries if isinstance(entry, Spoken)]
    _identify(turns, shape)
    mended: list[Message] = []
    taken: set[int] = set()
    for index, entry in enumerate(entries):
        if isinstance(entry, Rest) and index not in taken:
            mended.append(entry.message)
        elif isinstance(entry, Spoken):
            mended += shape.spoken(entry)
            _fill(entry, shape, format_name, answer)
            beside = _beside(entries, index)
            taken |= {beside} if beside is not None else set()
            mended += _answers(entry, shape, history, None if beside is None else entries[beside])
    return mended


def dialect_of_history(messages: Sequence[Any]) -> str:
    """The dialect a history is written in; `openai` where nothing in it tells (plain texts alone).

    Raises ReplyError for what is no list of messages.
    """
    for message in _history(messages, ""):
        found = _dialect_of(message)
        if found is not None:
            return found
    return "openai"


def _dialect_of(message: Mapping[str, Any]) -> str | None:
    kind, role, content = message.get("type"), message.get("role"), message.get("content")
    if "parts" in message and "content" not in message:
        return "gemini"
    if isinstance(kind, str) and role is None:
        return "openai-responses"
    if role in ("tool", "function") or "tool_calls" in message or "function_call" in message:
        return "openai"
    for part in content if isinstance(content, list) else ():
        held = part.get("type") if isinstance(part, dict) else None
        if held in ("input_text", "output_text", "input_image", "input_file"):
            return "openai-responses"
        if held in ("image_url", "input_audio", "file"):
            return "openai"
        if held in ("thinking", "redacted_thinking", "document", "image") or str(held).endswith(_ANTHROPIC_ENDS):
            return "anthropic"
    return "openai-responses" if kind == "message" and role is not None and "stop_reason" not in message else None


def _history(messages: Any, format_name: str) -> list[Message]:
    """The messages as plain dicts of our own."""
    if isinstance(messages, (str, bytes, Mapping)) or is_model(messages) or not isinstance(messages, Sequence):
        raise ReplyError(f"this is no history, a list of messages ({_what(messages)})")
    history: list[Message] = []
    for index, message in enumerate(messages):
        try:
            value = plain(message)
        except NotJson as problem:
            raise ReplyError(f"this is no history: message {index} is no JSON data: {problem}") from problem
        if not isinstance(value, dict):
            raise ReplyError(f"this is no history: message {index} is no message ({_what(message)})")
        history.append(value)
    if format_name == "gemini":
        from toolcrib.dialects.gemini import wired_content

        return [wired_content(message) for message in history]
    return history


def _what(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a dict with keys " + ", ".join(repr(str(key)) for key in list(value)[:6])
    return "nothing" if value is None else f"a {type(value).__name__}"


def _pair(entries: Sequence[Entry], shape: Shape) -> None:
    """Gives each result to its call: the latest one before it with its id (or name); what finds none is dropped."""
    turns: list[Spoken] = []
    for entry in entries:
        if isinstance(entry, Spoken):
            turns.append(entry)
        elif isinstance(entry, Piece) and turns:
            slots = _candidates(entry, turns, shape)
            free = next((slot for slot in slots if slot.answer is None), None)
            if free is None and not _is_stand_in(entry, shape):
                free = next((slot for slot in slots if slot.answer and _is_stand_in(slot.answer, shape)), None)
            if free is not None:
                free.answer = entry


def _candidates(piece: Piece, turns: Sequence[Spoken], shape: Shape) -> list[Slot]:
    """The calls a result may belong to: those of one message, the latest that has any."""
    for turn in reversed(turns):
        slots = [slot for slot in turn.calls if _may_answer(piece, slot, shape)]
        if slots:
            same_id = [slot for slot in slots if piece.id and slot.id == piece.id] or slots
            return [slot for slot in same_id if slot.name == piece.name] or same_id
    return []


def _may_answer(piece: Piece, slot: Slot, shape: Shape) -> bool:
    if piece.id and slot.id:
        return piece.id == slot.id
    if shape.by_name:
        return _same_name(piece.name, slot.name)
    return piece.id == slot.id and (not piece.name or not slot.name or _same_name(piece.name, slot.name))


def _same_name(one: str, other: str) -> bool:
    """Whether two names are one tool's: a menu bends letters that a provider forbids."""
    return one == other or _BENT.sub("", one).lower() == _BENT.sub("", other).lower() != ""


def _is_stand_in(piece: Piece, shape: Shape) -> bool:
    said = shape.text(piece.payload).strip()
    return said.removeprefix("Error: ").startswith(_STAND_INS)


def _identify(turns: Sequence[Spoken], shape: Shape) -> None:
    """Gives every call the id it goes out with: its own, unless that is blank or taken by an earlier call."""
    slots = [slot for turn in turns for slot in turn.calls if slot.id or not shape.by_name]
    for slot, id_ in zip(slots, pair_ids([slot.id for slot in slots], salt="history"), strict=True):
        slot.wire_id = id_


def _fill(turn: Spoken, shape: Shape, format_name: str, answer: Answer) -> None:
    """Finds a result for each call that has none, or only a stand-in."""
    missing = [slot.answer is None or _is_stand_in(slot.answer, shape) for slot in turn.calls]
    if not any(missing):
        return
    reply = _reply(turn, format_name)
    for ordinal, slot in enumerate(turn.calls):
        if not missing[ordinal]:
            continue
        known = answer(reply, ordinal) if reply is not None else None
        if known is None and slot.answer is None:
            content = ({"type": "text", "text": INTERRUPTED},)
            known = Result(code="outcome_unknown", state="unknown", call_id="", tool=slot.name, content=content)
        if known is not None:
            slot.answer = _written(turn, slot, shape, format_name, known)


def _reply(turn: Spoken, format_name: str) -> Reply | None:
    """The reply as it was read when it came; None where it cannot be read like that."""
    payload: Any = turn.echo if format_name == "openai-responses" else turn.echo[0]
    try:
        reply = format_of(format_name).read(payload)
    except ReplyError:
        return None
    return reply if len(reply.calls) == len(turn.calls) else None


def _written(turn: Spoken, slot: Slot, shape: Shape, format_name: str, result: Result) -> Piece:
    asked = Asked(name=slot.name, id=slot.wire_id, provider_call_id=slot.wire_id or None)
    reply = Reply(dialect=format_name, echo=shape.spoken(turn), calls=(asked,))
    message = format_of(format_name).results(reply, [result])[0]
    return Piece(id=slot.wire_id, name=slot.name, payload=shape.payload(message))


def _beside(entries: Sequence[Entry], index: int) -> int | None:
    """Where the rest of the message is that holds this turn's results, if it comes next."""
    turn = entries[index]
    places = {slot.answer.place for slot in turn.calls if slot.answer} if isinstance(turn, Spoken) else set()
    for later in range(index + 1, len(entries)):
        entry = entries[later]
        if isinstance(entry, Rest):
            return later if entry.mixed and entry.place in places else None
        if isinstance(entry, Spoken):
            return None
    return None


def _answers(turn: Spoken, shape: Shape, history: Sequence[Message], beside: Entry | None) -> list[Message]:
    places = [slot.answer.place for slot in turn.calls if slot.answer and slot.answer.place >= 0]
    base = history[places[0]] if places else {}
    rest = beside.message if isinstance(beside, Rest) else None
    return shape.answers(turn, base, rest)
