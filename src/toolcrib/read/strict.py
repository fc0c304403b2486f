"""JSON as RFC 8259 has it, and what a plain reading hides: repeated keys and numbers that were rounded."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

from pydantic_core import from_json

from toolcrib.frozen import MAX_DEPTH, MAX_INT_BITS

#: A text shorter than this can hold neither an integer nor a nesting beyond the bounds.
SHORT = 2 * MAX_DEPTH
_PLACE = re.compile(r" at line (\d+) column (\d+)$")


class BadJson(ValueError):
    """A text that is no JSON, or JSON that cannot be read without loss.

    position: characters before the fault, None where the fault is the whole value. reason: a phrase without any of
    the text itself.
    """

    def __init__(self, position: int | None, reason: str) -> None:
        super().__init__(reason if position is None else f"{reason} at character {position}")
        self.position = position
        self.reason = reason


class Parsed:
    """A value and what happened to it on the way.

    repeated: keys given more than once with one value. conflicting: keys given with different values.
    rounded: floats whose text says something else. mended: what was repaired, in words.
    """

    __slots__ = ("conflicting", "mended", "repeated", "rounded", "value")

    def __init__(self, value: Any, mended: Sequence[str] = ()) -> None:
        self.value = value
        self.mended = list(mended)
        self.repeated: list[str] = []
        self.conflicting: list[str] = []
        self.rounded: set[float] = set()

    def number(self, text: str) -> float:
        """The float a JSON number's text stands for; remembers a whole one whose text says something else."""
        value = float(text)
        if value.is_integer():
            from decimal import Decimal

            if Decimal(text) != Decimal(value):
                self.rounded.add(value)
        return value

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object out of its pairs as written; remembers repeated keys."""
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key not in made:
                made[key] = value
            elif same(made[key], value):
                self.repeated.append(key)
            else:
                self.conflicting.append(key)
        return made


def parse(text: str | bytes) -> Any:
    """The value of a JSON text; of a repeated key the last one counts, as the standard's readers agree.

    Raises BadJson: also for lone surrogates, for nesting and integers beyond the bounds of `frozen`, and for numbers
    beyond a double's range.
    """
    try:
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError) as problem:
        raise _bad(text, problem) from None
    if type(value) in (dict, list, int, float):
        survey(value)
    return value


def survey(value: Any) -> tuple[int, bool]:
    """(number of keys at all levels, whether one of the floats has no fraction); raises BadJson beyond the bounds."""
    keys, whole_floats = 0, False
    level: list[Any] = [[value]]
    depth = 0
    while level:
        below: list[Any] = []
        for container in level:
            if type(container) is dict:
                keys += len(container)
                container = container.values()
            for item in container:
                kind = type(item)
                if kind is dict or kind is list:
                    below.append(item)
                elif kind is float:
                    if not isfinite(item):
                        raise BadJson(None, "a number beyond the range of a double")
                    whole_floats = whole_floats or item.is_integer()
                elif kind is int and item.bit_length() > MAX_INT_BITS:
                    raise BadJson(None, f"an integer of more than {MAX_INT_BITS} bits")
        depth += 1
        if depth > MAX_DEPTH + 1:
            raise BadJson(None, f"nested more than {MAX_DEPTH} deep")
        level = below
    return keys, whole_floats


def repeats_none(text: str, keys: int) -> bool:
    """Whether a valid JSON text with so many distinct keys provably repeats none; False means: look closer."""
    if text.count(":") == keys:
        return True
    # Each colon that follows a key directly is counted; with no space before any colon these are all there are.
    if text.count('":') != keys:
        return False
    return not (" :" in text or "\n:" in text or "\t:" in text or "\r:" in text)


def examine(text: str) -> Parsed:
    """Reads a text once more, `parse` having accepted it, and says which keys repeat and which numbers were rounded."""
    parsed = Parsed(None)
    parsed.value = json.loads(text, object_pairs_hook=parsed.pairs, parse_float=parsed.number)
    return parsed


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are one: true is not 1, and 1.0 is not 1."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(item, other[key]) for key, item in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float):
        return repr(one) == repr(other)
    return bool(one == other)


def _bad(text: str | bytes, problem: Exception) -> BadJson:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as wrong:
            return BadJson(wrong.start, "bytes that are no UTF-8")
    elif isinstance(problem, TypeError):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as wrong:
            return BadJson(wrong.start, "a lone surrogate")
    said = str(problem)
    place = _PLACE.search(said)
    if place is None:
        return BadJson(None, said)
    line, column = int(place[1]), int(place[2])
    lines = text.split("\n")
    before = sum(len(each) + 1 for each in lines[: line - 1])
    within = lines[line - 1].encode("utf-8", "surrogatepass")[: max(column - 1, 0)] if line <= len(lines) else b""
    return BadJson(min(before + len(within.decode("utf-8", "ignore")), len(text)), said[: place.start()])
