"""The stage `answer`: what a body returned or raised becomes a Result. Pure, done at once, never raises."""

from __future__ import annotations

import base64
import logging
from typing import Any

from pydantic_core import to_json

from toolcrib import words
from toolcrib.answer.contract import violation
from toolcrib.answer.values import Unusable, plain
from toolcrib.call import File, Image, Output
from toolcrib.errors import ToolError
from toolcrib.flight import Flight

log = logging.getLogger("toolcrib")

Block = dict[str, Any]
#: Integers below it are printed at once; larger ones may cost more than they should.
_WORD = 1 << 64


class Answer:
    """Gives a call whose body has ended its result. mask_errors: unexpected exceptions show as a fixed sentence."""

    name = "answer"
    closing = False

    def __init__(self, *, mask_errors: bool = False) -> None:
        self._mask = mask_errors

    def __call__(self, flight: Flight) -> None:
        if flight.failure is not None:
            return self._failed(flight, flight.failure)
        returned, flight.body_result = flight.body_result, None
        if type(returned) is str and returned.isascii():
            value: Any = returned
            content: tuple[Block, ...] = ({"type": "text", "text": returned},)
        elif type(returned) is int and -_WORD < returned < _WORD:
            value, content = returned, ({"type": "text", "text": str(returned)},)
        else:
            try:
                value, content = blocks(returned)
            except Unusable as problem:
                return self._unusable(flight, str(problem))
            except Exception as problem:
                return self._unusable(flight, f"the answer could not be read ({type(problem).__name__})")
        tool = flight.tool
        if tool is not None and tool.output is not None:
            wrong = violation(tool.output, value)
            if wrong is not None:
                return self._unusable(flight, wrong)
        if flight.notes:
            content = (*content, _told(flight.notes))
        flight.finish("ok", "executed", content=content, value=value)
        return None

    def _failed(self, flight: Flight, failure: BaseException) -> None:
        if isinstance(failure, ToolError):
            text = _said(failure)
        else:
            log.error("tool %r failed in call %s", flight.name, flight.id, exc_info=failure)
            flight.operator = f"{type(failure).__name__}: {_said(failure)}"
            said = f"The tool failed. Call id {flight.id}." if self._mask else flight.operator
            text = said if flight.may_repeat else f"{said}\nIts effect may have happened: verify before repeating it."
        operator = flight.operator
        flight.end("tool_error", text or type(failure).__name__, state="executed", operator=operator)

    def _unusable(self, flight: Flight, what: str) -> None:
        log.error("tool %r gave an answer that cannot be used in call %s: %s", flight.name, flight.id, what)
        flight.end("invalid_output", words.text("invalid_output", what), state="executed", operator=what)


def blocks(returned: Any) -> tuple[Any, tuple[Block, ...]]:
    """The plain value and the content blocks of what a body returned. Raises Unusable."""
    kind = type(returned)
    if kind is Output:
        value = plain(returned.value)
        head = value if returned.text is None else returned.text
        more = tuple(block for part in returned.content for block in blocks(part)[1])
        if returned.text is None and value is None and more:
            return value, more
        return value, (_text_block(head), *more)
    if kind is Image:
        data = base64.b64encode(returned.data).decode()
        note = {"image": returned.media_type, "bytes": len(returned.data)}
        return note, ({"type": "image", "data": data, "media_type": returned.media_type},)
    if kind is File:
        data = base64.b64encode(returned.data).decode()
        note = {"file": returned.name, "media_type": returned.media_type, "bytes": len(returned.data)}
        block = {"type": "file", "data": data, "media_type": returned.media_type, "name": returned.name}
        return note, (block,)
    if kind in (list, tuple) and any(type(item) in (Image, File, Output) for item in returned):
        pairs = [blocks(item) for item in returned]
        return [value for value, _ in pairs], tuple(block for _, content in pairs for block in content)
    value = plain(returned)
    return value, (_text_block(value),)


def _text_block(value: Any) -> Block:
    return {"type": "text", "text": value if isinstance(value, str) else to_json(value).decode()}


def _told(notes: tuple[str, ...]) -> Block:
    return {"type": "text", "text": "Note: the arguments were not quite right and were read so: " + "; ".join(notes)}


def _said(failure: BaseException) -> str:
    """An exception's text; a fixed one where asking for it fails as well."""
    try:
        return plain(str(failure)) or type(failure).__name__
    except Exception:
        return "an error that cannot be printed"
