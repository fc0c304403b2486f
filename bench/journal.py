"""How much of a bare group-commit writer's speed is left once it is a journal.

    python bench/journal.py [--rounds 15] [--callers 64] [--calls 2000] [--folder DIR]

Both sides write the same two rows a call (an insert of a started call, an update with its outcome) into the same
schema on the same disk, paired and in shuffled order within a round. Prints medians, and the median of the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import sqlite3
import statistics
import tempfile
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any, Protocol

from toolcrib.ids import fresh
from toolcrib.journal import schema
from toolcrib.journal.rows import OPEN_COLUMNS, CallRow, open_values
from toolcrib.journal.sqlite import SqliteStore
from toolcrib.journal.writes import CLAIM, SETTLED

ARGUMENTS = '{"mount_point":"/data"}'
VALUE = '{"mount_point":"/data","used":812,"free":188}'
CONTENT = '[{"type":"text","text":"{\\"mount_point\\":\\"/data\\",\\"used\\":812,\\"free\\":188}"}]'
INSERT = f"INSERT INTO calls ({', '.join(OPEN_COLUMNS)}) VALUES ({', '.join('?' * len(OPEN_COLUMNS))})"
UPDATE = (
    f"UPDATE calls SET {', '.join(f'{name} = ?' for name in SETTLED)}, version = version + 1 "
    f"WHERE {' AND '.join(f'{name} = ?' for name in CLAIM)}"
)


class Side(Protocol):
    """One of the two that are compared."""

    async def call(self) -> None:
        """Writes one call: its start, then its outcome."""

    async def aclose(self) -> None:
        """Ends it."""


class Bare:
    """The least that commits in groups: a deque, a thread, executemany, all that wait released at once."""

    def __init__(self, path: Path) -> None:
        self._queue: deque[tuple[bool, tuple[Any, ...], asyncio.Future[None]]] = deque()
        self._ready = threading.Event()
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, args=(path,), daemon=True)
        self._thread.start()

    def _run(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        schema.prepare(connection, str(path))
        schema.keep_log(connection, str(path))
        full = None
        while self._open or self._queue:
            self._ready.wait()
            self._ready.clear()
            while self._queue:
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), 256))]
                starts = [values for start, values, _ in batch if start]
                ends = [values for start, values, _ in batch if not start]
                if full is not bool(starts):
                    full = bool(starts)
                    connection.execute(f"PRAGMA synchronous={'FULL' if full else 'NORMAL'}")
                connection.execute("BEGIN IMMEDIATE")
                if starts:
                    connection.executemany(INSERT, starts)
                if ends:
                    connection.executemany(UPDATE, ends)
                connection.execute("COMMIT")
                self._loop.call_soon_threadsafe(_wake, [future for _, _, future in batch])
        connection.close()

    def _write(self, start: bool, values: tuple[Any, ...]) -> asyncio.Future[None]:
        future = self._loop.create_future()
        self._queue.append((start, values, future))
        self._ready.set()
        return future

    async def call(self) -> None:
        now = time.time_ns() // 1000
        id = fresh()
        await self._write(
            True,
            (
                id, "", None, 0, None, None, "ada", "c1", "m1", None, "disk_usage", "functions", "disk_usage", "call_1",
                ARGUMENTS, ARGUMENTS, "[]", "read_only", None, "started", None, "bench", 1, 1, now, now,
            ),
        )  # fmt: skip
        now = time.time_ns() // 1000
        await self._write(False, ("executed", "ok", VALUE, CONTENT, None, "[]", 1, now, None, id, "bench", 1))

    async def aclose(self) -> None:
        self._open = False
        self._ready.set()
        await asyncio.to_thread(self._thread.join)


def _wake(futures: list[asyncio.Future[None]]) -> None:
    for future in futures:
        if not future.done():
            future.set_result(None)


class Journal:
    """The store, as the runtime uses it for a lone call."""

    def __init__(self, path: Path) -> None:
        self._store = SqliteStore(path)

    async def call(self) -> None:
        now = time.time_ns() // 1000
        row = CallRow(
            id=fresh(), user="ada", conversation="c1", message="m1", tool="disk_usage", source="functions",
            name="disk_usage", provider_call_id="call_1", raw=ARGUMENTS, arguments=ARGUMENTS, effects="read_only",
            state="started", attempts=1, proposed_at=now, started_at=now,
        )  # fmt: skip
        await self._store.begin(None, (row,))
        row.state, row.code, row.value, row.content = "executed", "ok", VALUE, CONTENT
        row.ended_at = time.time_ns() // 1000
        await self._store.settle(row)

    async def aclose(self) -> None:
        await self._store.aclose()


async def measure(side: Side, callers: int, calls: int) -> float:
    """Calls a second."""

    async def caller(share: int) -> None:
        for _ in range(share):
            await side.call()

    await asyncio.gather(*(caller(2) for _ in range(callers)))
    gc.collect()
    began = time.perf_counter()
    await asyncio.gather(*(caller(calls // callers) for _ in range(callers)))
    elapsed = time.perf_counter() - began
    await side.aclose()
    return calls // callers * callers / elapsed


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--callers", type=int, default=64)
    options.add_argument("--calls", type=int, default=6400)
    options.add_argument("--folder", type=Path, default=None)
    given = options.parse_args()
    assert len(open_values(CallRow(id=""))) == len(OPEN_COLUMNS)
    speeds: dict[type[Any], list[float]] = {Bare: [], Journal: []}
    for _ in range(given.rounds):
        for kind in random.sample([Bare, Journal], 2):
            with tempfile.TemporaryDirectory(dir=given.folder) as folder:

                async def one(kind: Any = kind, folder: str = folder) -> float:
                    return await measure(kind(Path(folder) / "crib.db"), given.callers, given.calls)

                speeds[kind].append(asyncio.run(one()))
    ratios = [journal / bare for bare, journal in zip(speeds[Bare], speeds[Journal], strict=True)]
    print(f"{given.callers} callers, {given.calls} calls, {given.rounds} rounds")
    print(f"bare     {statistics.median(speeds[Bare]):9.0f} calls/s")
    print(f"journal  {statistics.median(speeds[Journal]):9.0f} calls/s")
    print(f"ratio    {statistics.median(ratios):9.2f}  ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
