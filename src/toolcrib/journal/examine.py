"""What `toolcrib doctor` says of a journal. Opens it read-only and changes nothing."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from toolcrib.journal import schema

#: File systems that other machines see too: the locks that tell a live process from a dead one do not hold there.
_SHARED = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "lustre", "glusterfs", "ceph"})


def examine(url: str) -> Iterator[tuple[bool, str]]:
    """(fine, what to know or how to mend it) for each finding on a database URL."""
    if url == "off":
        yield True, 'off: nothing is recorded (db="off")'
        return
    if not url.startswith("sqlite://"):
        yield False, f"{url}: only sqlite:///FILE is kept today"
        return
    name = unquote(url.removeprefix("sqlite://").removeprefix("/"))
    if name in ("", ":memory:"):
        yield True, "in memory: it ends with the process"
        return
    path = Path(name).absolute()
    yield from _place(path)
    if path.exists():
        yield from _file(path)
    else:
        yield True, f"{path}: not there yet; the first call makes it"


def _place(path: Path) -> Iterator[tuple[bool, str]]:
    folder = path.parent
    if not folder.is_dir():
        yield False, f"the folder {folder} is not there; make it, or name another file with --db"
        return
    if not os.access(folder, os.W_OK):
        yield False, f"the folder {folder} cannot be written; name another file with --db"
    kind = _file_system(folder)
    if kind in _SHARED:
        yield False, f"{folder} is on {kind}, a network file system: its locks do not hold; use a local disk"


def _file(path: Path) -> Iterator[tuple[bool, str]]:
    if not path.is_file():
        yield False, f"{path} is no file; name another with --db"
        return
    try:
        connection = sqlite3.connect(f"file:{path.as_posix()}?mode=ro", uri=True)
        try:
            version = schema.version_of(connection)
            if version is None:
                yield False, f"{path} is an SQLite file of something else; name another with --db"
            elif version > schema.LATEST:
                yield False, f"{path} was written by a newer Toolcrib (schema {version}); upgrade toolcrib"
            elif version == 0:
                yield True, f"{path}: empty; the first call makes its tables"
            else:
                open_calls = connection.execute("SELECT count(*) FROM calls WHERE ended_at IS NULL").fetchone()[0]
                calls = connection.execute("SELECT count(*) FROM calls").fetchone()[0]
                yield True, f"{path}: schema {version}, {calls} calls, {open_calls} not ended"
        finally:
            connection.close()
    except sqlite3.Error as problem:
        yield False, f"{path} cannot be read as a journal ({problem}); move it away or name another with --db"


def _file_system(folder: Path) -> str:
    """The type of the file system a folder is on, where the kernel tells; "" otherwise."""
    try:
        lines = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    best, kind = "", ""
    for line in lines:
        fields = line.split()
        if (
            len(fields) > 2
            and (folder.as_posix() + "/").startswith(fields[1].rstrip("/") + "/")
            and len(fields[1]) >= len(best)
        ):
            best, kind = fields[1], fields[2]
    return kind
