"""The stage `resolve`: the model's name for a tool, through the menu it saw, to the tool."""

from __future__ import annotations

from collections import Counter

from toolcrib.catalog.layers import Catalog
from toolcrib.catalog.resolve import resolve
from toolcrib.flight import Flight


class Resolve:
    """Finds the tool in the caller's view, or ends the call with the closest names out of that view."""

    name = "resolve"
    closing = False

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __call__(self, flight: Flight) -> None:
        if flight.tool is not None:  # a program handed the tool itself
            return
        scope = flight.scope
        # Not strict: a tool that a reload took away in mid-turn ends its own calls and no others.
        view = self._catalog.view(flight.caller, None if scope is None else scope.view, strict=False)
        if flight.menu is None:
            found = view.find(flight.name)
            if found is not None:
                flight.tool = found
                return
        resolution = resolve(flight.name, flight.menu, view, self._counter(flight))
        if resolution.tool is None:
            flight.end("unknown_tool", resolution.problem or "")
            return
        flight.tool = resolution.tool
        flight.restore = resolution.restore
        if resolution.note:
            flight.notes = (resolution.note,)

    def _counter(self, flight: Flight) -> Counter[str]:
        if flight.scope is None:
            return Counter()
        unknown: Counter[str] = flight.scope.unknown
        return unknown
