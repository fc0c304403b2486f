"""What is checked of a whole definition."""

from __future__ import annotations

import re
from typing import Any

import pytest

from toolcrib.call import Tool
from toolcrib.define.checks import check
from toolcrib.define.function import tool_of


def made(parameters: Any = None, **options: Any) -> Tool:
    return Tool(name="t", body=dict, parameters=parameters, **options)


def properties(**found: Any) -> dict[str, Any]:
    return {"type": "object", "properties": found}


@pytest.mark.parametrize(
    "parameters",
    [
        None,
        {},
        {"type": "object"},
        {"$schema": "http://json-schema.org/draft-07/schema#", **properties(a={"type": "integer"})},
        {
            **properties(a={"$ref": "#/$defs/A"}),
            "$defs": {"A": {"type": "object", "properties": {"b": {"$ref": "#/$defs/A"}}}},
        },
        {"$ref": "#/$defs/In", "$defs": {"In": properties(a={"type": "string"})}, "required": ["a"]},
        {"oneOf": [properties(a={}), properties(b={})], "required": ["a"]},
        {**properties(), "required": ["x"], "additionalProperties": True},
        {**properties(), "required": ["x"], "additionalProperties": {}},
        properties(**{"filter[id]": {"type": "string"}, "año": {}}),
    ],
)
def test_sound_schemas_have_no_problem(parameters: Any) -> None:
    assert check(made(parameters)) == []


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (made(properties(a={"type": "strin"})), "properties.a.type"),
        (made(properties(a={"$ref": "#/$defs/Missing"})), "Missing"),
        (made(properties(a={"$ref": "http://127.0.0.1:9/a.json"})), "outside the schema"),
        (made(properties(a={"$ref": "file:///etc/passwd"})), "file:///etc/passwd"),
        (made(properties(a={"pattern": "("})), "regex"),
        (made({**properties(), "required": "a"}), "required"),
        (made({**properties(), "required": ["a"]}), "no property of its parameters: a"),
        (made(properties(), pinned={"a": 1}), "pinned"),
        (made(output={"type": "strin"}), "output"),
        (made(lambda: {"type": "array"}), "must describe an object"),
        (made(lambda: {"default": {1}}), "set"),
        (made(description=lambda: 5), "not text"),
    ],
)
def test_faults_are_told_one_by_one(tool: Tool, why: str) -> None:
    problems = check(tool)
    assert len(problems) == 1
    assert re.search(re.escape(why), problems[0])
    assert "'t'" in problems[0]


def test_a_type_that_resolves_late_is_told_too() -> None:
    def f(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    assert "Nowhere" in check(tool_of(f))[0]
