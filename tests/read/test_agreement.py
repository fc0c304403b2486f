"""One table for both kinds of tools: what a value becomes for a Python annotation and for the same JSON Schema."""

# ruff: noqa: UP007, UP035, UP045 (the older spellings are what is tested)
from __future__ import annotations

import enum
import json
from typing import Any, Literal, NamedTuple, Optional, Union

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from typing_extensions import NotRequired, Required, TypedDict

from toolcrib.call import Tool
from toolcrib.read.reader import Reader
from toolcrib.read.strict import same

REFUSED = object()
ABSENT = object()


class Size(enum.IntEnum):
    small = 1
    large = 2


class Point(BaseModel):
    x: int
    y: Optional[int] = None
    label: str = ""


POINT = {
    "type": "object",
    "properties": {
        "x": {"type": "integer"},
        "y": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "label": {"type": "string"},
    },
    "required": ["x"],
}
STRICT_POINT = create_model("StrictPoint", __config__=ConfigDict(extra="forbid"), x_pos=(int, ...), y_pos=(int, 0))
STRICT_POINT_SCHEMA = {
    "type": "object",
    "properties": {"x_pos": {"type": "integer"}, "y_pos": {"type": "integer"}},
    "required": ["x_pos"],
    "additionalProperties": False,
}
INT, NUM, BOOL, STR = {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {"type": "string"}
NULL = {"type": "null"}


class Row(NamedTuple):
    python: Any
    schema: dict[str, Any]
    given: Any
    expected: Any
    required: bool = True


def of(python: Any, schema: dict[str, Any], *pairs: tuple[Any, Any], required: bool = True) -> list[Row]:
    return [Row(python, schema, given, expected, required) for given, expected in pairs]


TABLE: list[Row] = [
    *of(
        int, INT,
        (3, 3), ("3", 3), (" 3 ", 3), ("+3", 3), ("-3", -3), ("3.0", 3), (42.0, 42), (-0.0, 0), ("007", 7),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        (3.9, REFUSED), ("3.9", REFUSED), ("9007199254740993.5", REFUSED), (1e20, REFUSED), ("maybe", REFUSED),
        ("", REFUSED), (True, REFUSED), (False, REFUSED), ("true", REFUSED), ("1e3", REFUSED), ("1_000", REFUSED),
        ("٣", REFUSED), ("0x10", REFUSED), ("3 4", REFUSED), ([3], REFUSED), ({"a": 3}, REFUSED), (None, REFUSED),
        ("NaN", REFUSED), ("null", REFUSED), ("9" * 2000, REFUSED),
    ),
    *of(
        float, NUM,
        (3, 3), (3.5, 3.5), ("3", 3), ("3.5", 3.5), ("-1e3", -1000.0), (" 2.5 ", 2.5), (-0.0, -0.0), (".5", 0.5),
        ("nan", REFUSED), ("NaN", REFUSED), ("inf", REFUSED), ("-Infinity", REFUSED), ("1e400", REFUSED),
        ("9007199254740993.5", REFUSED), ("maybe", REFUSED), ("", REFUSED), (True, REFUSED), ("1_0", REFUSED),
        ("1,5", REFUSED), (None, REFUSED), ([1.5], REFUSED),
    ),
    *of(
        bool, BOOL,
        (True, True), (False, False), (1, True), (0, False),
        *[(word, True) for word in ("true", "TRUE", "True", "t", "yes", "Yes", "y", "on", "ON", "1")],
        *[(word, False) for word in ("false", "FALSE", "False", "f", "no", "No", "n", "off", "OFF", "0")],
        ("", REFUSED), ("maybe", REFUSED), (2, REFUSED), (-1, REFUSED), (0.5, REFUSED), ("2", REFUSED),
        ("null", REFUSED), (None, REFUSED), ([], REFUSED),
    ),
    *of(
        str, STR,
        ("3", "3"), ("", ""), ("true", "true"), ("[1]", "[1]"), ("null", "null"), ('{"a":1}', '{"a":1}'),
        (3, REFUSED), (3.5, REFUSED), (True, REFUSED), (None, REFUSED), (["a"], REFUSED), ({"a": "b"}, REFUSED),
    ),
    *of(
        list[int], {"type": "array", "items": INT},
        ([1, 2], [1, 2]), ([], []), (["1", 2.0], [1, 2]), ("[1, 2]", [1, 2]), ('["1"]', [1]), ("[1, 2,]", [1, 2]),
        ("[1, 2", REFUSED), ("1, 2", REFUSED), ("1", REFUSED), (1, REFUSED), ("", REFUSED), ([True], REFUSED),
        ([1, "x"], REFUSED), ("[[1]]", REFUSED), ({"0": 1}, REFUSED), ('"[1]"', REFUSED), ('{"a":1}', REFUSED),
        ("[9007199254740993.5]", REFUSED), (None, REFUSED),
    ),
    *of(
        list[str], {"type": "array", "items": STR},
        ('["a"]', ["a"]), ("['a', 'b']", ["a", "b"]), (["[1]"], ["[1]"]), ("a", REFUSED), ([1], REFUSED),
    ),
    *of(
        dict[str, int], {"type": "object", "additionalProperties": INT},
        ({"a": 1}, {"a": 1}), ({"a": "1"}, {"a": 1}), ('{"a": 1}', {"a": 1}), ("{'a': '1'}", {"a": 1}), ({}, {}),
        ('{"a": 1, "a": 2}', REFUSED), ('{"a": 1, "a": 1}', {"a": 1}), ('{"a": 1', REFUSED), ({"a": True}, REFUSED),
        ([1], REFUSED), ({"a": None}, REFUSED),
    ),
    *of(
        Point, POINT,
        ({"x": 1}, {"x": 1}), ({"x": "1", "y": None}, {"x": 1, "y": None}), ({"x": 1, "label": None}, {"x": 1}),
        ('{"x": "1"}', {"x": 1}), ({"x": 1, "label": 5}, REFUSED), ({}, REFUSED), ({"x": None}, REFUSED),
        ({"X": 1}, {"x": 1}), ({"x": True}, REFUSED),
    ),
    *of(
        list[Point], {"type": "array", "items": POINT},
        ([{"x": "1"}, {"x": 2.0}], [{"x": 1}, {"x": 2}]), ('[{"x": "1"}]', [{"x": 1}]), (['{"x": 1}'], [{"x": 1}]),
        ([{"x": "one"}], REFUSED), ({"x": 1}, REFUSED),
    ),
    *of(
        STRICT_POINT, STRICT_POINT_SCHEMA,
        ({"x_pos": 1}, {"x_pos": 1}), ({"xPos": "1", "y-pos=": "2"}, {"x_pos": 1, "y_pos": 2}),
        ({"x_pos": 1, "z": 1}, REFUSED), ({"x_pos": 1, "xPos": 1}, REFUSED), ({"x_pos": 1, "y_pos": None}, {"x_pos": 1}),  # noqa: E501
    ),
    *of(Literal["a", "b"], {"enum": ["a", "b"]}, ("a", "a"), ("c", REFUSED), ("A", REFUSED), (None, REFUSED)),
    *of(
        Literal[1, 2], {"enum": [1, 2]},
        (1, 1), ("2", 2), (1.0, 1), ("2.0", 2), (True, REFUSED), ("true", REFUSED), (3, REFUSED), ("3", REFUSED),
        ("", REFUSED),
    ),
    *of(Size, {"enum": [1, 2], "type": "integer"}, (2, 2), ("2", 2), (2.0, 2), (True, REFUSED), ("small", REFUSED)),
    *of(Literal["x", None], {"enum": ["x", None]}, ("x", "x"), (None, None), ("y", REFUSED)),
    *of(Literal[True], {"const": True, "type": "boolean"}, (True, True), ("yes", True), (1, True), (False, REFUSED)),
    *of(
        Union[int, str], {"anyOf": [INT, STR]},
        (3, 3), ("3", "3"), ("x", "x"), (3.0, 3), (True, REFUSED), (None, REFUSED), (3.5, REFUSED),
    ),
    *of(
        Union[str, list[int]], {"anyOf": [STR, {"type": "array", "items": INT}]},
        ("[1,2]", "[1,2]"), ([1, 2], [1, 2]), (["1"], [1]), (1, REFUSED),
    ),
    *of(
        Union[int, bool], {"anyOf": [INT, BOOL]},
        (1, 1), (True, True), ("1", 1), ("true", True), ("yes", True), ("maybe", REFUSED), (1.0, 1),
    ),
    *of(
        Union[int, float], {"anyOf": [INT, NUM]},
        (1, 1), (1.0, 1.0), (1.5, 1.5), ("1", 1), ("1.5", 1.5), (True, REFUSED),
    ),
    *of(
        Union[list[int], dict[str, int]],
        {"anyOf": [{"type": "array", "items": INT}, {"type": "object", "additionalProperties": INT}]},
        ("[1]", [1]), ('{"a": "1"}', {"a": 1}), ("1", REFUSED), ([None], REFUSED),
    ),
    *of(
        Optional[list[str]], {"anyOf": [{"type": "array", "items": STR}, NULL]},
        ('["educore"]', ["educore"]), (None, None), ([], []), ("educore", REFUSED),
    ),
    *of(Optional[int], {"anyOf": [INT, NULL]}, ("3", 3), (None, None), ("", REFUSED), (False, REFUSED)),
    # What may be absent.
    *of(int, INT, (None, ABSENT), ("3", 3), ("", REFUSED), required=False),
    *of(str, STR, (None, ABSENT), ("", ""), required=False),
    *of(Optional[str], {"anyOf": [STR, NULL]}, (None, None), ("null", "null"), required=False),
    *of(list[int], {"type": "array", "items": INT}, (None, ABSENT), ([None], REFUSED), required=False),
]  # fmt: skip


def python_tool(annotation: Any, required: bool) -> Tool:
    kind = Required[annotation] if required else NotRequired[annotation]
    shape: Any = TypedDict("Shape", {"value": kind})  # type: ignore[misc]
    shape.__pydantic_config__ = ConfigDict(extra="forbid")
    return Tool(
        name="python", body=lambda value=None: value, adapter=lambda: TypeAdapter(shape),
        parameters=lambda: TypeAdapter(shape).json_schema(),
    )  # fmt: skip


def schema_tool(schema: dict[str, Any], required: bool) -> Tool:
    root = {"type": "object", "properties": {"value": schema}, "required": ["value"] if required else []}
    return Tool(name="schema", body=lambda arguments: arguments, parameters=root)


def check(tool: Tool, row: Row) -> None:
    for reading in (Reader(tool).read(json.dumps({"value": row.given})), Reader(tool).read(None, {"value": row.given})):
        if row.expected is REFUSED:
            assert reading.arguments is None, reading.arguments
            assert reading.problem is not None
            assert "value" in reading.problem
            continue
        assert reading.arguments is not None, reading.problem
        expected = {} if row.expected is ABSENT else {"value": row.expected}
        assert same(reading.arguments, expected), reading.arguments
        assert bool(reading.notes) is not same({"value": row.given}, expected)
        if tool.adapter is not None:
            assert reading.values == TypeAdapter(dict[str, row.python]).validate_python(expected)  # type: ignore[name-defined]


def named(row: Row) -> str:
    kind = getattr(row.python, "__name__", str(row.python)) if isinstance(row.python, type) else str(row.python)
    return f"{kind}-{json.dumps(row.given)[:40]}-{'required' if row.required else 'optional'}"


@pytest.mark.parametrize("row", TABLE, ids=named)
def test_a_python_tool_reads_the_value(row: Row) -> None:
    check(python_tool(row.python, row.required), row)


@pytest.mark.parametrize("row", TABLE, ids=named)
def test_a_tool_with_a_schema_reads_the_value(row: Row) -> None:
    check(schema_tool(row.schema, row.required), row)
