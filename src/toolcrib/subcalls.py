"""What bodies are given by injection: the caller, the call, the turn, an idempotency key, and tools to call in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from toolcrib.call import Call, Caller, Result
from toolcrib.define.injected import IdempotencyKey
from toolcrib.flight import Flight
from toolcrib.run.run import Provider
from toolcrib.step import walk

if TYPE_CHECKING:
    from toolcrib.runtime import Crib

#: A body may call a tool whose body calls a tool, and so on: so deep and no deeper.
MAX_DEPTH = 16


class Tools:
    """The tools of the caller's own view, for a body to call. Each call crosses every stage and has a row of its own,
    `parent:n`; it has no place in the step's order and takes none of the step's permits."""

    def __init__(self, crib: Crib, parent: Flight) -> None:
        self._crib = crib
        self._parent = parent
        self._made = 0

    async def call(self, name: str, arguments: Any = None) -> Result:
        """Runs one tool as the same caller. What goes wrong is in the Result, as for a model."""
        parent = self._parent
        self._made += 1
        text = arguments if isinstance(arguments, str) else None
        given = None if text is not None else ({} if arguments is None else arguments)
        flight = Flight(
            f"{parent.id}:{self._made}", name, text, given, parent.caller, parent.scope, parent.turn,
            parent=parent.id,
        )  # fmt: skip
        if flight.id.count(":") > MAX_DEPTH:
            flight.end("quota_exceeded", f"Tools have called tools {MAX_DEPTH} deep. No further call runs here.")
        await walk(flight, self._crib.stages)
        if flight.interrupted is not None:
            raise flight.interrupted
        assert flight.result is not None
        return flight.result


def providers(crib: Crib) -> Mapping[Any, Provider]:
    """What fills a parameter of each injected type; tool files name the types by text."""
    from toolcrib.turn import Turn

    def turn(flight: Flight) -> Turn:
        if flight.scope is not None:
            scope: Turn = flight.scope
            return scope
        return Turn(crib, flight.caller, view=None, max_steps=50, named=False)

    table: dict[Any, Provider] = {
        Caller: lambda flight: flight.caller,
        Call: lambda flight: flight.call,
        Turn: turn,
        Tools: lambda flight: Tools(crib, flight),
        IdempotencyKey: lambda flight: IdempotencyKey(flight.id),
    }
    return table | {kind.__name__: provider for kind, provider in table.items()}
