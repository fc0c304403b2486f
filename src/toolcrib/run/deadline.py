"""Deadlines of async bodies: one timer for all that have the same duration on the same loop.

`asyncio.timeout` makes and cancels a timer for every body, most of which end long before it. Here bodies of one
duration stand in a line: their deadlines come in the order in which they began, so one timer watches the first.
"""

from __future__ import annotations

import asyncio


class Deadline:
    """One body's. expired: its task was cancelled because of it."""

    __slots__ = ("at", "expired", "task")

    def __init__(self, task: asyncio.Task[object], at: float) -> None:
        self.task = task
        self.at = at
        self.expired = False


class Line:
    """The bodies of one duration on one loop."""

    __slots__ = ("_loop", "_seconds", "_timer", "_waiting")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop = loop
        self._seconds = seconds
        self._waiting: dict[Deadline, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def enter(self, task: asyncio.Task[object]) -> Deadline:
        """From now on the task has so many seconds; then it is cancelled, once."""
        deadline = Deadline(task, self._loop.time() + self._seconds)
        self._waiting[deadline] = None
        if self._timer is None:
            self._timer = self._loop.call_at(deadline.at, self._look)
        return deadline

    def leave(self, deadline: Deadline) -> None:
        """Its body has ended."""
        self._waiting.pop(deadline, None)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._waiting:
            first = next(iter(self._waiting))
            if first.at > now:
                self._timer = self._loop.call_at(first.at, self._look)
                return
            del self._waiting[first]
            first.expired = True
            first.task.cancel()


_lines: dict[tuple[asyncio.AbstractEventLoop, float], Line] = {}


def line(loop: asyncio.AbstractEventLoop, seconds: float) -> Line:
    """The line of that duration; those of closed loops are forgotten when a new one is made."""
    found = _lines.get((loop, seconds))
    if found is None:
        for known in [known for known in list(_lines) if known[0].is_closed()]:
            _lines.pop(known, None)
        found = _lines[loop, seconds] = Line(loop, seconds)
    return found
