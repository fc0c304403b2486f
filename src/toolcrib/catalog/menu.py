"""Menu: a view as shown to one model: the schemas in a dialect, and the map from the model's names back to tools."""

from __future__ import annotations

import logging
import marshal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolcrib.call import Tool
from toolcrib.catalog.names import aliases
from toolcrib.catalog.view import View
from toolcrib.frozen import thaw

if TYPE_CHECKING:
    from toolcrib.wire import DialectFormat, Restore, ToolView

log = logging.getLogger("toolcrib")

#: What was logged already. A menu is built anew with every change of the catalog; its warnings are not new then.
_logged: set[str] = set()
_LOGGED = 4096
#: A fault that all tools share is not worth a line for each.
_LINES = 5
#: Forms of one tool that are kept: one for each dialect and each alias it has had.
_KEPT = 16


class Entry(NamedTuple):
    """One tool on a menu. alias: the model's name for it."""

    alias: str
    tool: Tool
    restore: Restore | None


class Menu:
    """Never changes: a call made under an old menu is resolved by that one.

    dialect: the format's name. warnings: the tools this dialect cannot carry, which are left out, and what it had to
    change in others. The same view gives the same menu, byte for byte, whatever the order of registration.

    The provider's form is kept as one string of bytes and every caller gets its own copy of it, to change at will:
    about 2 microseconds for a tool, a quarter of what copying the objects takes.
    """

    __slots__ = (
        "_by_alias", "_by_key", "_by_origin", "_format", "_request", "_shown", "_specs", "dialect", "warnings",
    )  # fmt: skip

    def __init__(self, view: View, format: DialectFormat) -> None:
        self.dialect = format.name
        self._format = format
        self._by_alias: dict[str, Entry] = {}
        warnings: list[str] = []
        left_out: list[str] = []
        shown: list[ToolView] = []
        for alias, tool in zip(aliases(view.tools, format.name_pattern, format.name_length), view.tools, strict=True):
            try:
                tool_view = _tool_view(view, format, alias, tool)
            except Exception as problem:  # a schema that resolves late may raise anything, and costs only its own tool
                text = f"tool {tool.name!r} of {tool.source!r} is left out for {format.name}: {problem}"
                left_out.append(text)
                continue
            shown.append(tool_view)
            warnings += [f"tool {tool.name!r} of {tool.source!r}: {text}" for text in tool_view.warnings]
            self._by_alias[alias] = Entry(alias, tool, tool_view.restore)
        self._by_origin = {(entry.tool.source, entry.tool.name): entry for entry in self._by_alias.values()}
        self._by_key: dict[str, tuple[Entry, ...]] | None = None
        self.warnings = (*left_out, *warnings)
        _log_once(left_out)
        self._shown = tuple(shown)
        self._specs: bytes | None = None
        self._request: bytes | None = None

    @classmethod
    def of(cls, view: View, format: DialectFormat) -> Menu:
        """The view's menu in that format, built at the first use and kept with the view."""
        menu = view.menus.get(format.name)
        if menu is None or menu._format is not format:
            menu = view.menus[format.name] = cls(view, format)
        return menu

    def __len__(self) -> int:
        return len(self._by_alias)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._by_alias.values())

    def __repr__(self) -> str:
        return f"<Menu of {len(self)} tools for {self.dialect}>"

    def specs(self) -> list[dict[str, Any]]:
        """The value of the request's `tools`; [] for none. The caller's own copy."""
        if self._specs is None:
            self._specs = _packed(self._format.tools(self._shown))
        return cast("list[dict[str, Any]]", marshal.loads(self._specs))

    def request(self) -> dict[str, Any]:
        """Keyword arguments for the provider's call; {} for no tools. The caller's own copy."""
        if self._request is None:
            self._request = _packed(self._format.request(self._shown))
        return cast("dict[str, Any]", marshal.loads(self._request))

    def entry(self, alias: str) -> Entry | None:
        """The tool the model knows by exactly that name."""
        return self._by_alias.get(alias)

    def entry_of(self, tool: Tool) -> Entry | None:
        """Where a tool of that origin stands on the menu; None where it was not shown."""
        return self._by_origin.get((tool.source, tool.name))

    def restore_of(self, alias: str) -> Restore | None:
        """What gives arguments their own names back; None where nothing was bent, or nothing has that name."""
        entry = self._by_alias.get(alias)
        return None if entry is None else entry.restore

    def fitting(self, key: str) -> tuple[Entry, ...]:
        """The entries whose name has that cleaned form."""
        if self._by_key is None:
            from toolcrib.catalog.clean import key as clean_key

            found: dict[str, tuple[Entry, ...]] = {}
            for entry in self:
                cleaned = clean_key(entry.alias)
                found[cleaned] = (*found.get(cleaned, ()), entry)
            self._by_key = found
        return self._by_key.get(key, ()) if key else ()


def _tool_view(view: View, format: DialectFormat, alias: str, tool: Tool) -> ToolView:
    """The tool in that form, kept over all menus of the catalog: a change to one tool bends no other anew."""
    kept = view.bent.setdefault(tool, {})
    known = kept.get((format.name, alias))
    if known is not None and known[0] is format:
        return known[1]
    made = format.view(alias, tool)
    _packed(made.spec)  # raises for what is no plain data, before it spoils the whole list
    if len(kept) >= _KEPT:
        kept.clear()
    kept[format.name, alias] = (format, made)
    return made


def _packed(value: Any) -> bytes:
    try:
        return marshal.dumps(value)
    except ValueError:  # frozen containers
        return marshal.dumps(thaw(value))


def _log_once(left_out: list[str]) -> None:
    new = [text for text in left_out if text not in _logged]
    if not new:
        return
    if len(_logged) > _LOGGED:
        _logged.clear()
    _logged.update(new)
    for text in new[:_LINES]:
        log.warning("%s", text)
    if len(new) > _LINES:
        log.warning("and %d more tools likewise; Menu.warnings has them all", len(new) - _LINES)
