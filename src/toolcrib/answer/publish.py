"""The stage `publish`: in the model's order, the observers are told, each isolated: none can change or stop a call."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolcrib.bridge import awaitable
from toolcrib.call import Event, EventDraft
from toolcrib.flight import Flight

log = logging.getLogger("toolcrib")

Observer = Callable[[Event], Any]


class Observers:
    """Functions of an `Event`, sync or async, told in their order. What one raises is logged and goes no further."""

    def __init__(self, observers: Sequence[Observer]) -> None:
        #: Replaced, never changed: who is being told now is not disturbed by who comes and goes.
        self._observers: tuple[Observer, ...] = tuple(observers)

    def __bool__(self) -> bool:
        return bool(self._observers)

    def add(self, observer: Observer) -> Callable[[], None]:
        """Adds one; the answer takes it away again."""
        place = _Place(observer)
        self._observers = (*self._observers, place)

        def forget() -> None:
            self._observers = tuple(other for other in self._observers if other is not place)

        return forget

    async def tell(self, flight: Flight, name: str | None = None) -> None:
        """Tells the state a call has reached; `name` where that differs from the call's own."""
        draft: Any = EventDraft()
        draft.name = name or flight.state
        draft.call = flight.call
        draft.result = flight.result if name is None else None
        draft.__class__ = Event
        event: Event = draft
        for observer in self._observers:
            try:
                pending = observer(event)
                if awaitable(pending):
                    await pending
            except Exception:
                log.exception("an observer failed on %s of call %s", event.name, flight.id)


class _Place:
    """One registration of an observer: the same function may be registered twice, and forgotten once."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def __call__(self, event: Event) -> Any:
        return self._observer(event)


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
