from __future__ import annotations

from typing import Any

import pytest

from toolcrib.call import Tool
from toolcrib.define.checks import check
from toolcrib.define.sound import plainly_sound

PLAIN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "Whose?\nÄ name.", "minLength": 1, "default": "ada"},
        "sizes": {"type": "array", "items": {"type": "number", "minimum": 0.5}, "maxItems": 3},
        "kind": {"enum": ["a", "b"]},
        "more": {"type": "object", "properties": {"x": {}}, "required": ["x"], "additionalProperties": False},
    },
    "required": ["name"],
}


def test_a_plain_schema_passes_and_the_compiler_agrees():
    assert plainly_sound(PLAIN)
    assert check(Tool(name="t", body=lambda args: 1, parameters=PLAIN)) == []


@pytest.mark.parametrize(
    "property",
    [
        {"type": "strig"},
        {"type": ["string", "null"]},
        {"pattern": "("},
        {"$ref": "#/nowhere"},
        {"enum": []},
        {"enum": ["a", "a"]},
        {"minLength": -1},
        {"minLength": True},
        {"minimum": "1"},
        {"minimum": float("nan")},
        {"default": float("inf")},
        {"default": {"a": object()}},
        {"description": "\ud800"},
        {"description": 3},
        {"items": [{"type": "string"}]},
        {"properties": {"x": True}},
        {"properties": {3: {}}},
        {"required": "x"},
        {"required": ["x", "x"]},
        {"made up": 1},
        True,
    ],
)
def test_whatever_is_wrong_or_unusual_is_left_to_the_compiler(property):
    assert not plainly_sound({"type": "object", "properties": {"x": property}})


@pytest.mark.parametrize(
    "schema", [{"type": "string"}, {"required": ["x"]}, {"properties": []}, {"properties": {}, "required": 3}]
)
def test_a_root_that_is_no_plain_object_is_left_to_the_compiler(schema):
    assert not plainly_sound(schema)


def test_a_cyclic_schema_ends_the_walk():
    cyclic: dict[str, Any] = {"type": "object"}
    cyclic["properties"] = {"x": cyclic}
    assert not plainly_sound(cyclic)
