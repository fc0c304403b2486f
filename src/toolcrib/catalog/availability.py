"""Which tools can be used now: the answers of their availability probes, cached and forgiving."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from toolcrib.call import Tool
from toolcrib.catalog.view import View

log = logging.getLogger("toolcrib")

Clock = Callable[[], float]


class Availability:
    """Asks tools that declare a probe whether they can be used. Times in seconds.

    cache: how long an answer is taken for granted. grace: how long after its last success a tool stays although its
    probe now fails or is slow, so that a flaky one does not lose a tool mid-conversation. patience: how long a menu
    waits for a probe that was just begun; the answer of a slower one counts from when it is there. lost: how long until
    a probe without an answer is given up and begun anew. A probe that raises has failed.

    Concurrent askers share one probe, over threads and event loops. A sync probe runs in a thread of its own.
    """

    def __init__(
        self,
        *,
        cache: float = 30.0,
        grace: float = 120.0,
        patience: float = 0.5,
        lost: float = 60.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self._cache = cache
        self._grace = grace
        self._patience = patience
        self._lost = lost
        self._clock = clock
        self._lock = threading.Lock()
        self._known: weakref.WeakKeyDictionary[Tool, _Known] = weakref.WeakKeyDictionary()

    async def usable(self, view: View) -> View:
        """The view less the tools that cannot be used now; at once the view itself where no tool has a probe."""
        if not view.probed:
            return view
        good = await self.available(view.probed)
        return view.without(tool for tool in view.probed if tool not in good)

    async def available(self, tools: Iterable[Tool]) -> set[Tool]:
        """Those of the tools that can be used now; one without a probe always can. Waits `patience` at most."""
        asked = tuple(tools)
        found = {tool for tool in asked if tool.availability is None}
        probed = [tool for tool in asked if tool.availability is not None]
        if probed:
            running = [probe for tool in probed if (probe := self._begun(tool)) is not None]
            await self._wait(running)
            found.update(tool for tool in probed if self._usable(tool))
        return found

    def _begun(self, tool: Tool) -> _Probe | None:
        """The probe to wait for; None where the last answer still holds."""
        now = self._clock()
        with self._lock:
            known = self._known.get(tool)
            if known is None:
                known = self._known[tool] = _Known()
            if known.asked_at is not None and now - known.asked_at < self._cache:
                return None
            old = known.probe
            if old is not None and (now - old.began_at < self._lost or old.in_thread):
                return old
            probe = known.probe = _Probe(now)
        if old is not None:
            old.give_up()
        probe.task = asyncio.get_running_loop().create_task(self._ask(tool, known, probe))
        return probe

    async def _ask(self, tool: Tool, known: _Known, probe: _Probe) -> None:
        answer, reason = False, "it says so"
        try:
            answer = await _answer(tool, probe)
        except Exception as problem:
            reason = repr(problem)
        except BaseException:
            with self._lock:
                if known.probe is probe:  # the loop is ending: that says nothing of the tool
                    known.probe = None
            probe.done.set_result(None)
            raise
        with self._lock:
            if known.probe is probe:
                known.probe = None
                changed, known.answer = known.answer is not answer, answer
                known.asked_at = self._clock()
                if answer:
                    known.good_at = known.asked_at
                elif changed:
                    log.warning("tool %r of %r is not available: %s", tool.name, tool.source, reason)
        probe.done.set_result(None)

    async def _wait(self, probes: list[_Probe]) -> None:
        now = self._clock()
        # Whoever comes later waits only for what is left: a probe that hangs holds up one moment, not every menu.
        left = {probe: self._patience - (now - probe.began_at) for probe in probes if not probe.done.done()}
        waiters = [_waiter(probe) for probe, rest in left.items() if rest > 0]
        if waiters:
            await asyncio.wait(waiters, timeout=max(left.values()))

    def _usable(self, tool: Tool) -> bool:
        now = self._clock()
        with self._lock:
            known = self._known[tool]
            if known.answer and known.asked_at is not None and now - known.asked_at < self._cache:
                return True
            return known.good_at is not None and now - known.good_at < self._grace


class _Known:
    """What is known of one tool's availability."""

    __slots__ = ("answer", "asked_at", "good_at", "probe")

    def __init__(self) -> None:
        self.answer: bool | None = None
        self.asked_at: float | None = None
        self.good_at: float | None = None
        self.probe: _Probe | None = None


class _Probe:
    """One question on its way."""

    __slots__ = ("began_at", "done", "task", "thread")

    def __init__(self, began_at: float) -> None:
        self.began_at = began_at
        self.done: concurrent.futures.Future[None] = concurrent.futures.Future()
        self.task: asyncio.Task[None] | None = None
        self.thread: threading.Thread | None = None

    @property
    def in_thread(self) -> bool:
        """Whether a sync probe still runs: it cannot be ended, and a second one beside it would not help."""
        return self.thread is not None and self.thread.is_alive()

    def give_up(self) -> None:
        """Ends an async probe, in whatever loop it runs."""
        if self.task is not None:
            with contextlib.suppress(RuntimeError):  # its loop has ended before it
                self.task.get_loop().call_soon_threadsafe(self.task.cancel)


def _waiter(probe: _Probe) -> asyncio.Future[None]:
    """A future of the running loop that is done when the probe is. Giving it up does not end the probe."""
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    def ended(_: object) -> None:
        with contextlib.suppress(RuntimeError):  # this loop has ended meanwhile
            loop.call_soon_threadsafe(wake)

    probe.done.add_done_callback(ended)
    return waiter


async def _answer(tool: Tool, asked: _Probe) -> bool:
    probe = tool.availability
    assert probe is not None
    if inspect.iscoroutinefunction(probe) or inspect.iscoroutinefunction(type(probe).__call__):
        said = await probe()
    else:
        said = await asyncio.wrap_future(_in_thread(probe, asked))
        if inspect.isawaitable(said):
            said = await said
    return bool(said)


def _in_thread(probe: Callable[[], Any], asked: _Probe) -> concurrent.futures.Future[Any]:
    """Runs a sync probe in a daemon thread: one that hangs holds up neither a pool nor the end of the process."""
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()

    def run() -> None:
        try:
            said, failure = probe(), None
        except Exception as problem:
            said, failure = None, problem
        except BaseException as problem:  # sys.exit() in a probe is no reason to end the program
            said, failure = None, RuntimeError(repr(problem))
        if future.set_running_or_notify_cancel():
            if failure is None:
                future.set_result(said)
            else:
                future.set_exception(failure)

    asked.thread = threading.Thread(target=run, name="toolcrib-availability", daemon=True)
    asked.thread.start()
    return future
