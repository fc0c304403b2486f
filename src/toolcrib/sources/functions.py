"""The source that a program fills with its own functions, tools and toolkits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.errors import DefinitionError
from toolcrib.sources.offered import tools_in, twin
from toolcrib.sources.source import Generation, Scanned


class Functions(Scanned):
    """Callables, `Tool`s, toolkit classes and instances, and lists of them, in the order given.

    The same thing given twice counts once; two different tools of one name raise DefinitionError when asked for.
    It never changes, so `reload` does nothing.
    """

    def __init__(self, things: Sequence[Any], *, name: str = "functions") -> None:
        super().__init__(name)
        self._things = list({id(thing): thing for thing in things}.values())

    def reload(self) -> bool:
        return False

    def _scan(self) -> Generation:
        tools = list({id(tool): tool for tool in tools_in(self._things, self.name)}.values())
        again = twin(tools)
        if again is not None:
            raise DefinitionError(
                f"two different tools are called {again.name!r} ({again.source}): "
                "rename one, for example with @tool(name=...)"
            )
        return tuple(tools), ()
