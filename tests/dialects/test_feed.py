from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.dialects.feed import Feed
from toolcrib.errors import CutReply, ReplyError, UnknownFormat

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text('"\\{}[]é🙂\n\r:, data', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab{}", max_size=2), inner, max_size=3),
    max_leaves=6,
)
EVENTS = st.lists(st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES, max_size=3), min_size=1, max_size=4)


def fed(data: bytes | str, cuts: list[int] | None = None) -> list[dict[str, Any]]:
    feed, events = Feed(), []
    ends = sorted(cuts or [])
    for start, end in zip([0, *ends], [*ends, len(data)], strict=True):
        events += feed.feed(data[start:end])
    return events + feed.finish()


def sse(events: list[Any], end: str = "\n") -> str:
    return "".join(f": note{end}data: {json.dumps(event, ensure_ascii=False)}{end}{end}" for event in events)


WRITERS = {
    "sse": sse,
    "sse with carriage returns": lambda events: sse(events, "\r\n"),
    "sse with old line ends": lambda events: sse(events, "\r"),
    "sse with an end mark": lambda events: sse(events) + "data: [DONE]\n\n",
    "json lines": lambda events: "\n".join(json.dumps(event) for event in events),
    "json lines with an end mark": lambda events: "\r\n".join([*(json.dumps(event) for event in events), "[DONE]", ""]),
    "values without separators": lambda events: "".join(json.dumps(event, ensure_ascii=False) for event in events),
    "pretty-printed values": lambda events: "\n".join(json.dumps(event, indent=2) for event in events),
    "one array": lambda events: json.dumps(events, ensure_ascii=False),
    "one pretty-printed array": lambda events: "\n" + json.dumps(events, indent=1) + "\n",
}


@pytest.mark.parametrize("form", WRITERS)
@given(EVENTS, st.data())
def test_events_come_out_as_they_went_in_however_they_are_written_and_cut(
    form: str, events: list[dict[str, Any]], data: st.DataObject
) -> None:
    text = WRITERS[form](events)
    raw = text.encode()
    bom = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=8))
    assert fed(bom + raw, cuts) == events
    assert fed(text, data.draw(st.lists(st.integers(0, len(text)), max_size=8))) == events


@pytest.mark.parametrize("form", WRITERS)
@given(EVENTS, st.data())
def test_a_part_of_a_stream_gives_its_first_events_or_is_cut(
    form: str, events: list[dict[str, Any]], data: st.DataObject
) -> None:
    raw = WRITERS[form](events).encode()
    part = raw[: data.draw(st.integers(0, len(raw)))]
    try:
        got = fed(part)
    except CutReply:
        return
    assert got == events[: len(got)]


def test_an_event_is_given_out_as_soon_as_it_is_whole() -> None:
    feed = Feed()
    assert feed.feed('[{"a":1}') == [{"a": 1}]
    assert feed.feed(',\n{"a"') == []
    assert feed.feed(":2}") == [{"a": 2}]
    assert feed.feed("]") == []
    feed = Feed()
    assert feed.feed("data: {}\n") == []
    assert feed.feed("\n") == [{}]


def test_lines_without_their_ends_are_events_at_once() -> None:
    feed = Feed()
    got = [feed.feed(line) for line in ("event: x", 'data: {"a":1}', "", 'data: {"a":"data:"}', 'data: {"a":3}', "")]
    assert got == [[], [], [{"a": 1}], [], [], [{"a": "data:"}, {"a": 3}]]
    assert feed.finish() == []


def test_the_data_of_one_event_may_span_lines_and_events_may_lack_their_blank_line() -> None:
    assert fed('data: {"a":\ndata: 1}\n\n') == [{"a": 1}]
    assert fed('data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n') == [{"a": 1}, {"a": 2}]
    assert fed('event: x\nid: 7\nretry: 10\ndata:{"a":1}') == [{"a": 1}]


def test_keep_alives_are_left_out() -> None:
    assert fed('\n\n: OPENROUTER PROCESSING\n\ndata:\n\ndata: ping\n\ndata: null\n\ndata: {"a":1}\n\n') == [{"a": 1}]


def test_the_name_of_an_event_counts_where_its_data_has_none() -> None:
    assert fed("event: message_stop\ndata: {}\n\n") == [{"type": "message_stop"}]
    with pytest.raises(ReplyError, match="too many requests"):
        fed("event: error\ndata: too many requests\n\n")


@pytest.mark.parametrize(
    "text", ['{"a": NaN}', '{"a": Infinity}', "{'a': 1}", '{"a": 1,}', '{"a": "\\ud800"}', "[1, 2]"]
)
def test_what_is_no_strict_json_is_refused(text: str) -> None:
    with pytest.raises(UnknownFormat):
        fed(text)


@pytest.mark.parametrize("text", ["Hello, I am fine.", "<html></html>", "HTTP/1.1 200 OK\n"])
def test_plain_text_is_named(text: str) -> None:
    with pytest.raises(UnknownFormat, match="plain text"):
        fed(text)


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": "x', "[{}", "[{},", 'data: {"a"', 'data: {"a":1\n\n', "[{}]{"])
def test_an_end_inside_a_value_is_a_cut(text: str) -> None:
    with pytest.raises(CutReply):
        fed(text)


def test_an_end_inside_a_character_is_a_cut_and_other_bytes_are_no_text() -> None:
    with pytest.raises(CutReply):
        fed('data: "é'.encode()[:-1])
    with pytest.raises(UnknownFormat, match="UTF-8"):
        fed(b"\xff\xfe{\x00}\x00")


def test_nothing_gives_nothing() -> None:
    assert fed("") == fed(b" \n\n ") == []


def test_empty_chunks_in_the_middle_of_a_line_change_nothing() -> None:
    feed = Feed()
    got = [event for part in ("event: mess", "", "age_stop\ndata: {", "", "}\n\n") for event in feed.feed(part)]
    assert got == [{"type": "message_stop"}]
