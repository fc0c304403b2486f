"""From the texts an operator writes to sources."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toolcrib.errors import SettingsError, SourceError
from toolcrib.sources.faults import reason_of
from toolcrib.sources.folder import Folder
from toolcrib.sources.package import ObjectSource, PackageSource
from toolcrib.sources.plugins import plugin_sources
from toolcrib.sources.source import Source


def named(given: str | os.PathLike[Any], base: Path | None) -> list[Source]:
    """What a text or path names; see `sources_of`."""
    text = os.fspath(given)
    if not isinstance(text, str):
        raise SettingsError(f"a path of tools is text, not {type(text).__name__}")
    if not text.strip():
        raise SettingsError("an empty text names no tools: give a folder, a file, plugin:NAME or package.module:object")
    kind, colon, rest = text.partition(":")
    if isinstance(given, str) and colon and kind in _KINDS:
        return _KINDS[kind](rest)
    path = Path(base or "", os.path.expanduser(text))
    try:
        there = path.exists()
    except (OSError, ValueError):  # too long, or holds a null
        there = False
    if there:
        return [_at(path, text)]
    if isinstance(given, str) and colon and _dotted(kind) and _dotted(rest):
        return [ObjectSource(text)]
    if isinstance(given, str) and _dotted(text) and _is_module(text):
        return [PackageSource(text)]
    raise SourceError(_missing(text, path))


def identity(source: Source) -> Any:
    """Equal for two texts that name one source."""
    return source.paths()[0] if isinstance(source, Folder) else source.name


def _at(path: Path, text: str) -> Folder:
    if not path.is_dir() and path.suffix != ".py":
        raise SourceError(f"{text}: tools are in a folder or a .py file; {path} is neither")
    return Folder(path, name=text)


def _missing(text: str, path: Path) -> str:
    tried = [f"no file or folder {os.path.abspath(path)}" if "\0" not in text else "it is no path"]
    if _dotted(text):
        tried.append(f"no package {text}")
    return f"there are no tools at {text!r}: {', '.join(tried)}"


def _dotted(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
    except (Exception, SystemExit) as problem:
        raise SourceError(f"{name}: the package above it fails: {reason_of(problem)}") from problem


def _kits(name: str) -> list[Source]:
    raise SettingsError(f"no kit {name!r}; there are none in this version")


def _plugins(name: str) -> list[Source]:
    return [*plugin_sources(name)]


#: What stands before the colon -> what reads the rest.
_KINDS: dict[str, Callable[[str], list[Source]]] = {"kit": _kits, "plugin": _plugins}
