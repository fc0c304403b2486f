"""Every snippet of the how-to runs, in its order, in one namespace."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests_docs import Branch, Endpoint, blocks, chat, completion

from toolcrib import Crib, Tool


@pytest.fixture
def names(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"__name__": "howto"}
    for number, snippet in enumerate(blocks("docs/howto.md", "python"), 1):
        exec(compile(snippet, f"docs/howto.md:snippet {number}", "exec"), found)
    return found


@pytest.fixture
async def crib(names: dict[str, Any]) -> AsyncIterator[Crib]:
    async with Crib([names["add"], names["keep_note"], names["look_up"], names["weather"]], db="sqlite://") as made:
        yield made


async def test_the_loop_with_openai(names: dict[str, Any], crib: Crib) -> None:
    client, endpoint = chat(("add", '{"a": 1, "b": 2}'), said="3")
    assert await names["with_openai"](client, crib, "1 + 2?") == "3"
    assert endpoint.requests[1]["messages"][-1] == {"role": "tool", "tool_call_id": "call_0", "content": "3"}


async def test_the_loop_with_responses_sends_results_alone(names: dict[str, Any], crib: Crib) -> None:
    from openai.types.responses import Response

    def response(id: str, *output: dict[str, Any]) -> Response:
        plain = {"id": id, "object": "response", "created_at": 1, "model": "m", "output": list(output)}
        return Response.model_validate(
            {**plain, "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        )

    text = {"type": "output_text", "text": "3", "annotations": []}
    endpoint = Endpoint(
        response("r1", {"type": "function_call", "call_id": "c", "name": "add", "arguments": '{"a": 1, "b": 2}'}),
        response("r2", {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}),
    )
    client = Branch(responses=Branch(create=endpoint))
    assert await names["with_responses"](client, crib, "1 + 2?") == "3"
    assert endpoint.requests[1]["previous_response_id"] == "r1"
    assert list(endpoint.requests[1]["input"]) == [{"type": "function_call_output", "call_id": "c", "output": "3"}]


async def test_the_loop_with_anthropic(names: dict[str, Any], crib: Crib) -> None:
    from anthropic.types import Message

    def message(id: str, stop: str, block: dict[str, Any]) -> Message:
        plain = {"id": id, "type": "message", "role": "assistant", "model": "m", "content": [block]}
        return Message.model_validate(
            {**plain, "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        )

    endpoint = Endpoint(
        message("m1", "tool_use", {"type": "tool_use", "id": "t", "name": "add", "input": {"a": 1, "b": 2}}),
        message("m2", "end_turn", {"type": "text", "text": "3"}),
    )
    client = Branch(messages=Branch(create=endpoint))
    assert await names["with_anthropic"](client, crib, "1 + 2?") == "3"
    (result,) = endpoint.requests[1]["messages"][-1]["content"]
    assert (result["tool_use_id"], result["content"]) == ("t", "3")


async def test_the_loop_with_gemini(names: dict[str, Any], crib: Crib) -> None:
    from google.genai import types

    def response(part: dict[str, Any]) -> types.GenerateContentResponse:
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        return types.GenerateContentResponse.model_validate({"candidates": [candidate]})

    endpoint = Endpoint(response({"functionCall": {"name": "add", "args": {"a": 1, "b": 2}}}), response({"text": "3"}))
    client = Branch(aio=Branch(models=Branch(generate_content=endpoint)))
    assert await names["with_gemini"](client, crib, "1 + 2?") == "3"
    contents = endpoint.requests[1]["contents"]
    assert [each["role"] for each in contents] == ["user", "model", "user", "model"]
    types.GenerateContentConfig.model_validate(endpoint.requests[0]["config"])


def test_the_synchronous_face(names: dict[str, Any]) -> None:
    assert names["total"]() == 3


async def test_the_tools_do_what_the_text_says(names: dict[str, Any], crib: Crib) -> None:
    assert (await crib.call("keep_note", {"text": "milk"}, user="ada")).text == "1 notes kept"
    assert names["notes"] == {"ada": ["milk"]}
    assert (await crib.call("keep_note", {"text": " "}, user="ada")).code == "tool_error"
    assert (await crib.call("crm.look_up", '{"number": "7"}')).unwrap() == {"number": 7, "name": "Ada"}
    assert (await crib.call("forecast", {"city": "Rome"})).text == "mild in Rome (metric)"
    assert "secret" not in repr(names["weather"].settings)


async def test_the_tool_file_is_one(folder: Path) -> None:
    (source,) = (text for text in blocks("docs/howto.md", "python") if text.startswith("DEFINITION"))
    (folder / "toolbox").mkdir()
    (folder / "toolbox" / "count_tool.py").write_text(source, encoding="utf-8")
    async with Crib("toolbox/", db="off") as crib:
        assert (await crib.call("word_count", {"text": "one two"})).unwrap() == 2


async def test_policies_guards_and_observers(names: dict[str, Any]) -> None:
    async with names["guarded"]() as crib:
        assert (await crib.call("add", {"a": 1, "b": 2}, user="ada")).ok
        assert (await crib.call("add", {"a": 1, "b": 2})).code == "denied"
        assert (await crib.call("add", {"a": 5000, "b": 2}, user="ada")).code == "approval_unavailable"
        assert (await crib.call("add", {"a": 5000, "b": 2}, user="ada", headless=True)).code == "headless_denied"
        assert (await crib.call("add", {"a": 5000, "b": 2}, user="ada", preapproved=["add"])).ok
    assert names["seen"][:2] == ["add started", "add executed"]


async def test_a_stream_gives_text_then_states(names: dict[str, Any], crib: Crib) -> None:
    from openai.types.chat import ChatCompletionChunk

    call = {"index": 0, "id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", "content": "So: "}, None),
        ({"tool_calls": [call]}, None),
        ({}, "tool_calls"),
    ]

    async def chunks() -> AsyncIterator[ChatCompletionChunk]:
        for delta, reason in deltas:
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            yield ChatCompletionChunk.model_validate(
                {"id": "s", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            )

    client = Branch(chat=Branch(completions=Branch(create=Endpoint(chunks()))))
    messages: list[Any] = []
    said = await names["streamed"](client, crib, messages)
    assert said == "So: [add proposed][add started][add executed]"
    assert messages[-1]["content"] == "3"


async def test_a_reply_given_again_is_not_run_again(names: dict[str, Any], folder: Path) -> None:
    runs: list[str] = []
    once = Tool(name="once", body=lambda arguments: runs.append("ran") or "done")
    reply = completion(
        {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "once", "arguments": "{}"}}]}, "r", "stop"
    ).model_dump()
    db = "sqlite:///again.db"
    async with Crib(once, db=db) as crib:
        first = await names["again"](crib, reply)
    async with Crib(once, db=db) as crib:
        assert json.dumps(await names["again"](crib, reply)) == json.dumps(first)
        history = [{"role": "user", "content": "go"}, first[0]]
        assert (await names["mended"](crib, history))[-1]["content"] == "done"
    assert runs == ["ran"]
