"""From arguments as a model gives them under a bent schema back to the original names and values."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.dialects.schemas import anthropic, gemini, openai

VIEWS = {"openai": openai.view, "anthropic": anthropic.view, "gemini": gemini.view}
KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
NAMES = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=90),
    st.sampled_from(["filter[id]", "filter_id_", "filter{id}", "$top", "_top", "año", "a_o", "", "_", "a" * 70]),
)


def restored(view: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = view.restore(arguments) if view.restore else arguments
    return result


def gemini_back(schema: Any, value: Any) -> Any:
    view = gemini.view({"type": "object", "properties": {"a": schema}}, name="tool")
    return restored(view, {"a": value})["a"]


@pytest.mark.parametrize("provider", VIEWS)
@given(data=st.data())
def test_any_property_names_are_shown_acceptably_and_come_back(provider: str, data: st.DataObject) -> None:
    names = data.draw(st.lists(NAMES, unique=True, min_size=1, max_size=8))
    inner = data.draw(st.lists(NAMES, unique=True, min_size=1, max_size=4))
    item = {"type": "object", "properties": {name: {"type": "integer"} for name in inner}, "required": inner}
    schema = {
        "type": "object",
        "properties": {name: {"type": "array", "items": {"$ref": "#/$defs/Item"}} for name in names},
        "required": names,
        "$defs": {"Item": item},
    }
    view = VIEWS[provider](schema, name="tool")
    outer_shown = list(view.parameters["properties"])
    inner_node = next(iter(view.parameters["properties"].values()))["items"]
    inner_node = view.parameters["$defs"]["Item"] if "$ref" in inner_node else inner_node
    inner_shown = list(inner_node["properties"])
    assert all(KEY.fullmatch(name) for name in (*outer_shown, *inner_shown))
    assert len(set(outer_shown)) == len(names)
    assert view.parameters["required"] == outer_shown
    assert inner_node["required"] == inner_shown
    given_ = {key: [{name: index for index, name in enumerate(inner_shown)}] for key in outer_shown}
    expected = {key: [{name: index for index, name in enumerate(inner)}] for key in names}
    assert restored(view, given_) == expected
    assert restored(view, expected) == expected


@pytest.mark.parametrize("provider", VIEWS)
def test_long_names_with_one_beginning_stay_apart(provider: str) -> None:
    stem = "settings__approved__or__denied__countries__or__regions__"
    names = [f"{stem}approved__list", f"{stem}denied__list"]
    view = VIEWS[provider]({"type": "object", "properties": {name: {"type": "string"} for name in names}}, name="tool")
    first, second = view.parameters["properties"]
    assert first != second
    assert first.startswith("settings__approved")
    assert restored(view, {first: "a", second: "b"}) == dict(zip(names, "ab", strict=True))


@pytest.mark.parametrize("provider", VIEWS)
def test_a_shown_name_never_takes_that_of_a_real_property(provider: str) -> None:
    schema = {"type": "object", "properties": {"a[b]": {"type": "string"}, "a_b_": {"type": "string"}}}
    view = VIEWS[provider](schema, name="tool")
    bent = next(name for name in view.parameters["properties"] if name != "a_b_")
    assert restored(view, {bent: "1", "a_b_": "2"}) == {"a[b]": "1", "a_b_": "2"}


@pytest.mark.parametrize("provider", VIEWS)
def test_names_in_alternatives_and_recursion_come_back(provider: str) -> None:
    node = {"type": "object", "properties": {"@v": {"type": "integer"}, "k/s": {"items": {"$ref": "#/$defs/N"}}}}
    schema = {
        "type": "object",
        "properties": {"x": {"anyOf": [{"$ref": "#/$defs/N"}, {"type": "object", "properties": {"$w": {}}}]}},
        "$defs": {"N": node},
    }
    view = VIEWS[provider](schema, name="tool")
    arguments = {"x": {"_v": 1, "k_s": [{"_v": 2, "k_s": [{"_v": 3}]}]}}
    assert restored(view, arguments) == {"x": {"@v": 1, "k/s": [{"@v": 2, "k/s": [{"@v": 3}]}]}}
    assert restored(view, {"x": {"_w": 1}}) == {"x": {"$w": 1}}


def test_free_keys_that_look_like_shown_names_are_left_alone() -> None:
    schema = {"type": "object", "properties": {"a b": {"type": "object", "additionalProperties": True}}}
    view = anthropic.view(schema, name="tool")
    assert restored(view, {"a_b": {"a_b": 1}}) == {"a b": {"a_b": 1}}


def test_nothing_bent_needs_no_way_back() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}}
    assert all(view(schema, name="tool").restore is None for view in VIEWS.values())


@pytest.mark.parametrize(
    ("schema", "value", "meant"),
    [
        ({"type": "integer", "enum": [1, 2, 3]}, "2", 2),
        ({"type": "integer", "enum": [1, 2, 3]}, 2, 2),
        ({"type": "integer", "enum": [1, 2, 3]}, "9", "9"),
        ({"enum": [0.5, True, None, "x", ""]}, "0.5", 0.5),
        ({"enum": [0.5, True, None, "x", ""]}, "true", True),
        ({"enum": [0.5, True, None, "x", ""]}, "(empty)", ""),
        ({"enum": [0.5, True, None, "x", ""]}, "x", "x"),
        ({"enum": [1, "1"]}, "1", "1"),
        ({"anyOf": [{"enum": [1, 2]}, {"type": "string"}]}, "1", "1"),
        ({"anyOf": [{"enum": [1, 2]}, {"type": "boolean"}]}, "1", 1),
        ({"type": "integer", "allOf": [{"enum": [1, 2]}]}, "1", 1),
        ({"type": "array", "items": {"const": False}}, ["false"], [False]),
        ({"type": "object"}, '{"a": [1]}', {"a": [1]}),
        ({"type": "object"}, {"a": 1}, {"a": 1}),
        ({"type": "object"}, '{"a": 1, "a": 2}', '{"a": 1, "a": 2}'),
        ({"type": "object"}, '{"a": 1e999}', '{"a": 1e999}'),
        ({"type": "object"}, "[1]", "[1]"),
        ({"type": "object", "additionalProperties": {"enum": [1]}}, '{"a": "1"}', {"a": 1}),
        ({"type": "object", "properties": {}}, {"unused": True}, {}),
        ({"type": "object", "properties": {}}, {}, {}),
        ({"type": "object", "properties": {}}, "{}", {}),
        ({"type": "object", "properties": {}, "additionalProperties": False}, {"unused": False}, {}),
        ({}, '{"a": 1}', {"a": 1}),
        ({}, "5", "5"),
        ({}, "plain", "plain"),
        ({"type": "string"}, '{"a": 1}', '{"a": 1}'),
        ({"type": ["string", "object"]}, '{"a": 1}', '{"a": 1}'),
        ({"type": "array"}, ['{"a": 1}', "x", 2], [{"a": 1}, "x", 2]),
    ],
)
def test_texts_that_stand_for_other_values_are_read_back(schema: Any, value: Any, meant: Any) -> None:
    back = gemini_back(schema, value)
    assert json.dumps(back) == json.dumps(meant)


def test_what_lies_below_a_cut_recursion_comes_back_from_its_text() -> None:
    node = {"type": "object", "properties": {"v": {"type": "integer"}, "kids": {"items": {"$ref": "#/$defs/N"}}}}
    schema = {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}, "$defs": {"N": node}}
    view = gemini.view(schema, name="tool")
    assert any("recursion" in note for note in view.notes)
    deep = {"v": 4, "kids": [{"v": 5}]}
    bent = {"n": {"v": 1, "kids": [{"v": 2, "kids": [{"v": 3, "kids": [json.dumps(deep)]}]}]}}
    meant = {"n": {"v": 1, "kids": [{"v": 2, "kids": [{"v": 3, "kids": [deep]}]}]}}
    assert restored(view, bent) == meant


def test_a_tool_of_free_arguments_takes_them_as_one_text_from_gemini() -> None:
    view = gemini.view({"type": "object", "additionalProperties": True}, name="tool")
    (key,) = view.parameters["properties"]
    assert restored(view, {key: '{"a": {"b": 1}}'}) == {"a": {"b": 1}}
    assert restored(view, {"a": 1}) == {"a": 1}
    assert restored(view, {key: "no json"}) == {key: "no json"}


def test_null_for_what_an_alternative_lacks_is_taken_away_in_strict_mode() -> None:
    options = [
        {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        {"type": "object", "properties": {"name": {"type": ["string", "null"]}, "x": {"type": "integer"}}},
    ]
    view = openai.view({"anyOf": options}, name="tool")
    assert view.strict
    assert restored(view, {"id": "1", "name": None, "x": None}) == {"id": "1", "name": None}


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.sampled_from(["{", "[1]", "{}"])),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(["a", "b_c", "k", "unused", "arguments_json", "n"]), inner, max_size=4),
        ),
        max_leaves=12,
    )
)
def test_the_way_back_takes_anything(value: Any) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/A"},
            "b c": {"enum": [1, {"x": 2}]},
            "k": {"type": "object", "properties": {}},
            "n": {"prefixItems": [{"$ref": "#"}, {"const": 3}]},
        },
        "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "array", "items": {"$ref": "#"}}]}},
    }
    for view in VIEWS.values():
        arguments = value if isinstance(value, dict) else {"a": value}
        assert isinstance(restored(view(schema, name="tool"), arguments), dict)


def test_arguments_nested_without_end_do_not_break_the_way_back() -> None:
    schema = {"type": "object", "properties": {"a[b]": {"$ref": "#"}}}
    value: dict[str, Any] = {}
    for _ in range(5000):
        value = {"a_b_": value}
    assert list(restored(anthropic.view(schema, name="tool"), value)) == ["a[b]"]
