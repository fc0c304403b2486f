"""The stage `publish`: in the model's order, the observers are told, each isolated: none can change or stop a call."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolcrib.call import Event
from toolcrib.flight import Flight

log = logging.getLogger("toolcrib")

Observer = Callable[[Event], Any]


class Observers:
    """Functions of an `Event`, sync or async, told in their order. What one raises is logged and goes no further."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        self._observers = list(observers)

    def __bool__(self) -> bool:
        return bool(self._observers)

    def add(self, observer: Observer) -> Callable[[], None]:
        """Adds one; the answer takes it away again."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer) if observer in self._observers else None

    async def tell(self, flight: Flight, name: str | None = None) -> None:
        """Tells the state a call has reached; `name` where that differs from the call's own."""
        event = Event(name=name or flight.state, call=flight.call, result=flight.result if name is None else None)
        for observer in tuple(self._observers):
            try:
                pending = observer(event)
                if inspect.isawaitable(pending):
                    await pending
            except Exception:
                log.exception("an observer failed on %s of call %s", event.name, flight.id)


class Publish:
    """Gives the result its place: from here on it is what the step returns."""

    name = "publish"
    closing = True

    def __init__(self, observers: Observers) -> None:
        self._observers = observers

    def __call__(self, flight: Flight) -> Awaitable[None] | None:
        if not self._observers:
            return None
        return self._observers.tell(flight)
