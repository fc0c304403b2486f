"""Whose process still lives: each holds a lock on a small file of its own beside the database for as long as it runs.

The kernel lets go of the lock when the process dies, whatever way, and only then: a stopped one still holds it. A
forked child closes the descriptor, so that it does not keep its parent alive, and becomes an owner of its own.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

from toolcrib.ids import fresh

if sys.platform == "win32":
    import msvcrt

    def _hold(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)

    def _free(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        return True
else:
    import fcntl

    def _hold(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _free(descriptor: int) -> bool:
        """Whether nobody holds it. Takes a shared lock, so that several may look at once."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


class Owner:
    """This process as an owner beside one database. folder None: a database in memory, which nobody else sees."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.id = fresh()
        self._descriptor: int | None = None

    def hold(self) -> None:
        """Makes the file and locks it, unless that is done and it is still there. Raises OSError."""
        if self._folder is None:
            return
        path = self._folder / self.id
        if self._descriptor is not None:
            if _same(self._descriptor, path):
                return
            os.close(self._descriptor)
            self._descriptor = None
        self._folder.mkdir(mode=0o700, exist_ok=True)
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            _hold(descriptor)
            if _same(descriptor, path):
                self._descriptor = descriptor
                return
            os.close(descriptor)  # somebody took it for a dead one's before it was locked

    def let_go(self) -> None:
        """The orderly end: the file goes, then the lock. The next `hold` is under another id."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None or self._folder is None:
            return
        if sys.platform == "win32":
            os.close(descriptor)
            _unlink(self._folder / self.id)
        else:
            _unlink(self._folder / self.id)
            os.close(descriptor)
        self.id = fresh()

    def forked(self) -> None:
        """In a child: another owner. Closing is not unlocking: the parent's own descriptor keeps the lock."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
        self.id = fresh()

    def alive(self, owner: str) -> bool:
        """Whether that owner's process lives. A dead one's file is removed."""
        if owner == self.id:
            return True
        if self._folder is None or not owner or os.sep in owner or owner.startswith("."):
            return False
        path = self._folder / owner
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError as problem:
            return not isinstance(problem, FileNotFoundError)  # where nothing can be told, nobody is declared dead
        try:
            dead = _free(descriptor)
            if dead and sys.platform != "win32" and _same(descriptor, path):
                _unlink(path)
        finally:
            os.close(descriptor)
        if dead and sys.platform == "win32":
            _unlink(path)
        return not dead

    def sweep(self) -> None:
        """Removes the files of all dead owners."""
        if self._folder is not None and self._folder.is_dir():
            for entry in os.listdir(self._folder):
                self.alive(entry)


def _same(descriptor: int, path: Path) -> bool:
    try:
        ours, there = os.fstat(descriptor), os.stat(path)
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
