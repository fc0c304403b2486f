"""A restriction: what a layer lets through of the tools it inherits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolcrib.call import Tool
from toolcrib.catalog.names import Origin
from toolcrib.catalog.view import View
from toolcrib.errors import SettingsError, UnknownTool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Restriction:
    """An allow list knows tools by origin, so what is registered later stays out, whatever its name. A deny list knows
    names, so what is registered later comes in, unless it takes a denied name."""

    allowed: frozenset[Origin] | None = None
    denied: frozenset[str] = frozenset()
    denied_origins: frozenset[Origin] = frozenset()

    def admits(self, tool: Tool) -> bool:
        """Whether an inherited tool passes."""
        if self.allowed is not None:
            return (tool.source, tool.name) in self.allowed
        return tool.name not in self.denied and (tool.source, tool.name) not in self.denied_origins


def restriction(
    allow: Iterable[str] | None, deny: Iterable[str] | None, *, inherited: Sequence[Tool], own: Sequence[Tool]
) -> Restriction:
    """Checks the names against what the layer may inherit and fixes what they mean now.

    Raises SettingsError for both lists, none or an empty one, or a name that is the layer's own; UnknownTool for a
    name that it does not inherit.
    """
    if (allow is None) == (deny is None):
        raise SettingsError("a restriction is either allow=[names] or deny=[names]")
    given = allow if allow is not None else deny
    if isinstance(given, str):
        raise SettingsError(f"a restriction takes a list of names; got the text {given!r}")
    names = list(dict.fromkeys(given or ()))
    if not names:
        raise SettingsError("a restriction names at least one tool; an empty list is more likely a mistake")
    heritage, property_ = View(inherited), View(own)
    for name in names:
        if not isinstance(name, str):
            raise SettingsError(f"a restriction takes names of tools; got {name!r}")
        if not heritage.named(name):
            if property_.named(name):
                raise SettingsError(
                    f"{name!r} is the layer's own tool; a restriction filters inherited tools: undo its registration"
                )
            raise UnknownTool(f"the layer inherits no tool {name!r}; {heritage.nearest_text(name)}")
    meant = {name: heritage.named(name) for name in names}
    if allow is not None:
        return Restriction(allowed=frozenset((t.source, t.name) for tools in meant.values() for t in tools))
    plain = frozenset(name for name, tools in meant.items() if tools[0].name == name)
    return Restriction(
        denied=plain,
        denied_origins=frozenset((t.source, t.name) for name in meant if name not in plain for t in meant[name]),
    )
