"""Recorded responses of real providers, run whole: one result per call, in order, in the provider's own shape."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Crib, Messages, ReplyError, Tool, UnknownFormat
from toolcrib.dialects.recognise import read_all
from toolcrib.dialects.stream import StreamReader

ROOT = Path(__file__).parents[2]
WHOLE = ROOT.parent / "shared/data/provider_responses"
EXCERPT = ROOT / "tests/data/provider_responses"
FILES = sorted(
    path for path in (WHOLE if WHOLE.is_dir() else EXCERPT).iterdir() if path.suffix in (".json", ".txt", ".sse")
)
FOREIGN = ("amazon-bedrock", "cohere", "google__tool-call-step1", "harness-")
OURS = [path for path in FILES if not path.name.startswith(FOREIGN)]
STREAMS = [path for path in OURS if path.suffix != ".json"]


def calls_in(echo: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """(name, id to pair by) of each call of our own in one reply's echo, counted without the code under test."""
    found: list[tuple[str, str | None]] = []
    for item in echo:
        found += [(call["function"]["name"], call["id"]) for call in item.get("tool_calls") or []]
        if item.get("type") == "function_call":
            found.append((item["name"], item["call_id"]))
        content = item.get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_use":
                found.append((block["name"], block["id"]))
        for part in item.get("parts") or []:
            if "functionCall" in part:
                found.append((part["functionCall"]["name"], part["functionCall"].get("id")))
    return found


def answers_in(messages: list[dict[str, Any]]) -> list[tuple[str | None, str | None]]:
    """(name where the shape holds one, id) of each result."""
    found: list[tuple[str | None, str | None]] = []
    for item in messages:
        if item.get("role") == "tool":
            found.append((None, item["tool_call_id"]))
        elif item.get("type") == "function_call_output":
            found.append((None, item["call_id"]))
        content = item.get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result":
                found.append((None, block["tool_use_id"]))
        for part in item.get("parts") or []:
            if "functionResponse" in part:
                found.append((part["functionResponse"]["name"], part["functionResponse"].get("id")))
    return found


def tools_for(paths: list[Path]) -> list[Tool]:
    names = {name for path in paths for reply in read_all(path.read_bytes()) for name, _ in calls_in(reply.echo)}
    return [
        Tool(name=name, parameters={"type": "object", "additionalProperties": True}, body=lambda arguments: arguments)
        for name in sorted(names)
    ]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
async def test_every_recorded_reply_gets_one_result_per_call(path: Path, tmp_path: Path) -> None:
    replies = read_all(path.read_bytes())
    wanted = [pair for reply in replies for pair in calls_in(reply.echo)]
    async with Crib(tools_for([path]), db=f"sqlite:///{tmp_path}/crib.db") as crib:
        new = await crib.turn().run(path.read_bytes())
        assert json.loads(json.dumps(new)) == new
        answered = answers_in(new)
        assert [id for _, id in answered] == [id for _, id in wanted]
        assert len(new.results) == len(wanted)
        assert [name for name, _ in answered if name is not None] in ([], [name for name, _ in wanted])
        rows = await crib.book.store.find()
        assert [(row.name, row.provider_call_id) for row in rows] == [
            (asked.name, asked.provider_call_id) for reply in replies for asked in reply.calls
        ]
        ids = [id for _, id in wanted if id is not None]
        assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
async def test_a_stream_in_any_cuts_is_its_whole(path: Path) -> None:
    data = path.read_bytes()
    whole = read_all(data)
    if len(data) < 20_000:
        byte_by_byte = StreamReader()
        for place in range(len(data)):
            byte_by_byte.feed(data[place : place + 1])
        assert byte_by_byte.finish_all() == whole
    chance = random.Random(path.name)
    for _ in range(300 if len(data) < 8_000 else 20):
        cut = chance.randrange(len(data))
        reader = StreamReader()
        reader.feed(data[:cut])
        reader.feed(data[cut:])
        assert reader.finish_all() == whole


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
async def test_a_stream_that_ends_early_runs_nothing(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    full = [(asked.name, asked.raw, asked.arguments) for reply in read_all(path.read_bytes()) for asked in reply.calls]
    ran: list[Any] = []
    tools = [tool.replace(body=lambda arguments: ran.append(arguments)) for tool in tools_for([path])]
    async with Crib(tools, db="off") as crib:
        for end in range(0, len(lines), max(1, len(lines) // 25)):
            ran.clear()
            try:
                messages: Messages = await crib.turn().run(b"".join(lines[:end]))
            except ReplyError:
                assert ran == []
                continue
            # Whole already: what is missing came after the end of the reply.
            assert len(messages.results) <= len(full)
            assert len(ran) <= len(full)


@pytest.mark.parametrize(
    "path", [path for path in FILES if path not in OURS] or [None], ids=lambda path: path and path.name
)
async def test_other_formats_are_named_for_what_they_are(path: Path | None) -> None:
    if path is None:
        pytest.skip("the recordings of other formats are only in ../shared/data")
    async with Crib([], db="off") as crib:
        with pytest.raises(UnknownFormat):
            await crib.turn().run(path.read_bytes())
