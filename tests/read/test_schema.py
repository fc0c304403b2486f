from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolcrib.call import Tool
from toolcrib.errors import DefinitionError
from toolcrib.read.reader import Reader

Make = Callable[..., Tool]
INT, STR = {"type": "integer"}, {"type": "string"}
DRAFT7 = "http://json-schema.org/draft-07/schema#"
PARTS = [{"properties": {"a": INT}}, {"properties": {"b": INT}, "required": ["b"]}]


def of(root: dict[str, Any], **more: Any) -> Reader:
    return Reader(Tool(name="schema", body=lambda arguments: arguments, parameters=root, **more))


@pytest.mark.parametrize(
    "root",
    [
        {"properties": {"a": INT, "b": INT}, "required": ["b"]},
        {"allOf": PARTS},
        {"$schema": DRAFT7, "allOf": PARTS},
        {"$ref": "#/$defs/root", "$defs": {"root": {"properties": {"a": INT, "b": INT}}}},
        {
            "$schema": DRAFT7,
            "$ref": "#/definitions/root",
            "definitions": {"root": {"properties": {"a": INT, "b": INT}}},
        },
        {"properties": {"a": INT}, "anyOf": [{"properties": {"b": INT}, "required": ["b"]}, {"required": ["c"]}]},
        {"properties": {"a": INT}, "oneOf": [{"properties": {"b": INT}, "required": ["b"]}]},
    ],
)
def test_the_root_is_closed_and_coerced_however_it_is_composed(root: dict[str, Any]) -> None:
    reader = of(root)
    assert reader.read('{"a": "1", "B": "2"}').arguments == {"a": 1, "b": 2}
    problem = reader.read('{"a": 1, "b": 2, "other": 3}').problem
    assert problem is not None
    assert "other: unknown argument" in problem


@pytest.mark.parametrize(
    "root",
    [
        {"additionalProperties": True},
        {"additionalProperties": INT},
        {"unevaluatedProperties": True},
        {"patternProperties": {"^o": INT}},
        {"allOf": [{"additionalProperties": True}]},
        {"$schema": DRAFT7, "allOf": [{"additionalProperties": True}]},
    ],
)
def test_a_root_that_says_so_itself_is_open(root: dict[str, Any]) -> None:
    assert of({**root, "properties": {"a": INT}}).read('{"a": 1, "other": 3}').arguments == {"a": 1, "other": 3}


def test_declared_defaults_fill_what_is_absent_and_nothing_else_does() -> None:
    shape = {
        "query": STR,
        "limit": {"type": "integer", "default": 10},
        "tags": {"type": "array", "default": []},
        "wrong": {"type": "integer", "default": "many"},
        "void": {"type": "string", "default": None},
        "range": {"enum": ["day", "week"]},
        "inner": {"type": "object", "properties": {"deep": {"type": "integer", "default": 1}}},
    }
    reader = of({"properties": shape, "required": ["query"]})
    expected = {"query": "x", "limit": 10, "tags": []}
    assert reader.read('{"query": "x"}').arguments == expected
    assert reader.read('{"query": "x", "limit": null}').arguments == expected
    assert reader.read('{"query": "x", "limit": 0, "inner": {}}').arguments == {**expected, "limit": 0, "inner": {}}
    assert reader.read("{}").arguments is None
    first = reader.read('{"query": "x"}').arguments
    assert first is not None
    first["tags"].append(1)
    assert reader.read('{"query": "x"}').arguments == expected


def test_a_default_that_would_make_the_call_invalid_is_left_out() -> None:
    reader = of({"properties": {"a": {"default": 1}, "b": {}, "c": {"default": 2}}, "not": {"required": ["a", "b"]}})
    assert reader.read('{"b": 1}').arguments == {"b": 1, "c": 2}
    assert reader.read("{}").arguments == {"a": 1, "c": 2}


def test_only_what_was_given_is_forwarded() -> None:
    shape = {"query": STR, "time_range": {"enum": ["day", "week"]}, "num_results": {"type": "integer", "minimum": 1}}
    assert of({"properties": shape, "required": ["query"]}).read('{"query": "x"}').arguments == {"query": "x"}


def test_null_is_kept_where_it_means_something_and_dropped_where_it_means_absent() -> None:
    shape = {
        "nullable": {"anyOf": [STR, {"type": "null"}]},
        "listed": {"type": ["string", "null"]},
        "plain": STR,
        "inner": {"type": "object", "properties": {"x": STR, "y": {"type": ["integer", "null"]}}},
    }
    given = {"nullable": None, "listed": None, "plain": None, "inner": {"x": None, "y": None}}
    reading = of({"properties": shape}).read(json.dumps(given))
    assert reading.arguments == {"nullable": None, "listed": None, "inner": {"y": None}}
    assert len(reading.notes) == 2
    problem = of({"properties": {"query": STR}, "required": ["query"]}).read('{"query": null}').problem
    assert problem is not None
    assert "query: expected string, not null" in problem


def test_a_reference_that_leads_to_itself_ends() -> None:
    root = {"properties": {"child": {"$ref": "#"}, "n": INT, "loop": {"$ref": "#/properties/loop"}}}
    reader = of(root)
    given = {"child": {"child": {"n": "1"}, "n": "2"}, "loop": "x"}
    assert reader.read(json.dumps(given)).arguments == {"child": {"child": {"n": 1}, "n": 2}, "loop": "x"}
    deep: dict[str, Any] = {"n": "1"}
    for _ in range(150):
        deep = {"child": deep}
    reading = reader.read(json.dumps(deep))
    assert reading.arguments or reading.problem


def test_alternatives_within_alternatives_do_not_take_forever() -> None:
    branch = {"type": "object", "properties": {"n": {"$ref": "#/$defs/node"}, "v": INT}, "required": ["n"]}
    root = {
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"anyOf": [branch, {**branch, "title": "b"}]}},
    }
    deep: Any = "x"
    for _ in range(60):
        deep = {"n": deep, "v": "1"}
    assert of(root).read(json.dumps({"root": deep})).arguments is None


@pytest.mark.parametrize(
    "part",
    [{"$ref": "http://127.0.0.1:1/schema.json"}, {"$ref": "#/nowhere"}, {"type": "text"}, {"pattern": "("},
     {"properties": 5}, {"minimum": "1"}],
)  # fmt: skip
def test_a_schema_that_does_not_compile_is_the_programmers_fault(part: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError, match="'schema'"):
        of({"properties": {"a": part}}).read("{}")


@pytest.mark.parametrize("draft", ["http://json-schema.org/schema#", "https://example.org/own", DRAFT7,
                                   "https://json-schema.org/draft/2019-09/schema",
                                   "https://json-schema.org/draft/2020-12/schema"])  # fmt: skip
def test_whatever_draft_is_named_the_schema_is_used(draft: str) -> None:
    assert of({"$schema": draft, "properties": {"a": INT}}).read('{"a": "1"}').arguments == {"a": 1}


def test_older_words_without_a_named_draft_are_understood() -> None:
    pair = {"type": "array", "items": [INT, STR], "additionalItems": {"type": "boolean"}}
    reader = of({"properties": {"pair": pair, "more": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}})
    assert reader.read('{"pair": ["1", "2", "yes"]}').arguments == {"pair": [1, "2", True]}
    assert reader.read('{"more": 0}').arguments is None
    assert reader.read('{"other": 0}').arguments is None


def test_tuples_and_patterns_are_coerced_by_place() -> None:
    reader = of({"properties": {"pair": {"type": "array", "prefixItems": [INT, STR], "items": {"type": "boolean"}}},
                 "patternProperties": {"^n_": INT}})  # fmt: skip
    assert reader.read('{"pair": ["1", "2", "no"], "n_x": "3"}').arguments == {"pair": [1, "2", False], "n_x": 3}


def test_properties_named_like_pointers_are_found() -> None:
    union = {"anyOf": [INT, {"type": "null"}]}
    reader = of({"properties": {"a/b": union, "c~d": union, "e%f": union, "g h": union, "$i": union}})
    assert reader.read('{"a/b": "1", "c~d": "2", "e%f": "3", "g h": "4", "$i": "5"}').arguments == {
        "a/b": 1, "c~d": 2, "e%f": 3, "g h": 4, "$i": 5,
    }  # fmt: skip


def test_a_branch_is_chosen_by_what_it_takes() -> None:
    shape = {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": INT}, "required": ["kind", "r"]},
            {"type": "object", "properties": {"kind": {"const": "text"}, "r": STR}, "required": ["kind", "r"]},
        ]
    }
    reader = of({"properties": {"shape": shape}})
    assert reader.read('{"shape": {"kind": "circle", "r": "3"}}').arguments == {"shape": {"kind": "circle", "r": 3}}
    assert reader.read('{"shape": {"kind": "text", "r": "3"}}').arguments == {"shape": {"kind": "text", "r": "3"}}
    assert reader.read('{"shape": {"kind": "square", "r": "3"}}').arguments is None


def test_what_two_branches_read_differently_is_refused() -> None:
    yes_or_list = {"anyOf": [{"enum": [True]}, {"enum": [1]}]}
    assert of({"properties": {"x": yes_or_list}}).read('{"x": "t"}').arguments == {"x": True}
    assert of({"properties": {"x": yes_or_list}}).read('{"x": "1"}').arguments == {"x": 1}
    assert of({"properties": {"x": {"anyOf": [{"enum": [True]}, {"enum": [1.0]}]}}}).read('{"x": "1.0"}').arguments == {
        "x": 1.0
    }


def test_only_whole_numbers_that_were_not_rounded_become_integers() -> None:
    reader = of({"properties": {"n": INT, "x": {"type": "number"}}})
    assert reader.read('{"n": 42.0, "x": 42.0}').arguments == {"n": 42, "x": 42.0}
    for number in ("9007199254740993.5", "42.00000000000000001", "1e17", "4503599627370496.3"):
        assert reader.read(f'{{"n": {number}}}').arguments is None
        assert reader.read(f'{{"x": {number}}}').arguments is not None


def test_pinned_arguments_win_and_are_unknown_to_the_model(schema_tool: Make) -> None:
    tool = schema_tool({"key": STR, "n": {"type": "integer", "default": 2}}, required=["key"], pinned={"key": ""})
    reader = Reader(tool)
    assert reader.read("{}").arguments == {"key": "", "n": 2}
    assert reader.read('{"n": "1"}').arguments == {"key": "", "n": 1}
    for raw in ('{"key": ""}', '{"Key": "x"}'):
        problem = reader.read(raw).problem
        assert problem is not None
        assert "unknown argument" in problem
        assert "Parameters: n." in problem
    with pytest.raises(DefinitionError, match="pinned 'key'"):
        Reader(tool.replace(pinned={"key": 5})).read("{}")


def test_pinned_values_are_not_shared_between_calls(schema_tool: Make) -> None:
    reader = Reader(schema_tool({"tags": {"type": "array"}}, pinned={"tags": ["a"]}))
    first = reader.read("{}").arguments
    assert first is not None
    first["tags"].append("b")
    assert reader.read("{}").arguments == {"tags": ["a"]}


def test_a_tool_without_parameters_takes_none() -> None:
    reader = Reader(Tool(name="ping", body=lambda arguments: arguments))
    assert reader.read("").arguments == {}
    problem = reader.read('{"a": 1}').problem
    assert problem is not None
    assert "Parameters: none." in problem
