"""From the name a model wrote to a tool of its caller's view, or to a text that says which names there are."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.call import Tool
from toolcrib.catalog.names import prefix
from toolcrib.catalog.view import View

if TYPE_CHECKING:
    from toolcrib.catalog.menu import Menu
    from toolcrib.wire import Restore

#: Names told to a model that invented one.
_TOLD = 30
#: So much of an invented name is shown and counted.
_ECHO = 80
#: So much of a tool's own name is shown, where no menu gives it a shorter one.
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Resolution:
    """tool: None for an unknown name; then `problem` is the text for the model. note: how the name was read, where it
    was not exact. restore: gives arguments their own parameter names back, where the menu bent them."""

    tool: Tool | None = None
    restore: Restore | None = None
    note: str | None = None
    problem: str | None = None


def resolve(name: str, menu: Menu | None, view: View, counts: MutableMapping[str, int]) -> Resolution:
    """The tool meant by a name, out of this view alone.

    menu: what the model was shown, possibly some time ago; None where nothing was. An exact name of the menu wins, then
    an exact name (or `source/name`) of a tool, then one that is exact once it is cleaned, if only one tool fits. A tool
    of the menu that has left the view since is not run; of one that was reloaded, the newer definition is.
    counts: how often each name was invented; grows by one here.
    """
    entry = None if menu is None else menu.entry(name)
    if entry is not None:
        current = view.current(entry.tool)
        if current is None:
            return Resolution(problem=f"The tool {_echo(name)} is no longer available. {_others(name, menu, view)}")
        return Resolution(current, entry.restore)
    found = view.find(name)
    if found is None:
        found = _cleaned(name, menu, view)
        if found is None:
            return Resolution(problem=_unknown(name, menu, view, counts))
        note = f"The tool's name {_echo(name)} was read as {_echo(_shown(found, menu, view), _SHOWN)}."
    else:
        note = None
    entry = None if menu is None else menu.entry_of(found)
    return Resolution(found, None if entry is None else entry.restore, note)


def _cleaned(name: str, menu: Menu | None, view: View) -> Tool | None:
    from toolcrib.catalog.clean import has_tokens, key, readings  # loaded by the first name that is not exact

    meant = readings(name)
    for reading in meant:
        fits = _exact(reading, menu, view)
        if fits:
            return fits[0] if len(fits) == 1 else None
    if has_tokens(name):
        return None
    for reading in meant:
        fits = _similar(key(reading), menu, view)
        if fits:
            return fits[0] if len(fits) == 1 else None
    return None


def _exact(name: str, menu: Menu | None, view: View) -> list[Tool]:
    entry = None if menu is None else menu.entry(name)
    if entry is not None:
        current = view.current(entry.tool)
        return [] if current is None else [current]
    return list(view.named(name))


def _similar(cleaned: str, menu: Menu | None, view: View) -> list[Tool]:
    found = {id(tool): tool for tool in view.fitting(cleaned)}
    for entry in () if menu is None else menu.fitting(cleaned):
        current = view.current(entry.tool)
        if current is not None:
            found[id(current)] = current
    return list(found.values())


def _unknown(name: str, menu: Menu | None, view: View, counts: MutableMapping[str, int]) -> str:
    counted = name[:_ECHO]
    times = counts[counted] = counts.get(counted, 0) + 1
    others = _others(name, menu, view)
    if not name.strip():
        return f"The call names no tool. {others}"
    if times < 3:
        return f"There is no tool {_echo(name)}. {others}"
    return (
        f"There is no tool {_echo(name)}, and calling it again will not make one: this was call {times} of that name. "
        f"Do not call it again. {others} If none of them serves, go on without a tool."
    )


def _others(name: str, menu: Menu | None, view: View) -> str:
    if not view.tools:
        return "There are no tools here: answer without calling one."
    told = ", ".join(_echo(_shown(tool, menu, view), _SHOWN, quote="") for tool in view.nearest(name, _TOLD))
    if len(view.tools) <= _TOLD:
        return f"The tools are: {told}."
    return f"The closest of {len(view.tools)} tools are: {told}."


def _shown(tool: Tool, menu: Menu | None, view: View) -> str:
    """The name by which a model reaches the tool: the menu's, else its own, prefixed where several have it."""
    entry = None if menu is None else menu.entry_of(tool)
    if entry is not None:
        return entry.alias
    return tool.name if len(view.named(tool.name)) == 1 else f"{prefix(tool.source)}_{tool.name}"


def _echo(text: str, most: int = _ECHO, quote: str = "'") -> str:
    """Text of unknown origin in a message: bounded, on one line, nothing in it that a terminal or reader obeys."""
    cut = text[:most]
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in cut)
    return f"{quote}{safe}{'...' if len(text) > most else ''}{quote}"
