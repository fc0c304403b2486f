"""The stage `start`: guards once more, then the call is committed as started; only then may its body be entered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from toolcrib.flight import Flight


class Starter(Protocol):
    """The part of the journal that a start needs."""

    def start(self, flight: Flight) -> Awaitable[None] | None:
        """Commits the start, or ends the call where it may not start. None when there is no journal."""
        ...


class Told(Protocol):
    """The observers."""

    def __bool__(self) -> bool: ...

    def tell(self, flight: Flight, name: str | None = None) -> Awaitable[None]:
        """Tells each of them."""
        ...


class Start:
    """Time has passed since `admit`: what guards say now counts."""

    name = "start"
    closing = False

    def __init__(self, guards: Callable[[Flight], None], book: Starter, observers: Told) -> None:
        self._guards = guards
        self._book = book
        self._observers = observers

    def __call__(self, flight: Flight) -> Awaitable[None] | None:
        if self._observers:
            return self._and_tell(flight)
        if flight.state == "started":  # the step's first commit took it along
            return None
        self.prepare(flight)
        return None if flight.result is not None else self._book.start(flight)

    async def _and_tell(self, flight: Flight) -> None:
        if flight.state != "started" and self.prepare(flight):
            pending = self._book.start(flight)
            if pending is not None:
                await pending
        if flight.result is None:
            await self._observers.tell(flight, "started")

    def prepare(self, flight: Flight) -> bool:
        """What must hold in the moment before the commit. False when the call has ended instead."""
        self._guards(flight)
        return flight.result is None
