"""A reader for nearly-JSON: a strict superset of JSON in which every accepted text has exactly one reading.

It is our own and not json-repair, because that one always answers: it closes what was cut off and picks one of several
objects, and a proof that it invented nothing needs a grammar of its own anyway. This is that grammar. It takes single
quotes, Python's True, False and None, bare keys, trailing commas, comments, line breaks inside texts and the same
object written several times; whatever is cut off, ambiguous or surrounded by other words is refused where it stands.
"""

from __future__ import annotations

import re
from typing import Any

from toolcrib.frozen import MAX_DEPTH
from toolcrib.read.strict import BadJson, Parsed, same

_BLANK = re.compile(r"(?:[ \t\n\r\f\v\u00a0\ufeff\u200b\u2028\u2029]+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?(?![\w.+-])", re.ASCII)
_WORD = re.compile(r"[^\W\d]\w*")
_PLAIN = {'"': re.compile(r'[^"\\\x00-\x08\x0b\x0c\x0e-\x1f]*'), "'": re.compile(r"[^'\\\x00-\x08\x0b\x0c\x0e-\x1f]*")}
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = {"x": 2, "u": 4, "U": 8}
_LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_PYTHON = ("True", "False", "None")
_NEVER_KEYS = {*_LITERALS, "undefined", "NaN", "Infinity"}


def parse(text: str) -> Parsed:
    """The one reading of a text, with the repairs in words; raises BadJson where there is none or more than one."""
    try:
        return _Reading(text).whole()
    except RecursionError:
        raise BadJson(None, f"nested more than {MAX_DEPTH} deep") from None


class _Reading:
    __slots__ = ("at", "mended", "parsed", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.parsed = Parsed(None)
        self.mended: dict[str, None] = {}

    def whole(self) -> Parsed:
        self.blank()
        value = self.value(0)
        self.blank()
        times = 1
        while self.at < len(self.text):
            if not isinstance(value, dict) or self.text[self.at] != "{":
                raise self.bad("other text after the value")
            start = self.at
            if not same(value, self.value(0)):
                raise BadJson(start, "a second, different object; make one call for each object")
            times += 1
            self.blank()
        if times > 1:
            self.mended[f"the same object was written {times} times"] = None
        self.parsed.value = value
        self.parsed.mended = list(self.mended)
        return self.parsed

    def bad(self, reason: str) -> BadJson:
        return BadJson(self.at, "the text ends too early" if self.at >= len(self.text) else reason)

    def blank(self) -> None:
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        if found[0].strip(" \t\n\r\f\v\u00a0\ufeff\u200b\u2028\u2029"):
            self.mended["comments were left out"] = None
        self.at = found.end()

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise BadJson(self.at, f"nested more than {MAX_DEPTH} deep")
        mark = self.text[self.at : self.at + 1]
        if mark == "{":
            return self.object(depth)
        if mark == "[":
            return self.array(depth)
        if mark in ('"', "'") and mark:
            return self.quoted(mark)
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            return self.number(number)
        word = _WORD.match(self.text, self.at)
        if word is None or word[0] not in _LITERALS:
            raise self.bad("no JSON value")
        if word[0] in _PYTHON:
            self.mended["Python's True, False and None were read as true, false and null"] = None
        self.at = word.end()
        return _LITERALS[word[0]]

    def number(self, found: re.Match[str]) -> Any:
        if found[1] is not None or found[2] is not None:
            return self.parsed.number(found[0])
        if len(found[0]) > 4000:
            raise BadJson(found.start(), "an integer with too many digits")
        return int(found[0])

    def object(self, depth: int) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        self.at += 1
        self.blank()
        while not self.closes("}"):
            key = self.key()
            self.blank()
            if self.text[self.at : self.at + 1] != ":":
                raise self.bad("no colon after a key")
            self.at += 1
            self.blank()
            pairs.append((key, self.value(depth + 1)))
            self.comma("}")
        return self.parsed.pairs(pairs)

    def array(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self.at += 1
        self.blank()
        while not self.closes("]"):
            items.append(self.value(depth + 1))
            self.comma("]")
        return items

    def closes(self, mark: str) -> bool:
        if self.text[self.at : self.at + 1] != mark:
            return False
        self.at += 1
        return True

    def comma(self, end: str) -> None:
        self.blank()
        mark = self.text[self.at : self.at + 1]
        if mark == end:
            return
        if mark != ",":
            raise self.bad(f"neither a comma nor {end}")
        self.at += 1
        self.blank()
        if self.text[self.at : self.at + 1] == end:
            self.mended["a trailing comma was left out"] = None

    def key(self) -> str:
        mark = self.text[self.at : self.at + 1]
        if mark in ('"', "'") and mark:
            return self.quoted(mark)
        word = _WORD.match(self.text, self.at)
        if word is None or word[0] in _NEVER_KEYS:
            raise self.bad("no key")
        self.at = word.end()
        self.mended["keys without quotes were read as texts"] = None
        return word[0]

    def quoted(self, mark: str) -> str:
        if mark == "'":
            self.mended["single quotes were read as double ones"] = None
        parts: list[str] = []
        self.at += 1
        while True:
            plain = _PLAIN[mark].match(self.text, self.at)
            assert plain is not None
            if "\n" in plain[0] or "\t" in plain[0] or "\r" in plain[0]:
                self.mended["line breaks and tabs inside a text were kept"] = None
            parts.append(plain[0])
            self.at = plain.end()
            ending = self.text[self.at : self.at + 1]
            if ending == mark:
                self.at += 1
                break
            if ending != "\\":
                raise self.bad("a control character in a text")
            parts.append(self.escape())
        return _joined("".join(parts), self.at)

    def escape(self) -> str:
        letter = self.text[self.at + 1 : self.at + 2]
        if letter in _ESCAPES and letter:
            self.at += 2
            return _ESCAPES[letter]
        digits = self.text[self.at + 2 : self.at + 2 + _HEX.get(letter, 0)]
        if letter not in _HEX or len(digits) < _HEX[letter] or not re.fullmatch("[0-9A-Fa-f]+", digits):
            raise self.bad("an escape that JSON does not know")
        code = int(digits, 16)
        if code > 0x10FFFF:
            raise self.bad("an escape beyond Unicode")
        self.at += 2 + len(digits)
        return chr(code)


def _joined(text: str, at: int) -> str:
    """Escaped surrogate pairs made one character each; raises BadJson for a lone one."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise BadJson(at, "a lone surrogate in a text") from None
