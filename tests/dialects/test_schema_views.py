"""Every schema of the wild in every provider's view, against the providers' rules written down a second time."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolcrib.dialects.schemas import anthropic, gemini, openai
from toolcrib.dialects.schemas.words import normalise
from toolcrib.errors import DefinitionError

VIEWS = {"openai": openai.view, "anthropic": anthropic.view, "gemini": gemini.view}
DATA = Path(__file__).parents[3] / "shared" / "data"
TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}


# --- the rules -------------------------------------------------------------------------------------------------------


def subschemas(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas in a view, with their path."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword in ("properties", "patternProperties", "$defs", "dependentSchemas"):
        for key, child in schema.get(keyword, {}).items():
            yield from subschemas(child, f"{path}/{keyword}/{key}")
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for index, child in enumerate(schema.get(keyword, ())):
            yield from subschemas(child, f"{path}/{keyword}/{index}")
    for keyword in ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"):
        yield from subschemas(schema.get(keyword), f"{path}/{keyword}")


def common_faults(view: dict[str, Any], key: str) -> list[str]:
    faults = []
    if view.get("type") != "object" or not isinstance(view.get("properties"), dict):
        faults.append("the root is no object with properties")
    faults += [f"root: {word}" for word in ("anyOf", "oneOf", "allOf", "enum", "not", "$ref") if word in view]
    for path, node in subschemas(view):
        kinds = node.get("type", [])
        for kind in [kinds] if isinstance(kinds, str) else kinds:
            if kind not in TYPES:
                faults.append(f"{path}: type {kind!r}")
        faults += [f"{path}: {word}" for word in ("$schema", "$id", "id", "$comment", "definitions") if word in node]
        faults += [f"{path}: key {name!r}" for name in node.get("properties", {}) if not re.fullmatch(key, name)]
        if "$ref" in node and node["$ref"] != "#":
            name = node["$ref"].removeprefix("#/$defs/")
            if name not in view.get("$defs", {}):
                faults.append(f"{path}: dangling {node['$ref']}")
    return faults


def openai_faults(view: dict[str, Any], strict: bool) -> list[str]:
    faults = common_faults(view, r"[a-zA-Z0-9_.-]{1,64}")
    for path, node in subschemas(view):
        kinds = node.get("type", [])
        if "array" in kinds and "items" not in node:
            faults.append(f"{path}: array without items")
        if isinstance(node.get("items"), list):
            faults.append(f"{path}: items is a list")
        if strict:
            faults += [f"{path}: {fault}" for fault in strict_node_faults(node)]
    if strict:
        everything = [node for _, node in subschemas(view)]
        if sum(len(node.get("properties", {})) for node in everything) > 5000:
            faults.append("too many properties")
        if sum(len(node.get("enum", [])) for node in everything) > 1000:
            faults.append("too many values")
        if max(path.count("/properties/") + path.count("/items") for path, _ in subschemas(view)) > 10:
            faults.append("too deep")
    return faults


def strict_node_faults(node: dict[str, Any]) -> Iterator[str]:
    allowed = {
        "type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const", "description",
        "title", "$ref", "$defs", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minItems", "maxItems",
    }  # fmt: skip
    yield from (f"keyword {keyword}" for keyword in node.keys() - allowed)
    if "$ref" in node and len(node) > 1:
        yield "siblings of $ref"
    if not node.keys() & {"type", "$ref", "anyOf"}:
        yield "no type"
    if "object" in node.get("type", []) and (
        node.get("additionalProperties") is not False
        or set(node.get("required", [])) != set(node.get("properties", {}))
    ):
        yield "an open object or optional properties"
    if node.get("format") not in (
        None, "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
    ):  # fmt: skip
        yield f"format {node['format']}"


def anthropic_faults(view: dict[str, Any], _: bool) -> list[str]:
    import jsonschema_rs

    faults = common_faults(view, r"[a-zA-Z0-9_.-]{1,64}")
    if not jsonschema_rs.meta.is_valid({"$schema": "https://json-schema.org/draft/2020-12/schema", **view}):
        faults.append("no valid Draft 2020-12")
    return faults


def gemini_faults(view: dict[str, Any], _: bool) -> list[str]:
    from google.genai import types

    types.Tool.model_validate({"functionDeclarations": [{"name": "tool", "parameters": view}]})
    faults = common_faults(view, r"[a-zA-Z_][a-zA-Z0-9_]{0,63}")
    for path, node in subschemas(view):
        faults += [f"{path}: {fault}" for fault in gemini_node_faults(node, path)]
    return faults


def gemini_node_faults(node: dict[str, Any], path: str) -> Iterator[str]:
    allowed = {
        "type", "format", "description", "nullable", "enum", "items", "maxItems", "minItems", "properties", "required",
        "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "anyOf", "minimum", "maximum",
    }  # fmt: skip
    yield from (f"keyword {keyword}" for keyword in node.keys() - allowed)
    kind = node.get("type")
    if "anyOf" in node:
        if len(node) > 1:
            yield "something beside anyOf"
        return
    if kind not in TYPES - {"null"}:
        yield f"type {kind!r}"
    if "enum" in node and (kind != "string" or not all(isinstance(v, str) and v for v in node["enum"])):
        yield "enum"
    if "format" in node and (kind, node["format"]) not in {
        ("string", "date-time"), ("string", "enum"), ("integer", "int32"), ("integer", "int64"),
        ("number", "float"), ("number", "double"),
    }:  # fmt: skip
        yield f"format {node['format']}"
    if kind == "array" and not isinstance(node.get("items"), dict):
        yield "array without items"
    if kind == "object" and path and not node.get("properties"):
        yield "object without properties"
    if kind != "object" and node.keys() & {"properties", "required"}:
        yield "properties on no object"
    if not set(node.get("required", ())) <= set(node.get("properties", ())):
        yield "required names no property"


RULES = {"openai": openai_faults, "anthropic": anthropic_faults, "gemini": gemini_faults}


def checked(provider: str, schema: dict[str, Any]) -> Any:
    """The view, after checking that it keeps the rules, the schema is untouched and the bytes are stable."""
    before = copy.deepcopy(schema)
    view = VIEWS[provider](schema, name="tool")
    assert schema == before
    assert json.dumps(view.parameters) == json.dumps(VIEWS[provider](before, name="tool").parameters)
    assert RULES[provider](view.parameters, view.strict) == []
    return view


def shown(provider: str, **properties: Any) -> Any:
    """The properties as a provider's view shows them."""
    return checked(provider, {"type": "object", "properties": properties}).parameters["properties"]


# --- data ------------------------------------------------------------------------------------------------------------


def found(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the data set {name} is not beside this checkout")
    return path


def tools_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "inputSchema" in value:
            yield value["inputSchema"]
        else:
            for item in value.values():
                yield from tools_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from tools_in(item)


@pytest.mark.parametrize("provider", VIEWS)
def test_tools_of_real_mcp_servers_are_accepted(provider: str) -> None:
    schemas = list(tools_in(json.loads(found("mcp_tools.json").read_text())))
    assert len(schemas) == 527
    for path in sorted(found("mcp_catalogs").glob("*.json")):
        schemas += tools_in(json.loads(path.read_text()))
    for schema in schemas:
        checked(provider, schema)


@pytest.mark.parametrize("provider", VIEWS)
def test_functions_with_sloppy_types_are_accepted_and_true_calls_come_back(provider: str) -> None:
    import jsonschema_rs

    tried = 0
    for line in found("bfcl_calls.jsonl").read_text().splitlines():
        row = json.loads(line)
        schemas = {tool["name"]: tool["parameters"] for tool in row["tools"]}
        views = {name: checked(provider, schema) for name, schema in schemas.items()}
        for call in row["sample_calls"]:
            truth = call["arguments"]
            if not jsonschema_rs.is_valid(normalise(schemas[call["name"]]), truth):
                continue
            view = views[call["name"]]
            written = bent(view.parameters, truth)
            assert (view.restore(written) if view.restore else written) == truth
            tried += 1
    assert tried > 1500


def bent(shown: dict[str, Any], value: Any) -> Any:
    """A value as a model that follows the view writes it: as JSON text where the view takes a text and it is none."""
    for option in shown.get("anyOf", ()):
        kind = {str: "string", bool: "boolean", dict: "object", list: "array"}.get(type(value), "number")
        if kind in option.get("type", ()) or (kind == "number" and option.get("type") == "integer"):
            return bent(option, value)
    if shown.get("type") == "string" or "anyOf" in shown:
        return value if isinstance(value, str) else json.dumps(value)
    if isinstance(value, dict):
        return {key: bent(shown.get("properties", {}).get(key, {}), item) for key, item in value.items()}
    if isinstance(value, list) and isinstance(shown.get("items"), dict):
        return [bent(shown["items"], item) for item in value]
    return value


# --- one behaviour each ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", VIEWS)
@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "dict", "properties": {"a": {"type": "float"}, "b": {"type": "HashMap"}, "c": {"type": "tuple"}}},
        {"type": "object", "properties": {"a": {"type": "strnig"}, "b": {"type": None}, "c": None, "d": "string"}},
        {"type": "object", "properties": [], "required": "a", "anyOf": {}, "description": 4, "$defs": 1},
        {"type": ["object", "null"], "properties": {"a": {}}, "enum": [{"a": 1}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": True, "b": False, "c": {"not": {}}, "d": {"enum": []}}},
        {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}, "b": {"$ref": "other.json"}, "c": {"$ref": 3}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}, {}]}}},
        {"type": "object", "properties": {"a": {"prefixItems": [{"type": "integer"}], "items": False}}},
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "exclusiveMinimum": True}}},
        {"type": "object", "properties": {"a": {"enum": [1, "1", None, True, "", {"k": []}, 1.5]}}},
        {"type": "object", "properties": {"a": {"type": ["string", "array", "object", "null"]}}},
        {"type": "object", "properties": {"a": {"type": "object", "anyOf": [{"required": ["b"]}], "properties": {}}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/c"}, "c": {"enum": [1]}}},
        {"type": "object", "if": {"required": ["a"]}, "then": {"properties": {"a": {}}, "required": ["a"]}},
        {"type": "object", "dependencies": {"a": ["b"], "c": {"required": ["d"]}}, "patternProperties": {"^x": {}}},
    ],
)
def test_schemas_that_are_odd_or_broken_still_give_an_acceptable_view(provider: str, schema: dict[str, Any]) -> None:
    view = checked(provider, schema)
    for odd in ({}, {"a": None}, {"a": [1, {"b": "x"}]}, {"a": {"a": {"a": 1}}, 5: "x"}, {"arguments_json": "{"}):
        if view.restore is not None:
            assert isinstance(view.restore(odd), dict)


@pytest.mark.parametrize("provider", VIEWS)
def test_arguments_that_can_never_be_an_object_are_a_definition_error_that_names_the_tool(provider: str) -> None:
    with pytest.raises(DefinitionError, match=r"'lister'.*array"):
        VIEWS[provider]({"type": "array", "items": {}}, name="lister")


@pytest.mark.parametrize("provider", VIEWS)
@pytest.mark.parametrize("wrap", ["object", "array"])
def test_deeply_nested_schemas_are_cut_with_a_note(provider: str, wrap: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(150):
        schema = {"type": "object", "properties": {"a": schema}} if wrap == "object" else {"items": schema}
    view = checked(provider, {"type": "object", "properties": {"a": schema}})
    assert any("deep" in note for note in view.notes)


@pytest.mark.parametrize("provider", VIEWS)
@pytest.mark.parametrize("word", ["properties", "allOf", "anyOf", "items"])
def test_references_that_double_at_every_step_do_not_explode(provider: str, word: str) -> None:
    definitions: dict[str, Any] = {"d40": {"type": "string"}}
    for step in range(40):
        ref = {"$ref": f"#/$defs/d{step + 1}"}
        twice: Any = {"a": ref, "b": ref} if word == "properties" else [ref, {**ref, "title": "again"}]
        definitions[f"d{step}"] = {word: twice}
    view = checked(provider, {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
    assert len(json.dumps(view.parameters)) < 200_000


@pytest.mark.parametrize("provider", VIEWS)
def test_a_root_reference_is_resolved(provider: str) -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    view = checked(provider, {"$ref": "#/$defs/In", "$defs": {"In": inner}})
    assert list(view.parameters["properties"]) == ["a"]
    assert "$defs" not in view.parameters


@pytest.mark.parametrize("provider", VIEWS)
@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
def test_alternatives_at_the_root_become_one_object_that_tells_them_apart(provider: str, union: str) -> None:
    options = [
        {"type": "object", "properties": {key: {"type": "string"}, "to": {"type": "string"}}, "required": [key, "to"]}
        for key in ("id", "name")
    ]
    view = checked(provider, {union: options})
    assert set(view.parameters["properties"]) == {"id", "name", "to"}
    assert "(1) id, to; (2) name, to" in view.parameters["description"]
    if provider != "openai":
        assert view.parameters["required"] == ["to"]


def test_all_parts_of_allof_count_at_the_root() -> None:
    schema = {
        "allOf": [{"$ref": "#/definitions/A"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}],
        "definitions": {"A": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}},
    }
    for provider in VIEWS:
        assert checked(provider, schema).parameters["required"] == ["a", "b"]


def test_strict_is_claimed_only_where_every_object_can_be_closed() -> None:
    assert checked("openai", {"type": "object", "properties": {"a": {"type": "string"}}}).strict
    for loose in (
        {"type": "object"},
        {"type": "object", "additionalProperties": True},
        {"type": "object", "additionalProperties": {"type": "string"}, "properties": {"b": {"type": "string"}}},
        {"type": "object", "patternProperties": {"^x": {}}, "properties": {"b": {"type": "string"}}},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {},
        {"anyOf": [{"type": "string"}, {"type": "object"}]},
    ):
        view = checked("openai", {"type": "object", "properties": {"a": loose}})
        assert not view.strict


def test_in_strict_mode_optional_properties_are_required_nullable_and_without_default() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "integer", "default": 3},
            "c": {"enum": ["x", "y"]},
            "d": {"type": "object", "properties": {"e": {"type": "string"}}},
            "f": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        },
        "required": ["a"],
    }
    view = checked("openai", schema)
    assert view.strict
    assert view.parameters["required"] == ["a", "b", "c", "d", "f"]
    properties = view.parameters["properties"]
    assert properties["a"] == {"type": "string"}
    assert properties["b"] == {"description": "(default: 3)", "type": ["integer", "null"]}
    assert properties["c"] == {"type": ["string", "null"], "enum": ["x", "y", None]}
    assert properties["d"]["anyOf"][1] == {"type": "null"}
    assert properties["d"]["anyOf"][0]["additionalProperties"] is False
    assert properties["f"]["anyOf"][-1] == {"type": "null"}


def test_strict_schemas_beyond_the_size_limits_are_sent_without_strict() -> None:
    wide = {"type": "object", "properties": {f"p{index}": {"type": "string"} for index in range(5001)}}
    listed = {"type": "object", "properties": {"a": {"enum": [f"v{index}" for index in range(1001)]}}}
    long = {"type": "object", "properties": {"a": {"enum": [f"{index:0100}" for index in range(251)]}}}
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(11):
        deep = {"type": "object", "properties": {"a": deep}}
    for schema in (wide, listed, long, deep):
        assert not checked("openai", schema).strict


def test_recursion_stays_a_reference_for_openai_and_anthropic() -> None:
    node = {
        "type": "object",
        "properties": {
            "value": {"type": "string"},
            "left": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}], "description": "smaller"},
            "rest": {"type": "array", "items": {"$ref": "#/$defs/Node", "description": "any"}},
        },
        "required": ["value"],
    }
    schema = {"type": "object", "properties": {"tree": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    for provider in ("openai", "anthropic"):
        assert "Node" in checked(provider, schema).parameters["$defs"]
    assert checked("openai", schema).strict


def test_one_definition_used_twice_is_no_cycle_for_gemini() -> None:
    point = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/P"}, "b": {"$ref": "#/$defs/P"}},
        "$defs": {"P": point},
    }
    view = checked("gemini", schema)
    assert view.parameters["properties"] == {"a": point, "b": point}
    assert view.notes == ()


def test_the_description_at_the_place_of_use_wins_and_siblings_are_merged() -> None:
    schema = {
        "type": "object",
        "properties": {"q": {"$ref": "#/$defs/Q", "description": "here", "minLength": 1}},
        "$defs": {"Q": {"type": "string", "description": "there", "maxLength": 9}},
    }
    here = checked("gemini", schema).parameters["properties"]["q"]
    assert here == {"description": "here", "type": "string", "minLength": 1, "maxLength": 9}


def test_gemini_gets_null_as_nullable() -> None:
    properties = shown(
        "gemini",
        a={"anyOf": [{"type": "object", "properties": {"n": {"type": "string"}}}, {"type": "null"}]},
        b={"type": ["object", "null"], "properties": {"a": {"type": "string"}}, "required": ["a"]},
        c={"enum": ["x", None]},
        d={"type": ["string", "integer", "null"]},
    )
    assert properties["a"] == {"type": "object", "properties": {"n": {"type": "string"}}, "nullable": True}
    assert properties["b"]["nullable"] is True
    assert properties["b"]["required"] == ["a"]
    assert properties["c"] == {"type": "string", "enum": ["x"], "nullable": True}
    assert [option["type"] for option in properties["d"]["anyOf"]] == ["string", "integer"]
    assert all(option["nullable"] for option in properties["d"]["anyOf"])


def test_gemini_reads_in_the_description_what_its_schema_cannot_say() -> None:
    properties = shown(
        "gemini",
        n={"type": "integer", "exclusiveMinimum": 0, "multipleOf": 5, "description": "Steps."},
        k={"const": "a"},
        u={"type": "string", "format": "uri", "default": "x:y"},
        d={"type": "string", "format": "date-time"},
        i={"type": "integer", "format": "int64"},
        m={"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        s={"type": "string", "properties": {"x": {"type": "string"}}, "required": ["x"]},
    )
    assert properties["n"] == {"description": "Steps. (exclusiveMinimum: 0, multipleOf: 5)", "type": "integer"}
    assert properties["k"] == {"type": "string", "enum": ["a"]}
    assert properties["u"] == {"description": "(format: uri, default: x:y)", "type": "string"}
    assert properties["d"] == {"type": "string", "format": "date-time"}
    assert properties["i"] == {"type": "integer", "format": "int64"}
    assert "uniqueItems" in properties["m"]["description"]
    assert properties["s"] == {"type": "string"}


def test_gemini_gets_alternatives_that_are_single_values_as_one_list() -> None:
    options = [{"const": 1, "description": "low"}, {"const": 2, "description": "high"}]
    property_ = shown("gemini", a={"oneOf": options, "description": "Level."})["a"]
    assert property_ == {"description": "Level. 1: low; 2: high.", "type": "string", "enum": ["1", "2"]}


def test_types_of_other_languages_are_read() -> None:
    for word, kind in (
        ("dict", "object"), ("HashMap", "object"), ("float", "number"), ("double", "number"), ("String", "string"),
        ("str", "string"), ("int", "integer"), ("long", "integer"), ("bool", "boolean"), ("Array", "array"),
        ("List[str]", "array"), ("tuple", "array"), ("java.util.ArrayList<String>", "array"), ("string[]", "array"),
    ):  # fmt: skip
        assert checked("anthropic", {"type": "object", "properties": {"a": {"type": word}}}).parameters["properties"][
            "a"
        ]["type"] == (kind)


def test_an_unknown_type_word_is_shown_as_anything_with_a_note() -> None:
    view = checked("anthropic", {"type": "object", "properties": {"a": {"type": "strnig"}, "b": {"type": "any"}}})
    assert view.parameters["properties"] == {"a": {}, "b": {}}
    assert [note for note in view.notes if "strnig" in note] == list(view.notes)
