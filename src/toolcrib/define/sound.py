"""A quick look that most hand-written schemas pass, so that reading many tool files compiles only the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

#: More schemas than this in one are left to the compiler; it also ends the walk through a cyclic one.
_MOST = 1000


def plainly_sound(schema: Mapping[str, Any]) -> bool:
    """Whether it is a valid schema of an object, of common keywords alone and plain JSON; False decides nothing."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    if schema.get("type", "object") != "object" or not _is_schemas(properties) or not _is_texts(required):
        return False
    if any(name not in properties for name in required):
        return False
    work: list[Any] = [schema]
    for _ in range(_MOST):
        for keyword, value in work.pop().items():
            fits = _KNOWN.get(keyword)
            if fits is None or not fits(value):
                return False
            if keyword == "properties":
                work += value.values()
            elif type(value) is dict and keyword != "default":
                work.append(value)
        if not work:
            return True
    return False


def _is_text(value: Any) -> bool:
    if type(value) is not str:
        return False
    try:
        return value.isascii() or bool(value.encode())
    except UnicodeEncodeError:  # a lone surrogate
        return False


def _is_type(value: Any) -> bool:
    return type(value) is str and value in _TYPES


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and -1e300 < value < 1e300


def _is_schema(value: Any) -> bool:
    return type(value) is dict


def _is_schemas(value: Any) -> bool:
    return type(value) is dict and all(_is_text(name) and type(item) is dict for name, item in value.items())


def _is_texts(value: Any) -> bool:
    return type(value) is list and all(map(_is_text, value)) and len(value) == len(set(value))


def _is_scalar(value: Any) -> bool:
    return value is None or type(value) is bool or _is_text(value) or _is_number(value)


_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})

#: The common keywords, and whether a value has the shape they ask for.
_KNOWN: dict[str, Callable[[Any], bool]] = {
    "type": _is_type,
    "properties": _is_schemas,
    "required": _is_texts,
    "items": _is_schema,
    "additionalProperties": lambda value: type(value) in (bool, dict),
    "enum": lambda value: bool(value) and _is_texts(value),
    "default": _is_scalar,
    **dict.fromkeys(("description", "title", "$comment"), _is_text),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
}
