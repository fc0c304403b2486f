"""The program that is killed, and what is looked at afterwards.

    python tests/crash/victim.py URL WORLD KILL [REPLY ...]

One turn of one message: each reply in its order, then its messages are confirmed. Prints, as JSON, the messages and the
codes of each reply. KILL is where it kills itself, "" for nowhere:

    before|after WRITE n    the n-th await of `begin`, `start`, `settle`, `end` or `confirm` of the journal
    before|after effect n   the n-th body, at the only thing it does to the world
    policy n                in the n-th decision
    after run n             once the n-th reply's messages are there, before they are confirmed

The world is a file: each body appends a line to it, flushed to the disk, before it does anything else: the call's id,
what the model named it, and the state the journal showed of it at that moment, read by a connection of the body's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolcrib import Call, Crib, Deny, Tool, Tools
from toolcrib.journal.location import open_store

WHO: dict[str, Any] = {"user": "ada", "conversation": "c"}
PAUSES = {"slow": 60.0, "brief": 0.2}
_NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


class Plug:
    """Where the process is to end: it is pulled when that place comes. `places`: those that have been passed."""

    def __init__(self, place: str = "") -> None:
        self._place = place
        self._counts: Counter[str] = Counter()
        self.places: list[str] = []

    def passes(self, place: str) -> None:
        self._counts[place] += 1
        self.places.append(f"{place} {self._counts[place]}")
        if self.places[-1] == self._place:
            os.kill(os.getpid(), signal.SIGKILL)


class Cut:
    """A store whose writes pass the plug, before and after."""

    def __init__(self, store: Any, plug: Plug) -> None:
        self._store = store
        self._plug = plug

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in ("begin", "start", "settle", "end", "mark", "confirm"):
            return method

        async def write(*args: Any, **kwargs: Any) -> Any:
            self._plug.passes(f"before {name}")
            done = await method(*args, **kwargs)
            self._plug.passes(f"after {name}")
            return done

        return write


def append(path: Path, line: str) -> None:
    """Adds a line to a file, whole and on the disk."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{line}\n".encode())
    os.fsync(file)
    os.close(file)


def effect(path: str, world: Path, call: Call, plug: Plug) -> None:
    """The one thing a body does."""
    plug.passes("before effect")
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as connection:
        found = connection.execute("SELECT state FROM calls WHERE id = ?", (call.id,)).fetchone()
    append(world, f"{call.id} {call.arguments['name']} {found[0] if found else 'without-a-row'}")
    plug.passes("after effect")


def tools(path: str, world: Path, plug: Plug) -> list[Tool]:
    """look: read-only. pay: undeclared. post: the same, and no coroutine. via: calls `pay` in its turn.

    The beginning of a name says how long: `slow` outlasts every test, `brief` lets another process catch up.
    """

    async def later(arguments: dict[str, Any], call: Call) -> str:
        effect(path, world, call, plug)
        await asyncio.sleep(PAUSES.get(arguments["name"].split("-")[0], 0))
        return f"{call.tool} {arguments['name']}"

    def at_once(arguments: dict[str, Any], call: Call) -> str:
        effect(path, world, call, plug)
        return f"{call.tool} {arguments['name']}"

    async def through(arguments: dict[str, Any], call: Call, below: Tools) -> str:
        effect(path, world, call, plug)
        return (await below.call("pay", {"name": f"{arguments['name']}-below"})).text

    injected = {"call": Call}
    return [
        Tool(name="look", parameters=_NAMED, body=later, injected=injected, read_only=True),
        Tool(name="pay", parameters=_NAMED, body=later, injected=injected),
        Tool(name="post", parameters=_NAMED, body=at_once, injected=injected),
        Tool(name="via", parameters=_NAMED, body=through, injected={"call": Call, "below": Tools}),
    ]


def crib(url: str, world: Path, plug: Plug) -> Crib:
    """A crib whose journal, policy and bodies pass the plug. Nobody may have what is named `refused`."""

    def policy(call: Call) -> Any:
        plug.passes("policy")
        return Deny("not this one") if call.arguments["name"] == "refused" else None

    path = url.removeprefix("sqlite:///")
    return Crib(tools(path, world, plug), db=Cut(open_store(url), plug), policies=[policy])


def reply(text: str) -> dict[str, Any]:
    """An assistant message from `tool:name tool:name ...`; a whole completion where it begins with `ID=`."""
    words = text.split()
    id = words.pop(0).rstrip("=") if words[0].endswith("=") else None
    calls = [
        {"id": f"id-{name}", "type": "function", "function": {"name": tool, "arguments": json.dumps({"name": name})}}
        for tool, name in (word.split(":") for word in words)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    if id is None:
        return message
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": id, "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


async def turn(
    made: Crib, plug: Plug, replies: Sequence[str], message: str = "m", said: Path | None = None
) -> list[dict[str, Any]]:
    """Runs the replies of one message of a user. said: a file that gets what is told of each, as a line, at once."""
    told = []
    one = made.turn(**WHO, message=message)
    for text in replies:
        messages = await one.run(reply(text))
        told.append({"messages": list(messages), "codes": [result.code for result in messages.results]})
        if said is not None:
            append(said, json.dumps(told[-1]))
        plug.passes("after run")
    await one.confirm()
    return told


def rows(path: Path, message: str = "m") -> list[tuple[Any, ...]]:
    """(id, tool, state, code) of the calls of a message, as the file has them; opens no journal."""
    query = "SELECT id, tool, state, code FROM calls WHERE message = ? ORDER BY step, ordinal, rowid"
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        return connection.execute(query, (message,)).fetchall()


def effects(world: Path) -> list[tuple[str, str, str]]:
    """(id, name, state in the journal) of every body that was entered, in time order."""
    if not world.exists():
        return []
    return [(id, name, state) for id, name, state in (line.split() for line in world.read_text().splitlines())]


async def main(url: str, world: str, place: str, *replies: str) -> None:
    plug = Plug(place)
    async with crib(url, Path(world), plug) as made:
        print(json.dumps(await turn(made, plug, replies)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
