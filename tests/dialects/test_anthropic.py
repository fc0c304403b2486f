from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from anthropic._models import construct_type  # how the client itself builds what it returns
from anthropic.types import Message as SdkMessage
from anthropic.types import MessageParam, ToolParam
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from toolcrib.call import Code, Result, Tool
from toolcrib.dialects.anthropic import AnthropicFormat
from toolcrib.dialects.plain import plain
from toolcrib.errors import CutReply, ReplyError

DATA = Path(__file__).parents[3] / "shared" / "data" / "provider_responses"
FORMAT = AnthropicFormat()
PNG = base64.b64encode(b"\x89PNG....").decode()
PARAM = TypeAdapter(MessageParam)


def recorded(pattern: str) -> list[Any]:
    found = sorted(DATA.glob(pattern)) if DATA.is_dir() else []
    if not found:
        return [pytest.param(None, marks=pytest.mark.skip(reason="needs ../shared/data/provider_responses"))]
    return [pytest.param(path, id=path.name) for path in found]


def messages_of(path: Path) -> list[list[dict[str, Any]]]:
    """The streams a recording holds, one for each message."""
    streams: list[list[dict[str, Any]]] = []
    for line in path.read_text().splitlines():
        event = json.loads(line)
        if event["type"] == "message_start":
            streams.append([])
        streams[-1].append(event)
    return streams


def assembled(events: list[dict[str, Any]]) -> dict[str, Any]:
    assembler = FORMAT.assembler()
    for event in events:
        assembler.feed(event)
    return assembler.whole()


def message(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": list(blocks)}
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {**base, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage, **more}


def use(id: Any = "toolu_1", name: str = "f", input: Any = None, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": {"a": 1} if input is None else input, **more}


def stream(*pieces: str | None, stop: str = "tool_use", name: str = "f") -> list[dict[str, Any]]:
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return [
        {"type": "message_start", "message": message(stop_reason=None)},
        {"type": "content_block_start", "index": 0, "content_block": use(name=name, input={})},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]


def result(*content: dict[str, Any], code: Code = "ok") -> Result:
    return Result(code=code, state="executed", call_id="c", content=content)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize("path", recorded("anthropic__*.json"))
def test_a_recorded_message_reads_the_same_as_dict_sdk_object_bare_message_and_content(path: Path) -> None:
    whole = json.loads(path.read_text())
    reply = FORMAT.read(whole)
    assert reply.echo == [{"role": "assistant", "content": whole["content"]}]
    assert reply.response_id == whole["id"]
    assert [(call.name, call.arguments) for call in reply.calls] == [
        (block["name"], block["input"]) for block in whole["content"] if block["type"] == "tool_use"
    ]
    bare = {"role": "assistant", "content": whole["content"]}
    for other in (plain(construct_type(type_=SdkMessage, value=whole)), bare, whole["content"]):
        assert FORMAT.reads(other)
        assert FORMAT.read(other).echo == reply.echo
        assert FORMAT.read(other).calls == reply.calls
    PARAM.validate_python(reply.echo[0])


@pytest.mark.parametrize("path", recorded("anthropic__*.chunks.txt"))
def test_no_proper_prefix_of_a_recorded_stream_is_whole(path: Path) -> None:
    for events in messages_of(path):
        for length in range(len(events)):
            with pytest.raises(CutReply):
                assembled(events[:length])


@pytest.mark.parametrize("path", recorded("anthropic__*.chunks.txt"))
def test_a_recorded_stream_gives_each_call_its_arguments_and_an_echo_the_sdk_accepts(path: Path) -> None:
    for events in messages_of(path):
        assert all(FORMAT.streams(event) for event in events)
        reply = FORMAT.read(assembled(events))
        started = [e["content_block"] for e in events if e["type"] == "content_block_start"]
        assert [call.id for call in reply.calls] == [block["id"] for block in started if block["type"] == "tool_use"]
        assert all(isinstance(call.arguments, dict) and call.raw is None for call in reply.calls)
        assert [block["type"] for block in reply.echo[0]["content"]] == [block["type"] for block in started]
        PARAM.validate_python(reply.echo[0])


def test_a_stream_of_several_messages_is_refused() -> None:
    with pytest.raises(ReplyError, match="more than one message"):
        assembled(stream("{}") + stream("{}"))


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=8), max_size=4), st.data())
def test_arguments_in_any_pieces_equal_the_whole(arguments: dict[str, Any], data: st.DataObject) -> None:
    written = json.dumps(arguments)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=5)))
    pieces = [written[a:b] for a, b in zip([0, *cuts], [*cuts, len(written)], strict=True)]
    assert FORMAT.read(assembled(stream(*pieces))).calls[0].arguments == arguments


@pytest.mark.parametrize("pieces", [(), ("",), ("", None, ""), (" ",)])
def test_no_argument_text_means_no_arguments(pieces: tuple[str | None, ...]) -> None:
    reply = FORMAT.read(assembled(stream(*pieces)))
    assert (reply.calls[0].arguments, reply.calls[0].raw) == ({}, None)
    assert reply.echo[0]["content"][0]["input"] == {}


@pytest.mark.parametrize(
    "written", ['{"a": 1', '{"a": NaN}', "[1]", '"{}"', "null", '{"a":1,"a":2}', '{"a":"\\ud800"}']
)
def test_argument_text_that_is_no_plain_object_is_kept_and_the_echo_stays_an_object(written: str) -> None:
    reply = FORMAT.read(assembled(stream(written)))
    assert (reply.calls[0].raw, reply.calls[0].arguments) == (written, None)
    assert reply.echo[0]["content"][0]["input"] == {}
    assert reply.digest


@pytest.mark.parametrize("pieces", [(), ('{"a": 1',), ('{"a": 1}',)])
def test_a_last_call_under_max_tokens_never_reads_as_whole(pieces: tuple[str, ...]) -> None:
    reply = FORMAT.read(assembled(stream(*pieces, stop="max_tokens")))
    assert reply.calls[0].arguments is None
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(reply.calls[0].raw or "null")
    assert reply.problem


def test_calls_before_the_cut_of_max_tokens_are_whole() -> None:
    reply = FORMAT.read(message(use("a"), use("b"), stop_reason="max_tokens"))
    assert reply.calls[0].arguments == {"a": 1}
    assert reply.calls[1].arguments is None


def test_thinking_with_its_signature_and_citations_come_back_as_streamed() -> None:
    events = [
        {"type": "message_start", "message": message(stop_reason=None)},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "", "signature": ""},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Let "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "me."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "Sig/+="}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "xx"}},
        {"type": "content_block_stop", "index": 1},
        {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": "", "citations": None}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "Yes"}},
        {"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": {"type": "x"}}},
        {"type": "content_block_stop", "index": 2},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    reply = FORMAT.read(assembled(events))
    assert reply.echo[0]["content"] == [
        {"type": "thinking", "thinking": "Let me.", "signature": "Sig/+="},
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "text", "text": "Yes", "citations": [{"type": "x"}]},
    ]
    assert (reply.text, reply.calls, reply.problem) == ("Yes", (), None)


def test_a_reused_block_index_begins_a_new_block() -> None:
    events = stream('{"a": 1}')
    assert len(FORMAT.read(assembled(events[:4] + events[1:])).calls) == 2


def test_a_block_left_open_is_a_cut() -> None:
    events = [event for event in stream('{"a": 1}') if event["type"] != "content_block_stop"]
    with pytest.raises(CutReply):
        assembled(events)


def test_an_error_in_a_stream_or_in_place_of_a_message_says_what_the_provider_said() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert FORMAT.reads(error)
    assert FORMAT.streams(error)
    with pytest.raises(ReplyError, match="overloaded_error: Overloaded"):
        assembled([*stream("{}")[:2], error])
    with pytest.raises(ReplyError, match="Overloaded"):
        FORMAT.read(error)


def test_a_message_without_a_stop_reason_is_not_whole() -> None:
    with pytest.raises(CutReply):
        FORMAT.read(message(use(), stop_reason=None))


def test_provider_executed_blocks_are_echoed_and_left_alone() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "echo", "server_name": "s", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": []},
        {"type": "something_new", "opaque": {"x": [1]}},
        use(),
    ]
    reply = FORMAT.read(message(*blocks))
    assert reply.echo == [{"role": "assistant", "content": blocks}]
    assert [call.id for call in reply.calls] == ["toolu_1"]


@pytest.mark.parametrize("ids", [("x", "x"), ("", ""), (None, "y"), ("y", " ")])
def test_blank_and_repeated_ids_are_minted_alike_in_echo_and_result(ids: tuple[Any, Any]) -> None:
    reply = FORMAT.read(message(use(ids[0]), use(ids[1])))
    echoed = [block["id"] for block in reply.echo[0]["content"]]
    assert echoed == [call.id for call in reply.calls]
    assert len(set(echoed)) == 2
    assert all(id.strip() for id in echoed)
    assert [call.provider_call_id for call in reply.calls] == list(ids)
    answers = FORMAT.results(reply, [result(text("1")), result(text("2"))])
    assert [block["tool_use_id"] for block in answers[0]["content"]] == echoed


def test_what_the_api_refuses_on_input_is_left_out_of_the_echo() -> None:
    reply = FORMAT.read(message(text(""), text(" \n"), use(caller=None), text("x") | {"parsed_output": None}))
    assert reply.echo[0]["content"] == [use(), text("x")]
    assert FORMAT.read(message(stop_reason="end_turn")).echo == []


def test_a_stop_for_tool_use_without_a_call_is_a_problem() -> None:
    assert FORMAT.read(message(text("hm"))).problem
    assert FORMAT.read(message(text("hm"), stop_reason="pause_turn")).problem is None


@pytest.mark.parametrize(
    "other",
    [
        None, 3, "text", [], {}, {"role": "user", "content": [text("hi")]},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": [text("a")], "tool_calls": [{"id": "1"}]},
        [{"type": "message", "role": "assistant", "content": []}], [{"type": "function_call", "name": "f"}],
        [{"type": "tool_result", "tool_use_id": "x"}], {"type": "assistant", "message": {"content": [use()]}},
        [{"text": "hi"}], {"role": "model", "parts": [{"text": "x"}]}, {"error": {"message": "m"}},
        {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": []},
    ],
)  # fmt: skip
def test_what_is_no_anthropic_message_is_not_taken_for_one(other: Any) -> None:
    assert not FORMAT.reads(other)
    assert not FORMAT.streams(other)


def test_results_stand_in_one_user_message_in_the_order_of_the_calls() -> None:
    reply = FORMAT.read(message(use("a"), use("b"), use("c"), use("d", toolset_name="computer")))
    answers = FORMAT.results(
        reply,
        [
            result(text("fine")),
            result(text("no"), code="denied"),
            result(),
            result(text("see"), {"type": "image", "data": PNG, "media_type": "image/png"}),
        ],
    )
    assert answers == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "fine"},
                {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
                {"type": "tool_result", "tool_use_id": "c", "content": "(no output)"},
                {
                    "type": "tool_result",
                    "tool_use_id": "d",
                    "content": [
                        text("see"),
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                    ],
                    "toolset_name": "computer",
                },
            ],
        }
    ]
    PARAM.validate_python(answers[0])
    assert FORMAT.results(FORMAT.read(message(text("x"))), []) == []


def test_documents_ride_along_and_what_cannot_be_shown_is_named() -> None:
    files = [
        {"type": "file", "data": base64.b64encode(b"%PDF").decode(), "media_type": "application/pdf", "name": "a.pdf"},
        {"type": "file", "data": base64.b64encode(b"a,b").decode(), "media_type": "text/csv", "name": "a.csv"},
        {"type": "file", "data": base64.b64encode(b"PK").decode(), "media_type": "application/zip", "name": "a.zip"},
        {"type": "image", "data": PNG, "media_type": "image/tiff"},
        text(" "),
    ]
    answer = FORMAT.results(FORMAT.read(message(use())), [result(*files)])[0]
    shown = answer["content"][0]["content"]
    assert [block["type"] for block in shown] == ["document", "document", "text", "text"]
    assert shown[0]["source"] == {"type": "base64", "media_type": "application/pdf", "data": files[0]["data"]}
    assert shown[1] == {
        "type": "document", "title": "a.csv", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"},
    }  # fmt: skip
    assert "a.zip" in shown[2]["text"]
    assert "image/tiff" in shown[3]["text"]
    PARAM.validate_python(answer)


def test_a_failed_result_is_text_alone_even_with_an_image() -> None:
    image = {"type": "image", "data": PNG, "media_type": "image/png"}
    answer = FORMAT.results(FORMAT.read(message(use())), [result(text("broke"), image, code="tool_error")])[0]
    content = answer["content"][0]["content"]
    assert isinstance(content, str)
    assert content.startswith("broke\n")
    assert "image/png" in content


KEYS = ("type", "role", "content", "input", "id", "error", "stop_reason", "text")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(JSON)
def test_recognising_never_raises_and_reading_raises_only_reply_errors(value: Any) -> None:
    FORMAT.streams(value)
    if FORMAT.reads(value):
        with contextlib.suppress(ReplyError):
            assert FORMAT.read(value).dialect == FORMAT.name


def test_a_tool_is_shown_with_its_parameters_and_stays_the_same_byte_for_byte() -> None:
    tool = Tool(
        name="disk.usage", body=print, description="How full.", parameters={"properties": {"a[b]": {"type": "string"}}}
    )
    view = FORMAT.view("disk_usage", tool)
    assert set(view.spec) == {"name", "description", "input_schema"}
    assert view.spec == FORMAT.view("disk_usage", tool).spec
    empty = FORMAT.view("now", Tool(name="now", body=print)).spec
    assert empty["input_schema"] == {"type": "object", "properties": {}} | empty["input_schema"]
    assert TypeAdapter(list[ToolParam]).validate_python(FORMAT.tools([view]))
    assert FORMAT.request([view]) == {"tools": [view.spec]}
    assert FORMAT.request([]) == {}
    assert view.restore is not None
    (shown,) = view.spec["input_schema"]["properties"]
    assert view.restore({shown: "x"}) == {"a[b]": "x"}
