"""The pieces of streamed calls, put together by what providers do and not only by what they document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json, to_json

_OWN = ("index", "id", "type", "function", "custom")


class _Pieces:
    """One call in the making."""

    def __init__(self, index: Any) -> None:
        self.index = index
        self.id = ""
        self.name = ""
        self.custom = False
        self.texts: list[str] = []
        self.extra: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """The arguments so far: the pieces one after another, or the last where each restates all before it."""
        joined = "".join(self.texts)
        if self.custom or len(self.texts) < 2 or _whole(joined):
            return joined
        last = self.texts[-1]
        if _whole(last) and _same("".join(self.texts[:-1]), last):
            return last
        rest = "".join(self.texts[1:])
        if self.texts[0].strip() == "{}" and _whole(rest):  # an empty object held the place of what then came
            return rest
        grows = all(later.startswith(earlier) for earlier, later in zip(self.texts, self.texts[1:], strict=False))
        return last if grows and _whole(last) else joined

    @property
    def begun(self) -> bool:
        return any(text.strip() for text in self.texts)

    @property
    def complete(self) -> bool:
        """Whether the arguments are a whole object, so that what follows with a name or id is another call."""
        return not self.custom and self.begun and self.texts[-1].rstrip()[-1:] in ("}", "") and _whole(self.text)

    def add_name(self, name: str) -> None:
        """A name comes whole, again and again, growing, or in pieces."""
        self.name = name if name.startswith(self.name) else self.name + name

    def finished(self) -> dict[str, Any]:
        part = {"name": self.name, "input" if self.custom else "arguments": self.text}
        kind = "custom" if self.custom else "function"
        return {**({"id": self.id} if self.id else {}), "type": kind, kind: part, **self.extra}


class CallPieces:
    """The calls of one message, in the order in which they were opened."""

    def __init__(self) -> None:
        self._calls: list[_Pieces] = []

    def take(self, deltas: Sequence[Any]) -> None:
        """The `tool_calls` of one delta."""
        touched: list[_Pieces] = []
        for delta in deltas:
            if isinstance(delta, dict):
                call = self._take(delta, touched)
                if call is not None:
                    touched.append(call)

    def whole(self) -> list[dict[str, Any]]:
        """The calls as a message that was not streamed has them."""
        return [call.finished() for call in self._calls]

    def _take(self, delta: Mapping[str, Any], touched: Sequence[_Pieces]) -> _Pieces | None:
        custom = isinstance(delta.get("custom"), dict)
        part = delta["custom"] if custom else delta.get("function")
        part = part if isinstance(part, dict) else {}
        id, name = _text(delta.get("id")), _text(part.get("name"))
        text = _argument_text(part.get("input") if custom else part.get("arguments"))
        call = self._find(delta.get("index"), id, name)
        if call is None or _another(call, id, name, text, told=call in touched):
            if not (id or name or text.strip()):
                return call
            call = _Pieces(delta.get("index"))
            call.custom = custom or delta.get("type") == "custom"
            self._calls.append(call)
        elif text.lstrip()[:1] == "{" and call.complete and _same(call.text, text):
            text = ""  # restated
        call.id = call.id or id
        if name:
            call.add_name(name)
        if text:
            call.texts.append(text)
        call.extra.update({key: value for key, value in delta.items() if key not in _OWN and value is not None})
        return call

    def _find(self, index: Any, id: str, name: str) -> _Pieces | None:
        """The call that a delta at this place may continue, or follow at the same place."""
        here = [call for call in self._calls if index is None or call.index == index]
        if not here and not (id or name):
            # An index that comes late belongs to the call that was opened without one.
            here = [call for call in self._calls[-1:] if call.index is None]
        return next((call for call in reversed(here) if id and call.id == id), here[-1] if here else None)


def _another(call: _Pieces, id: str, name: str, text: str, *, told: bool) -> bool:
    """Whether a delta at the place of `call` begins another call. told: whether this chunk has spoken of it before."""
    if not (id or name):
        return False
    new_id = bool(id and call.id and id != call.id)
    if call.complete:
        if new_id:
            return bool(name or text.strip())
        if not call.name:
            return False  # its name comes last
        return bool(name) and (name != call.name or told or bool(text.strip() and not _same(call.text, text)))
    if not name:
        return False
    if new_id:
        # With an index, the same name under a new id is the same call: some servers mint an id for every chunk.
        return name != call.name or told or call.index is None
    return (call.begun or told) and not name.startswith(call.name)


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else ""


def _argument_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else to_json(value).decode()


def _whole(text: str) -> bool:
    try:
        return isinstance(from_json(text), dict)
    except ValueError:
        return False


def _same(text: str, other: str) -> bool:
    """Whether two texts are one JSON object, however written."""
    if text.strip() == other.strip():
        return True
    return _whole(text) and _whole(other) and to_json(from_json(text)) == to_json(from_json(other))
