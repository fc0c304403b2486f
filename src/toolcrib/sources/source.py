"""What every source offers, and how those that scan do it: once, lazily, under a lock, a generation at a time."""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeGuard

from toolcrib.call import Tool
from toolcrib.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWarning:
    """Something of a source that did not load; the rest did.

    source: the source's name. where: path:line, or the plugin and its distribution. reason: one line for the operator.
    """

    source: str
    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


class Source(Protocol):
    """Where tools come from. All methods may be called from any thread."""

    @property
    def name(self) -> str:
        """As the operator named it: "functions", "toolbox/", "plugin:weather", "package.module:object"."""
        ...

    def tools(self) -> list[Tool]:
        """All its tools, in a stable order. The first call scans, later ones answer at once."""
        ...

    @property
    def warnings(self) -> Sequence[SourceWarning]:
        """What did not load in the last scan; empty before the first."""
        ...

    def reload(self) -> bool:
        """Scans again; True if tools or warnings changed. Readers see the old generation until the new one is whole."""
        ...

    def paths(self) -> list[Path]:
        """The files and folders whose change makes a `reload` worth while."""
        ...


def is_source(thing: Any) -> TypeGuard[Source]:
    """Whether an object offers what a source does."""
    if isinstance(thing, type):
        return False
    methods = all(callable(getattr(thing, method, None)) for method in ("tools", "reload", "paths"))
    return methods and isinstance(getattr(thing, "name", None), str) and hasattr(thing, "warnings")


#: One complete result of a scan.
Generation: TypeAlias = tuple[tuple[Tool, ...], tuple[SourceWarning, ...]]


class Scanned(ABC):
    """A source that finds its tools by scanning."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._generation: Generation | None = None
        self._scanning = False
        _alive.add(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def tools(self) -> list[Tool]:
        generation = self._generation
        if generation is None:
            with self._lock:
                generation = self._generation
                if generation is None:
                    generation = self._generation = self._scan_alone()
        return list(generation[0])

    @property
    def warnings(self) -> list[SourceWarning]:
        generation = self._generation
        return [] if generation is None else list(generation[1])

    def reload(self) -> bool:
        with self._lock:
            before = self._generation
            self._generation = self._scan_alone()
            return self._generation != (before or ((), ()))

    def paths(self) -> list[Path]:
        return []

    def _warning(self, where: str, reason: str) -> SourceWarning:
        return SourceWarning(source=self.name, where=where, reason=reason)

    def _scan_alone(self) -> Generation:
        if self._scanning:
            raise SourceError(f"{self.name} asks for its own tools while it is being read")
        self._scanning = True
        try:
            return self._scan()
        finally:
            self._scanning = False

    @abstractmethod
    def _scan(self) -> Generation:
        """A new generation; what it raises leaves the old one in place."""


_alive: weakref.WeakSet[Scanned] = weakref.WeakSet()


def _after_fork() -> None:
    """The thread that held a lock does not exist in the child."""
    for source in list(_alive):
        source._lock = threading.RLock()
        source._scanning = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
