"""The stage `run`: the body, once, on a runner, under its deadline. What it returned or raised stays on the flight.

Async bodies run on the caller's loop, sync ones in the pool. A body is never raced or abandoned by a cancellation:
an async one is cancelled and awaited, a sync one is awaited. Only a deadline leaves a sync body running; the model is
told `timeout` at once and the journal gets the outcome when it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from toolcrib import words
from toolcrib.bridge import awaitable
from toolcrib.call import Tool
from toolcrib.flight import Flight
from toolcrib.frozen import thaw
from toolcrib.run.deadline import line
from toolcrib.run.kits import OpenKits
from toolcrib.run.pool import Job, Pool, wake

Provider = Callable[[Flight], Any]
#: Told (flight, value, failure) when a body that was left running has ended.
LateEnd = Callable[[Flight, Any, BaseException | None], None]

_NEVER_BEGUN = "It was never begun: no thread was free in time. Nothing happened."


class Run:
    """Enters bodies. providers: type (or its name) -> what fills a parameter injected with that type."""

    name = "run"
    closing = False

    def __init__(self, pool: Pool, providers: Mapping[Any, Provider], late: LateEnd, kits: OpenKits) -> None:
        self._pool = pool
        self._providers = providers
        self._late = late
        self._kits = kits

    async def __call__(self, flight: Flight) -> None:
        tool = flight.tool
        assert tool is not None
        flight.attempts += 1
        try:
            if tool.timeout is None:
                flight.body_result = await self._enter(flight, tool)
            elif tool.asynchronous:
                await self._within(flight, tool, tool.timeout)
            else:
                flight.body_result = await self._enter(flight, tool)
        except asyncio.CancelledError as stop:
            if not _cancelled_from_outside():
                flight.failure = stop  # the body's own: an error of this call alone
                return
            flight.interrupted = stop
            self._end(flight, "aborted")
        except (KeyboardInterrupt, GeneratorExit):
            self._end(flight, "aborted")
            raise
        except BaseException as problem:  # SystemExit of a body ends its call, not the program
            flight.failure = problem

    async def _enter(self, flight: Flight, tool: Tool) -> Any:
        if tool.toolkit is not None:
            await self._kits.opened(tool.toolkit)
        injected = tool.injected
        keywords = {name: self._providers[kind](flight) for name, kind in injected.items()} if injected else {}
        if tool.adapter is None:
            function, arguments = tool.body, thaw(flight.arguments)
            if not tool.asynchronous:
                returned = await self._in_pool(flight, tool, lambda **context: function(arguments, **context), keywords)
            else:
                returned = await function(arguments, **keywords)
        else:
            values = flight.values
            flight.values = None  # one attempt's own: a body may change them
            keywords = {**values, **keywords} if keywords else values  # type: ignore[dict-item, assignment]
            if tool.asynchronous:
                returned = await tool.body(**keywords)
            else:
                returned = await self._in_pool(flight, tool, tool.body, keywords)
        return await returned if awaitable(returned) else returned

    async def _within(self, flight: Flight, tool: Tool, seconds: float) -> None:
        task = asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        bodies = line(task.get_loop(), seconds)
        deadline = bodies.enter(task)
        try:
            flight.body_result = await self._enter(flight, tool)
        except asyncio.CancelledError:
            if not deadline.expired or task.uncancel() > before:
                raise  # from outside, or the body's own
            flight.operator = f"deadline of {seconds} s"
            self._end(flight, "timeout")
        except BaseException:
            if deadline.expired:
                task.uncancel()
            raise
        else:
            if deadline.expired:
                task.uncancel()
                flight.notes = (*flight.notes, f"it ended after its deadline of {seconds:g} s")
        finally:
            bodies.leave(deadline)

    def _end(self, flight: Flight, code: Any) -> None:
        """Ends a call whose body was entered and did not come to its own end."""
        state: Any = "failed" if flight.may_repeat else "unknown"
        flight.end(code, words.text(code, may_repeat=flight.may_repeat), state=state, operator=flight.operator)

    async def _in_pool(self, flight: Flight, tool: Tool, function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
        job = self._pool.submit(function, keywords, lambda value, failure: self._late(flight, value, failure))
        timer = None if tool.timeout is None else job.loop.call_later(tool.timeout, wake, job)
        while job.outcome is None:
            try:
                await job.future
            except asyncio.CancelledError as stop:
                flight.interrupted = stop
                if job.claim():  # still queued: it will never begin
                    flight.end("aborted_before_start", words.text("aborted_before_start"), state="skipped")
                    return None
                if job.future.cancelled():
                    job.future = job.loop.create_future()
                continue
            if job.outcome is None:
                self._past_deadline(flight, job, tool.timeout)
                return None
        if timer is not None:
            timer.cancel()
        value, failure = job.outcome
        if failure is not None:
            raise failure
        return value

    def _past_deadline(self, flight: Flight, job: Job, seconds: float | None) -> None:
        flight.operator = f"deadline of {seconds} s"
        if self._pool.abandon(job):
            flight.late = True
            self._end(flight, "timeout")
        else:
            flight.end("timeout", words.text("timeout", _NEVER_BEGUN), state="failed", operator=flight.operator)


def _cancelled_from_outside() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
