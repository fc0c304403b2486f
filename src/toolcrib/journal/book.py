"""The journal as the runtime writes it: calls in flight to rows, rows to results. With "off" it writes nothing.

`Settle` is the stage: the outcome is committed the moment it is known.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import logging
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolcrib import words
from toolcrib.bridge import bridge
from toolcrib.call import ENDED, Caller, Result
from toolcrib.errors import JournalError
from toolcrib.flight import Flight
from toolcrib.journal.store import CallMissing, StepTaken, Store

if TYPE_CHECKING:
    from toolcrib.journal.rows import CallRow, StepRow
    from toolcrib.wire import Answer, Reply

log = logging.getLogger("toolcrib")

#: How long a caller waits, in seconds, for an outcome to become durable before it is told `outcome_unknown`.
SETTLE_PATIENCE = 30.0
#: How often, in seconds, a step that another process runs is looked at.
_LOOK = 0.05


class Book:
    """One crib's journal. Every method works without a store: then there is nothing to write."""

    def __init__(self) -> None:
        self._store: Store | None = None
        #: Loaded with the store: a crib without a journal pays for none of it.
        self._entries: Any = None
        #: Outcomes that the journal would not take yet.
        self._owed: set[concurrent.futures.Future[None]] = set()

    @property
    def kept(self) -> bool:
        """Whether there is a journal."""
        return self._store is not None

    @property
    def store(self) -> Store:
        """The store. Raises JournalError when the journal is off."""
        if self._store is None:
            raise JournalError('the journal is off (db="off"); nothing is recorded')
        return self._store

    async def open(self, url: str | Store | None) -> None:
        """Opens the journal at a URL, the default one for None, none for "off"; then ends what dead processes left."""
        if url == "off":
            log.warning('the journal is off (db="off"): nothing is recorded, and nothing can be approved or recovered')
            return
        from toolcrib.journal import entries
        from toolcrib.journal.location import default_url, open_store

        if url is None or isinstance(url, str):
            store = open_store(url if url is not None else default_url(Path.cwd()))
        else:
            store = url
        await store.open()
        await store.recover()
        self._entries = entries
        self._store = store

    async def aclose(self) -> None:
        """Waits for what is on its way and lets go."""
        while self._owed:
            await asyncio.wait([asyncio.wrap_future(each) for each in self._owed])
        if self._store is not None:
            store, self._store = self._store, None
            await store.aclose()

    # Writing

    async def begin(
        self, caller: Caller, turn: str, number: int, read: Reply, flights: Sequence[Flight], *, confirm: bool
    ) -> None:
        """A step's first commit: the step and all its calls as they stand, and the confirmation of the turn's earlier
        ones. Raises StepTaken when the step's number is taken; where the journal fails, no call may run."""
        if self._store is None:
            for flight in flights:
                flight.settled = flight.result is not None
            return
        now = _now()
        step = self._entries.step_row(caller, turn, number, read, now)
        rows = [self._entries.call_row(flight, now) for flight in flights]
        problem = await self._begun(self._store, step, rows, turn if confirm else None)
        if problem is not None:
            log.error("the step could not be recorded, so none of its calls runs: %s", problem)
            for flight in flights:
                flight.state = "refused"
                flight.end("journal_unavailable", words.text("journal_unavailable"), operator=str(problem))
                flight.settled = True
            return
        for flight, row in zip(flights, rows, strict=True):
            flight.row = row
            flight.settled = flight.result is not None

    async def _begun(
        self, store: Store, step: StepRow | None, rows: Sequence[CallRow], confirm: str | None
    ) -> JournalError | None:
        """A first commit; why it failed, if it did. Where only the answer was lost, the rows themselves prove it."""
        try:
            await store.begin(step, rows, confirm=confirm)
        except StepTaken:
            raise
        except JournalError as problem:
            try:
                found = [await store.call(row.id) for row in rows]
            except JournalError:
                return problem
            written = [(row.id, row.state, row.owner) for row in found if row is not None]
            return None if written == [(row.id, row.state, row.owner) for row in rows] else problem
        return None

    def start(self, flight: Flight) -> Awaitable[None] | None:
        """Commits the start of a call; ends it instead where that cannot be proven."""
        if self._store is None:
            flight.state = "started"
            return None
        return self._start(self._store, flight)

    async def _start(self, store: Store, flight: Flight) -> None:
        row: CallRow | None = flight.row
        now = _now()
        try:
            if row is None:
                flight.state = "started"
                flight.row = row = self._entries.call_row(flight, now)
                problem = await self._begun(store, None, (row,), None)
                if problem is not None:
                    raise problem
                return
            row.started_at = now
            row.attempts = 1
            flight.state = "started"
            if not await _whole(store.start(row)):
                flight.state = "proposed"
                flight.end(
                    "not_started", words.text("not_started"), state="skipped", operator="no longer ours to start"
                )
        except JournalError as problem:
            log.error("call %s could not be recorded, so it does not run: %s", flight.id, problem)
            flight.state = "refused"
            flight.row = None
            flight.end("journal_unavailable", words.text("journal_unavailable"), operator=str(problem))
            flight.settled = True

    async def _settle_patiently(self, flight: Flight) -> None:
        owed = bridge.submit(self._settle(flight))
        self._owed.add(owed)
        owed.add_done_callback(self._owed.discard)
        done, _ = await asyncio.wait((asyncio.wrap_future(owed),), timeout=SETTLE_PATIENCE)
        if not done and flight.attempts:
            told = copy.copy(flight)  # the flight itself still carries the outcome to the journal
            told.result = None
            told.end("outcome_unknown", words.text("outcome_unknown"), state="unknown", operator="not recorded yet")
            flight.told = told.result

    async def settle(self, flight: Flight) -> None:
        """Commits the outcome. A journal that fails is tried again; the caller waits for it, but not for ever."""
        try:
            row: CallRow | None = flight.row
            if row is not None and row.started_at is not None and not flight.late:  # the usual end
                self._entries.put_outcome(row, flight, _now())
                await self.store.settle(row)
            else:
                await self._write_outcome(flight)
        except JournalError as problem:
            log.error("the outcome of call %s could not be recorded yet: %s", flight.id, problem)
            await self._settle_patiently(flight)
        flight.settled = True

    async def _settle(self, flight: Flight) -> None:
        pause = 0.05
        while True:
            try:
                return await self._write_outcome(flight)
            except CallMissing:
                log.error("the journal has lost call %s; its outcome cannot be recorded", flight.id)
                return
            except JournalError:
                await asyncio.sleep(pause)
                pause = min(pause * 2, 2.0)

    async def _write_outcome(self, flight: Flight) -> None:
        store = self.store
        row: CallRow | None = flight.row
        if row is None:  # refused before anything was written: its one commit
            flight.row = row = self._entries.call_row(flight, _now())
            await store.begin(None, (row,))
        elif flight.late:
            await store.mark(row, "timeout")
        elif row.started_at is not None:
            self._entries.put_outcome(row, flight, _now())
            await store.settle(row)
        else:
            self._entries.put_outcome(row, flight, _now())
            await store.end(row)

    async def settle_late(self, flight: Flight) -> None:
        """Puts the outcome of a body that was left running where the journal says it belongs."""
        if self._store is None:
            return
        flight.late = False
        await self._settle(flight)

    async def confirm(self, turn: str) -> None:
        """Says that the turn's results are kept."""
        if self._store is not None:
            await self._store.confirm(turn)

    async def confirm_call(self, id: str) -> None:
        """Says that a lone call's result is kept."""
        if self._store is not None:
            await self._store.confirm("", calls=(id,))

    # Reading

    async def steps(self, turn: str) -> list[StepRow]:
        """A turn's recorded steps, in order."""
        return [] if self._store is None else await self._store.steps(turn)

    async def continued(self, step: StepRow) -> list[Result]:
        """The results of a recorded step, once all its calls have ended: whoever runs them is waited for, and what a
        dead process left is ended first."""
        store = self.store
        while True:
            rows = [row for row in await store.calls(step.turn, step.step) if row.parent is None]
            if all(row.state in ENDED or row.code == "timeout" for row in rows):
                return [self._entries.result_of(row) for row in rows]
            owners = {row.owner for row in rows if row.owner is not None and row.state not in ENDED}
            if not owners or not all([await store.alive(owner) for owner in owners]):
                await store.recover()
            await asyncio.sleep(_LOOK)

    async def recover(self) -> list[Result]:
        """Ends what dead processes left; the results of what was ended, oldest first."""
        return [] if self._store is None else [self._entries.result_of(row) for row in await self._store.recover()]

    async def answers(self, replies: Sequence[Reply], *, everyone: bool = False, **whose: Any) -> Answer:
        """What the journal knows of the calls of these replies: by the whole reply in the conversation, else by the
        provider's call id, where that names exactly one call. Only of the user and tenant given; a program that names
        a conversation alone means whoever's it is, one that names nothing means calls of nobody. everyone: an operator
        looks, and what is not given does not matter."""
        known: dict[tuple[str, int], Result] = {}
        if whose.get("conversation") is not None and whose.get("user") is None and whose.get("tenant") is None:
            everyone = True
        if self._store is not None:
            candidates = await self._candidates(everyone, whose)
            for read in replies:
                for place, row in enumerate(await self._rows(read, candidates, whose)):
                    if row is not None and row.state in ENDED:
                        known[read.digest, place] = self._entries.result_of(row)
        return lambda read, place: known.get((read.digest, place))

    async def _candidates(self, everyone: bool, whose: dict[str, Any]) -> dict[tuple[str | None, str], CallRow | None]:
        """(provider's call id, name) -> the call; None where several have both."""
        found: dict[tuple[str | None, str], CallRow | None] = {}
        filters = {key: whose[key] for key in ("tenant", "user", "conversation") if whose.get(key) is not None}
        for row in await self.store.find(**filters):
            if not row.provider_call_id:
                continue
            if not everyone and (row.user != whose.get("user") or row.tenant != whose.get("tenant")):
                continue
            key = (row.provider_call_id, row.name)
            found[key] = None if key in found else row
        return found

    async def _rows(
        self, read: Reply, candidates: dict[tuple[str | None, str], CallRow | None], whose: dict[str, Any]
    ) -> list[CallRow | None]:
        conversation = whose.get("conversation")
        if conversation is not None:
            steps = await self.store.conversation_steps(
                conversation, tenant=whose.get("tenant"), user=whose.get("user"), digest=read.digest
            )
            if steps:
                return list(await self.store.calls(steps[-1].turn, steps[-1].step))
        return [candidates.get((asked.provider_call_id, asked.name)) for asked in read.calls]


class Settle:
    """The stage `settle`."""

    name = "settle"
    closing = True

    def __init__(self, book: Book) -> None:
        self._book = book

    def __call__(self, flight: Flight) -> Awaitable[None] | None:
        if flight.settled:
            return None
        if not self._book.kept:
            flight.settled = True
            return None
        return self._book.settle(flight)


async def _whole(work: Awaitable[bool]) -> bool:
    """A claim's answer, which must be known: a cancellation meanwhile is raised after it."""
    task = asyncio.ensure_future(work)
    stop: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as cancelled:
            stop = cancelled
    if stop is not None:
        raise stop
    return task.result()


def _now() -> int:
    return time.time_ns() // 1000
