"""Recorded responses of OpenAI and of those who speak its two dialects."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from openai._models import construct_type  # how the client itself builds what it returns
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessageParam
from openai.types.responses import Response, ResponseInputItemParam, ResponseStreamEvent
from pydantic import TypeAdapter

from toolcrib.call import Result
from toolcrib.dialects import format_of
from toolcrib.dialects.feed import Feed
from toolcrib.dialects.recognise import read_any
from toolcrib.dialects.stream import StreamReader
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Reply

ROOT = Path(__file__).parents[2]
EXCERPT = ROOT / "tests" / "data" / "provider_responses"
WHOLE = ROOT.parent / "shared" / "data" / "provider_responses"
SPEAKERS = (
    "alibaba__", "azure__", "deepseek__", "groq__", "mistral__", "moonshotai__", "open-responses__", "openai__",
    "openai-compatible__", "xai__",
)  # fmt: skip
SEVERAL = "azure__azure-reasoning-encrypted-content.1.chunks.txt"
FILES = {path.name: path for folder in (EXCERPT, WHOLE) if folder.is_dir() for path in folder.iterdir()}
NAMES = sorted(name for name in FILES if name.startswith(SPEAKERS) and name != SEVERAL)
STREAMS = [name for name in NAMES if not name.endswith(".json")]
DOCUMENTS = [name for name in NAMES if name.endswith(".json")]


def events_in(data: bytes) -> list[dict[str, Any]]:
    feed = Feed()
    return feed.feed(data) + feed.finish()


def results_for(reply: Reply) -> list[Result]:
    return [
        Result(code="ok", state="executed", call_id=asked.id, content=({"type": "text", "text": "done"},))
        for asked in reply.calls
    ]


@pytest.mark.parametrize("name", NAMES)
def test_each_recorded_reply_holds_calls_with_their_own_ids_and_whole_arguments(name: str) -> None:
    reply = read_any(FILES[name].read_bytes())
    assert reply.calls
    assert reply.problem is None
    assert reply.response_id
    for asked in reply.calls:
        assert asked.name
        assert asked.id == asked.provider_call_id
        assert isinstance(json.loads(asked.raw or ""), dict)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_echo_of_a_recorded_document_is_what_the_provider_wrote(name: str) -> None:
    document = json.loads(FILES[name].read_bytes())
    echo = read_any(document).echo
    assert echo == (document["output"] if "output" in document else [document["choices"][0]["message"]])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_sdk_s_object_and_the_document_give_the_same_reply(name: str) -> None:
    document = json.loads(FILES[name].read_bytes())
    kind = Response if "output" in document else ChatCompletion
    assert read_any(construct_type(type_=kind, value=document)) == read_any(document)


@pytest.mark.parametrize("name", STREAMS)
def test_the_sdk_s_stream_events_and_the_text_give_the_same_reply(name: str) -> None:
    data = FILES[name].read_bytes()
    whole = read_any(data)
    kind: Any = ChatCompletionChunk if whole.dialect == "openai" else ResponseStreamEvent
    objects = [construct_type(type_=kind, value=event) for event in events_in(data)]
    reader = StreamReader()
    for item in objects:
        reader.feed(item)
    assert reader.finish() == whole
    assert read_any(objects) == whole


@pytest.mark.parametrize("name", NAMES)
def test_what_goes_back_is_what_the_sdk_takes(name: str) -> None:
    reply = read_any(FILES[name].read_bytes())
    messages = format_of(reply.dialect).results(reply, results_for(reply))
    assert len(messages) == len(reply.calls)
    if reply.dialect == "openai-responses":
        TypeAdapter(list[ResponseInputItemParam]).validate_python([*reply.echo, *messages])
        assert [message["call_id"] for message in messages] == [asked.id for asked in reply.calls]
    else:
        TypeAdapter(list[ChatCompletionMessageParam]).validate_python(messages)
        assert [message["tool_call_id"] for message in messages] == [asked.id for asked in reply.calls]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_byte_by_byte_is_its_whole(name: str) -> None:
    data = FILES[name].read_bytes()
    reader = StreamReader()
    pieces = [piece for place in range(len(data)) for piece in reader.feed(data[place : place + 1])]
    whole = read_any(data)
    assert reader.finish() == whole
    assert "".join(pieces) == whole.text


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_cut_anywhere_is_its_whole(name: str) -> None:
    data = FILES[name].read_bytes()
    whole, dice = read_any(data), random.Random(name)
    cuts = [dice.randrange(len(data)) for _ in range(300)]
    for _ in range(3):
        dice.shuffle(cuts)
        reader = StreamReader()
        ends = sorted(cuts[:100])
        for start, end in zip([0, *ends], [*ends, len(data)], strict=True):
            reader.feed(data[start:end])
        assert reader.finish() == whole
    for cut in cuts:
        feed = Feed()
        assert feed.feed(data[:cut]) + feed.feed(data[cut:]) + feed.finish() == events_in(data)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_ended_early_runs_nothing_that_was_not_finished(name: str) -> None:
    events = events_in(FILES[name].read_bytes())
    whole = read_any(events)
    for end in range(len(events)):
        reader = StreamReader()
        for event in events[:end]:
            reader.feed(event)
        try:
            reply = reader.finish()
        except CutReply:
            continue
        # Behind the finish reason only usage and other news come.
        assert reply.calls == whole.calls


def test_several_responses_in_one_recording_are_refused_together() -> None:
    if SEVERAL not in FILES:
        pytest.skip(f"the recorded file {SEVERAL} is only in ../shared/data")
    with pytest.raises(ReplyError, match="holds 4 responses"):
        read_any(FILES[SEVERAL].read_bytes())


def test_the_events_of_the_sdk_s_stream_helpers_are_read_once() -> None:
    from openai import omit
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.lib.streaming.responses._responses import ResponseStreamState

    chat: Any = ChatCompletionStreamState()
    responses: Any = ResponseStreamState(input_tools=omit, text_format=omit)
    for name in STREAMS:
        data = FILES[name].read_bytes()
        whole = read_any(data)
        if not name.startswith(("groq__", "openai__programmatic")):
            continue
        kind: Any = ChatCompletionChunk if whole.dialect == "openai" else ResponseStreamEvent
        reader = StreamReader()
        for event in events_in(data):
            item = construct_type(type_=kind, value=event)
            for helped in chat.handle_chunk(item) if whole.dialect == "openai" else responses.handle_event(item):
                reader.feed(helped)
        assert reader.finish() == whole
