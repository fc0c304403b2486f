"""Several processes run the same reply at the same time, on one journal.

    python tests/crash/together.py FOLDER ROUNDS HOW REPLY ...

A process for each reply; each round is another message. HOW: `at-once`, all begin at the same signal; `killed`, the
first begins, the others once its first body has been entered, and then the first is killed. Prints a JSON list, for
each round: how the processes ended, the names of the bodies that were entered, what was told, and the rows.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import victim
from moments import ended, fork, program


class Round:
    """Processes that have opened their crib and wait for the signal."""

    def __init__(self, folder: Path, message: str, replies: Sequence[str]) -> None:
        self._folder, self._message = folder, message
        self._world, self._said = folder / message, folder / f"{message}-said"
        self._ready = os.pipe()
        self._signals = [os.pipe() for _ in replies]
        self.children = [
            fork(partial(self._process, begin[0], text)) for begin, text in zip(self._signals, replies, strict=True)
        ]
        for _ in self.children:
            os.read(self._ready[0], 1)

    def _process(self, begin: int, text: str) -> None:
        async def work() -> None:
            plug = victim.Plug()
            async with victim.crib(f"sqlite:///{self._folder / 'crib.db'}", self._world, plug) as made:
                os.write(self._ready[1], b".")
                os.read(begin, 1)
                await victim.turn(made, plug, [text], self._message, self._said)

        asyncio.run(work())

    def begin(self, *which: int) -> None:
        for number in which:
            os.write(self._signals[number][1], b".")

    def entered(self) -> list[str]:
        return [name for _, name, _ in victim.effects(self._world)]

    def end(self) -> dict[str, Any]:
        """Waits for all of them."""
        ends = [ended(child) for child in self.children]
        for pair in (self._ready, *self._signals):
            os.close(pair[0])
            os.close(pair[1])
        return {
            "ends": ends,
            "entered": self.entered(),
            "said": [json.loads(line) for line in self._said.read_text().splitlines()],
            "rows": victim.rows(self._folder / "crib.db", self._message),
        }


def one(folder: Path, message: str, how: str, replies: Sequence[str]) -> dict[str, Any]:
    """One round."""
    scene = Round(folder, message, replies)
    if how == "at-once":
        scene.begin(*range(len(replies)))
        return scene.end()
    scene.begin(0)
    while not scene.entered():
        time.sleep(0.005)
    scene.begin(*range(1, len(replies)))
    time.sleep(0.1)  # let them come to wait for it; where they do not, they find it dead
    os.kill(scene.children[0], signal.SIGKILL)
    return scene.end()


def main(folder: str, rounds: str, how: str, *replies: str) -> None:
    """The command."""
    place = Path(folder)
    asyncio.run(program(f"sqlite:///{place / 'warm.db'}", place / "warm", place / "warm-said", victim.Plug(), "warm"))
    print(json.dumps([one(place, f"m{number}", how, replies) for number in range(int(rounds))]))


if __name__ == "__main__":
    main(*sys.argv[1:])
