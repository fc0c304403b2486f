"""The journal in an SQLite file, or in memory."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from toolcrib.errors import SettingsError
from toolcrib.journal import reads, recovery, sqlite_file, writes
from toolcrib.journal.rows import CallRow, StepRow, call_values, open_values, step_values
from toolcrib.journal.sqlite_file import SqliteFile
from toolcrib.journal.store import Settled

T = TypeVar("T")

_settle_values = attrgetter(*writes.SETTLED, *writes.CLAIM)
_claim_values = attrgetter(*writes.CLAIM)
_decide_values = attrgetter(*writes.SETTLED, "id", "version")
_IN_TURN = "WHERE turn = ? AND step IS NOT NULL"


class SqliteStore:
    """A `Store` in the file at `path`; None: in memory, for this object alone and gone with `aclose`.

    All that name the same file share one writer and one owner. shared: False gives this one its own, as another
    process would have.
    """

    def __init__(self, path: str | os.PathLike[str] | None, *, shared: bool = True) -> None:
        self._path = None if path is None else os.path.abspath(path)
        self._shared = shared
        self._file: SqliteFile | None = None
        self._release: weakref.finalize[..., Any] | None = None
        self._acquiring = threading.Lock()

    def __repr__(self) -> str:
        return f"<SqliteStore {self._path or 'in memory'}>"

    @property
    def owner(self) -> str:
        return (self._file or self._acquire()).owner.id

    def _acquire(self) -> SqliteFile:
        with self._acquiring:
            file = self._file
            if file is None:
                file = sqlite_file.acquire(self._path, shared=self._shared)
                self._release = weakref.finalize(self, sqlite_file.let_go, file)
                self._release.atexit = False
                self._file = file
        return file

    async def open(self) -> None:
        await self._write(lambda connection: None)

    async def aclose(self) -> None:
        file, self._file, release, self._release = self._file, None, self._release, None
        if file is not None and release is not None and release.detach() is not None:
            await asyncio.to_thread(sqlite_file.let_go, file, wait=True)

    async def _write(self, task: Callable[[sqlite3.Connection], T]) -> T:
        done: T = await (self._file or self._acquire()).writer.submit(writes.TASK, task)
        return done

    async def _read(self, task: Callable[[sqlite3.Connection], T]) -> T:
        file = self._file or self._acquire()
        if not file.opened:
            await self.open()
        done: T = await file.reader.submit(writes.TASK, task)
        return done

    async def _change(self, statement: str, values: tuple[Any, ...]) -> int:
        changed: int = await (self._file or self._acquire()).writer.submit(writes.CHANGE, (statement, values))
        return changed

    def begin(self, step: StepRow | None, calls: Sequence[CallRow], confirm: str | None = None) -> Awaitable[None]:
        file = self._file or self._acquire()
        owner = file.owner.id
        durable = False
        for call in calls:
            call.owner = owner
            if call.state == "started":
                durable = True
                if not call.fence:
                    call.fence = 1
        if step is None and confirm is None and len(calls) == 1 and calls[0].ended_at is None:
            return file.writer.submit(writes.INSERT, open_values(calls[0]), durable)
        if step is not None:
            step.owner = owner
        item = writes.Beginning(
            None if step is None else step_values(step),
            [open_values(call) for call in calls if call.ended_at is None],
            [call_values(call) for call in calls if call.ended_at is not None],
            None if confirm is None else _confirming(confirm, None if step is None else step.step - 1),
        )
        return file.writer.submit(writes.BEGIN, item, durable)

    async def start(self, call: CallRow) -> bool:
        if call.state not in ("proposed", "awaiting_approval") and not (call.state == "unknown" and call.repeatable):
            return False
        file = self._file or self._acquire()
        owner = file.owner.id
        values = (owner, call.attempts, call.started_at, call.id, call.state, call.owner, call.fence)
        won: bool = await file.writer.submit(writes.START, values, True)
        if won:
            call.state, call.code, call.ended_at = "started", None, None
            call.owner = owner
            call.fence += 1
        return won

    def settle(self, call: CallRow) -> Awaitable[Settled]:
        return (self._file or self._acquire()).writer.submit(writes.SETTLE, _settle_values(call))

    async def end(self, call: CallRow) -> bool:
        file = self._file or self._acquire()
        if call.owner is None:
            call.owner = file.owner.id
        done: bool = await file.writer.submit(writes.END, (_settle_values(call), call_values(call)))
        return done

    async def mark(self, call: CallRow, code: str) -> bool:
        return await self._change(writes.MARK, (code, *_claim_values(call))) == 1

    async def decide(self, call: CallRow, by: str) -> bool:
        values = _decide_values(call)
        seen = {name: getattr(call, name) for name in ("tenant", "user", "conversation", "state", "code")}

        def settle(connection: sqlite3.Connection) -> bool:
            if connection.execute(writes.DECIDE, values).rowcount != 1:
                return False
            recovery.event(connection, "decided", by, call=values[-2], **seen)
            return True

        return await self._write(settle)

    async def confirm(self, turn: str, upto: int | None = None, *, calls: Sequence[str] = ()) -> int:
        if not calls:
            return await self._change(*_confirming(turn, upto))
        now = time.time_ns() // 1000
        wanted = [(now, id) for id in calls]
        return await self._write(lambda connection: connection.executemany(writes.CONFIRM_ONE, wanted).rowcount)

    async def steps(self, turn: str) -> list[StepRow]:
        return await self._read(lambda connection: reads.steps(connection, "WHERE turn = ? ORDER BY step", (turn,)))

    async def calls(self, turn: str, step: int | None = None) -> list[CallRow]:
        values: list[Any] = [turn]
        tail = f"{_IN_TURN} ORDER BY step, ordinal, rowid"
        if step is not None:
            values.append(step)
            tail = f"{_IN_TURN} AND step = ? ORDER BY ordinal, rowid"
        return await self._read(lambda connection: reads.calls(connection, tail, values))

    async def call(self, id: str) -> CallRow | None:
        found = await self._read(lambda connection: reads.calls(connection, "WHERE id = ?", (id,)))
        return found[0] if found else None

    async def find(
        self,
        *,
        tenant: str | None = None,
        user: str | None = None,
        conversation: str | None = None,
        tool: str | None = None,
        state: str | Sequence[str] | None = None,
        prefix: str | None = None,
        limit: int | None = None,
        latest: bool = False,
    ) -> list[CallRow]:
        equal = {"tenant": tenant, "user": user, "conversation": conversation, "tool": tool}
        states = (state,) if isinstance(state, str) else tuple(state or ())
        where, values = reads.matching(equal, states, prefix)
        tail = f"{where} ORDER BY rowid {'DESC' if latest else ''}"
        if limit is not None:
            tail += f" LIMIT {int(limit)}"
        found = await self._read(lambda connection: reads.calls(connection, tail, values))
        # A step's calls are inserted together, but not in their order.
        return sorted(found, key=attrgetter("proposed_at", "ordinal"))

    async def step_by_response(self, turn: str, response_id: str) -> StepRow | None:
        tail, values = "WHERE turn = ? AND response_id = ? ORDER BY step", (turn, response_id)
        found = await self._read(lambda connection: reads.steps(connection, tail, values))
        return found[0] if found else None

    async def conversation_steps(
        self, conversation: str, *, tenant: str | None, user: str | None, digest: str | None = None
    ) -> list[StepRow]:
        tail, values = "WHERE conversation = ? AND tenant IS ? AND user IS ?", [conversation, tenant, user]
        if digest is not None:
            tail, values = f"{tail} AND digest = ?", [*values, digest]
        return await self._read(lambda connection: reads.steps(connection, f"{tail} ORDER BY rowid", values))

    async def alive(self, owner: str) -> bool:
        file = self._file or self._acquire()
        return await self._read(lambda connection: file.owner.alive(owner))

    async def recover(self) -> list[CallRow]:
        file = self._file or self._acquire()
        alive = file.owner.alive

        def look(connection: sqlite3.Connection) -> list[str]:
            dead = [owner for owner in recovery.owners(connection) if not alive(owner)]
            file.owner.sweep()
            return dead

        dead = await self._read(look)
        return await self._write(recovery.end_those_of(dead, alive)) if dead else []

    async def export(
        self, *, tenant: str | None = None, user: str | None = None, conversation: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        where, values = reads.matching({"tenant": tenant, "user": user, "conversation": conversation})
        for kind in ("step", "call", "event"):
            after = -1
            while True:
                rows, after = await self._page(kind, where, values, after)
                for row in rows:
                    yield row
                if len(rows) < recovery.SWEEP:
                    break

    def _page(
        self, kind: str, where: str, values: list[Any], after: int
    ) -> Awaitable[tuple[list[dict[str, Any]], int]]:
        return self._read(lambda connection: reads.page(connection, kind, where, values, after, recovery.SWEEP))

    async def erase(self, *, user: str | None = None, tenant: str | None = None) -> int:
        if user is None and tenant is None:
            raise SettingsError("erasing needs a user or a tenant")
        calls = await self._sweep(recovery.empty(user, tenant), wiped=True)

        def note(connection: sqlite3.Connection) -> None:
            recovery.event(connection, "erased", user=user, tenant=tenant, calls=calls)

        await self._write(note)
        await self._truncate_log()
        return calls

    async def prune(self, older_than: int, *, tenant: str | None = None) -> int:
        calls = await self._sweep(recovery.delete(older_than, tenant), wiped=False)

        def note(connection: sqlite3.Connection) -> None:
            recovery.event(connection, "pruned", tenant=tenant, calls=calls, older_than=older_than)

        await self._write(note)
        return calls

    async def _sweep(self, some: Callable[[sqlite3.Connection], tuple[int, int]], *, wiped: bool) -> int:
        """Bounded transactions until nothing is left. wiped: what is emptied is overwritten in the file."""

        def sweep(connection: sqlite3.Connection) -> tuple[int, int]:
            if not wiped:
                return some(connection)
            connection.execute("PRAGMA secure_delete=ON")
            try:
                return some(connection)
            finally:
                connection.execute("PRAGMA secure_delete=OFF")

        calls = 0
        while True:
            done, rest = await self._write(sweep)
            calls += done
            if not done and not rest:
                return calls

    async def _truncate_log(self) -> None:
        """The log still holds old pages: put it into the file, as far as readers let us. Outside a transaction."""
        if self._path is None:
            return

        def truncate() -> None:
            with contextlib.closing(sqlite3.connect(self._path or "", timeout=5.0, isolation_level=None)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

        with contextlib.suppress(sqlite3.Error):
            await asyncio.to_thread(truncate)


def _confirming(turn: str, upto: int | None) -> tuple[str, tuple[Any, ...]]:
    now = time.time_ns() // 1000
    if upto is None:
        return writes.CONFIRM_ALL, (now, turn)
    return writes.CONFIRM_UPTO, (now, turn, upto)
