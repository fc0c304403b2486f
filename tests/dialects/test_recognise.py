from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcrib.dialects import FORMATS, format_of
from toolcrib.dialects.pairing import pair_ids
from toolcrib.dialects.plain import plain
from toolcrib.dialects.recognise import dialect_of, dialect_of_stream, read_any
from toolcrib.dialects.stream import StreamReader
from toolcrib.errors import CutReply, ReplyError, SettingsError, UnknownFormat
from toolcrib.frozen import NotJson

ROOT = Path(__file__).parents[2]
WHOLE = ROOT.parent / "shared" / "data" / "provider_responses"

#: Recordings of several steps in one file.
SEVERAL = (
    "anthropic__anthropic-tool-search-deferred-bm25.chunks.txt",
    "anthropic__anthropic-tool-search-regex.1.chunks.txt",
    "azure__azure-reasoning-encrypted-content.1.chunks.txt",
)
CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT = {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": CHAT, "finish_reason": "tool_calls"}]}
ITEM = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
BLOCKS = [{"type": "text", "text": "Hm"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}]
ANTHROPIC = {"type": "message", "role": "assistant", "content": BLOCKS, "stop_reason": "tool_use"}
CONTENT = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
GEMINI = {"candidates": [{"content": CONTENT, "finishReason": "STOP"}]}


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [
        ("openai", COMPLETION),
        ("openai", CHAT),
        ("openai", {"tool_calls": [CHAT_CALL]}),
        ("openai", {"role": "assistant", "content": "Hi"}),
        ("openai-responses", {"object": "response", "status": "completed", "output": [ITEM]}),
        ("openai-responses", {"output": [ITEM]}),
        ("openai-responses", [ITEM]),
        ("openai-responses", ITEM),
        ("anthropic", ANTHROPIC),
        ("anthropic", {"role": "assistant", "content": BLOCKS}),
        ("anthropic", BLOCKS),
        ("gemini", GEMINI),
        ("gemini", CONTENT),
        ("gemini", CONTENT["parts"]),
    ],
)
def test_each_dialect_is_recognised_whole_in_part_and_as_text(dialect: str, payload: Any) -> None:
    assert dialect_of(payload) == dialect
    reply = read_any(payload)
    assert reply.dialect == dialect
    assert read_any(json.dumps(payload)) == read_any(json.dumps(payload, indent=2).encode()) == reply
    assert read_any(payload, dialect) == reply


@pytest.mark.parametrize(
    ("words", "payload"),
    [
        ("Amazon Bedrock Converse response", {"output": {"message": {"role": "assistant", "content": []}}}),
        (
            "Cohere response",
            {"id": "1", "message": {"role": "assistant", "tool_plan": "x"}, "finish_reason": "COMPLETE"},
        ),
        ("Gemini Interactions API", {"object": "interaction", "steps": [], "status": "completed"}),
        ("Ollama", {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True}),
        ("an agent program", [{"type": "assistant", "message": {"content": BLOCKS}, "session_id": "s"}]),
        ("LangChain", {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "c"}]}),
        ("request to a model", {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}),
        ("embeddings", {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}]}),
        ("text completion", {"object": "text_completion", "choices": [{"text": "Hi", "index": 0}]}),
        ("JSON-RPC", {"jsonrpc": "2.0", "id": 1, "result": {}}),
        ("history of messages", [{"role": "user", "content": "Hi"}, CHAT]),
        ("list of tool calls", [CHAT_CALL]),
        ("not the model's", {"role": "user", "content": "Hi"}),
        ("a dict with keys 'data', 'meta'); pass dialect=", {"data": 1, "meta": 2}),
        ("an empty dict", {}),
        ("an empty list", []),
        ("a list of 2 items", [1, "x"]),
        ("a list of 1: a dict with keys 'x'", [{"x": 1}]),
    ],
)
def test_what_is_no_response_is_named_for_what_it_is(words: str, payload: Any) -> None:
    for form in (payload, json.dumps(payload)):
        with pytest.raises(UnknownFormat) as caught:
            read_any(form)
        assert words in str(caught.value)


@pytest.mark.parametrize(
    ("words", "payload"),
    [
        ("plain text: 'Hello there'", "Hello there"),
        ("plain text: 'Hello'", '"Hello"'),
        ("a number", "42"),
        ("nothing", None),
        ("an object of type object", object()),
        ("turn.stream", iter([])),
        ("not JSON data", {"a": {1, 2}}),
        ("not JSON data", {"a": float("nan")}),
    ],
)
def test_what_is_no_data_is_named_too(words: str, payload: Any) -> None:
    with pytest.raises(UnknownFormat) as caught:
        read_any(payload)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["", "  \n", "data: [DONE]\n\n", '{"object": "chat.completion", "choices": ['])
def test_an_input_without_an_end_or_a_beginning_is_cut(text: str) -> None:
    with pytest.raises(CutReply):
        read_any(text)


@pytest.mark.parametrize(
    "payload",
    [
        {"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "Rate limit reached"}},
        [{"error": {"code": 429, "message": "Rate limit reached", "status": "RESOURCE_EXHAUSTED"}}],
        {"object": "error", "message": "Rate limit reached", "code": 429},
        {"error": "Rate limit reached"},
    ],
)
@pytest.mark.parametrize("dialect", [None, *FORMATS])
def test_a_provider_s_report_of_an_error_is_raised_with_its_text(payload: Any, dialect: str | None) -> None:
    for form in (payload, json.dumps(payload), f"data: {json.dumps(payload)}\n\n"):
        with pytest.raises(ReplyError, match="Rate limit reached"):
            read_any(form, dialect)


def test_a_response_of_another_dialect_than_the_named_one_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="'gemini'"):
        read_any(COMPLETION, "gemini")
    with pytest.raises(SettingsError, match="openai-responses"):
        read_any(COMPLETION, "claude")


def test_a_named_dialect_reads_the_same_stream() -> None:
    chunk = {"object": "chat.completion.chunk", "choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    text = f"data: {json.dumps(chunk)}\n\n"
    assert read_any(text, "openai") == read_any(text) == read_any([chunk]) == read_any(chunk)


def test_a_whole_response_sent_in_place_of_a_stream_is_read() -> None:
    for dialect in (None, "openai"):
        reader = StreamReader(dialect)
        assert reader.feed(json.dumps(COMPLETION)) == []
        assert reader.finish() == read_any(COMPLETION)


def test_events_before_the_first_telling_one_are_not_lost() -> None:
    assert dialect_of_stream({"type": "ping"}) is None
    assert dialect_of_stream({"anything": 1}) is None
    reader = StreamReader()
    reader.feed({"type": "ping"})
    reader.feed({"type": "response.created", "response": {"id": "r", "status": "in_progress"}})
    assert reader.dialect == "openai-responses"


@pytest.mark.parametrize("name", sorted(path.name for path in WHOLE.glob("*")) if WHOLE.is_dir() else [None])
def test_recordings_of_other_formats_are_named_and_none_is_mistaken(name: str | None) -> None:
    if name is None:
        pytest.skip("the recorded responses are only in ../shared/data")
    foreign = {"amazon-bedrock": "Amazon Bedrock", "cohere": "Cohere", "google__tool-call-step1": "Interactions"}
    foreign["harness-claude-code"] = "agent program"
    word = next((word for start, word in foreign.items() if name.startswith(start)), None)
    data = (WHOLE / name).read_bytes()
    if word is not None:
        with pytest.raises(UnknownFormat, match=word):
            read_any(data)
    elif name in SEVERAL:
        with pytest.raises(ReplyError, match="give them one by one"):
            read_any(data)
    else:
        assert read_any(data).calls


def test_formats_are_made_once_and_by_name() -> None:
    for name in FORMATS:
        assert format_of(name).name == name
        assert format_of(name) is format_of(name)


# Pairing


def test_conforming_ids_stay_and_others_are_minted_from_position_and_salt() -> None:
    ids = pair_ids(["a", "", "a", None, "b", " "], salt="r1")
    assert (ids[0], ids[4]) == ("a", "b")
    assert len(set(ids)) == 6
    assert ids == pair_ids(["a", "", "a", None, "b", " "], salt="r1")
    assert ids[1] != pair_ids(["a", ""], salt="r2")[1]
    assert all(len(id) == 9 and id.isalnum() for id in (ids[1], ids[2], ids[3], ids[5]))


def test_a_minted_id_is_never_one_that_comes_later() -> None:
    minted = pair_ids([""], salt="s")[0]
    later = pair_ids(["", minted], salt="s")
    assert later[1] == minted
    assert later[0] != minted
    assert pair_ids(["x"], taken=["x"]) != ["x"]


# Plain copies


def test_a_plain_copy_is_detached_and_holds_json_alone() -> None:
    source = {"a": [{"b": (1, 2)}]}
    copy = plain(source)
    assert copy == {"a": [{"b": [1, 2]}]}
    copy["a"][0]["b"].append(3)
    assert source == {"a": [{"b": (1, 2)}]}
    for wrong in ({"a": {1}}, {1: 2}, {"a": float("inf")}, {"a": "\ud800"}, object()):
        with pytest.raises(NotJson):
            plain(wrong)


def test_sdk_objects_inside_plain_data_are_copied_by_their_names_on_the_wire() -> None:
    from google.genai.types import FunctionCall, Part

    parts = [Part(function_call=FunctionCall(name="f", args={"a_b": 1}), thought_signature=b"sig")]
    assert plain({"role": "model", "parts": parts}) == {
        "role": "model",
        "parts": [{"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "c2ln"}],
    }
