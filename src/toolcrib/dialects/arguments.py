"""The object that an argument text holds."""

from __future__ import annotations

import json
from typing import Any

from toolcrib.frozen import NotJson, snapshot


def object_of(text: str) -> dict[str, Any] | None:
    """The JSON object a text holds; None where it is no whole JSON object, or says one key twice."""
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_distinct)
        return snapshot(value) if isinstance(value, dict) else None
    except (ValueError, RecursionError, NotJson):
        return None


def _refuse(token: str) -> Any:
    raise ValueError(f"{token} is no JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found
