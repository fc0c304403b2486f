from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.call import Code, Result, Tool
from toolcrib.dialects.gemini import GeminiFormat
from toolcrib.dialects.plain import plain
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import ToolView

DATA = Path(__file__).parents[3] / "shared" / "data" / "provider_responses"
FORMAT = GeminiFormat()
PNG = base64.b64encode(b"\x89PNG....").decode()
SIGNATURE = base64.b64encode(bytes(range(250, 256)) * 5).decode()


def recorded(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip("needs ../shared/data/provider_responses")
    return path


def events_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recorded(name).read_text().splitlines() if line.strip()]


def assembled(events: list[dict[str, Any]]) -> dict[str, Any]:
    assembler = FORMAT.assembler()
    for event in events:
        assembler.feed(event)
    return assembler.whole()


def response(*parts: dict[str, Any], finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, **more}
    return {"candidates": [candidate | ({"finishReason": finish} if finish else {})], "responseId": "r1"}


def call(name: str | None = "f", **more: Any) -> dict[str, Any]:
    return {"functionCall": ({"name": name} if name is not None else {}) | more}


def pieces(*values: dict[str, Any], more: bool = True, name: str | None = None) -> dict[str, Any]:
    return call(name, **({"partialArgs": list(values)} if values else {}), **({"willContinue": True} if more else {}))


def piece(path: str, **value: Any) -> dict[str, Any]:
    return {"jsonPath": path, **value}


def streamed(*parts: dict[str, Any], finish: str | None = "STOP") -> dict[str, Any]:
    return assembled([*(response(part, finish=None) for part in parts), response({"text": ""}, finish=finish)])


def result(*content: dict[str, Any], code: Code = "ok", value: Any = None) -> Result:
    return Result(code=code, state="executed", call_id="c", content=content, value=value)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


STREAMS = [
    "google__google-tool-call.chunks.txt",
    "google__google-stream-no-args-tool-call.chunks.txt",
    "google__google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt",
]


@pytest.mark.parametrize("name", STREAMS)
def test_no_proper_prefix_of_a_recorded_stream_is_whole(name: str) -> None:
    events = events_of(name)
    for length in range(len(events)):
        with pytest.raises(CutReply):
            assembled(events[:length])


@pytest.mark.parametrize("name", STREAMS)
def test_a_single_chunk_without_a_finish_reason_is_no_whole_response(name: str) -> None:
    for event in events_of(name)[:-1]:
        with pytest.raises(CutReply):
            FORMAT.read(event)


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_reads_the_same_from_the_sdks_chunks(name: str) -> None:
    events = events_of(name)
    assert all(FORMAT.streams(event) for event in events)
    chunks = [plain(types.GenerateContentResponse.model_validate(event)) for event in events]
    ours, theirs = FORMAT.read(assembled(events)), FORMAT.read(assembled(chunks))
    assert ours.echo == theirs.echo
    assert ours.calls == theirs.calls
    types.Content.model_validate(ours.echo[0])


def test_streamed_arguments_are_put_together_call_by_call() -> None:
    events = events_of("google__google-stream-no-args-tool-call.chunks.txt")
    reply = FORMAT.read(assembled(events))
    assert [(asked.name, asked.arguments) for asked in reply.calls] == [
        ("read_theme", {}), ("read_screen", {"id": "A"}), ("read_screen", {"id": "B"}), ("read_screen", {"id": "C"}),
    ]  # fmt: skip
    parts = reply.echo[0]["parts"]
    assert parts[0]["thought"] is True
    assert parts[1] == events[1]["candidates"][0]["content"]["parts"][0]
    assert parts[2] == call("read_screen", args={"id": "A"})
    assert len(parts) == 5


def test_a_last_piece_that_announces_no_other_ends_its_call() -> None:
    events = events_of("google__google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt")
    (asked,) = FORMAT.read(assembled(events)).calls
    assert asked.arguments == {
        "operations": [
            {"action": "add", "description": "Fresh red apple", "itemid": "apple_001", "price": 0.5},
            {"action": "add", "description": "Ripe yellow banana", "itemid": "banana_001", "price": 0.3},
        ]
    }


@pytest.mark.parametrize(
    "parts",
    [
        [pieces(name="f")],
        [pieces(piece("$.a", stringValue="x"), name="f")],
        [pieces(name="f"), pieces(piece("$.a", stringValue="x", willContinue=True)), call(None)],
        [pieces(name="f"), pieces(piece("$.a", stringValue="x")), pieces(piece("$.a.b", numberValue=1)), call(None)],
        [pieces(name="f"), pieces(piece("$.a[3]", stringValue="x"), more=False)],
        [pieces(name="f"), pieces(piece("a", stringValue="x"), more=False)],
        [pieces(name="f"), pieces(piece("$", stringValue="x"), more=False)],
    ],
)
def test_a_call_whose_end_never_came_stays_one_call_that_cannot_be_read(parts: list[dict[str, Any]]) -> None:
    reply = FORMAT.read(streamed(*parts))
    (asked,) = reply.calls
    assert (asked.name, asked.arguments) == ("f", None)
    with pytest.raises(ValueError, match=r"Expecting|Unterminated|delimiter"):
        json.loads(asked.raw or "{}")
    assert isinstance(reply.echo[0]["parts"][0]["functionCall"]["args"], dict)
    assert "willContinue" not in json.dumps(reply.echo)
    assert reply.problem


def test_a_call_cut_off_by_the_next_one_does_not_take_its_arguments() -> None:
    parts = [pieces(name="f"), pieces(piece("$.a", numberValue=1)), pieces(name="g")]
    reply = FORMAT.read(streamed(*parts, pieces(piece("$.b", numberValue=2)), call(None)))
    assert [(asked.name, asked.arguments) for asked in reply.calls] == [("f", None), ("g", {"b": 2})]


def test_paths_reach_every_kind_of_value() -> None:
    parts = [
        pieces(name="f"),
        pieces(piece("$['a b'].c", stringValue="x ", willContinue=True), piece("$.n", nullValue=None)),
        pieces(piece("$['a b'].c", stringValue="y", willContinue=True), piece("$.t", boolValue=False)),
        pieces(piece("$['a b'].c", stringValue="")),
        pieces(
            piece("$.m[0][0]", numberValue=3.0),
            piece("$.m[0][1]", numberValue=0.5),
            piece('$.m[1]["k"]', numberValue=1),
        ),
        call(None),
    ]
    (asked,) = FORMAT.read(streamed(*parts)).calls
    expected = {"a b": {"c": "x y"}, "n": None, "t": False, "m": [[3, 0.5], {"k": 1}]}
    assert asked.arguments == expected
    assert json.dumps(asked.arguments, sort_keys=True) == json.dumps(expected, sort_keys=True)


def test_a_whole_response_reads_the_same_in_all_its_forms() -> None:
    whole = json.loads(recorded("google__google-tool-call-gemini3.json").read_text())
    reply = FORMAT.read(whole)
    content = whole["candidates"][0]["content"]
    assert reply.echo == [{"role": "model", "parts": content["parts"]}]
    assert reply.calls[0].arguments == {"location": "San Francisco"}
    assert reply.response_id == whole["responseId"]
    sdk = types.GenerateContentResponse.model_validate(whole)
    snake = sdk.model_dump(mode="json", exclude_none=True)
    for other in (plain(sdk), snake, content, content["parts"], plain(sdk.candidates[0].content)):  # type: ignore[index]
        assert FORMAT.reads(other)
        assert FORMAT.read(other).echo == reply.echo
        assert FORMAT.read(other).calls[0].arguments == reply.calls[0].arguments


def test_signatures_survive_on_their_parts_wherever_they_stand_and_as_bytes() -> None:
    parts = [
        {"text": "thinking", "thought": True},
        call("a", args={"x_y": 1}),
        call("b", args={}) | {"thoughtSignature": SIGNATURE},
        {"text": "", "thoughtSignature": SIGNATURE},
    ]
    assert FORMAT.read(response(*parts)).echo == [{"role": "model", "parts": parts}]
    assert FORMAT.read(streamed(*parts)).echo == [{"role": "model", "parts": parts}]
    raw = [part | {"thought_signature": base64.b64decode(SIGNATURE)} for part in ({"text": "x"},)]
    assert FORMAT.read(raw).echo[0]["parts"] == [{"text": "x", "thoughtSignature": SIGNATURE}]
    echo = types.Content.model_validate(FORMAT.read(response(*parts)).echo[0])
    assert echo.parts is not None
    assert echo.parts[2].thought_signature == base64.b64decode(SIGNATURE)


def test_neighbouring_text_is_joined_but_never_into_what_is_signed() -> None:
    signed = {"text": "c", "thoughtSignature": SIGNATURE}
    thought = {"text": "t", "thought": True}
    reply = FORMAT.read(streamed(thought, thought, {"text": "a"}, {"text": "b"}, signed, {"text": "d"}))
    assert reply.echo[0]["parts"] == [{"text": "tt", "thought": True}, {"text": "ab"}, signed, {"text": "d"}]
    assert reply.text == "abcd"


def test_what_the_provider_ran_itself_is_echoed_and_left_alone() -> None:
    parts = [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
        {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": 1}}},
        {"toolResponse": {"id": "t", "response": {"a_b": None}}},
    ]
    reply = FORMAT.read(response(*parts))
    assert reply.echo == [{"role": "model", "parts": parts}]
    assert reply.calls == ()


def test_field_names_become_camel_case_and_arguments_keep_theirs() -> None:
    given = {"candidates": [{"finish_reason": "STOP", "content": {"role": "model", "parts": [
        {"function_call": {"id": None, "name": "f", "args": {"my_key": {"in_ner": None}}}, "thought_signature": "AA=="},
        {"inline_data": {"mime_type": "image/png", "data": "-_8="}},
    ]}}]}  # fmt: skip
    reply = FORMAT.read(given)
    assert reply.echo[0]["parts"] == [
        call("f", args={"my_key": {"in_ner": None}}) | {"thoughtSignature": "AA=="},
        {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
    ]


def test_ids_go_out_only_where_the_provider_gave_them() -> None:
    reply = FORMAT.read(response(call("f", id="i1", args={}), call("f", args={}), call("f", id=" ", args={})))
    assert len({asked.id for asked in reply.calls}) == 3
    (answer,) = FORMAT.results(reply, [result(text(n)) for n in "123"])
    answers = [part["functionResponse"] for part in answer["parts"]]
    assert [one.get("id") for one in answers] == ["i1", None, None]
    assert [one["response"] for one in answers] == [{"result": "1"}, {"result": "2"}, {"result": "3"}]
    assert [part["functionCall"].get("id") for part in reply.echo[0]["parts"]] == ["i1", None, None]


def test_a_repeated_id_is_minted_alike_in_echo_and_result() -> None:
    reply = FORMAT.read(response(call("f", id="x"), call("g", id="x")))
    (answer,) = FORMAT.results(reply, [result(text("1")), result(text("2"))])
    echoed = [part["functionCall"]["id"] for part in reply.echo[0]["parts"]]
    assert echoed == [part["functionResponse"]["id"] for part in answer["parts"]]
    assert echoed[0] == "x"
    assert len(set(echoed)) == 2


def test_text_arguments_are_left_for_reading_and_echoed_as_an_object() -> None:
    reply = FORMAT.read(response(call("f", args='{"a": 1}'), call("g", args="{"), call("h", args=None)))
    assert [(asked.raw, asked.arguments) for asked in reply.calls] == [('{"a": 1}', None), ("{", None), (None, {})]
    assert [part["functionCall"].get("args") for part in reply.echo[0]["parts"]] == [{"a": 1}, {}, None]


def test_a_blocked_prompt_says_why() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "not that"}}
    for read in (FORMAT.read, lambda event: FORMAT.read(assembled([event]))):
        with pytest.raises(ReplyError, match="SAFETY: not that"):
            read(blocked)


def test_an_error_of_the_provider_says_what_it_said() -> None:
    error = {"error": {"code": 429, "message": "Resource exhausted", "status": "RESOURCE_EXHAUSTED"}}
    assert FORMAT.reads(error)
    with pytest.raises(ReplyError, match="Resource exhausted"):
        FORMAT.read(error)
    with pytest.raises(ReplyError, match="Resource exhausted"):
        assembled([response({"text": "a"}, finish=None), error])


def test_a_malformed_call_is_a_problem_and_nothing_of_it_runs() -> None:
    reply = FORMAT.read({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "print(f("}]})
    assert (reply.calls, reply.echo) == ((), [])
    assert "MALFORMED_FUNCTION_CALL" in (reply.problem or "")
    reply = FORMAT.read(response(call("f", args={"a": 1}), finish="MALFORMED_FUNCTION_CALL"))
    assert reply.calls[0].arguments is None


def test_a_last_call_without_arguments_under_max_tokens_is_no_call_without_arguments() -> None:
    reply = FORMAT.read(response(call("f"), finish="MAX_TOKENS"))
    assert reply.calls[0].arguments is None


@pytest.mark.parametrize(
    "other",
    [
        None, "x", 3, [], {}, [{"type": "text", "text": "x"}], {"role": "user", "parts": [{"text": "x"}]},
        {"role": "assistant", "content": "x"}, {"choices": []}, {"error": {"message": "m", "type": "t"}},
        {"object": "interaction", "steps": [{"type": "function_call"}]}, [{"functionResponse": {"name": "f"}}],
        {"output": {"message": {"content": [{"text": "x"}]}}, "usage": {}}, {"candidates": 3},
    ],
)  # fmt: skip
def test_what_is_no_gemini_response_is_not_taken_for_one(other: Any) -> None:
    assert not FORMAT.reads(other)
    assert not FORMAT.streams(other)


@pytest.mark.parametrize("name", ["google__tool-call-step1.json", "google__tool-call-step1.chunks.txt"])
def test_the_interactions_api_is_another_dialect(name: str) -> None:
    content = recorded(name).read_text()
    values = [json.loads(content)] if name.endswith(".json") else [json.loads(line) for line in content.splitlines()]
    assert not any(FORMAT.reads(value) or FORMAT.streams(value) for value in values)


def test_results_show_the_value_only_where_the_text_says_just_that() -> None:
    reply = FORMAT.read(response(*(call(f"f{n}") for n in range(7))))
    image = {"type": "image", "data": PNG, "media_type": "image/png"}
    (answer,) = FORMAT.results(
        reply,
        [
            result(text('{"a":1}'), value={"a": 1}),
            result(text('{"a":...'), value={"a": 1}),
            result(text("12345678901234567890"), value=12345678901234567890),
            result(value=None),
            result(text("nope"), code="unknown_tool"),
            result(image, value={"image": "image/png"}),
            result(text("tiff"), {"type": "image", "data": PNG, "media_type": "image/tiff"}),
        ],
    )
    assert answer["role"] == "user"
    answers = [part["functionResponse"] for part in answer["parts"]]
    assert [one["name"] for one in answers] == [f"f{n}" for n in range(7)]
    assert [one["response"] for one in answers[:6]] == [
        {"result": {"a": 1}}, {"result": '{"a":...'}, {"result": "12345678901234567890"},
        {"result": "(no output)"}, {"error": "nope"}, {"result": "(the output is attached)"},
    ]  # fmt: skip
    assert answers[5]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]
    assert "parts" not in answers[6]
    assert "image/tiff" in answers[6]["response"]["result"]
    content = types.Content.model_validate(answer)
    assert content.parts is not None
    assert content.parts[5].function_response.parts[0].inline_data.data == base64.b64decode(PNG)  # type: ignore[union-attr,index]


def test_the_request_is_what_the_sdk_takes() -> None:
    spec = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    request = FORMAT.request([ToolView(spec=spec)])
    config = types.GenerateContentConfig.model_validate(request["config"])
    assert config.automatic_function_calling is not None
    assert config.automatic_function_calling.disable
    assert set(request) == {"config"}
    assert set(request["config"]) <= set(types.GenerateContentConfigDict.__annotations__)
    assert FORMAT.tools([ToolView(spec=spec)]) == [{"functionDeclarations": [spec]}]
    assert types.Tool.model_validate(FORMAT.tools([ToolView(spec=spec)])[0]).function_declarations
    assert FORMAT.request([]) == {}
    assert FORMAT.tools([]) == []


KEYS = ("candidates", "content", "parts", "functionCall", "args", "partialArgs", "finishReason", "text", "role")
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
    assert set(view.spec) == {"name", "description", "parameters"}
    assert view.spec == FORMAT.view("disk_usage", tool).spec
    empty = FORMAT.view("now", Tool(name="now", body=print)).spec
    assert empty["parameters"] == {"type": "object", "properties": {}} | empty["parameters"]
    for one in (view, FORMAT.view("now", Tool(name="now", body=print))):
        types.Tool.model_validate(FORMAT.tools([one])[0])
    assert view.restore is not None
    (shown,) = view.spec["parameters"]["properties"]
    assert view.restore({shown: "x"}) == {"a[b]": "x"}


def test_the_sdk_s_objects_dumped_in_python_s_own_mode_are_read_as_well() -> None:
    from google.genai import types

    from toolcrib.dialects.recognise import read_any

    part = types.Part(function_call=types.FunctionCall(name="look", args={"a": 1}), thought_signature=b"\xff\xd8sig")
    content = types.Content(role="model", parts=[part])
    response = types.GenerateContentResponse(candidates=[types.Candidate(content=content, finish_reason="STOP")])
    assert read_any(response.model_dump(exclude_none=True)) == read_any(response)
