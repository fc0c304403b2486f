"""A longer program killed at each of its commits and effects, and at random moments; then opened again.

    python tests/crash/moments.py [RUNS]     every place it passes, then random moments; exit 1 if a promise breaks

The program: a step of six calls (one refused, one unknown, one that makes a sub-call), a second step, the confirmation,
and a lone call. All runs share one journal. One process has imported everything, has run the program once and forks
for each run; what is left is opened by another fork, which may be killed as well, and at last by one that is not. What
any of these processes was told, it wrote down at once: all must have been told the same, and what the journal says.
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
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import victim

REPLIES = ("look:a look:b pay:c pay:refused absent:d via:e", "r2= look:f post:g pay:h")
ALONE = "alone"
OPEN = ("proposed", "started")
#: Every change of a state that the journal of a killed process may see.
ALLOWED = {
    *((None, state) for state in ("proposed", "started", "refused")),
    *(("proposed", state) for state in ("started", "skipped")),
    *(("started", state) for state in ("executed", "unknown")),
    ("executed", "confirmed"),
}
_WATCH = """
CREATE TABLE watched (id TEXT, old TEXT, new TEXT);
CREATE TRIGGER watch_insert AFTER INSERT ON calls BEGIN INSERT INTO watched VALUES (NEW.id, NULL, NEW.state); END;
CREATE TRIGGER watch_update AFTER UPDATE OF state ON calls WHEN OLD.state <> NEW.state
    BEGIN INSERT INTO watched VALUES (NEW.id, OLD.state, NEW.state); END;
"""


async def program(url: str, world: Path, said: Path, plug: victim.Plug, message: str, *, alone: bool = False) -> None:
    """The turn, in this process. alone: the lone call as well."""
    async with victim.crib(url, world, plug) as made:
        await victim.turn(made, plug, REPLIES, message, said)
        if alone:
            await made.call("pay", {"name": ALONE}, **victim.WHO, message=message)


def fork(work: Callable[[], Any]) -> int:
    """The child that does it. Exit 9: it raised."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as problem:
            print(f"child: {problem!r}", file=sys.stderr, flush=True)
            os._exit(9)
    return child


def ended(child: int, kill_after: float | None = None) -> int:
    """Waits for it; how it ended, negative for a signal."""
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Scene:
    """One journal and one world for all runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path, self.world = folder, folder / "crib.db", folder / "world"
        plug = victim.Plug()
        asyncio.run(self.program(plug, "warm"))
        #: Every place the program passes.
        self.places = plug.places
        connection = sqlite3.connect(self.path)
        connection.executescript(_WATCH)
        connection.close()
        self._seen = 0
        begun = time.monotonic()
        self.killed("timed")
        #: How long a whole run takes.
        self.seconds = time.monotonic() - begun

    def program(self, plug: victim.Plug, message: str, *, alone: bool = True) -> Coroutine[Any, Any, None]:
        return program(f"sqlite:///{self.path}", self.world, self.folder / message, plug, message, alone=alone)

    def killed(self, message: str, place: str = "", after: float | None = None) -> bool:
        """Runs it in a child that is to be killed; False where it ended before its place or moment."""
        code = ended(fork(lambda: asyncio.run(self.program(victim.Plug(place), message))), after)
        assert code in (0, -signal.SIGKILL), code
        return code != 0

    def opened_twice(self, message: str) -> None:
        """Runs it in a child that nobody kills, and once more with a crib of its own."""

        def work() -> None:
            for _ in range(2):
                asyncio.run(self.program(victim.Plug(), message, alone=False))

        assert ended(fork(work)) == 0

    def told(self, message: str) -> list[list[dict[str, Any]]]:
        """What all processes were told, by the steps of the turn."""
        lines = [json.loads(line) for line in (self.folder / message).read_text().splitlines()]
        first = [call["id"] for call in victim.reply(REPLIES[0])["tool_calls"]]
        steps: list[list[dict[str, Any]]] = [[], []]
        for line in lines:
            steps[[each["tool_call_id"] for each in line["messages"][1:]] != first].append(line)
        return steps

    def new_effects(self) -> list[tuple[str, str, str]]:
        """Those since the last look: the file only grows."""
        found = victim.effects(self.world)
        self._seen, new = len(found), found[self._seen :]
        return new

    def changes(self, ids: list[str]) -> list[tuple[str, str | None, str]]:
        connection = sqlite3.connect(self.path)
        marks = ", ".join("?" * len(ids))
        found = connection.execute(f"SELECT id, old, new FROM watched WHERE id IN ({marks})", ids).fetchall()
        connection.close()
        return found

    def run(self, message: str, place: str = "", after: float | None = None, again: float | None = None) -> list[str]:
        """Kills once, or twice, opens again twice, and says what broke a promise; nothing should."""
        self.new_effects()
        was_killed = self.killed(message, place, after)
        if again is not None:
            was_killed = self.killed(message, after=again) or was_killed
        self.opened_twice(message)
        rows = victim.rows(self.path, message)
        wrong = broken(self.new_effects(), rows, self.changes([row[0] for row in rows]), was_killed)
        for text, told in zip(REPLIES, self.told(message), strict=True):
            wrong += untrue(text, told, dict(self.recorded(message)))
        return wrong

    def recorded(self, message: str) -> list[tuple[str, str]]:
        """(the provider's id, code) of the calls of the steps."""
        connection = sqlite3.connect(self.path)
        query = "SELECT provider_call_id, code FROM calls WHERE message = ? AND step IS NOT NULL"
        found = connection.execute(query, (message,)).fetchall()
        connection.close()
        return found


def broken(
    seen: list[tuple[str, str, str]],
    rows: list[tuple[Any, ...]],
    changes: list[tuple[str, str | None, str]],
    was_killed: bool,
) -> list[str]:
    """What the world and the journal do not agree on."""
    states = {id: state for id, _, state, _ in rows}
    wrong = [f"{name} was entered while the journal said {state}" for _, name, state in seen if state != "started"]
    wrong += [f"{name} ({id}) has no row" for id, name, _ in seen if id not in states]
    for place in (0, 1):  # by call, and by what was asked for: no process may repeat what another began
        counted = Counter(effect[place] for effect in seen if not (place and effect[1] == ALONE))
        wrong += [f"{what} had {count} effects" for what, count in counted.items() if count > 1]
    wrong += [f"{id} is still {state}" for id, state in states.items() if state in OPEN]
    had = {id for id, _, _ in seen}
    for id, state in states.items():
        if id in had and state not in ("executed", "confirmed", "unknown"):
            wrong.append(f"{id} had its effect and is {state}")
        if id not in had and state in ("executed", "confirmed"):
            wrong.append(f"{id} had no effect and is {state}")
        if state in ("unknown", "skipped") and not was_killed:
            wrong.append(f"{id} is {state}, and nobody was killed")
    ends = Counter(id for id, old, new in changes if old in (None, *OPEN) and new not in OPEN)
    wrong += [f"{id} ended {ends[id]} times" for id in states if ends[id] != 1]
    return wrong + [f"{id} went from {old} to {new}" for id, old, new in changes if (old, new) not in ALLOWED]


def untrue(text: str, told: list[dict[str, Any]], journal: dict[str, str]) -> list[str]:
    """What the model was told of one reply and should not have been."""
    wanted = victim.reply(text)
    calls = (wanted["choices"][0]["message"] if "choices" in wanted else wanted)["tool_calls"]
    ids = [call["id"] for call in calls]
    wrong = [f"{len(told)} processes were told of {text}"] if len(told) < 2 else []
    for one in told:
        if [each["tool_call_id"] for each in one["messages"][1:]] != ids:
            wrong.append("not one result for each call, in order")
        if one != told[0]:
            wrong.append("told again, the model was told something else")
        wrong += [
            f"of {id} the model was told {code}, the journal says {journal.get(id)}"
            for id, code in zip(ids, one["codes"], strict=True)
            if journal.get(id) != code
        ]
    return wrong


def soak(runs: int) -> int:
    """So many runs, at least one at each place; prints each that broke a promise, and the sum."""
    count = failed = 0
    with tempfile.TemporaryDirectory() as name:
        scene = Scene(Path(name))
        chance = random.Random()

        def moment() -> float:
            return chance.uniform(0, scene.seconds * 1.1)

        while count < max(runs, len(scene.places)):
            place = scene.places[count] if count < len(scene.places) else ""
            after = None if place else moment()
            again = moment() if count % 4 == 3 else None
            wrong = scene.run(f"m{count}", place, after, again)
            failed += bool(wrong)
            if wrong:
                print(f"{place or after} {again}: {'; '.join(wrong)}", flush=True)
            count += 1
        left = os.listdir(f"{scene.path}.owners")
    print(f"{count} runs, {len(scene.places)} places, {failed} broken, {len(left)} owners left")
    return failed + len(left)


if __name__ == "__main__":
    sys.exit(min(soak(int(sys.argv[1]) if sys.argv[1:] else 200), 1))
