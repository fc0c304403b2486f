"""From what `Crib(tools)` takes to sources."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolcrib.errors import SettingsError
from toolcrib.sources.functions import Functions
from toolcrib.sources.offered import ACCEPTED, described, offers
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
            # The texts' own module is loaded with the first text: most programs give functions alone.
            from toolcrib.sources.named import identity, named

            for source in named(item, base):
                found.setdefault(identity(source), source)
        elif is_source(item):
            found.setdefault(id(item), item)
        elif offers(item):
            things.append(item)
            found.setdefault(None, None)
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
