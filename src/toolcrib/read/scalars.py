"""Texts and numbers read as another scalar without loss; None where that cannot be done."""

from __future__ import annotations

import re
from math import isfinite

from toolcrib.frozen import MAX_INT_BITS

_INTEGER = re.compile(r"\s*([+-]?\d{1,1300})(?:\.0*)?\s*", re.ASCII)
_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,5})?\s*", re.ASCII)
_TRUE = frozenset({"true", "t", "yes", "y", "on", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "off", "0"})
#: Beyond this a double no longer holds every integer.
_EXACT = 2.0**53


def to_integer(text: str) -> int | None:
    """`3`, ` +3 ` and `3.0` as 3; no exponent, no underscore, no other script's digits."""
    found = _INTEGER.fullmatch(text)
    if found is None:
        return None
    value = int(found[1])
    return value if value.bit_length() <= MAX_INT_BITS else None


def to_number(text: str) -> int | float | None:
    """A decimal text as the number it names: an int where it is written as one; None where a double would round it."""
    if len(text) > 400 or _NUMBER.fullmatch(text) is None:
        return None
    written = text.strip()
    if not any(mark in written for mark in ".eE"):
        return int(written)
    from decimal import Decimal

    value = float(written)
    return value if isfinite(value) and Decimal(repr(value)) == Decimal(written) else None


def to_boolean(text: str) -> bool | None:
    """The words pydantic takes, in any case: true, t, yes, y, on, 1 and false, f, no, n, off, 0."""
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def whole(value: float) -> int | None:
    """A float without a fraction as an int, where a double holds it exactly."""
    return int(value) if value.is_integer() and abs(value) < _EXACT else None
