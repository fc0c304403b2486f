"""The journal's tables, made and changed by numbered functions under a lock. No DDL where the version is current."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable

from toolcrib.errors import JournalError
from toolcrib.journal import faults

Migration = Callable[[sqlite3.Connection], None]

_FIRST = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE steps (
        turn TEXT NOT NULL, step INTEGER NOT NULL, tenant TEXT, user TEXT, conversation TEXT NOT NULL,
        message TEXT NOT NULL, agent TEXT, dialect TEXT NOT NULL, response_id TEXT, digest TEXT NOT NULL,
        assistant TEXT, owner TEXT, created_at INTEGER NOT NULL, PRIMARY KEY (turn, step))""",
    "CREATE INDEX steps_of_conversation ON steps (conversation, digest)",
    """CREATE TABLE calls (
        id TEXT PRIMARY KEY, turn TEXT NOT NULL, step INTEGER, ordinal INTEGER NOT NULL, parent TEXT, tenant TEXT,
        user TEXT, conversation TEXT NOT NULL, message TEXT NOT NULL, agent TEXT, tool TEXT NOT NULL,
        source TEXT NOT NULL, name TEXT NOT NULL, provider_call_id TEXT, raw TEXT, arguments TEXT,
        notes TEXT NOT NULL, effects TEXT NOT NULL, definition TEXT, state TEXT NOT NULL, code TEXT, owner TEXT,
        fence INTEGER NOT NULL, attempts INTEGER NOT NULL, proposed_at INTEGER NOT NULL, started_at INTEGER,
        value TEXT, content TEXT, error TEXT, late INTEGER NOT NULL DEFAULT 0, late_result TEXT,
        version INTEGER NOT NULL DEFAULT 0, ended_at INTEGER, confirmed_at INTEGER)""",
    # A lone call has no step, and pays for no place in one.
    "CREATE INDEX calls_of_turn ON calls (turn, step, ordinal) WHERE step IS NOT NULL",
    "CREATE INDEX calls_open ON calls (owner) WHERE ended_at IS NULL",
    """CREATE TABLE events (
        id INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, tenant TEXT, user TEXT, conversation TEXT,
        call TEXT, actor TEXT, detail TEXT NOT NULL)""",
)


def _first(connection: sqlite3.Connection) -> None:
    """Steps, calls, events."""
    for statement in _FIRST:
        connection.execute(statement)


#: In order; the version of a file is how many have run. Append only.
MIGRATIONS: tuple[Migration, ...] = (_first,)
LATEST = len(MIGRATIONS)
_KEY = "toolcrib_schema"


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Makes the schema or brings it up to date. Raises JournalError for a file that is not ours, or newer than we."""
    if _checked(connection, path) == LATEST:
        return
    _insist(connection, "BEGIN EXCLUSIVE")
    try:
        version = _checked(connection, path)  # somebody may have been faster
        for migrate in MIGRATIONS[version:]:
            migrate(connection)
        if version < LATEST:
            connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (_KEY, str(LATEST)))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _checked(connection: sqlite3.Connection, path: str) -> int:
    version = version_of(connection)
    if version is None:
        raise JournalError(f"{path} is an SQLite file with tables of something else; name another file for the journal")
    if version > LATEST:
        raise JournalError(
            f"{path} was written by a newer Toolcrib (schema {version}, this one knows {LATEST}): upgrade toolcrib"
        )
    return version


def version_of(connection: sqlite3.Connection) -> int | None:
    """The schema's version: 0 for an empty database, None for one that is not ours."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    if "meta" not in tables:
        return None
    try:
        found = connection.execute("SELECT value FROM meta WHERE name = ?", (_KEY,)).fetchone()
        return None if found is None else int(found[0])
    except (sqlite3.OperationalError, ValueError) as problem:
        if faults.of_a_lock(problem):
            raise
        return None


def keep_log(connection: sqlite3.Connection, path: str) -> None:
    """Puts an own or empty file into write-ahead logging."""
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return
    mode = _insist(connection, "PRAGMA journal_mode=WAL").fetchone()[0]
    if mode != "wal":
        raise JournalError(f"{path} lies where SQLite cannot keep a write-ahead log; put the journal on a local disk")


def _insist(connection: sqlite3.Connection, statement: str, patience: float = 60.0) -> sqlite3.Cursor:
    """Runs a statement that needs the file for itself, as soon as others let it."""
    end = time.monotonic() + patience
    while True:
        try:
            return connection.execute(statement)
        except sqlite3.Error as problem:
            if not faults.of_a_lock(problem) or time.monotonic() > end:
                raise
        time.sleep(0.002 + random.random() * 0.01)
