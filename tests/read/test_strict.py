from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.read.strict import BadJson, examine, parse, repeats_none, same, survey

SUITE = Path(__file__).resolve().parents[3] / "shared" / "data" / "json_parsing.jsonl"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_the_standard_test_suite_is_read_as_it_demands() -> None:
    if not SUITE.exists():
        pytest.skip("JSONTestSuite is not here (json_parsing.jsonl is looked for in ../shared/data)")
    for line in SUITE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = base64.b64decode(row["base64"])
        try:
            parse(text)
            accepted = True
        except BadJson:
            accepted = False
        if row["name"].startswith(("y_", "n_")):
            assert accepted is row["name"].startswith("y_"), row["name"]


@given(JSON)
def test_any_json_value_round_trips(value: object) -> None:
    text = json.dumps(value)
    assert same(parse(text), value)
    assert same(parse(text.encode()), value)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ('{"a": }', 6), ('{"é": x}', 6), ('{"a":1,\n "b": x}', 14), ("{", 1), ('{"a":1}x', 7), ("NaN", 0), ("01", 1),
        ('"a\nb"', 2), ("\ufeff{}", 0), ("'a'", 0), ("[1,]", 3), ('{"a":"\ud800"}', 6),
    ],
)  # fmt: skip
def test_a_fault_is_placed(text: str, position: int) -> None:
    with pytest.raises(BadJson) as caught:
        parse(text)
    assert caught.value.position is not None
    assert abs(caught.value.position - position) <= 1


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * 300 + "]" * 300, '{"a":' * 300 + "1" + "}" * 300, "1e999", "[-1e999]", "9" * 5000, "9" * 1300,
     '"\\ud800"', b'"\xff"', b"\xff"],
)  # fmt: skip
def test_what_is_out_of_bounds_is_refused_cleanly(text: str | bytes) -> None:
    with pytest.raises(BadJson):
        parse(text)


def test_negative_zero_and_long_integers_are_kept() -> None:
    assert repr(parse("-0.0")) == "-0.0"
    assert parse("123456789012345678901234567890") == 123456789012345678901234567890


def test_nesting_up_to_the_bound_is_read() -> None:
    assert parse("[" * 200 + "]" * 200) is not None


@given(JSON)
def test_a_text_without_repeated_keys_has_none(value: object) -> None:
    parsed = examine(json.dumps(value))
    assert parsed.repeated == []
    assert parsed.conflicting == []


@pytest.mark.parametrize(
    "text",
    ['{"a":1,"a":1}', '{"a" :1,"a":":"}', '{"a":1,"\\u0061":1}', '{"b":{"a":1,"a":2}}', '[{"a":1,"a":1,"x":"\\":"}]',
     '{"a"\n:1,"a":1}'],
)  # fmt: skip
def test_a_repeated_key_is_never_proved_absent(text: str) -> None:
    keys, _ = survey(json.loads(text))
    assert not repeats_none(text, keys)
    assert examine(text).repeated or examine(text).conflicting


def test_a_text_with_colons_inside_is_proved_without_the_long_way() -> None:
    assert repeats_none('{"url":"https://example.org:8080/","at":"10:30"}', 2)


def test_rounded_whole_numbers_are_told() -> None:
    assert examine("[9007199254740993.5, 42.0, 1.5, 42.00000000000000001]").rounded == {9007199254740994.0, 42.0}
    assert examine("[42.0, 1e3, 1e400, 0.1]".replace("1e400, ", "")).rounded == set()


def test_kinds_of_values_are_told_apart() -> None:
    assert not same(1, True)
    assert not same(1, 1.0)
    assert not same({"a": [1]}, {"a": [1.0]})
    assert not same(0.0, -0.0)
    assert same({"a": 1, "b": None}, {"b": None, "a": 1})
