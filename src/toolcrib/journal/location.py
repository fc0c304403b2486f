"""Where the journal is: database URLs, and the place for a project that names none."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from toolcrib.errors import SettingsError

if TYPE_CHECKING:
    from toolcrib.journal.store import Store

log = logging.getLogger("toolcrib")

_MARKS = ("toolcrib.toml", "pyproject.toml", ".git")
_FORMS = "sqlite:///relative.db, sqlite:////absolute.db, sqlite:// (memory)"


def open_store(url: str) -> Store:
    """The journal a URL names; nothing is touched before its first use. A relative path is from the working folder.

    Raises SettingsError for what is no such URL.
    """
    scheme, mark, rest = url.partition("://")
    if not mark:
        raise SettingsError(f"{url!r} is no database URL; write {_FORMS}")
    if scheme in ("postgresql", "postgres"):
        raise SettingsError("journals in PostgreSQL come with a later version; use sqlite:///... until then")
    if scheme != "sqlite":
        raise SettingsError(f"no journal can be kept in {scheme!r}; write {_FORMS}")
    path, _, options = rest.partition("?")
    if options:
        raise SettingsError(f"an sqlite URL takes no options here; got {options!r}")
    from toolcrib.journal.sqlite import SqliteStore

    if path in ("", "/", "/:memory:"):
        return SqliteStore(None)
    if not path.startswith("/"):
        raise SettingsError(f"an sqlite URL has three slashes before a relative path: sqlite:///{path}")
    return SqliteStore(unquote(path[1:]))


def default_url(start: Path) -> str:
    """The journal of the project around a folder, in the user's data folder; makes its folder, and logs where it is.

    Raises SettingsError where that folder cannot be made.
    """
    path = default_path(start)
    folder = path.parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise SettingsError(
            f"the journal's folder {folder} cannot be made ({problem.strerror}); name a file: db='sqlite:///crib.db'"
        ) from problem
    log.info("the journal is %s", path)
    return url_of(path)


def default_path(start: Path) -> Path:
    """The file of `default_url`; makes nothing."""
    import platformdirs

    project = _project(start)
    name = re.sub(r"[^\w.-]+", "-", project.name).strip("-.") or "root"
    short = hashlib.sha256(os.fsencode(project)).hexdigest()[:8]
    return Path(platformdirs.user_data_path("toolcrib", appauthor=False)) / f"{name[:60]}-{short}" / "crib.db"


def url_of(path: Path) -> str:
    """The URL of a database file."""
    return f"sqlite:///{_quoted(path)}"


def _project(start: Path) -> Path:
    """The nearest folder upward that has a mark of a project; the folder itself where none has."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return here


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3F")
