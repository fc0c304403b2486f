"""Group commit: one thread, one queue, one connection. Whoever submits waits for the commit that holds the write.

The thread takes what is queued, without a timer, puts it into one transaction, commits, and releases all that wait with
one call into each event loop. A write of the batch that fails is told so alone: the batch is then written one by one.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol, TypeAlias

from toolcrib.errors import JournalError, ToolcribError
from toolcrib.journal import faults

#: Writes put into one transaction at most.
BATCH = 256
#: Seconds another process may hold the file before a write is given up.
PATIENCE = 30.0


class Kind(Protocol):
    """One kind of write or read: how to do several of them inside a transaction.

    rank orders the kinds of one batch, as a call lives; None does each one alone, in the order of the queue.
    again tells what became of an item that the database refused as being there already.
    """

    @property
    def rank(self) -> int | None: ...

    @property
    def again(self) -> Kind | None: ...

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        """One outcome for each item; an exception as an outcome is raised to whoever waits for that item."""


#: kind, what it is about, whether it must survive a power loss, who waits (both None: nobody).
Job: TypeAlias = "tuple[Kind, Any, bool, asyncio.AbstractEventLoop | None, asyncio.Future[Any] | None]"


class Lane:
    """A thread that does the jobs of a queue on a connection of its own. It starts with the first job.

    connect opens the connection, in that thread; disconnect, if given, is called after it has been closed. moved tells
    whether the open file is no longer the one to be used; None: the connection is the database itself.
    """

    def __init__(
        self,
        name: str,
        connect: Callable[[], sqlite3.Connection],
        disconnect: Callable[[], None] | None = None,
        moved: Callable[[], bool] | None = None,
    ) -> None:
        self._name = name
        self._connect = connect
        self._disconnect = disconnect
        self._moved = moved
        #: Whether a fork holds `busy` just now.
        self.paused = False
        self.reset()

    def reset(self) -> None:
        """As new: nothing queued, no thread, no connection. For the first time, and in a forked child."""
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.RLock()
        #: Held while the thread uses its connection: a fork waits for it.
        self.busy = threading.Lock()
        self.connection: sqlite3.Connection | None = None

    def submit(self, kind: Kind, item: Any, durable: bool = False) -> asyncio.Future[Any]:
        """Queues a job. The future may be cancelled: the job is done all the same."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self._queue.put((kind, item, durable, loop, future))
        if self._thread is None:
            self._start()
        return future

    def stop(self) -> threading.Thread | None:
        """Ends the thread, and closes the connection, once all that is queued is done. The thread, to be joined."""
        with self._starting:
            if self._thread is not None:
                self._queue.put(None)
            return self._thread

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def _run(self) -> None:
        queue = self._queue
        get = queue.get
        while True:
            job = get()
            batch: list[Job] = []
            while job is not None:
                batch.append(job)
                if len(batch) >= BATCH or not queue.qsize():
                    break
                job = get()
            if batch:
                release(*self._outcomes(batch))
            del batch
            if job is None and self._ended():
                return

    def _ended(self) -> bool:
        with self._starting:
            thread, self._thread = self._thread, None
            if self._queue.qsize():  # somebody came after the stop
                self._thread = thread
                return False
            with self.busy:
                self.drop()
            if self._disconnect is not None:
                self._disconnect()
            return True

    def _outcomes(self, batch: list[Job]) -> tuple[list[Job], list[Any]]:
        """The batch, in some order, and what became of each of its jobs. Never raises."""
        try:
            return self._work(batch)
        except ToolcribError as problem:
            return batch, [type(problem)(*problem.args) for _ in batch]
        except BaseException as problem:  # whoever waits must hear of it, whatever it was
            return batch, [faults.raised(problem) for _ in batch]

    def _work(self, batch: list[Job]) -> tuple[list[Job], list[Any]]:
        """Each job alone, without a transaction: for reading."""
        outcomes: list[Any] = []
        with self.busy:
            for kind, item, _, _, _ in batch:
                try:
                    outcomes += kind.run(self.ready(), [item])
                except sqlite3.Error as problem:
                    outcomes.append(faults.raised(problem))
        return batch, outcomes

    def ready(self) -> sqlite3.Connection:
        """The connection, opened if need be."""
        if self._moved is not None and self.connection is not None and self._moved():
            self.drop()
        if self.connection is None:
            self.connection = self._connect()
        return self.connection

    def drop(self) -> None:
        """Closes the connection; the next job opens another."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


class Writer(Lane):
    """A lane whose batches are transactions."""

    def __init__(
        self,
        name: str,
        connect: Callable[[], sqlite3.Connection],
        disconnect: Callable[[], None] | None = None,
        moved: Callable[[], bool] | None = None,
        patience: float = PATIENCE,
    ) -> None:
        super().__init__(name, connect, disconnect, moved)
        self._patience = patience

    def reset(self) -> None:
        super().reset()
        self._full: bool | None = None

    def drop(self) -> None:
        self._full = None
        super().drop()

    def _work(self, batch: list[Job]) -> tuple[list[Job], list[Any]]:
        try:
            return self._transaction(batch)
        except sqlite3.Error as problem:
            if faults.of_the_file(problem):
                raise
        except (ValueError, OverflowError, TypeError):  # a value the database cannot hold
            pass
        return batch, [self._alone(job) for job in batch]

    def _alone(self, job: Job) -> Any:
        try:
            return self._transaction([job])[1][0]
        except sqlite3.IntegrityError as problem:
            if job[0].again is None:
                return faults.raised(problem)
            return self._alone((job[0].again, *job[1:]))
        except ToolcribError as problem:
            return problem
        except Exception as problem:
            return faults.raised(problem)

    def _transaction(self, batch: list[Job]) -> tuple[list[Job], list[Any]]:
        connection = self._begin(any(job[2] for job in batch))
        try:
            done = _apply(connection, batch)
            connection.execute("COMMIT")
        except BaseException as problem:
            self._undo(connection, problem)
            raise
        finally:
            self.busy.release()
        return done

    def _begin(self, full: bool) -> sqlite3.Connection:
        """A connection inside a transaction, with `busy` held. Waits for other processes, `busy` released meanwhile."""
        start: float | None = None
        pause = 0.0005
        while True:
            self.busy.acquire()
            try:
                connection = self.ready()
                if full is not self._full:
                    connection.execute("PRAGMA synchronous=FULL" if full else "PRAGMA synchronous=NORMAL")
                    self._full = full
                connection.execute("BEGIN IMMEDIATE")
                return connection
            except BaseException as problem:
                self.busy.release()
                if not (isinstance(problem, sqlite3.Error) and faults.of_a_lock(problem)):
                    raise
                now = time.monotonic()
                start = start or now
                if now - start > self._patience:
                    raise JournalError(
                        f"another program has kept the journal locked for {self._patience:g} s; the write was given up"
                    ) from problem
            time.sleep(pause * (0.5 + random.random()))
            pause = min(pause * 1.5, 0.02)

    def _undo(self, connection: sqlite3.Connection, problem: BaseException) -> None:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if isinstance(problem, sqlite3.Error) and faults.of_the_file(problem) and self._moved is not None:
            self.drop()


def _apply(connection: sqlite3.Connection, batch: list[Job]) -> tuple[list[Job], list[Any]]:
    """All jobs of a batch, those of one kind together; the jobs in the order they were done, and their outcomes."""
    if len(batch) == 1:
        return batch, batch[0][0].run(connection, [batch[0][1]])
    first = batch[0][0]
    if first.rank is not None and all(job[0] is first for job in batch):
        return batch, first.run(connection, [job[1] for job in batch])
    jobs: list[Job] = []
    outcomes: list[Any] = []
    together: dict[Kind, list[Job]] = {}

    def flush() -> None:
        for kind in sorted(together, key=_rank) if len(together) > 1 else together:
            group = together[kind]
            outcomes.extend(kind.run(connection, [job[1] for job in group]))
            jobs.extend(group)
        together.clear()

    for job in batch:
        kind = job[0]
        if kind.rank is None:
            flush()
            outcomes += kind.run(connection, [job[1]])
            jobs.append(job)
        elif kind in together:
            together[kind].append(job)
        else:
            together[kind] = [job]
    flush()
    return jobs, outcomes


def _rank(kind: Kind) -> int:
    return kind.rank or 0


def release(jobs: list[Job], outcomes: list[Any]) -> None:
    """Wakes all that wait: one call into each event loop."""
    for loop in {job[3] for job in jobs}:
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody waits any more
                loop.call_soon_threadsafe(_wake, loop, jobs, outcomes)


def _wake(loop: asyncio.AbstractEventLoop, jobs: list[Job], outcomes: list[Any]) -> None:
    for job, outcome in zip(jobs, outcomes, strict=True):
        future = job[4]
        if job[3] is loop and future is not None and not future.done():
            if isinstance(outcome, BaseException):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
