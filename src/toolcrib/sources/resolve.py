"""From what `Crib(tools)` takes to sources."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolcrib.errors import SettingsError, SourceError
from toolcrib.sources.faults import reason_of
from toolcrib.sources.folder import Folder
from toolcrib.sources.functions import Functions
from toolcrib.sources.offered import ACCEPTED, described, offers
from toolcrib.sources.package import ObjectSource, PackageSource
from toolcrib.sources.plugins import plugin_sources
from toolcrib.sources.source import Source, is_source


def sources_of(tools: Any, *, base: Path | None = None) -> list[Source]:
    """The sources, in the order given; functions, `Tool`s and toolkits together are one, "functions".

    tools: None, one of the following, or a list of them, nested at will: a function, `Tool` or toolkit; an object that
    is a `Source`; a path; a text: `plugin:NAME`, `plugin:*`, `package.module:object`, a path of a folder or `.py` file,
    or a package's dotted name. What exists as a path is one. base: what relative paths are relative to, default the
    working folder. The same source named twice counts once.
    Nothing is imported but the parents of a dotted name. Raises SourceError for what is not there, SettingsError for
    what cannot be tools.
    """
    things: list[Any] = []
    found: dict[Any, Source | None] = {}
    for item in _flat(tools):
        if isinstance(item, (str, os.PathLike)):
            found |= {_key(source): source for source in _named(item, base) if _key(source) not in found}
        elif is_source(item):
            found.setdefault(id(item), item)
        elif offers(item):
            things.append(item)
            found.setdefault("functions", None)
        else:
            raise SettingsError(
                f"tools are {ACCEPTED}, a source, or a text (plugin:NAME, package.module:object, a path); "
                f"got {described(item)}"
            )
    return [Functions(things) if source is None else source for source in found.values()]


def _flat(tools: Any) -> Iterator[Any]:
    if isinstance(tools, (list, tuple)):
        for item in tools:
            yield from _flat(item)
    elif tools is not None:
        yield tools


def _key(source: Source) -> Any:
    return source.paths()[0] if isinstance(source, Folder) else source.name


def _named(given: str | os.PathLike[Any], base: Path | None) -> list[Source]:
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
    except Exception as problem:
        raise SourceError(f"{name}: the package above it fails: {reason_of(problem)}") from problem


def _kits(name: str) -> list[Source]:
    raise SettingsError(f"no kit {name!r}; there are none in this version")


def _plugins(name: str) -> list[Source]:
    return [*plugin_sources(name)]


#: What stands before the colon -> what reads the rest.
_KINDS: dict[str, Callable[[str], list[Source]]] = {"kit": _kits, "plugin": _plugins}
