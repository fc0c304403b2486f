"""Reading rows back from SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from pydantic_core import from_json

from toolcrib.journal.rows import CALL_COLUMNS, STEP_COLUMNS, CallRow, StepRow

CALLS = f"SELECT {', '.join(CALL_COLUMNS)} FROM calls"
STEPS = f"SELECT {', '.join(STEP_COLUMNS)} FROM steps"
EVENT_COLUMNS = ("id", "at", "kind", "tenant", "user", "conversation", "call", "actor", "detail")
_COLUMNS = {"step": STEP_COLUMNS, "call": CALL_COLUMNS, "event": EVENT_COLUMNS}
_JSON = frozenset({"assistant", "arguments", "notes", "value", "content", "late_result", "detail"})


def calls(connection: sqlite3.Connection, tail: str, values: Sequence[Any] = ()) -> list[CallRow]:
    """Calls as the rest of a statement picks and orders them."""
    return [CallRow(*row) for row in connection.execute(f"{CALLS} {tail}", values)]


def steps(connection: sqlite3.Connection, tail: str, values: Sequence[Any] = ()) -> list[StepRow]:
    """Steps as the rest of a statement picks and orders them."""
    return [StepRow(*row) for row in connection.execute(f"{STEPS} {tail}", values)]


def matching(equal: dict[str, Any], states: Sequence[str] = (), prefix: str | None = None) -> tuple[str, list[Any]]:
    """A WHERE clause of what is not None, and its values."""
    terms: list[str] = []
    values: list[Any] = []
    for column, value in equal.items():
        if value is not None:
            terms.append(f"{column} = ?")
            values.append(value)
    if states:
        terms.append(f"state IN ({', '.join('?' * len(states))})")
        values += states
        if set(states) <= {"proposed", "awaiting_approval", "started"}:
            terms.append("ended_at IS NULL")  # the index of open calls
    if prefix:
        terms.append("id >= ? AND id < ?")
        values += [prefix, prefix + "\U0010ffff"]
    return (f"WHERE {' AND '.join(terms)}" if terms else "", values)


def page(
    connection: sqlite3.Connection, kind: str, where: str, values: Sequence[Any], after: int, size: int
) -> tuple[list[dict[str, Any]], int]:
    """The next rows of a table as JSON-able dicts, and where to go on; fewer than `size` means the end."""
    columns = _COLUMNS[kind]
    where = f"{where} AND rowid > ?" if where else "WHERE rowid > ?"
    found = connection.execute(
        f"SELECT rowid, {', '.join(columns)} FROM {kind}s {where} ORDER BY rowid LIMIT ?", (*values, after, size)
    ).fetchall()
    rows = []
    for _, *cells in found:
        row: dict[str, Any] = {"kind": kind}
        for column, cell in zip(columns, cells, strict=True):
            name = "event" if kind == "event" and column == "kind" else column
            row[name] = from_json(cell) if cell is not None and column in _JSON else cell
        rows.append(row)
    return rows, found[-1][0] if found else after
