from __future__ import annotations

import json
from typing import Any

import pytest
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from toolcrib.call import Result
from toolcrib.dialects import format_of
from toolcrib.dialects.recognise import read_any
from toolcrib.dialects.stream import StreamReader
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Reply

RESPONSES = format_of("openai-responses")
CALL = {"type": "function_call", "id": "fc_9", "call_id": "call_9", "name": "f", "arguments": "{}"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}


def response(*items: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "status": status, "error": None, "output": list(items)} | more


def result(code: Any = "ok", *content: dict[str, Any]) -> Result:
    return Result(code=code, state="executed", call_id="ours", content=content)


def streamed(*events: dict[str, Any]) -> Reply:
    reader = StreamReader()
    for event in events:
        reader.feed(event)
    return reader.finish()


CREATED = {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}
COMPLETED = {"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": []}}


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def arguments(index: int, what: str, text: str) -> dict[str, Any]:
    key = "delta" if what == "delta" else "arguments"
    return {"type": f"response.function_call_arguments.{what}", "output_index": index, key: text}


# Whole responses


def test_an_output_item_names_the_call_by_its_call_id() -> None:
    reply = read_any(response(REASONING, CALL))
    assert reply.echo == [REASONING, CALL]
    assert [(asked.id, asked.provider_call_id) for asked in reply.calls] == [("call_9", "call_9")]
    assert RESPONSES.results(reply, [result("ok", {"type": "text", "text": "1"})]) == [
        {"type": "function_call_output", "call_id": "call_9", "output": "1"}
    ]


@pytest.mark.parametrize("form", [response(REASONING, CALL), [REASONING, CALL], {"output": [REASONING, CALL]}])
def test_a_response_its_output_and_its_items_are_all_read(form: Any) -> None:
    reply = read_any(form)
    assert reply.dialect == "openai-responses"
    assert reply.echo == [REASONING, CALL]
    assert len(reply.calls) == 1


def test_items_that_the_provider_runs_are_echoed_and_left_alone() -> None:
    hosted = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
        {"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": "{}", "server_label": "s", "output": "x"},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "1", "container_id": "c", "status": "completed"},
        {"type": "tool_search_call", "id": "ts_1", "arguments": {}, "call_id": None, "execution": "server"},
        {"type": "program", "id": "cm_1", "call_id": "call_p", "code": "f()", "fingerprint": "x"},
    ]
    reply = read_any(response(*hosted))
    assert reply.echo == hosted
    assert reply.calls == ()
    assert reply.problem is None


def test_what_the_program_must_answer_itself_is_a_problem() -> None:
    reply = read_any(response({"type": "computer_call", "id": "cu_1", "call_id": "c", "action": {"type": "wait"}}))
    assert "computer_call" in (reply.problem or "")


def test_a_call_of_a_hosted_program_is_ours_and_answered_to_that_program() -> None:
    caller = {"type": "program", "caller_id": "call_p"}
    reply = read_any(response({**CALL, "status": "in_progress", "caller": caller}))
    assert reply.calls[0].raw == "{}"
    sent = RESPONSES.results(reply, [result("ok", {"type": "text", "text": "1"})])
    assert sent[0]["caller"] == caller


def test_a_custom_call_is_answered_in_kind() -> None:
    made = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sql", "input": "select 1"}
    reply = read_any(response(made))
    assert [(asked.name, asked.raw) for asked in reply.calls] == [("sql", "select 1")]
    sent = RESPONSES.results(reply, [result("tool_error", {"type": "text", "text": "no table"})])
    assert sent == [{"type": "custom_tool_call_output", "call_id": "c", "output": "Error: no table"}]


def test_the_wrapper_for_parallel_calls_is_one_call_under_its_own_name() -> None:
    uses = {"tool_uses": [{"recipient_name": "functions.weather", "parameters": {"city": "Rome"}}] * 2}
    reply = read_any(response({**CALL, "name": "parallel", "arguments": json.dumps(uses)}))
    assert [asked.name for asked in reply.calls] == ["parallel"]
    assert len(RESPONSES.results(reply, [result()])) == 1


def test_equal_blank_and_absent_call_ids_are_replaced_in_echo_and_result() -> None:
    bare = {key: value for key, value in CALL.items() if key not in ("call_id", "id")}
    reply = read_any(response(CALL, {**CALL, "arguments": '{"a":1}'}, {**bare, "call_id": ""}, bare))
    ids = [asked.id for asked in reply.calls]
    assert ids[0] == "call_9"
    assert len(set(ids)) == 4
    assert [item["call_id"] for item in reply.echo] == ids
    # The API refuses two items of one id.
    assert [item.get("id") for item in reply.echo] == ["fc_9", None, None, None]
    sent = RESPONSES.results(reply, [result()] * 4)
    assert [item["call_id"] for item in sent] == ids
    TypeAdapter(list[ResponseInputItemParam]).validate_python([*reply.echo, *sent])


def test_calls_that_are_answered_in_the_same_list_are_left_alone() -> None:
    answer = {"type": "function_call_output", "call_id": "call_9", "output": "1"}
    reply = read_any([CALL, answer, {**CALL, "id": "fc_10", "call_id": "call_10"}])
    assert [asked.id for asked in reply.calls] == ["call_10"]


def test_only_what_the_api_refuses_is_dropped_from_the_echo() -> None:
    item = {**CALL, "status": None, "parsed_arguments": {}, "created_by": "x", "namespace": None, "future": 1}
    reply = read_any(response({**REASONING, "status": None, "content": None}, item))
    assert reply.echo == [REASONING, {**CALL, "future": 1}]


def test_a_failed_response_is_an_error_with_the_provider_s_text() -> None:
    error = {"code": "server_error", "message": "The model failed to respond"}
    with pytest.raises(ReplyError, match="The model failed to respond"):
        read_any(response(CALL, status="failed", error=error))


def test_a_response_that_still_runs_is_cut() -> None:
    with pytest.raises(CutReply):
        read_any(response(CALL, status="in_progress"))


@pytest.mark.parametrize("text", ["", '{"a":1', '{"a":1}', "{}", "null"])
def test_an_incomplete_call_has_no_readable_arguments(text: str) -> None:
    made = {**CALL, "arguments": text, "status": "incomplete"}
    whole = response(CALL, made, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    reply = read_any(whole)
    assert reply.calls[0].raw == "{}"
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(reply.calls[1].raw or "null")
    assert reply.echo[1]["arguments"] == text


def test_a_refusal_and_text_are_read_without_calls() -> None:
    parts = [{"type": "output_text", "text": "Hel", "annotations": []}, {"type": "output_text", "text": "lo"}]
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": parts}
    reply = read_any(response(item))
    assert (reply.text, reply.calls) == ("Hello", ())
    assert read_any([item]).dialect == "openai-responses"


# Results


def test_images_and_files_ride_along_and_empty_or_failed_results_say_so() -> None:
    reply = read_any(response(*[{**CALL, "id": f"fc_{place}", "call_id": f"c{place}"} for place in range(3)]))
    text = {"type": "text", "text": "here"}
    image = {"type": "image", "data": "aGVsbG8=", "media_type": "image/png"}
    file = {"type": "file", "data": "aGVsbG8=", "media_type": "application/pdf", "name": "a.pdf"}
    sent = RESPONSES.results(reply, [result("ok", text, image, file), result(), result("timeout", image)])
    assert sent[0]["output"] == [
        {"type": "input_text", "text": "here"},
        {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGVsbG8="},
    ]
    assert sent[1]["output"] == "(no output)"
    assert sent[2]["output"][0] == {"type": "input_text", "text": "Error:"}
    TypeAdapter(list[ResponseInputItemParam]).validate_python(sent)


# Streams


def test_items_are_put_together_where_the_last_event_leaves_them_out() -> None:
    started = {**CALL, "arguments": "", "status": "in_progress"}
    reply = streamed(
        CREATED,
        added(0, started),
        arguments(0, "delta", '{"a"'),
        arguments(0, "delta", ":1}"),
        COMPLETED,
    )
    assert [asked.raw for asked in reply.calls] == ['{"a":1}']
    assert reply.echo == [{**CALL, "arguments": '{"a":1}', "status": "completed"}]


def test_events_without_an_output_index_find_their_item_by_its_id() -> None:
    events: list[dict[str, Any]] = [
        CREATED,
        {"type": "response.output_item.added", "item": {**CALL, "id": "fc_1", "call_id": "a", "arguments": ""}},
        {"type": "response.output_item.added", "item": {**CALL, "id": "fc_2", "call_id": "b", "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": '{"x":1}'},
        {"type": "response.function_call_arguments.done", "item_id": "fc_2", "arguments": '{"y":2}'},
        {"type": "response.completed"},
    ]
    assert [(asked.id, asked.raw) for asked in streamed(*events).calls] == [("a", '{"x":1}'), ("b", '{"y":2}')]


def test_arguments_that_the_last_event_leaves_blank_are_those_said_before() -> None:
    last = {**COMPLETED, "response": response({**CALL, "arguments": ""})}
    reply = streamed(CREATED, added(0, {**CALL, "arguments": ""}), arguments(0, "done", '{"a":1}'), last)
    assert [asked.raw for asked in reply.calls] == ['{"a":1}']


def test_a_call_that_an_incomplete_response_broke_off_has_no_readable_arguments() -> None:
    incomplete = {"type": "response.incomplete", "response": {"id": "resp_1", "output": []}}
    reply = streamed(CREATED, added(0, {**CALL, "arguments": "", "status": "in_progress"}), incomplete)
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(reply.calls[0].raw or "null")


def test_a_stream_without_its_last_event_is_cut() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": CALL}
    with pytest.raises(CutReply):
        streamed(CREATED, added(0, CALL), done)


def test_failures_in_the_stream_are_raised_with_the_provider_s_text() -> None:
    failed = {"type": "response.failed", "response": {"error": {"code": "rate_limit", "message": "Slow down"}}}
    for event in (failed, {"type": "error", "code": "rate_limit", "message": "Slow down"}):
        reader = StreamReader()
        reader.feed(CREATED)
        with pytest.raises(ReplyError, match="Slow down"):
            reader.feed(event)


def test_text_is_given_out_as_it_comes() -> None:
    message = {"type": "message", "id": "m", "role": "assistant", "status": "in_progress", "content": []}
    reader = StreamReader()
    reader.feed(CREATED)
    reader.feed(added(0, message))
    pieces = []
    for text in ("Hel", "lo"):
        pieces += reader.feed(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": text}
        )
    reader.feed({"type": "response.some_future_event", "data": 1})
    reader.feed(COMPLETED)
    assert pieces == ["Hel", "lo"]
    assert reader.finish().text == "Hello"


def test_no_tools_need_no_field() -> None:
    assert RESPONSES.request([]) == {}
