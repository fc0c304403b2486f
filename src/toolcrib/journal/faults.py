"""What SQLite reports, told apart and put into one line for an operator."""

from __future__ import annotations

import sqlite3

from toolcrib.errors import JournalError

_LOCK = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_WORDS = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the journal's file or folder is read-only",
    sqlite3.SQLITE_CORRUPT: "the journal's file is damaged; keep it, and start with another or a backup",
    sqlite3.SQLITE_NOTADB: "the journal's file is no SQLite database",
    sqlite3.SQLITE_CANTOPEN: "the journal's file cannot be opened",
    sqlite3.SQLITE_IOERR: "reading or writing the journal's file failed",
    sqlite3.SQLITE_PERM: "the journal's file may not be accessed",
    sqlite3.SQLITE_NOMEM: "no memory was left for the journal",
    sqlite3.SQLITE_TOOBIG: "a value is too big for the journal",
}
_FILE = set(_WORDS) - {sqlite3.SQLITE_TOOBIG}


def primary(problem: BaseException) -> int:
    """The primary result code; 0 where there is none."""
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF


def of_a_lock(problem: BaseException) -> bool:
    """Whether another connection was in the way: worth another attempt."""
    return primary(problem) in _LOCK


def of_the_file(problem: BaseException) -> bool:
    """Whether file, disk or memory failed, not the one statement."""
    return primary(problem) in _FILE


def raised(problem: BaseException, path: str = "") -> JournalError:
    """The error for whoever waits, with its cause."""
    words = _WORDS.get(primary(problem))
    place = f" ({path})" if path else ""
    error = JournalError(f"{words}{place}: {problem}" if words else f"the journal failed{place}: {problem!r}")
    error.__cause__ = problem
    return error
