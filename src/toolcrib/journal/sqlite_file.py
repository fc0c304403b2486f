"""One database file in one process: its writer, its reader and its owner, shared by all that name the same file.

A fork waits until neither thread is inside SQLite; the child closes what it inherited, without using it, and opens its
own at first use. At the interpreter's end all that is queued is written.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import threading
import weakref
from pathlib import Path

from toolcrib.errors import JournalError
from toolcrib.journal import faults, schema
from toolcrib.journal.owner import Owner
from toolcrib.journal.writer import Lane, Writer

_OLDEST = (3, 35, 0)


class SqliteFile:
    """path None: a database in memory, kept by the writer's connection and read through it."""

    def __init__(self, path: str | None) -> None:
        self.path = path
        self.references = 0
        self.opened = False
        self._identity: tuple[int, int] | None = None
        self.owner = Owner(None if path is None else Path(f"{path}.owners"))
        moved = None if path is None else self._moved
        self.writer = Writer("toolcrib-journal", self._open, self.owner.let_go, moved)
        self.reader: Lane = self.writer
        if path is not None:
            self.reader = Lane("toolcrib-journal-read", self._open_to_read, moved=moved)
        _living.add(self)

    def close(self, *, wait: bool) -> None:
        """Writes what is queued, then closes. The writer closes last: then SQLite puts its log into the file."""
        self.opened = False
        for lane in (self.reader, self.writer):
            thread = lane.stop()
            if wait and thread is not None:
                thread.join()

    def forked(self) -> None:
        """In a child process."""
        self.opened = False
        for lane in {self.writer, self.reader}:
            if lane.paused:
                lane.drop()
            else:  # its thread was inside SQLite: touching the connection would be worse than keeping it
                _abandoned.append(lane.connection)
            lane.paused = False
            lane.reset()
        self.owner.forked()

    def _open(self) -> sqlite3.Connection:
        if sqlite3.sqlite_version_info < _OLDEST:
            raise JournalError(f"the journal needs SQLite 3.35 or newer; this Python has {sqlite3.sqlite_version}")
        if self.path is None:
            connection = _connect(":memory:")
            schema.prepare(connection, "memory")
        else:
            connection = self._open_file(self.path)
        self.opened = True
        return connection

    def _open_file(self, path: str) -> sqlite3.Connection:
        _make(path)
        try:
            self.owner.hold()
        except OSError as problem:
            raise JournalError(f"the folder of {path} cannot be written: {problem.strerror}") from problem
        connection = None
        try:
            connection = _connect(path)
            if schema.version_of(connection) == 0:
                schema.keep_log(connection, path)
            schema.prepare(connection, path)
            schema.keep_log(connection, path)
            connection.execute("PRAGMA journal_size_limit=67108864")
        except BaseException as problem:
            if connection is not None:
                connection.close()
            if isinstance(problem, sqlite3.Error) and not faults.of_a_lock(problem):
                raise faults.raised(problem, path) from problem
            raise
        self._identity = _identity(path)
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        assert self.path is not None
        connection = _connect(self.path, patience=30.0)
        connection.execute("PRAGMA query_only=1")
        return connection

    def _moved(self) -> bool:
        """Whether the file under the path is no longer the one that is open."""
        assert self.path is not None
        try:
            moved = _identity(self.path) != self._identity
        except OSError:
            moved = True
        if moved:
            self.opened = False
        return moved


def _connect(path: str, patience: float = 0.0) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False, cached_statements=64)


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _make(path: str) -> None:
    """Sees that there is a file to open, readable by its owner alone if new. Never opens one that is there already:
    closing it again would drop the locks SQLite holds on it."""
    if os.path.isdir(path):
        raise JournalError(f"{path} is a folder; name a file for the journal")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise JournalError(f"the folder {folder} does not exist; make it, or name another file for the journal")
    if not os.path.exists(path):
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            pass
        except OSError as problem:
            raise JournalError(
                f"{path} cannot be made: {problem.strerror}; name another file for the journal"
            ) from problem
    elif not os.access(path, os.R_OK | os.W_OK):
        raise JournalError(f"{path} is read-only for this user; name another file for the journal")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise JournalError(f"the folder {folder} is read-only for this user; name another file for the journal")


_living: weakref.WeakSet[SqliteFile] = weakref.WeakSet()
_shared: dict[str, SqliteFile] = {}
_guard = threading.RLock()  # a collected store may let go at any moment
_abandoned: list[sqlite3.Connection | None] = []


def acquire(path: str | None, *, shared: bool = True) -> SqliteFile:
    """The file's one representative in this process; `let_go` as often as this. shared: False makes another one."""
    real = None if path is None else os.path.realpath(path)
    if real is None or not shared:
        file = SqliteFile(real)
        file.references = 1
        return file
    with _guard:
        file = _shared[real] = _shared.get(real) or SqliteFile(real)
        file.references += 1
        return file


def let_go(file: SqliteFile, *, wait: bool = False) -> None:
    """Closes it if nobody else uses it."""
    with _guard:
        file.references -= 1
        if file.references > 0:
            return
        if file.path is not None and _shared.get(file.path) is file:
            del _shared[file.path]
    file.close(wait=wait)


def _before_fork() -> None:
    _guard.acquire()
    for file in list(_living):
        for lane in {file.writer, file.reader}:
            lane.paused = lane.busy.acquire(timeout=10.0)


def _after_fork_in_parent() -> None:
    for file in list(_living):
        for lane in {file.writer, file.reader}:
            if lane.paused:
                lane.paused = False
                lane.busy.release()
    _guard.release()


def _after_fork_in_child() -> None:
    global _guard
    _guard = threading.RLock()
    for file in list(_living):
        file.forked()


@atexit.register
def _at_exit() -> None:
    for file in list(_living):
        file.close(wait=True)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
