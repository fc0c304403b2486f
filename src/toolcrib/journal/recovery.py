"""What a dead process left is ended, and what is no longer wanted is emptied or deleted: each a guarded transaction."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any

from pydantic_core import to_json

from toolcrib.journal import reads
from toolcrib.journal.rows import CONTENTS, CallRow
from toolcrib.journal.writes import EVENT

_UNKNOWN = """UPDATE calls SET state = 'unknown', code = 'outcome_unknown', ended_at = ?, version = version + 1
    WHERE state = 'started' AND ended_at IS NULL AND owner = ? RETURNING id"""
_SKIPPED = """UPDATE calls SET state = 'skipped', code = 'not_started', ended_at = ?, version = version + 1
    WHERE state = 'proposed' AND ended_at IS NULL AND owner = ? AND NOT EXISTS (
        SELECT 1 FROM calls waiting WHERE waiting.turn = calls.turn AND waiting.step = calls.step
        AND waiting.step IS NOT NULL AND waiting.state = 'awaiting_approval')
    RETURNING id"""
#: Calls or steps in one transaction of a sweep.
SWEEP = 500


def owners(connection: sqlite3.Connection) -> list[str]:
    """Who has calls that are proposed or started."""
    found = connection.execute(
        "SELECT DISTINCT owner FROM calls WHERE ended_at IS NULL AND state IN ('proposed', 'started')"
    )
    return [owner for (owner,) in found if owner is not None]


def end_those_of(dead: list[str], alive: Callable[[str], bool]) -> Callable[[sqlite3.Connection], list[CallRow]]:
    """Ends what these owners left."""

    def end(connection: sqlite3.Connection) -> list[CallRow]:
        now = time.time_ns() // 1000
        ended: list[str] = []
        for owner in dead:
            if not alive(owner):
                ended += [id for (id,) in connection.execute(_UNKNOWN, (now, owner)).fetchall()]
                ended += [id for (id,) in connection.execute(_SKIPPED, (now, owner)).fetchall()]
        rows = [row for id in ended for row in reads.calls(connection, "WHERE id = ?", (id,))]
        return sorted(rows, key=lambda row: (row.proposed_at, row.turn, row.step or 0, row.ordinal))

    return end


def event(connection: sqlite3.Connection, kind: str, actor: str | None = None, **detail: Any) -> None:
    """Puts on record what is no call. `tenant`, `user`, `conversation` and `call` go into their columns."""
    place = [detail.pop(name, None) for name in ("tenant", "user", "conversation", "call")]
    connection.execute(EVENT, (time.time_ns() // 1000, kind, *place, actor, to_json(detail).decode()))


def empty(user: str | None, tenant: str | None) -> Callable[[sqlite3.Connection], tuple[int, int]]:
    """Empties some of a user's ended calls, then of the steps without open calls; how many of each."""
    where, values = reads.matching({"user": user, "tenant": tenant})
    changes = ", ".join(f"{name} = {value}" for name, value in CONTENTS.items())
    full = " OR ".join(f"{name} IS NOT {value}" for name, value in CONTENTS.items())

    def some(connection: sqlite3.Connection) -> tuple[int, int]:
        calls = connection.execute(
            f"UPDATE calls SET {changes}, version = version + 1 WHERE rowid IN (SELECT rowid FROM calls {where} "
            f"AND ended_at IS NOT NULL AND ({full}) LIMIT {SWEEP})",
            values,
        ).rowcount
        steps = connection.execute(
            f"UPDATE steps SET assistant = NULL WHERE rowid IN (SELECT rowid FROM steps {where} "
            "AND assistant IS NOT NULL AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.turn = steps.turn AND "
            f"calls.step = steps.step AND calls.step IS NOT NULL AND calls.ended_at IS NULL) LIMIT {SWEEP})",
            values,
        ).rowcount
        return calls, steps

    return some


def delete(older_than: int, tenant: str | None) -> Callable[[sqlite3.Connection], tuple[int, int]]:
    """Deletes some calls that ended before a time, and steps and events that are older and belong to no call left."""
    only = "" if tenant is None else "AND tenant = ? "
    values: tuple[Any, ...] = (older_than,) if tenant is None else (older_than, tenant)

    def some(connection: sqlite3.Connection) -> tuple[int, int]:
        calls = connection.execute(
            f"DELETE FROM calls WHERE rowid IN (SELECT rowid FROM calls WHERE ended_at < ? {only}LIMIT {SWEEP})", values
        ).rowcount
        rest = connection.execute(
            f"DELETE FROM steps WHERE rowid IN (SELECT rowid FROM steps WHERE created_at < ? {only}AND NOT EXISTS ("
            "SELECT 1 FROM calls WHERE calls.turn = steps.turn AND calls.step = steps.step AND calls.step IS NOT NULL)"
            f" LIMIT {SWEEP})",
            values,
        ).rowcount
        rest += connection.execute(
            f"DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < ? {only}LIMIT {SWEEP})", values
        ).rowcount
        return calls, rest

    return some
