"""Many calls: the calls of one model message, from the model's order to the book's order.

`resolve` to `approve` go through the whole step first, in order, so policies never overlap and all its questions
appear at once. One commit then writes the step and all its calls. Bodies run in groups: a call that may not overlap
is a barrier; calls that may run in a rolling window. Results are published in the model's order, however they ended.

A cancellation stops starting, drains what was started, and ends the rest as `aborted_before_start`, all of it
recorded and published before the cancellation goes on its way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from toolcrib import words
from toolcrib.flight import Flight

log = logging.getLogger("toolcrib")


class Stage(Protocol):
    """One stage of a call's life. A `closing` one also runs for a call that already has its result."""

    name: str
    closing: bool

    def __call__(self, flight: Flight) -> Awaitable[None] | None: ...


async def walk(flight: Flight, stages: Sequence[Stage]) -> None:
    """Takes one call through stages. A cancellation on the way is kept on the flight; nothing else is raised."""
    way = iter(stages)
    while True:  # one `try` for all stages: after a fault the way goes on from where it was
        try:
            for stage in way:
                if flight.result is None or stage.closing:
                    pending = stage(flight)
                    if pending is not None:
                        await pending
            return
        except asyncio.CancelledError as stop:
            flight.interrupted = stop
            flight.end("aborted_before_start", words.text("aborted_before_start"), state="skipped")
        except Exception as problem:
            _broken(flight, stage, problem)


def _broken(flight: Flight, stage: Stage, problem: Exception) -> None:
    """A fault of the runtime itself: the call still gets exactly one result, and no guess."""
    log.error("stage %s failed on call %s", stage.name, flight.id, exc_info=problem)
    operator = f"{stage.name}: {problem!r}"
    if flight.state == "started":
        flight.end("outcome_unknown", words.text("outcome_unknown"), state="unknown", operator=operator)
    else:
        flight.end("not_started", "The call was not begun: an internal error.", state="skipped", operator=operator)


class Stages(Protocol):
    """What a step needs of the runtime: the parts of the one tuple, and how many bodies may overlap."""

    @property
    def front(self) -> Sequence[Stage]: ...
    @property
    def body(self) -> Sequence[Stage]: ...
    @property
    def tail(self) -> Sequence[Stage]: ...
    @property
    def window(self) -> int: ...

    def prepare(self, flight: Flight) -> bool:
        """The start's last look, before the first commit takes it along."""
        ...


class Step:
    """One step on its way. begin: commits the step and its calls as they stand; what it raises ends the step."""

    def __init__(
        self, stages: Stages, flights: Sequence[Flight], begin: Callable[[Sequence[Flight]], Awaitable[None]]
    ) -> None:
        self.flights = flights
        self._front = stages.front
        self._body = stages.body
        self._tail = stages.tail
        self._prepare = stages.prepare
        self._begin = begin
        self._window = stages.window
        self._published = 0
        self._stop: asyncio.CancelledError | None = None

    async def run(self) -> None:
        """Runs the step to its end. Raises CancelledError once all is settled, if it was cancelled on the way."""
        await self._decide()
        self._start_first_group()
        await self._unstoppable(self._begin(self.flights))
        await self._run_bodies()
        await self._publish(len(self.flights))
        if self._stop is not None:
            raise self._stop

    async def _decide(self) -> None:
        halted = False
        for flight in self.flights:
            if halted:
                self._skip(flight)
                continue
            await walk(flight, self._front)
            self._noticed(flight)
            halted = flight.code == "aborted_before_start"

    def _start_first_group(self) -> None:
        """Marks the calls that may start at once, so that the first commit carries their start."""
        if self._stop is not None:
            for flight in self.flights:
                self._skip(flight)
            return
        started = 0
        for flight in self.flights:
            if flight.result is not None:
                continue
            alone = not may_overlap(flight)
            if alone and started:
                return
            if self._prepare(flight):
                flight.state = "started"
                started += 1
                if alone or started == self._window:
                    return

    async def _run_bodies(self) -> None:
        running: set[asyncio.Task[None]] = set()
        for place, flight in enumerate(self.flights):
            if flight.result is not None:
                continue
            if self._stop is None and may_overlap(flight):
                if running or self._more_follow(place):
                    if len(running) >= self._window:
                        running = await self._some_end(running)
                    if self._stop is None:
                        running.add(asyncio.create_task(walk(flight, self._body)))
                        continue
            else:
                _say_who_holds_up(flight, self.flights[place + 1 :], bool(running))
            running = await self._drain(running)
            await self._publish(place)
            if self._stop is None:
                await walk(flight, self._body)
                self._noticed(flight)
            else:
                self._skip(flight)
                await self._unstoppable(walk(flight, self._body))
        await self._drain(running)

    def _more_follow(self, place: int) -> bool:
        """Whether a later call may overlap this one: only then is a task worth its price."""
        for later in self.flights[place + 1 :]:
            if later.result is None:
                return may_overlap(later)
        return False

    async def _some_end(self, running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        try:
            _, still = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError as stop:
            self._stop = stop
            return await self._drain(running)
        await self._publish_ended()
        return still

    async def _drain(self, running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Waits until all have ended, publishing on the way; a cancellation is passed on to them, once, and kept."""
        told = False
        while running:
            if self._stop is not None and not told:
                told = True
                for task in running:
                    task.cancel()
            try:
                _, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                await self._publish_ended()
            except asyncio.CancelledError as stop:
                self._stop = stop
                running = {task for task in running if not task.done()}
        return set()

    async def _publish_ended(self) -> None:
        """Publishes the calls that have ended, up to the first that has not."""
        ready = self._published
        while ready < len(self.flights) and self.flights[ready].settled:
            ready += 1
        await self._publish(ready)

    async def _publish(self, up_to: int) -> None:
        while self._published < up_to:
            flight = self.flights[self._published]
            self._published += 1
            await walk(flight, self._tail)
            self._noticed(flight)

    async def _unstoppable(self, work: Awaitable[Any]) -> None:
        """Awaits what must be finished; a cancellation meanwhile is kept for the end."""
        task = asyncio.ensure_future(work)
        while not task.done():
            try:
                await asyncio.shield(task)
            except asyncio.CancelledError as stop:
                if task.done():
                    break
                self._stop = stop
        task.result()

    def _noticed(self, flight: Flight) -> None:
        if flight.interrupted is not None:
            self._stop = flight.interrupted

    def _skip(self, flight: Flight) -> None:
        flight.end("aborted_before_start", words.text("aborted_before_start"), state="skipped")


def may_overlap(flight: Flight) -> bool:
    """Whether a call may run beside others of its step: asked anew just before it starts.

    Only the exact True of a declared function says yes; undeclared, only a read-only tool may.
    """
    tool = flight.tool
    if tool is None:
        return False
    declared = tool.parallel
    if declared is None:
        return tool.read_only
    if callable(declared):
        try:
            return declared(flight.call.arguments) is True
        except Exception:
            log.exception("parallel of tool %r failed on call %s; the call runs alone", tool.name, flight.id)
            return False
    return declared


_told: set[tuple[str, str]] = set()


def _say_who_holds_up(flight: Flight, later: Sequence[Flight], waits: bool) -> None:
    """Once per tool: an undeclared one makes others wait, and how to declare it."""
    tool = flight.tool
    if tool is None or tool.parallel is not None or tool.effects or not (waits or any(f.result is None for f in later)):
        return
    if (tool.source, tool.name) not in _told:
        _told.add((tool.source, tool.name))
        log.info(
            "tool %r declares no effects, so it runs alone and other calls of a step wait for it; "
            "declare read_only=True or parallel=True if that is true of it",
            tool.name,
        )
