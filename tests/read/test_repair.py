from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.call import Tool
from toolcrib.read.reader import Reader, Reading
from toolcrib.read.strict import same

OPEN = Tool(name="open", body=lambda arguments: arguments, parameters={"type": "object", "additionalProperties": True})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=4)


def read(text: str | bytes | None, given: Any = None) -> Reading:
    return Reader(OPEN).read(text, given)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```\n', {"a": 1}),
        ('~~~JSON\n{"a": 1}~~~', {"a": 1}),
        ('```{"a": "```"}```', {"a": "```"}),
        ('\ufeff {"a": 1}\u00a0', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'theme': 'dark', 'size': 14, 'on': True, 'x': None}", {"theme": "dark", "size": 14, "on": True, "x": None}),
        ("{'a': \"it's\", 'b': 'say \"hi\"'}", {"a": "it's", "b": 'say "hi"'}),
        (r"{'a': 'it\'s \x41 \U0001F600 \u00e9'}", {"a": "it's A 😀 é"}),
        (r'{"a": "\ud83d\ude00",}', {"a": "😀"}),
        ('{"a": True, "b": False, "c": None}', {"a": True, "b": False, "c": None}),
        ("{a: 1, b_2: 'x'}", {"a": 1, "b_2": "x"}),
        ('{"a": 1 /* one */, // two\n "b": 2}', {"a": 1, "b": 2}),
        ('{"a": "one\ntwo\tthree"}', {"a": "one\ntwo\tthree"}),
        ('{"a": 1}{"a": 1}', {"a": 1}),
        ('{"a": 1}\n{ "a" : 1 }\n{"a":1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("\"{'a': 1,}\"", {"a": 1}),
        ('```json\n"{\\"a\\": 1}"\n```', {"a": 1}),
        ('{"a": 1, "a": 1}', {"a": 1}),
    ],
)
def test_what_has_one_reading_is_read_with_a_note(text: str, value: dict[str, Any]) -> None:
    reading = read(text)
    assert reading.problem is None
    assert same(reading.arguments, value)
    assert reading.notes or text.strip("\ufeff \u00a0").startswith('{"a": 1}')


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "null", " null ", "{}", None, b"", '""', '"null"', "```\n{}\n```"])
def test_nothing_is_no_arguments(text: str | bytes | None) -> None:
    assert read(text).arguments == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"path": "/tmp/x", "mode": ', '{"a": "b', '{"a": 1', '{"a": [1, 2}', '{"a": 1]', "{", '"', '{"a"', '{"a":1},',
        '{"a":1}{"a":2}', '{"a":1}{"a":1', '{}{"a":1}', '{"a":1},{"a":1}', '{"a":1} and so on', 'Sure: {"a":1}',
        "file_path=foo", "a: 1", "[1,2,3]", "5", "true", '"x"', '"[1]"', '"\\"{}\\""', "NaN", '{"a": NaN}',
        '{"a": Infinity}', '{"a": -Infinity}', '{"a": undefined}', '{"a": 01}', '{"a": 1_000}', '{"a": 0x10}',
        '{"a": .5}', '{"a": +1}', '{"a": "C:\\dir"}', '{"a": "\\ud800"}', '{"a": "b" "c"}', "{'a': 'it's'}",
        '{"q": "say "hi""}', "{,}", '{"a": 1,,}', '{"a" 1}', '{"a": 1 "b": 2}', '{"a": (1, 2)}', '{"a": {1, 2}}',
        "{None: 1}", "{true: 1}", '```json\n{"a": 1}', '```json\n{"a": 1}\n```\nDone.',
        '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', '{"a": 1, "a": 2}', '{"a": {"b": 1, "b": true}}',
        '{"a": 1, "a": 1.0}', '{"a": /* */}', '{"a": 1} /* open', '{"a": 1e400}', '{"a":\x00 1}', '{"a": "\x01",}',
        "<tool>{}</tool>", "{'a': 1, 'a': 2}", '{"a": "' + "\ud800" + '"}',
    ],
)  # fmt: skip
def test_what_is_cut_off_or_ambiguous_or_something_else_is_refused(text: str) -> None:
    reading = read(text)
    assert reading.arguments is None
    assert reading.problem is not None
    assert len(reading.problem) < 4000


def test_bytes_that_are_no_utf8_are_refused() -> None:
    assert read(b'{"a": "\xff"}').arguments is None
    assert read('{"a": "é"}'.encode()).arguments == {"a": "é"}


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 1000 + "1" + "}" * 1000, "{'a':" * 1000 + "1" + "}" * 1000, "[" * 100_000, "{'a':" * 100_000,
     '{"a": ' + "9" * 5000 + "}", '{"a": ' + "9" * 1300 + ",}", '{"a": "' + "\\" * 99_999 + '"}'],
)  # fmt: skip
def test_a_text_that_goes_too_deep_or_too_far_is_refused_cleanly(text: str) -> None:
    reading = read(text)
    assert reading.arguments is None
    assert reading.problem


@pytest.mark.parametrize(
    "given", [[1], "x", 5, True, {"a": float("nan")}, {"a": (1,)}, {1: 2}, {"a": b"x"}, {"a": {1}}, {"a": 1 << 5000},
              {"a": "\ud800"}, object()]
)  # fmt: skip
def test_an_object_that_is_no_json_object_is_refused(given: Any) -> None:
    assert read(None, given).arguments is None


def test_an_object_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["a"] = loop
    assert read(None, loop).arguments is None


def test_a_given_object_is_copied() -> None:
    inner = [1]
    reading = read(None, {"a": inner})
    inner.append(2)
    assert reading.arguments == {"a": [1]}


def test_the_problem_of_broken_text_says_where_shows_a_piece_and_the_schema(
    schema_tool: Callable[..., Tool],
) -> None:
    tool = schema_tool({"path": {"type": "string"}})
    problem = Reader(tool).read('{"path": "' + "x" * 5000).problem
    assert problem is not None
    assert "not valid JSON" in problem
    assert "character 5010" in problem
    assert '{"path":{"type":"string"}}' in problem
    assert len(problem) < 1000


@given(OBJECTS)
def test_any_object_round_trips(value: dict[str, Any]) -> None:
    reading = read(json.dumps(value))
    assert same(reading.arguments, value)
    assert reading.notes == ()
    assert same(read(None, value).arguments, value)


@given(OBJECTS)
def test_any_object_written_as_python_is_read_as_it_is_or_refused(value: dict[str, Any]) -> None:
    reading = read(repr(value))
    assert reading.arguments is None or same(reading.arguments, value)


@given(OBJECTS)
def test_any_object_encoded_twice_fenced_or_restated_is_the_same(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    for bent in (json.dumps(text), f"```json\n{text}\n```", text + text, f"{text[:-1]}{',' if value else ''}}}"):
        assert same(read(bent).arguments, value)


@given(OBJECTS, st.data())
def test_a_text_cut_anywhere_never_runs(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert read(cut).arguments is None


@given(st.text(alphabet="{}[]'\":,ab1 \\\n#/*`TrueNon", max_size=25))
def test_no_text_crashes_the_reader_or_is_read_unlike_json(text: str) -> None:
    reading = read(text)
    assert (reading.arguments is None) is (reading.problem is not None)
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict) and reading.arguments is not None:
        assert same(reading.arguments, value)
