"""`Crib.call` with an SQLite journal, beside a bare writer of the very rows that such a call leaves behind."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from journal import Bare, Side
from journal import measure as throughput
from pydantic import ConfigDict, TypeAdapter, with_config
from pydantic_core import to_json
from typing_extensions import TypedDict

from toolcrib import Crib
from toolcrib.ids import fresh
from toolcrib.journal.rows import OPEN_COLUMNS
from toolcrib.journal.writes import CLAIM, SETTLED

from .serve import ARGUMENTS, add

CALLERS = 64
#: Columns that hold the id of a lone call once more.
_SAME = ("conversation", "message", "turn")


@with_config(ConfigDict(extra="forbid", strict=True))
class _Arguments(TypedDict):
    a: int
    b: int


_read = TypeAdapter(_Arguments).validator.validate_json


class Ours:
    """All stages, and the journal."""

    def __init__(self, crib: Crib) -> None:
        self._crib = crib

    @classmethod
    async def opened(cls, path: Path) -> Ours:
        crib = Crib([add], db=f"sqlite:///{path}")
        await crib.open()
        return cls(crib)

    async def call(self) -> None:
        result = await self._crib.call("add", ARGUMENTS)
        assert result.value == 3

    async def aclose(self) -> None:
        await self._crib.aclose()


class Rows(Bare):
    """The bare writer with the columns and values of one real call; only ids and times are new each time."""

    def __init__(self, path: Path, started: dict[str, Any], settled: dict[str, Any]) -> None:
        super().__init__(path)
        self._started, self._settled = list(started.values()), list(settled.values())
        self._ids = [list(started).index(name) for name in ("id", *_SAME)]
        self._times = [list(started).index(name) for name in ("proposed_at", "started_at")]
        self._settled_id, self._ended = (list(settled).index(name) for name in ("id", "ended_at"))

    async def call(self) -> None:
        await self._two_rows()

    async def _two_rows(self) -> None:
        id, now = fresh(), time.time_ns() // 1000
        row = self._started.copy()
        for place in self._ids:
            row[place] = id
        for place in self._times:
            row[place] = now
        await self._write(True, row)  # type: ignore[arg-type]
        row = self._settled.copy()
        row[self._settled_id], row[self._ended] = id, time.time_ns() // 1000
        await self._write(False, row)  # type: ignore[arg-type]


class CheckedRows(Rows):
    """And what even the smallest runtime must do: check the arguments, run the body, write its answer as JSON."""

    async def call(self) -> None:
        values = _read(ARGUMENTS)
        answer = await add(**values)
        assert to_json(answer) == b"3"
        await self._two_rows()


async def recorded(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What one real call wrote at its start, and when it was settled: column -> value, in the statements' order."""
    ours = await Ours.opened(path)
    await ours.call()
    await ours.aclose()
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    (row,) = connection.execute("SELECT * FROM calls").fetchall()
    connection.close()
    if any(row[column] != row["id"] for column in _SAME):
        raise RuntimeError("a lone call's ids are no longer all the same: mend Rows")
    started = {column: row[column] for column in OPEN_COLUMNS} | {"state": "started", "code": None}
    return started, {column: row[column] for column in (*SETTLED, *CLAIM)}


async def _side(kind: type[Any], path: Path, rows: tuple[dict[str, Any], dict[str, Any]]) -> Side:
    side: Side = await Ours.opened(path) if kind is Ours else kind(path, *rows)
    return side


def _in_folder(folder: Path | None, work: Callable[[Path], Awaitable[Any]]) -> Any:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return asyncio.run(work(Path(place) / "crib.db"))  # type: ignore[arg-type]


def measure(rounds: int, calls: int, callers: int, folder: Path | None) -> dict[str, list[float]]:
    """Calls a second of each side, round by round, in shuffled order, each on a new file of the same disk."""
    kinds = {"bare writer": Rows, "writer, validation, JSON": CheckedRows, "toolcrib": Ours}
    rows = _in_folder(folder, recorded)
    speeds: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(rounds + 1):
        for name in random.sample(list(kinds), len(kinds)):

            async def one(path: Path, kind: type[Any] = kinds[name]) -> float:
                return await throughput(await _side(kind, path, rows), callers, calls)

            speed = _in_folder(folder, one)
            if turn:  # the first round only warms up
                speeds[name].append(speed)
    return speeds
