"""Tools of installed packages, by entry point. Installing a package changes nothing until its plugin is named."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcrib.errors import SourceError
from toolcrib.sources.faults import reason_of
from toolcrib.sources.offered import tools_made_by, twin
from toolcrib.sources.source import Generation, Scanned

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP = "toolcrib.tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """What an installed package offers. name: what follows `plugin:`. distribution: for example "acme-tools 1.2".

    value: where it stands, `package.module:object`; that too names it.
    """

    name: str
    distribution: str
    value: str


def available() -> list[Plugin]:
    """All plugins that could be named, sorted; nothing of them is imported."""
    plugins = {
        Plugin(name=entry.name, distribution=_shown(distribution), value=entry.value)
        for distribution, entry in _entries()
    }
    return sorted(plugins, key=lambda plugin: (plugin.name, plugin.distribution, plugin.value))


def plugin_sources(name: str) -> list[PluginSource]:
    """One source for a name, one for each plugin for `*`. Raises SourceError for a name that nobody offers."""
    found = available()
    names = sorted({plugin.name for plugin in found})
    if name != "*" and name not in names:
        near = difflib.get_close_matches(name, names, 3) or names[:10]
        raise SourceError(f"no installed package offers plugin:{name}; {_there_are(near)}")
    return [PluginSource(each) for each in (names if name == "*" else [name])]


class PluginSource(Scanned):
    """One entry point: a tool function, a `Tool`, a toolkit, a list of them, or a function without arguments for them.

    A plugin that does not load is a warning that names its distribution. Two distributions that offer one name are
    a warning too and neither is loaded. `reload` does nothing.
    """

    def __init__(self, plugin: str) -> None:
        super().__init__(f"plugin:{plugin}")
        self._plugin = plugin

    def reload(self) -> bool:
        return False

    def _scan(self) -> Generation:
        found = [(distribution, entry) for distribution, entry in _entries() if entry.name == self._plugin]
        if len(found) > 1:
            values = ", ".join(f"{entry.value} of {_shown(distribution)}" for distribution, entry in found)
            where = f"{self.name} of {len(found)} packages"
            return (), (self._warning(where, f"several packages offer it; name one of {values} instead"),)
        if not found:
            return (), (self._warning(self.name, "its package is no longer installed"),)
        distribution, entry = found[0]
        try:
            tools = tools_made_by(entry.load(), self.name)
            again = twin(tools)
            if again is not None:
                raise SourceError(f"two different tools are called {again.name!r}")
        except (Exception, SystemExit) as problem:
            where = f"{self.name} of {_shown(distribution)} ({entry.value})"
            return (), (self._warning(where, reason_of(problem)),)
        return tuple(tools), ()


def _entries() -> list[tuple[Distribution, EntryPoint]]:
    """The entry points of the group; of a distribution that is found twice, the first, as imports would."""
    from importlib.metadata import distributions

    found: list[tuple[Distribution, EntryPoint]] = []
    owners: dict[str, Distribution] = {}
    for distribution in distributions():
        try:
            entries = [entry for entry in distribution.entry_points if entry.group == GROUP]
        except Exception:  # another package's broken metadata must not cost the others
            continue
        if entries and owners.setdefault(_key(distribution), distribution) is distribution:
            found += [(distribution, entry) for entry in entries]
    return found


def _key(distribution: Distribution) -> str:
    return _shown(distribution).partition(" ")[0].lower().replace("_", "-").replace(".", "-")


def _shown(distribution: Distribution) -> str:
    try:
        return f"{distribution.metadata['Name'] or 'a package without a name'} {distribution.version or ''}".strip()
    except Exception:  # as above
        return "a package without a name"


def _there_are(names: list[str]) -> str:
    return f"there are {', '.join(f'plugin:{name}' for name in names)}" if names else "there are no plugins"
