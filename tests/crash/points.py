"""A real process killed at every commit point and around every body, then opened again.

    python tests/crash/points.py            prints the table: kill point, world, journal, model
    python tests/crash/points.py RUNS       so many runs over all points and at random moments; exit 1 if one breaks

One process imports everything once and forks for each run; each child is killed with SIGKILL, by itself, at its point.
The world is a file outside: a body appends its call's id to it, flushed to the disk, before it does anything else.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from toolcrib import Call, Crib, Tool
from toolcrib.journal.location import open_store

#: (tool, name): the step that every run takes. `pay` and `post` have effects, `look` is read-only.
CALLS = (("pay", "a"), ("look", "b"), ("look", "c"), ("post", "d"))
WRITES = ("begin", "start", "settle", "end", "mark", "confirm")
#: Where a run may be killed: ("before" or "after" a write of the journal, its number) or around the n-th body's effect.
POINTS: list[tuple[str, int]] = [
    *((when, number) for number in range(1, 9) for when in ("before write", "after write")),
    *((when, number) for number in range(1, 5) for when in ("before effect", "after effect")),
]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killing:
    """A store that ends the process before or after its n-th write."""

    def __init__(self, store: Any, when: str, number: int) -> None:
        self._store, self._when, self._number, self._count = store, when, number, 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name not in WRITES:
            return method

        async def write(*args: Any, **kwargs: Any) -> Any:
            self._count += 1
            mine = self._count == self._number
            if mine and self._when == "before write":
                die()
            done = await method(*args, **kwargs)
            if mine and self._when == "after write":
                die()
            return done

        return write


def tools(world: Path, when: str = "", number: int = 0) -> list[Tool]:
    entered = 0

    def effect(call: Call) -> None:
        nonlocal entered
        entered += 1
        mine = entered == number
        if mine and when == "before effect":
            die()
        file = os.open(world, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{call.id}\n".encode())
        os.fsync(file)
        os.close(file)
        if mine and when == "after effect":
            die()

    async def later(arguments: dict[str, Any], call: Call) -> str:
        effect(call)
        await asyncio.sleep(0)
        return str(arguments["name"])

    def at_once(arguments: dict[str, Any], call: Call) -> str:
        effect(call)
        return str(arguments["name"])

    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    injected = {"call": Call}
    return [
        Tool(name="pay", parameters=schema, body=later, injected=injected),
        Tool(name="look", parameters=schema, body=later, injected=injected, read_only=True),
        Tool(name="post", parameters=schema, body=at_once, injected=injected),
    ]


def reply() -> dict[str, Any]:
    calls = [
        {"id": f"call_{name}", "type": "function", "function": {"name": tool, "arguments": json.dumps({"name": name})}}
        for tool, name in CALLS
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "r1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


async def turn(store: Any, bodies: list[Tool]) -> list[Any]:
    """The program: run the reply, then say that its messages are kept."""
    async with Crib(bodies, db=store) as crib:
        messages = await crib.turn(user="ada", conversation="c", message="m").run(reply())
        await crib.book.confirm(crib.turn(user="ada", conversation="c", message="m").id)
        return [list(messages), [result.code for result in messages.results]]


LOG = """
CREATE TABLE IF NOT EXISTS ended (id TEXT, old TEXT, new TEXT);
CREATE TRIGGER IF NOT EXISTS ends AFTER UPDATE OF state ON calls WHEN OLD.state <> NEW.state
    BEGIN INSERT INTO ended VALUES (NEW.id, OLD.state, NEW.state); END;
"""


async def prepare(url: str, path: Path) -> None:
    store = open_store(url)
    await store.open()
    await store.aclose()
    connection = sqlite3.connect(path)
    connection.executescript(LOG)
    connection.close()


def forked(work: Any) -> int:
    """Runs a function in a forked child; how it ended, negative for a signal."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as problem:
            print(f"child: {problem!r}", file=sys.stderr, flush=True)
            os._exit(9)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(folder: Path, when: str, number: int) -> dict[str, Any]:
    """One run: killed at its point, opened again twice; what the world, the journal and the model were told."""
    path, world, said = folder / "crib.db", folder / "world", folder / "said"
    url = f"sqlite:///{path}"
    forked(lambda: asyncio.run(prepare(url, path)))
    ended = forked(lambda: asyncio.run(turn(Killing(open_store(url), when, number), tools(world, when, number))))
    seen = world.read_text().split() if world.exists() else []
    codes = []
    for _ in range(2):
        forked(lambda: said.write_text(json.dumps(asyncio.run(turn(open_store(url), tools(world))))))
        codes.append(json.loads(said.read_text()))
    after = world.read_text().split() if world.exists() else []
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT id, tool, state, code, ordinal FROM calls ORDER BY ordinal").fetchall()
    changes = connection.execute("SELECT id, old, new FROM ended").fetchall()
    connection.close()
    return {
        "killed": ended == -signal.SIGKILL,
        "exit": ended,
        "seen": seen,
        "after": after,
        "rows": rows,
        "changes": changes,
        "first": codes[0],
        "second": codes[1],
    }


def faults(found: dict[str, Any]) -> list[str]:
    """What breaks a promise in a run; nothing should."""
    wrong = []
    rows = {row[0]: row for row in found["rows"]}
    open_ones = ("proposed", "started", "awaiting_approval")
    if found["exit"] not in (0, -signal.SIGKILL):
        wrong.append(f"the child ended with {found['exit']}")
    wrong += [f"{id} had an effect and has no row" for id in found["after"] if id not in rows]
    wrong += [f"{id} had {count} effects" for id, count in Counter(found["after"]).items() if count > 1]
    wrong += [f"{row[0]} is still {row[2]}" for row in rows.values() if row[2] in open_ones]
    ends = Counter(id for id, old, new in found["changes"] if old in open_ones and new not in open_ones)
    wrong += [f"{id} ended {count} times" for id, count in ends.items() if count > 1]
    wrong += [
        f"{id} went from {old} to {new}"
        for id, old, new in found["changes"]
        if old not in open_ones and (old, new) != ("executed", "confirmed")
    ]
    for row in rows.values():
        if row[0] in found["seen"] and row[3] not in ("ok", "outcome_unknown"):
            wrong.append(f"{row[0]} had its effect and the journal says {row[3]}")
        if row[0] not in found["after"] and row[3] == "ok":
            wrong.append(f"{row[0]} had no effect and the journal says ok")
    if found["first"] != found["second"]:
        wrong.append("told twice, the model is told two things")
    messages, codes = found["first"]
    if [message.get("tool_call_id") for message in messages[1:]] != [f"call_{name}" for _, name in CALLS]:
        wrong.append("not one result for each call, in order")
    if codes != [row[3] for row in found["rows"]]:
        wrong.append("the model is told something else than the journal says")
    if len(rows) != len(CALLS):
        wrong.append(f"{len(rows)} rows for {len(CALLS)} calls")
    return wrong


def table() -> int:
    """Prints one line for each point; how many broke a promise."""
    names = " ".join(f"{tool}({name})" for tool, name in CALLS)
    print(f"one step of four calls: {names}\n")
    print(f"{'killed':18} {'effects':8} {'what the model is told of each call':64} broken")
    broken = 0
    for when, number in POINTS:
        with tempfile.TemporaryDirectory() as folder:
            found = run(Path(folder), when, number)
        wrong = faults(found)
        broken += bool(wrong)
        point = f"{when} {number}" if found["killed"] else f"({when} {number})"
        print(f"{point:18} {len(found['seen']):^8} {', '.join(found['first'][1]):64} {'; '.join(wrong) or 'nothing'}")
    print("\n(in brackets: the run ended before that point)")
    return broken


def late_kill(folder: Path, seconds: float) -> None:
    """Waits in the parent and kills the child from outside, at any moment."""
    url, world = f"sqlite:///{folder / 'crib.db'}", folder / "world"
    forked(lambda: asyncio.run(prepare(url, folder / "crib.db")))
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(turn(open_store(url), tools(world)))
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def soak(runs: int) -> int:
    """Runs over all points in turn, every third at a random moment; prints each that broke a promise."""
    broken = 0
    killed = 0
    for count in range(runs):
        when, number = POINTS[count % len(POINTS)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if count % 3 == 2:
                late_kill(folder, random.uniform(0, 0.04))
                when, number = "never", 0
            found = run(folder, when, number)
        killed += found["killed"] or when == "never"
        wrong = faults(found)
        broken += bool(wrong)
        if wrong:
            print(f"{when} {number}: {'; '.join(wrong)}", flush=True)
    print(f"{runs} runs, {killed} killed, {broken} broken")
    return broken


if __name__ == "__main__":
    sys.exit(min(soak(int(sys.argv[1])) if sys.argv[1:] else table(), 1))
