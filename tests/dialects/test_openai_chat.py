from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from toolcrib.call import Result
from toolcrib.dialects import format_of
from toolcrib.dialects.recognise import read_any
from toolcrib.dialects.stream import StreamReader
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Reply

CHAT = format_of("openai")


def chunk(delta: Any, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [choice], **more}


def piece(
    arguments: Any = None, *, index: int | None = None, id: str | None = None, name: str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    call: dict[str, Any] = {"function": function}
    if index is not None:
        call["index"] = index
    if id is not None:
        call["id"] = id
    return call


def streamed(*deltas: list[Any], reason: str = "tool_calls") -> Reply:
    reader = StreamReader()
    for calls in deltas:
        reader.feed(chunk({"tool_calls": calls}))
    reader.feed(chunk({}, reason))
    return reader.finish()


def calls(reply: Reply) -> list[tuple[str, str | None]]:
    return [(asked.name, asked.raw) for asked in reply.calls]


def completion(message: dict[str, Any], reason: str = "tool_calls") -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}


def message(*made: tuple[Any, str, Any]) -> dict[str, Any]:
    tool_calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": text}} for id, name, text in made
    ]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def result(code: Any = "ok", *content: dict[str, Any]) -> Result:
    return Result(code=code, state="executed", call_id="ours", content=content)


# Streams


def test_a_name_after_a_complete_object_at_the_same_index_opens_another_call() -> None:
    reply = streamed(
        [piece('{"p":"a"}', index=0, id="c1", name="read")],
        [piece('{"p":"b"}', index=0, name="read")],
        [piece('{"p":"c"}', index=0, name="read")],
    )
    assert calls(reply) == [("read", '{"p":"a"}'), ("read", '{"p":"b"}'), ("read", '{"p":"c"}')]
    assert len({asked.id for asked in reply.calls}) == 3
    assert reply.calls[0].id == "c1"


def test_an_id_after_a_complete_object_at_the_same_index_opens_another_call() -> None:
    reply = streamed(
        [piece('{"a":', index=0, id="c1", name="pay")],
        [piece("1}", index=0)],
        [piece("", index=0, id="c2", name="pay")],
        [piece('{"a":1}', index=0)],
    )
    assert calls(reply) == [("pay", '{"a":1}'), ("pay", '{"a":1}')]
    assert [asked.id for asked in reply.calls] == ["c1", "c2"]


def test_calls_without_an_index_are_told_apart_by_their_ids_and_names() -> None:
    reply = streamed(
        [piece('{"a":1}', id="c1", name="f"), piece('{"a":1}', id="c2", name="f")],
        [piece("", id="c3", name="g")],
        [piece("{}")],
    )
    assert calls(reply) == [("f", '{"a":1}'), ("f", '{"a":1}'), ("g", "{}")]


def test_two_unnamed_ids_in_one_chunk_are_two_calls_even_without_arguments() -> None:
    reply = streamed([piece(index=0, id="a", name="now"), piece(index=0, id="b", name="now")])
    assert calls(reply) == [("now", ""), ("now", "")]


def test_interleaved_calls_keep_their_own_arguments() -> None:
    reply = streamed(
        [piece("", index=0, id="a", name="f"), piece("", index=1, id="b", name="g")],
        [piece('{"x"', index=0), piece('{"y"', index=1)],
        [piece(":1}", index=0)],
        [piece(":2}", index=1)],
    )
    assert calls(reply) == [("f", '{"x":1}'), ("g", '{"y":2}')]


@pytest.mark.parametrize(
    "texts",
    [
        ['{"city":', '"Paris"}', '{"city":"Paris"}'],
        ['{"city":', '"Paris"}', '{"city": "Paris"}'],
        ['{"city"', '{"city":"Pa', '{"city":"Paris"}'],
        ["{}", '{"city":', '"Paris"}'],
        ["", '{"city":"Paris"}', ""],
        [None, '{"city":', None, '"Paris"}'],
    ],
)
def test_arguments_that_are_restated_grow_or_come_with_gaps_are_read_once(texts: list[Any]) -> None:
    first = piece("", index=0, id="c1", name="weather")
    reply = streamed([first], *[[piece(text, index=0)] for text in texts])
    assert len(reply.calls) == 1
    assert json.loads(reply.calls[0].raw or "") == {"city": "Paris"}


def test_a_nested_object_that_begins_like_its_parent_is_no_restatement() -> None:
    reply = streamed([piece('{"a":', index=0, id="c", name="f")], [piece('{"a":1}', index=0)], [piece("}", index=0)])
    assert calls(reply) == [("f", '{"a":{"a":1}}')]


def test_a_call_said_again_whole_is_one_call() -> None:
    whole = piece('{"a":1}', index=0, id="c1", name="pay")
    assert calls(streamed([whole], [whole])) == [("pay", '{"a":1}')]


@pytest.mark.parametrize(
    "names", [["get_", "weather"], ["get_weather", "", None], ["get_", "get_weather"], ["get_weather"] * 3]
)
def test_a_name_may_come_in_pieces_empty_or_repeated(names: list[Any]) -> None:
    pieces = [[piece("", index=0, id="c1" if not place else None, name=name)] for place, name in enumerate(names)]
    assert calls(streamed(*pieces, [piece("{}", index=0)])) == [("get_weather", "{}")]


def test_an_id_that_changes_with_every_chunk_is_one_call_under_its_first_id() -> None:
    reply = streamed(
        [piece("", index=0, id="r1", name="f")],
        [piece('{"a"', index=0, id="r2", name="f")],
        [piece(":1}", index=0, id="r3")],
        [piece("", index=0, id="r4")],
    )
    assert calls(reply) == [("f", '{"a":1}')]
    assert reply.calls[0].id == "r1"


def test_empty_deltas_and_news_without_choices_change_nothing() -> None:
    reader = StreamReader()
    for event in [
        {"type": "ping"},
        {"id": "x", "object": "chat.completion.chunk", "choices": [], "prompt_filter_results": []},
        chunk(None),
        chunk({"role": "assistant", "content": None, "tool_calls": None}),
        chunk({"tool_calls": [None, piece(None, index=0, id="c1", name="f")]}),
        chunk({"tool_calls": [piece("{}", index=0)]}),
        chunk({}, "tool_calls"),
        {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 3}},
    ]:
        reader.feed(event)
    reply = reader.finish()
    assert calls(reply) == [("f", "{}")]
    assert reply.echo[0]["role"] == "assistant"


def test_only_the_first_choice_is_read() -> None:
    reader = StreamReader()
    other = {"index": 1, "delta": {"content": "no", "tool_calls": [piece("{}", index=0, id="z", name="g")]}}
    first = {"index": 0, "delta": {"content": "yes"}}
    assert reader.feed({"object": "chat.completion.chunk", "choices": [other, first]}) == ["yes"]
    reader.feed(chunk({}, "stop"))
    assert reader.finish().text == "yes"
    assert not reader.finish().calls


def test_unknown_fields_of_a_stream_are_kept_in_the_echo() -> None:
    reader = StreamReader()
    call = piece("{}", index=0, id="c", name="f") | {"extra_content": {"google": {"thought_signature": "SIG"}}}
    for delta in ({"reasoning_content": "Let me "}, {"reasoning_content": "think"}, {"tool_calls": [call]}):
        reader.feed(chunk(delta))
    reader.feed(chunk({}, "tool_calls"))
    echo = reader.finish().echo[0]
    assert echo["reasoning_content"] == "Let me think"
    assert echo["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "SIG"}}


def test_a_legacy_function_call_is_streamed_too() -> None:
    reader = StreamReader()
    reader.feed(chunk({"function_call": {"name": "f", "arguments": ""}}))
    reader.feed(chunk({"function_call": {"arguments": '{"a":1}'}}))
    reader.feed(chunk({}, "function_call"))
    reply = reader.finish()
    assert calls(reply) == [("f", '{"a":1}')]
    assert CHAT.results(reply, [result("ok")]) == [{"role": "function", "name": "f", "content": "(no output)"}]


def test_a_stream_without_its_finish_reason_is_cut_even_after_its_end_mark() -> None:
    reader = StreamReader()
    event = chunk({"tool_calls": [piece("{}", index=0, id="c", name="f")]})
    reader.feed(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n")
    with pytest.raises(CutReply):
        reader.finish()


def test_an_error_in_the_stream_is_raised_with_the_provider_s_text() -> None:
    reader = StreamReader()
    reader.feed(chunk({"content": "Hel"}))
    with pytest.raises(ReplyError, match="overloaded"):
        reader.feed({"error": {"message": "The server is overloaded", "type": "server_error"}})


@given(st.lists(st.sampled_from(['{"a":1}', '{"b":[{"c":"}"}]}', "{}"]), min_size=1, max_size=4), st.data())
def test_calls_cut_into_any_pieces_come_out_as_they_went_in(texts: list[str], data: st.DataObject) -> None:
    deltas = []
    for index, text in enumerate(texts):
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
        ends = zip([0, *cuts], [*cuts, len(text)], strict=True)
        deltas.append([piece("", index=index, id=f"c{index}", name="f")])
        deltas += [[piece(text[start:end], index=index)] for start, end in ends]
    assert calls(streamed(*deltas)) == [("f", text) for text in texts]


# Whole responses


def test_the_second_of_two_equal_ids_gets_its_own_in_echo_and_result() -> None:
    reply = read_any(completion(message(("x", "eval", '{"a":1}'), ("x", "eval", '{"a":2}'))))
    first, second = reply.calls
    assert (first.id, second.provider_call_id) == ("x", "x")
    assert second.id not in ("x", "")
    assert [call["id"] for call in reply.echo[0]["tool_calls"]] == [first.id, second.id]
    sent = CHAT.results(reply, [result(), result()])
    assert [each["tool_call_id"] for each in sent] == [first.id, second.id]


@pytest.mark.parametrize("blank", ["", "  ", None])
def test_blank_ids_are_minted_and_the_same_each_time(blank: Any) -> None:
    document = completion(message((blank, "f", "{}"), ("kept", "f", "{}"), (blank, "f", "{}")))
    reply = read_any(document)
    ids = [asked.id for asked in reply.calls]
    assert ids[1] == "kept"
    assert len(set(ids)) == 3
    assert all(id.strip() for id in ids)
    assert read_any(document) == reply


def test_minted_ids_of_two_replies_differ() -> None:
    one = read_any(completion(message(("", "f", "{}"))))
    other = read_any(completion(message(("", "f", "{}"))) | {"id": "chatcmpl-2"})
    assert one.calls[0].id != other.calls[0].id


def test_a_bare_message_is_read_and_unset_and_empty_fields_are_left_out() -> None:
    bare = message(("c", "f", "{}")) | {"function_call": None, "reasoning_content": "hm", "refusal": None}
    reply = read_any(bare)
    assert reply.echo == [{key: value for key, value in bare.items() if key != "function_call"}]
    assert read_any({"role": "assistant", "content": "Hi", "tool_calls": []}).echo == [
        {"role": "assistant", "content": "Hi"}
    ]


def test_null_content_beside_calls_stays_null() -> None:
    assert read_any(completion(message(("c", "f", "{}")))).echo[0]["content"] is None


def test_a_stop_for_calls_without_any_is_a_problem() -> None:
    for calls_field in ({}, {"tool_calls": []}, {"tool_calls": None}):
        reply = read_any(completion({"role": "assistant", "content": None, **calls_field}))
        assert reply.calls == ()
        assert "holds none" in (reply.problem or "")
    assert streamed([], reason="tool_calls").problem


@pytest.mark.parametrize("reason", ["length", "content_filter", "insufficient_system_resource"])
def test_a_reply_that_was_stopped_before_its_last_arguments_gives_no_empty_call(reason: str) -> None:
    reply = read_any(completion(message(("a", "now", ""), ("b", "wipe", "")), reason))
    assert reply.calls[0].raw == ""
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(reply.calls[1].raw or "null")


def test_a_cut_argument_text_is_left_as_it_is() -> None:
    reply = read_any(completion(message(("a", "write", '{"path": "/tmp/x", "mode": ')), "length"))
    assert reply.calls[0].raw == '{"path": "/tmp/x", "mode": '


def test_a_custom_call_carries_its_raw_text() -> None:
    made = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    reply = read_any(completion({"role": "assistant", "content": None, "tool_calls": [made]}))
    assert calls(reply) == [("sql", "select 1")]
    assert reply.echo[0]["tool_calls"] == [made]


def test_arguments_given_as_a_value_are_read_as_such_and_echoed_as_text() -> None:
    reply = read_any(completion(message(("c", "f", {"a": 1}))))
    assert reply.calls[0].raw is None
    assert reply.calls[0].arguments == {"a": 1}
    assert reply.echo[0]["tool_calls"][0]["function"]["arguments"] == '{"a":1}'


def test_what_the_sdk_adds_to_parsed_replies_does_not_go_back() -> None:
    parsed = message(("c", "f", "{}")) | {"parsed": None}
    parsed["tool_calls"][0]["function"]["parsed_arguments"] = {}
    assert read_any(parsed).echo == [message(("c", "f", "{}"))]


# Results


def test_results_say_what_is_empty_failed_or_cannot_be_shown() -> None:
    reply = read_any(message(*[(f"c{place}", "f", "{}") for place in range(5)]))
    image = {"type": "image", "data": "aGVsbG8=", "media_type": "image/png"}
    sent = CHAT.results(
        reply,
        [
            result("ok", {"type": "text", "text": "21 °C"}),
            result("ok", {"type": "text", "text": " "}),
            result("tool_error", {"type": "text", "text": "no such city"}),
            result("ok", {"type": "text", "text": "here:"}, image),
            result("denied"),
        ],
    )
    texts = [each["content"] for each in sent]
    assert texts[:3] == ["21 °C", "(no output)", "Error: no such city"]
    assert texts[3].startswith("here:\n[image (image/png")
    assert "not shown" in texts[3]
    assert texts[4] == "Error: denied"
    TypeAdapter(list[ChatCompletionMessageParam]).validate_python([*reply.echo, *sent])


def test_no_calls_need_no_results_and_no_tools_no_field() -> None:
    assert CHAT.results(read_any({"role": "assistant", "content": "Hi"}), []) == []
    assert CHAT.request([]) == {}


def test_an_index_or_a_name_that_comes_late_belongs_to_the_call_that_is_there() -> None:
    assert calls(streamed([piece("", id="c", name="f")], [piece('{"a":1}', index=0)])) == [("f", '{"a":1}')]
    assert calls(streamed([piece('{"a":1}', index=0)], [piece("", index=0, id="c", name="f")])) == [("f", '{"a":1}')]
