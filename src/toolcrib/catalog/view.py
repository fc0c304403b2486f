"""What one caller sees of the catalog: an immutable set of tools, shared by all callers who see the same."""

from __future__ import annotations

import weakref
from collections.abc import Collection, Hashable, Iterable
from typing import TYPE_CHECKING

from toolcrib.call import Tool
from toolcrib.catalog.names import Origin, prefix, qualified

if TYPE_CHECKING:
    from toolcrib.catalog.menu import Menu
    from toolcrib.catalog.nearest import Nearest
    from toolcrib.wire import DialectFormat, ToolView

    #: Tool -> (dialect, alias) -> the format and what it made.
    Bent = weakref.WeakKeyDictionary[Tool, dict[tuple[str, str], tuple[DialectFormat, ToolView]]]

#: Views narrowed from one view that are kept; the oldest go first.
_NARROWED = 64


class View:
    """The tools of one caller. Never changes; what changes the catalog makes another one.

    tools: sorted by name, then source, so that the same set is always in the same order.
    key: equal keys mean the same tools.
    missing: names asked for by whoever narrowed the view that matched no tool.
    probed: the tools that have an availability probe.
    menus: the menus built of it, by dialect; filled by `Menu.of`.
    bent: the forms of single tools, shared by all views of a catalog; filled by `Menu`.
    """

    __slots__ = (
        "_by_key", "_by_name", "_by_origin", "_by_qualified", "_narrowed", "_nearest", "bent", "key", "menus",
        "missing", "probed", "tools",
    )  # fmt: skip

    def __init__(
        self, tools: Iterable[Tool], key: Hashable = None, missing: tuple[str, ...] = (), bent: Bent | None = None
    ) -> None:
        self.tools: tuple[Tool, ...] = tuple(sorted(tools, key=lambda tool: (tool.name, tool.source)))
        self.key: Hashable = object() if key is None else key
        self.missing = missing
        self.probed = tuple(tool for tool in self.tools if tool.availability is not None)
        self.menus: dict[str, Menu] = {}
        self.bent: Bent = weakref.WeakKeyDictionary() if bent is None else bent
        by_name: dict[str, tuple[Tool, ...]] = {}
        for tool in self.tools:
            by_name[tool.name] = (*by_name.get(tool.name, ()), tool)
        self._by_name = by_name
        self._by_origin: dict[Origin, Tool] = {(tool.source, tool.name): tool for tool in self.tools}
        self._by_qualified: dict[str, tuple[Tool, ...]] | None = None
        self._by_key: dict[str, tuple[Tool, ...]] | None = None
        self._nearest: Nearest | None = None
        self._narrowed: dict[Hashable, View] = {}

    def __repr__(self) -> str:
        return f"<View of {len(self.tools)} tools>"

    def find(self, name: str) -> Tool | None:
        """The one tool of that exact name, or of that `source/name`; None where no tool or several are meant.

        A name wins over a `source/name`. Names that only a menu gives are no names here.
        """
        found = self.named(name)
        return found[0] if len(found) == 1 else None

    def named(self, name: str) -> tuple[Tool, ...]:
        """All tools of that exact name; without any, those of that `source/name`."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        if self._by_qualified is None:
            self._by_qualified = _grouped((qualified(tool), tool) for tool in self.tools)
        return self._by_qualified.get(name, ())

    def current(self, tool: Tool) -> Tool | None:
        """The definition this view holds of the tool's origin now: the same, a newer one, or None if it is gone."""
        return self._by_origin.get((tool.source, tool.name))

    def fitting(self, key: str) -> tuple[Tool, ...]:
        """The tools whose name or, without any, whose name with its source in front has that cleaned form."""
        if self._by_key is None:
            from toolcrib.catalog.clean import key as clean_key

            names = _grouped((clean_key(tool.name), tool) for tool in self.tools)
            fronted = _grouped(
                (clean_key(front + tool.name), tool)
                for tool in self.tools
                for front in {tool.source, prefix(tool.source)}
            )
            self._by_key = fronted | names
        return self._by_key.get(key, ()) if key else ()

    def nearest(self, name: str, limit: int = 3) -> list[Tool]:
        """The tools whose names come closest, best first."""
        if self._nearest is None:
            from toolcrib.catalog.nearest import Nearest

            self._nearest = Nearest(self.tools)
        return self._nearest.ranked(name, limit)

    def nearest_text(self, name: str) -> str:
        """The closest names in words for an operator: `nearest: send_report, send_mail`."""
        found = self.nearest(name)
        if not found:
            return "there are no tools"
        return "nearest: " + ", ".join(
            tool.name if len(self._by_name[tool.name]) == 1 else qualified(tool) for tool in found
        )

    def narrowed(self, names: Collection[str]) -> View:
        """Only the tools of these names (`source/name` for one of several). Names without any are in its `missing`."""
        wanted = tuple(sorted(set(names)))
        known = self._narrowed.get(wanted)
        if known is None:
            found = {id(tool): tool for name in wanted for tool in self.named(name)}
            missing = tuple(name for name in wanted if not self.named(name))
            known = self._keep(wanted, View(found.values(), (self.key, wanted), missing, self.bent))
        return known

    def without(self, tools: Iterable[Tool]) -> View:
        """The view less these tools; this very view where it holds none of them."""
        gone = frozenset((tool.source, tool.name) for tool in tools if self.current(tool) is not None)
        if not gone:
            return self
        known = self._narrowed.get(gone)
        if known is None:
            rest = (tool for tool in self.tools if (tool.source, tool.name) not in gone)
            known = self._keep(gone, View(rest, (self.key, gone), self.missing, self.bent))
        return known

    def _keep(self, key: Hashable, view: View) -> View:
        while len(self._narrowed) >= _NARROWED:
            try:
                self._narrowed.pop(next(iter(self._narrowed)), None)
            except (RuntimeError, StopIteration):  # another thread made room at this moment
                break
        return self._narrowed.setdefault(key, view)


def _grouped(pairs: Iterable[tuple[str, Tool]]) -> dict[str, tuple[Tool, ...]]:
    groups: dict[str, tuple[Tool, ...]] = {}
    for key, tool in pairs:
        if tool not in groups.get(key, ()):
            groups[key] = (*groups.get(key, ()), tool)
    return groups
