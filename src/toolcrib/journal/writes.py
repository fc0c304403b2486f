"""The writes of a call's life in SQLite: constant statements, several of a kind at once, each guarded."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from toolcrib.errors import JournalError
from toolcrib.journal.rows import CALL_COLUMNS, OPEN_COLUMNS, STEP_COLUMNS
from toolcrib.journal.store import CallMissing, StepTaken

Values = tuple[Any, ...]


def _insert(table: str, columns: tuple[str, ...]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


_OPEN = _insert("calls", OPEN_COLUMNS)
_WHOLE = _insert("calls", CALL_COLUMNS)
_STEP = _insert("steps", STEP_COLUMNS)

#: What a settle brings, then what it is guarded by.
SETTLED = ("state", "code", "value", "content", "error", "notes", "attempts", "ended_at", "confirmed_at")
CLAIM = ("id", "owner", "fence")
_BRINGS = ", ".join(f"{name} = ?" for name in SETTLED) + ", version = version + 1"
_SETTLE = f"UPDATE calls SET {_BRINGS} WHERE id = ? AND state = 'started' AND owner = ? AND fence = ?"
_SETTLE_LATE = (
    f"UPDATE calls SET late = 1, {_BRINGS} WHERE id = ? AND state = 'unknown' AND late = 0 AND owner = ? AND fence = ?"
)
_END = f"""UPDATE calls SET {_BRINGS}
    WHERE id = ? AND state IN ('proposed', 'awaiting_approval') AND owner IS ? AND fence = ?"""
_START = """UPDATE calls SET state = 'started', code = NULL, owner = ?, fence = fence + 1, attempts = ?, started_at = ?,
    ended_at = NULL, version = version + 1 WHERE id = ? AND state = ? AND owner IS ? AND fence = ?"""
MARK = """UPDATE calls SET code = ?, version = version + 1
    WHERE id = ? AND state = 'started' AND owner = ? AND fence = ?"""
DECIDE = f"UPDATE calls SET {_BRINGS} WHERE id = ? AND state = 'unknown' AND version = ?"
_KEEP = "UPDATE calls SET late_result = ?, version = version + 1 WHERE id = ?"
_CONFIRMED = """UPDATE calls SET confirmed_at = ?, version = version + 1,
    state = CASE state WHEN 'executed' THEN 'confirmed' ELSE state END
    WHERE ended_at IS NOT NULL AND (confirmed_at IS NULL OR state = 'executed') AND """
CONFIRM_ALL = _CONFIRMED + "turn = ? AND step IS NOT NULL"
CONFIRM_UPTO = _CONFIRMED + "turn = ? AND step IS NOT NULL AND step <= ?"
CONFIRM_ONE = _CONFIRMED + "id = ?"
EVENT = "INSERT INTO events (at, kind, tenant, user, conversation, call, actor, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ENDED, _PROPOSED, _RAW = (CALL_COLUMNS.index(name) for name in ("ended_at", "proposed_at", "raw"))
_STEP_OWNER = STEP_COLUMNS.index("owner")


def _execute(connection: sqlite3.Connection, statement: str, values: Values) -> sqlite3.Cursor:
    try:
        return connection.execute(statement, values)
    except UnicodeEncodeError:
        return connection.execute(statement, mended(values))


def mended(values: Values) -> Values:
    """Text with lone surrogates, which no database holds, with these written as escapes."""
    return tuple(
        value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value for value in values
    )


@dataclass(slots=True)
class Beginning:
    """A step, its calls, and what is confirmed with them."""

    step: Values | None
    open: list[Values]
    ended: list[Values]
    confirm: tuple[str, Values] | None


class Again:
    """A beginning that the database refused, by itself: the same rows are there already, or somebody else's are."""

    rank = None
    again = None

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        return [
            self._one(connection, item if isinstance(item, Beginning) else Beginning(None, [item], [], None))
            for item in items
        ]

    def _one(self, connection: sqlite3.Connection, item: Beginning) -> Any:
        wanted = [mended(values) for values in (*item.open, *item.ended)]
        step = item.step
        recorded = True
        if step is not None:
            found = connection.execute("SELECT owner, created_at FROM steps WHERE turn = ? AND step = ?", step[:2])
            there = found.fetchone()
            if there is not None and there != (step[_STEP_OWNER], step[_STEP_OWNER + 1]):
                return StepTaken(f"step {step[1]} of turn {step[0]!r} is recorded already, by somebody else")
            recorded = there is not None
        for values in wanted:
            found = connection.execute("SELECT proposed_at, raw FROM calls WHERE id = ?", (values[0],))
            recorded = recorded and found.fetchone() == (values[_PROPOSED], values[_RAW])
        return None if recorded else JournalError("a call with this id or at this place is recorded already")


class Insert:
    """Calls that have not ended. Item: values of OPEN_COLUMNS."""

    rank = 0
    again = Again()

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        if len(items) == 1:
            _execute(connection, _OPEN, items[0])
        else:
            connection.executemany(_OPEN, items)
        return [None] * len(items)


class Begin:
    """Whole steps. Item: a Beginning."""

    rank = 1
    again = Again()

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        for item in items:
            if item.step is not None:
                _execute(connection, _STEP, item.step)
            for values in item.open:
                _execute(connection, _OPEN, values)
            for values in item.ended:
                _execute(connection, _WHOLE, values)
            if item.confirm is not None:
                connection.execute(*item.confirm)
        return [None] * len(items)


class Start:
    """Claims. Item: what _START binds."""

    rank = 2
    again = None

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        return [connection.execute(_START, item).rowcount == 1 for item in items]


class Settle:
    """Outcomes. Item: values of SETTLED and CLAIM."""

    rank = 3
    again = None

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        try:
            if connection.executemany(_SETTLE, items).rowcount == len(items):
                return ["landed"] * len(items)
        except UnicodeEncodeError:
            items = [mended(item) for item in items]
            connection.executemany(_SETTLE, items)
        return [_settled(connection, item) for item in items]


def _settled(connection: sqlite3.Connection, item: Values) -> Any:
    """What became of one outcome, now that it had its try; where it has not landed it may be late, or is kept."""
    found = connection.execute(
        "SELECT late, late_result, owner, fence, ended_at, code, value FROM calls WHERE id = ?", (item[-3],)
    ).fetchone()
    if found is None:
        return CallMissing(f"the journal has no call {item[-3]!r}; its outcome could not be recorded")
    late, kept, *there = found
    outcome = dict(zip(SETTLED + CLAIM, item, strict=True))
    if there == [outcome[name] for name in ("owner", "fence", "ended_at", "code", "value")]:
        return "late" if late else "landed"
    if connection.execute(_SETTLE_LATE, item).rowcount == 1:
        return "late"
    earlier: list[Any] = [] if kept is None else from_json(kept)
    outcome = {name: outcome[name] for name in outcome if name not in ("id", "confirmed_at")}
    if outcome not in earlier:
        connection.execute(_KEEP, (to_json([*earlier, outcome]).decode(), item[-3]))
    return "kept"


class End:
    """Ends without a start. Item: values of SETTLED and CLAIM, and the whole row."""

    rank = None
    again = None

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        return [self._one(connection, *item) for item in items]

    def _one(self, connection: sqlite3.Connection, values: Values, row: Values) -> bool:
        if _execute(connection, _END, values).rowcount == 1:
            return True
        found = connection.execute("SELECT state, code, ended_at FROM calls WHERE id = ?", (values[-3],)).fetchone()
        if found is None:
            _execute(connection, _WHOLE, row)
            return True
        return bool(found == (values[0], values[1], row[_ENDED]))


class Change:
    """One guarded update. Item: statement and values. How many rows changed."""

    rank = None
    again = None

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        return [_execute(connection, statement, values).rowcount for statement, values in items]


class Task:
    """Whatever else needs the connection. Item: a function of it."""

    rank = None
    again = None

    def run(self, connection: sqlite3.Connection, items: list[Any]) -> list[Any]:
        return [item(connection) for item in items]


INSERT, BEGIN, START, SETTLE, END, CHANGE, TASK = Insert(), Begin(), Start(), Settle(), End(), Change(), Task()
