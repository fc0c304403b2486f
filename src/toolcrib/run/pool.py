"""The threads that sync bodies run in: bounded, our own, with the caller's context variables carried over.

A body cannot be stopped in its thread. One that is left running (`abandon`) keeps its thread, which is counted as
retired and replaced, so that later calls still start at once; at most `RETIRED_MAX` are replaced at any time.
Threads are daemons: a body left running does not hold up the end of the process.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from toolcrib.errors import SettingsError

RETIRED_MAX = 64
Late: TypeAlias = Callable[[Any, "BaseException | None"], None]


class Job:
    """One body on its way through the pool. `future` wakes the loop that submitted it: then there is an `outcome`, or
    the deadline has passed. `late` is told (value, exception), in any thread, when nobody waits any more."""

    __slots__ = (
        "_ticket", "abandoned", "context", "finished", "function", "future", "keywords", "late", "loop", "outcome",
    )  # fmt: skip

    def __init__(self, function: Callable[..., Any], keywords: dict[str, Any], late: Late) -> None:
        self.function = function
        self.keywords = keywords
        self.context = contextvars.copy_context()
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()
        self.outcome: tuple[Any, BaseException | None] | None = None
        self.late = late
        self.abandoned = False
        self.finished = False
        self._ticket = [None]

    def claim(self) -> bool:
        """True exactly once: to the thread that enters the body, or to whoever gives it up before that."""
        try:
            self._ticket.pop()
        except IndexError:
            return False
        return True


class Pool:
    """size: how many sync bodies may run at once, over all turns of a crib."""

    def __init__(self, size: int = 32) -> None:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise SettingsError(f"the number of threads is a positive integer; got {size!r}")
        self.size = size
        self._fresh()
        self._pid = os.getpid()

    def _fresh(self) -> None:
        self._jobs: deque[Job] = deque()
        self._lock = threading.Lock()
        self._wake = threading.Semaphore(0)
        self._threads = 0
        self._idle = 0
        self._retired = 0

    @property
    def retired(self) -> int:
        """How many threads hold a body that was left running."""
        return self._retired

    def submit(self, function: Callable[..., Any], keywords: dict[str, Any], late: Late) -> Job:
        """Queues a body."""
        if self._pid != os.getpid():  # threads do not survive a fork
            self._pid = os.getpid()
            self._fresh()
        job = Job(function, keywords, late)
        with self._lock:
            self._jobs.append(job)
            if self._idle:
                self._idle -= 1
            else:
                self._grow()
        self._wake.release()
        return job

    def _grow(self) -> None:
        if self._threads < self.size + min(self._retired, RETIRED_MAX):
            self._threads += 1
            threading.Thread(target=self._work, name="toolcrib-body", daemon=True).start()

    def abandon(self, job: Job) -> bool:
        """Gives up waiting for a job. False: its body was never entered and never will be. True: it runs on."""
        if job.claim():
            return False
        with self._lock:
            job.abandoned = True
            if not job.finished:
                self._retired += 1
                if len(self._jobs) > self._idle:
                    self._grow()
        return True

    def _work(self) -> None:
        while True:
            self._wake.acquire()
            try:
                job = self._jobs.popleft()
            except IndexError:  # another thread was quicker
                continue
            if job.claim() and self._enter(job):
                return
            del job
            with self._lock:
                if not self._jobs:
                    self._idle += 1

    def _enter(self, job: Job) -> bool:
        """Runs the body and tells its end. True where this thread was retired meanwhile and replaced."""
        value: Any = None
        failure: BaseException | None = None
        try:
            value = job.context.run(job.function, **job.keywords)
        except BaseException as problem:  # the thread must live on; the outcome is the job's
            failure = problem
        with self._lock:
            job.finished = True
            abandoned = job.abandoned
            if abandoned:
                self._retired -= 1
            surplus = abandoned and self._threads > self.size
            if surplus:
                self._threads -= 1
        if abandoned:
            job.late(value, failure)
        else:
            try:
                job.loop.call_soon_threadsafe(_deliver, job, value, failure)
            except RuntimeError:  # the loop that waited is closed
                job.late(value, failure)
        return surplus


def _deliver(job: Job, value: Any, failure: BaseException | None) -> None:
    if job.abandoned:
        job.late(value, failure)
        return
    job.outcome = (value, failure)
    wake(job)


def wake(job: Job) -> None:
    """Lets whoever waits for the job look at it."""
    if not job.future.done():
        job.future.set_result(None)
