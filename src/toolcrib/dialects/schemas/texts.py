"""Descriptions: cut to a provider's limit, and extended by what its schemas cannot say."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json

_MARK = " […]"
_SENTENCE = re.compile(r"[.!?…](?=[\s\"')\]]|$)[\"')\]]*|[。！？]|\n")
_WORD = re.compile(r"\s+\S*$")
_JOINER = "\u200d"


def cut_description(text: str, limit: int) -> str:
    """The text in at most `limit` characters: whole sentences where that keeps half of it, else whole words, never a
    torn character; a mark says that it was cut."""
    if len(text) <= limit:
        return text
    if limit <= len(_MARK):
        return text[: _boundary(text, limit)]
    head = text[: _boundary(text, limit - len(_MARK))]
    ends = [found.end() for found in _SENTENCE.finditer(head)]
    if ends and ends[-1] >= limit // 2:
        head = head[: ends[-1]]
    else:
        words = _WORD.sub("", head)
        head = words if len(words) >= limit // 2 else head
    return head.rstrip() + _MARK


def _boundary(text: str, at: int) -> int:
    """The last place at or before `at` where no character of several code points is torn."""
    while 0 < at < len(text) and (_extends(text[at]) or text[at - 1] == _JOINER or _in_flag(text, at)):
        at -= 1
    return at


def _extends(letter: str) -> bool:
    code = ord(letter)
    return (
        letter == _JOINER
        or unicodedata.category(letter) in ("Mn", "Me", "Mc")
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones
        or 0xE0020 <= code <= 0xE007F  # tags of subdivision flags
        or 0x1160 <= code <= 0x11FF  # Hangul vowels and finals
    )


def _in_flag(text: str, at: int) -> bool:
    """Whether `at` lies between the two letters of a flag."""
    start = at
    while start > 0 and 0x1F1E6 <= ord(text[start - 1]) <= 0x1F1FF:
        start -= 1
    return 0x1F1E6 <= ord(text[at]) <= 0x1F1FF and (at - start) % 2 == 1


def told(description: Any, said: Mapping[str, Any], *sentences: str) -> str:
    """A description, then the keywords a provider does not take, as `(keyword: value, ...)`, then further sentences."""
    parts = [description.strip()] if isinstance(description, str) and description.strip() else []
    if said:
        parts.append("(" + ", ".join(f"{keyword}: {short(value)}" for keyword, value in said.items()) + ")")
    return " ".join((*parts, *(sentence for sentence in sentences if sentence)))


def short(value: Any, limit: int = 300) -> str:
    """A value in a description: a text as it is, all else as JSON, cut where it is long."""
    text = value if isinstance(value, str) and value else to_json(value).decode()
    return text if len(text) <= limit else text[: _boundary(text, limit)] + "…"
