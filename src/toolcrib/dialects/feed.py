"""A provider's bytes as they arrive, in whatever cuts, turned into whole events."""

from __future__ import annotations

import codecs
import re

from toolcrib.dialects.events import Event, events_of, no_response, strict_json
from toolcrib.errors import CutReply
from toolcrib.frozen import NotJson

_FIELD = re.compile(r"(data|event|id|retry)?\s*(:|\Z)")
_TOLD = re.compile(r"(data|event|id|retry)?:")
_FIRST_LINE = re.compile(r"([^\r\n]*)([\r\n]|\Z)")
_LINE_END = re.compile(r"\r\n|\n|\r(?!\Z)")
_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')
_DONE = "[DONE]"


class Feed:
    """Decodes one stream: server-sent events, JSON lines, JSON values one after another, or a JSON array of events.

    `feed` takes bytes (UTF-8) or text in any cuts and returns the events that are whole by then; `finish` returns the
    rest. Raises CutReply where the end comes inside an event, UnknownFormat for what is no such stream.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._reader: _Values | _ServerSent | None = None
        self._held = ""
        self._begun = False

    def feed(self, chunk: bytes | bytearray | memoryview | str) -> list[Event]:
        """The events that this chunk completes."""
        return self._take(chunk if isinstance(chunk, str) else self._decode(bytes(chunk), False), False)

    def finish(self) -> list[Event]:
        """The events that only the end completes."""
        events = self._take(self._decode(b"", True), True)
        return events if self._reader is None else events + self._reader.finish()

    def _decode(self, chunk: bytes, final: bool) -> str:
        try:
            return self._decoder.decode(chunk, final)
        except UnicodeDecodeError as problem:
            if final:
                raise CutReply("the input ends inside a character") from problem
            raise no_response("not UTF-8 text") from problem

    def _take(self, text: str, final: bool) -> list[Event]:
        if self._reader is None:
            self._held += text
            if not self._begun and self._held:
                self._begun, self._held = True, self._held.removeprefix("\ufeff")
            self._reader = _reader_for(self._held, final)
            if self._reader is None:
                return []
            text, self._held = self._held, ""
        return self._reader.take(text)


def _reader_for(text: str, final: bool) -> _Values | _ServerSent | None:
    """The reader for a stream that begins so; None where that cannot be told yet."""
    start = text.lstrip()
    if start[:1] in ("{", "["):
        return _Values()
    if _TOLD.match(start):
        return _ServerSent()
    first = _FIRST_LINE.match(start)
    if not start or first is None or not (first[2] or final):
        return None
    if _FIELD.match(first[1]):
        return _ServerSent()
    raise no_response(f"plain text: {first[1].strip()[:60]!r}")


class _ServerSent:
    """Server-sent events, with the liberties that gateways take."""

    def __init__(self) -> None:
        self._rest: list[str] = []
        self._data: list[str] = []
        self._name = ""

    def take(self, text: str) -> list[Event]:
        if (not text or text.startswith(("data:", "event:"))) and _is_line("".join(self._rest), bool(text)):
            # Whoever reads by lines hands them over without their ends.
            text = "\n" + (text or "\n")
        self._rest.append(text)
        if "\n" not in text and "\r" not in text and not self._rest[0].endswith("\r"):
            return []
        lines = _LINE_END.split("".join(self._rest))
        self._rest = [lines.pop()]
        return [event for line in lines for event in self._line(line)]

    def finish(self) -> list[Event]:
        rest, self._rest = "".join(self._rest).rstrip("\r"), []
        return self._line(rest) + (self._dispatch() if rest else [])

    def _line(self, line: str) -> list[Event]:
        if not line:
            return self._dispatch()
        if line[0] in "{[" and not self._data:
            return events_of(line, self._name)
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
        elif field == "event":
            self._name = value.strip()
        return []

    def _dispatch(self) -> list[Event]:
        lines, name = self._data, self._name
        self._data, self._name = [], ""
        try:
            return events_of("\n".join(lines), name)
        except CutReply:
            if len(lines) < 2:
                raise
            # Some proxies leave out the blank line between events; each line is then whole by itself.
            return [event for line in lines for event in events_of(line, name)]


def _is_line(text: str, named: bool) -> bool:
    """Whether a line can only be at its end: its data is a whole JSON object, or (where that counts) it has a name."""
    field, _, value = text.partition(":")
    if field == "event":
        return named and bool(value.strip())
    if field != "data":
        return False
    try:
        return isinstance(strict_json(value.strip()), dict)
    except NotJson:
        return value.strip() == _DONE


class _Values:
    """JSON objects one after another, or the objects of a JSON array, given out as they become whole."""

    def __init__(self) -> None:
        self._text = ""
        self._start = 0  # where the next value begins
        self._at = 0  # how far it was looked through, once it has begun
        self._depth = 0
        self._quoted = False
        self._array = False
        self._due = False  # a comma or the end of the array comes before the next value

    def take(self, text: str) -> list[Event]:
        self._text = self._text[self._start :] + text
        self._at, self._start = self._at - self._start, 0
        events: list[Event] = []
        while (self._depth or self._begin()) and self._scan():
            events.append(self._value())
        return events

    def finish(self) -> list[Event]:
        rest = self._text[self._start :].strip()
        if self._depth or self._array or rest:
            raise CutReply("the input ends inside a JSON value")
        return []

    def _begin(self) -> bool:
        """Moves to the start of the next value; False where there is none yet."""
        text = self._text
        while True:
            while text[self._start : self._start + 1].isspace():
                self._start += 1
            head = text[self._start : self._start + len(_DONE)]
            if not head:
                return False
            if not self._array and _DONE.startswith(head):
                if head != _DONE:
                    return False
                self._start += len(_DONE)
                continue
            if self._array and not self._due and "null".startswith(head[:4]):
                if len(head) < 4:
                    return False
                self._start, self._due = self._start + 4, True
                continue
            if head[0] == "{" and not self._due:
                self._depth, self._at, self._quoted = 1, self._start + 1, False
                return True
            self._mark(head)
            self._start += 1

    def _mark(self, head: str) -> None:
        mark = head[0]
        if mark == "[" and not self._array:
            self._array = True
        elif mark == "]" and self._array:
            self._array = self._due = False
        elif mark == "," and self._due:
            self._due = False
        else:
            raise no_response(f"no JSON objects: {self._text[self._start :][:40]!r}")

    def _scan(self) -> bool:
        """Looks for the end of the value; True once it is there."""
        text = self._text
        while True:
            found = (_INSIDE if self._quoted else _OUTSIDE).search(text, self._at)
            if found is None:
                self._at = len(text)
                return False
            mark, self._at = found[0], found.end()
            if mark == "\\":
                if self._at >= len(text):
                    self._at -= 1
                    return False
                self._at += 1
            elif mark == '"':
                self._quoted = not self._quoted
            else:
                self._depth += 1 if mark in "{[" else -1
                if self._depth == 0:
                    return True

    def _value(self) -> Event:
        value, self._start = self._text[self._start : self._at], self._at
        self._due = self._array
        try:
            event: Event = strict_json(value)
        except NotJson as problem:
            raise no_response(f"no JSON: {problem}") from problem
        return event
