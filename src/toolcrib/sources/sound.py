"""A quick look that most schemas of tool files pass, so that discovery compiles only the others."""

from __future__ import annotations

from typing import Any

from toolcrib.call import Tool

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_TEXTS = frozenset({"description", "title", "$comment"})
_COUNTS = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})
_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})


def schema_faults(tools: list[Tool]) -> list[str]:
    """What is wrong with the schemas that were written by hand. Those of Python types are made at first use."""
    doubtful = [tool for tool in tools if tool.adapter is None and not _plainly_sound(tool)]
    if not doubtful:
        return []
    from toolcrib.define.checks import check

    return [fault for tool in doubtful for fault in check(tool)]


def _plainly_sound(tool: Tool) -> bool:
    schema = tool.parameters
    properties = schema.get("properties", {})
    if tool.output is not None or tool.pinned or not isinstance(properties, dict):
        return False
    if any(name not in properties for name in schema.get("required", ())):
        return False
    work: list[Any] = [schema]
    while work:
        for keyword, value in work.pop().items():
            if not _known(keyword, value):
                return False
            if keyword == "properties":
                work += value.values()
            elif keyword in ("items", "additionalProperties") and isinstance(value, dict):
                work.append(value)
    return True


def _known(keyword: str, value: Any) -> bool:
    """Whether one keyword is of the common ones and has a value of the right shape."""
    if keyword == "type":
        return isinstance(value, str) and value in _TYPES
    if keyword in _TEXTS:
        return isinstance(value, str)
    if keyword == "properties":
        return isinstance(value, dict) and all(isinstance(item, dict) for item in value.values())
    if keyword == "required":
        return isinstance(value, list) and len(value) == len(_texts(value)) == len(set(_texts(value)))
    if keyword == "items":
        return isinstance(value, dict)
    if keyword == "additionalProperties":
        return isinstance(value, (bool, dict))
    if keyword == "enum":
        return isinstance(value, list) and 0 < len(value) == len(_texts(value)) == len(set(_texts(value)))
    if keyword in _COUNTS:
        return type(value) is int and value >= 0
    if keyword in _NUMBERS:
        return type(value) in (int, float)
    return keyword == "default"


def _texts(values: list[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]
