"""Crib and Turn: the wiring. Read this first.

A call crosses the stages below in this order, and there is no other way to a body: sync, async, command line and
sub-calls all walk the same tuple. A stage that has nothing to do for a crib answers at once; none is skipped.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import os
import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from toolcrib import ids
from toolcrib.admit.admit import Admit, Guard, Guards, Policy
from toolcrib.answer.answer import Answer
from toolcrib.answer.publish import Observer, Observers, Publish
from toolcrib.approve.approve import Approve
from toolcrib.bridge import Faced, blocking, bridge, faced
from toolcrib.call import Caller, CallerDraft, Dialect, Result, Tool
from toolcrib.catalog.availability import Availability
from toolcrib.catalog.layers import Catalog
from toolcrib.catalog.stage import Resolve
from toolcrib.catalog.view import View
from toolcrib.errors import DefinitionError, SettingsError
from toolcrib.flight import Flight
from toolcrib.journal.book import Book, Settle
from toolcrib.read.stage import Read
from toolcrib.run.kits import OpenKits
from toolcrib.run.pool import Pool
from toolcrib.run.run import Provider, Run
from toolcrib.run.start import Start
from toolcrib.step import Stage, walk
from toolcrib.subcalls import providers
from toolcrib.turn import SyncTurn, Turn

if TYPE_CHECKING:
    from toolcrib.journal.store import Store
    from toolcrib.wire import Reply

#: One call's life, in this order.
STAGES = (Resolve, Read, Admit, Approve, Start, Run, Answer, Settle, Publish)


class Who(TypedDict, total=False):
    """Who asks, as keywords: those of `Crib.turn`."""

    user: str | None
    tenant: str | None
    conversation: str
    message: str
    agent: str | None
    timezone: str | None
    platform: str | None
    headless: bool
    preapproved: Collection[str]


class Crib:
    """The tools of a program and everything that stands between a model and their bodies.

    tools: one source or a list: functions, `Tool`s, toolkits, sources, and strings (`plugin:NAME`,
        `package.module:object`, else a path to a folder or file of tools).
    db: where the journal is, as a URL; without it `$TOOLCRIB_DB`, else the settings file, else the project's own file
        in the user's data folder. "off" keeps no journal. Or a `Store` of one's own.
    policies: functions of a `Call` that give None, Deny, Ask or Cancel; guards: sync functions that give a reason to
        refuse, or None. on: observers of every `Event`, isolated.
    ask: what needs a person where neither tool nor policy says so: "destructive", "effectful" or "never".
    mask_errors: a model sees a fixed sentence and the call id for an unexpected exception.
    watch: reload when files of the sources change; for development.
    max_parallel: how many calls of one step may overlap. threads: how many sync bodies may run at once, over all turns.

    One Crib serves any number of concurrent turns, threads and event loops. Nothing is read or opened before the first
    use; `async with`, or `aclose()`, only adds an orderly end. It survives a fork.
    """

    def __init__(
        self,
        tools: Any = None,
        *,
        db: str | Store | None = None,
        policies: Sequence[Policy] = (),
        guards: Sequence[Guard] = (),
        on: Sequence[Observer] | Observer = (),
        ask: str = "destructive",
        mask_errors: bool = False,
        max_parallel: int = 10,
        threads: int = 32,
        watch: bool = False,
        base: str | os.PathLike[str] | None = None,
    ) -> None:
        if isinstance(max_parallel, bool) or not isinstance(max_parallel, int) or max_parallel < 1:
            raise SettingsError(f"max_parallel is a positive integer; got {max_parallel!r}")
        self._tools = tools
        self._watch = watch
        self._db = db
        self._base = Path(base) if base is not None else None
        self.window = max_parallel
        self.observers = Observers([on] if callable(on) else on)
        self.catalog = Catalog()
        self.sources: list[Any] = []
        self.book = Book()
        self._guards = Guards(guards)
        self._providers = providers(self)
        self._kits = OpenKits()
        self._pool = Pool(threads)
        self._lock = threading.Lock()
        self._scanning = threading.Lock()
        self._ready = False
        self._closed = False
        self._opening: concurrent.futures.Future[None] | None = None
        self._availability = Availability()
        self._stop_watching: Callable[[], None] = lambda: None
        start = Start(self._guards, self.book, self.observers)
        self.prepare = start.prepare
        made: dict[type, Stage] = {
            Resolve: Resolve(self.catalog),
            Read: Read(),
            Admit: Admit(policies, self._guards, ask),
            Approve: Approve(),
            Start: start,
            Run: Run(self._pool, self._providers, self._late, self._kits),
            Answer: Answer(mask_errors=mask_errors),
            Settle: Settle(self.book),
            Publish: Publish(self.observers),
        }
        self.stages: tuple[Stage, ...] = tuple(made[kind] for kind in STAGES)
        #: The parts of the tuple that a step takes one after the other for all its calls.
        self.front, self.body, self.tail = self.stages[:4], self.stages[4:8], self.stages[8:]
        _cribs.add(self)

    # Opening and closing

    async def open(self) -> None:
        """Reads the sources, opens the journal and closes what a dead process left. Called by the first use."""
        if self._ready:
            return
        with self._lock:
            if self._closed:
                raise SettingsError("this Crib is closed; make a new one")
            if self._opening is None or self._opening.done():
                self._opening = bridge.submit(self._open())
            opening = self._opening
        await asyncio.shield(asyncio.wrap_future(opening))

    async def _open(self) -> None:
        """Once for all threads and loops that wait for it; a failure may be tried again."""
        await self.open_sources()
        await self.book.open(self._db if self._db is not None else _db_of_project(self._base))
        self._ready = True
        if self._watch:
            self._watcher = bridge.submit(self._reload_on_change())

    async def open_sources(self) -> None:
        """Reads the sources alone: enough to say what tools there are."""
        if not self.sources:
            await asyncio.to_thread(self._open_sources)

    def _open_sources(self) -> None:
        from toolcrib.sources.resolve import sources_of

        with self._scanning:
            if self.sources:
                return
            sources = sources_of(self._tools, base=self._base)
            for source in sources:
                self.catalog.set_source(source.name, source.tools())
            _check_injected(self.catalog, self._providers)
            self.sources = sources

    def reload(self) -> bool:
        """Looks at the sources again; True if anything changed. Calls in flight keep their definitions."""
        changed = False
        with self._scanning:
            for source in self.sources:
                if source.reload():
                    changed = True
                    self.catalog.set_source(source.name, source.tools())
        return changed

    async def _reload_on_change(self) -> None:
        from toolcrib.sources.watch import watch

        stop, loop = asyncio.Event(), asyncio.get_running_loop()

        def end() -> None:
            loop.call_soon_threadsafe(stop.set)

        self._stop_watching = end
        await watch(self.sources, self.reload, stop)

    async def usable(self, view: View) -> View:
        """The view without the tools whose own probe says that they cannot be used now."""
        return await self._availability.usable(view)

    async def aclose(self) -> None:
        """Ends it in order: what is queued for the journal is written. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._ready = False
            self._stop_watching()
            await self._kits.close()
            await self.book.aclose()

    async def __aenter__(self) -> Crib:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> SyncCrib:
        bridge.run(self.open())
        return self.sync

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        bridge.run(self.aclose())

    # What people call

    def turn(
        self,
        *,
        user: str | None = None,
        tenant: str | None = None,
        conversation: str | None = None,
        message: str | None = None,
        agent: str | None = None,
        timezone: str | None = None,
        platform: str | None = None,
        headless: bool = False,
        preapproved: Sequence[str] = (),
        view: Sequence[str] | None = None,
        max_steps: int = 50,
    ) -> Turn:
        """One message of a user with all the model rounds that answer it. No I/O, no closing.

        Absent ids are minted. With a given `message` the turn continues from the journal, in any process.
        preapproved: tools that need no person in this turn. view: the only tools it sees.
        """
        caller = Caller(
            user=user,
            tenant=tenant,
            conversation=conversation if conversation is not None else ids.fresh(),
            message=message if message is not None else ids.fresh(),
            agent=agent,
            timezone=timezone,
            platform=platform,
            headless=headless,
            preapproved=frozenset(preapproved),
        )
        return Turn(self, caller, view=view, max_steps=max_steps, named=message is not None)

    async def call(self, tool: Any, arguments: Any = None, **caller: Unpack[Who]) -> Result:
        """Runs one call. tool: a name, a `Tool` or the function. arguments: a dict, or the JSON text a model wrote.

        The keywords are those of `turn` that say who asks. It belongs to no step and counts for no loop.
        """
        if not self._ready:
            await self.open()
        id = ids.fresh()
        name, known = (tool, None) if isinstance(tool, str) else self._own(tool)
        raw, given = (arguments, None) if isinstance(arguments, (str, bytes)) else ("", arguments)
        flight = Flight(
            id,
            name,
            raw if isinstance(raw, str) or raw is None else raw.decode("utf-8", "replace"),
            given,
            _caller(id, caller),
            None,
            id,
        )
        if given is not None:
            flight.raw = None
        flight.tool = known
        await walk(flight, self.stages)
        if flight.interrupted is not None:
            raise flight.interrupted
        assert flight.result is not None
        return flight.result

    def _own(self, tool: Any) -> tuple[str, Tool]:
        definition = Tool.of(tool)
        return definition.name, definition

    async def repair(self, messages: Sequence[Any], dialect: Dialect | None = None, **caller: Unpack[Who]) -> list[Any]:
        """A history that any provider accepts: missing results filled with their true state from the journal, results
        beside their calls, orphans removed. Twice changes nothing more.

        The keywords say whose history it is, as in `turn`: only calls of that user and tenant are looked at, whatever
        ids the history holds; with a conversation alone, those of that conversation; with nothing, those of nobody.
        """
        return await self.mended(messages, dialect, everyone=False, **caller)

    async def mended(
        self, messages: Sequence[Any], dialect: Dialect | None, *, everyone: bool, **caller: Unpack[Who]
    ) -> list[Any]:
        """`repair`; everyone: for an operator, who sees all users' calls."""
        from toolcrib.dialects.repair import dialect_of_history, repair

        if not self._ready:
            await self.open()
        name = dialect or dialect_of_history(messages)
        unanswered: list[Reply] = []
        repair(messages, name, lambda read, _: unanswered.append(read))
        return repair(messages, name, await self.book.answers(unanswered, everyone=everyone, **caller))

    async def recover(self) -> list[Result]:
        """Ends the calls that a dead process left: begun ones become unknown, others not started. In time order."""
        await self.open()
        return await self.book.recover()

    @property
    def sync(self) -> SyncCrib:
        """The same crib without `await`, from any thread, also inside a running loop."""
        return SyncCrib(self)

    def _late(self, flight: Flight, value: Any, failure: BaseException | None) -> None:
        """A body that was left running has ended: its outcome goes to the book, not to the model."""
        late = copy.copy(flight)  # the flight itself keeps what the model was told
        late.body_result, late.failure, late.result = value, failure, None
        self._answer(late)
        bridge.submit(self.book.settle_late(late))

    @property
    def _answer(self) -> Answer:
        answer = self.stages[STAGES.index(Answer)]
        assert isinstance(answer, Answer)
        return answer


class SyncCrib(Faced):
    """A Crib without `await`: see `Crib`, whose methods these are."""

    turn = faced(Crib.turn, SyncTurn)
    call = blocking(Crib.call)
    repair = blocking(Crib.repair)
    recover = blocking(Crib.recover)
    open = blocking(Crib.open)
    close = blocking(Crib.aclose)


_cribs: weakref.WeakSet[Crib] = weakref.WeakSet()


def _db_of_project(base: Path | None) -> str | None:
    from toolcrib.settings import load

    found: str | None = load(base).get("db")
    return found


_NOBODY: frozenset[str] = frozenset()


def _caller(id: str, given: Who) -> Caller:
    if not given:
        made: Any = CallerDraft()
        made.user = made.tenant = made.agent = made.timezone = made.platform = None
        made.conversation = made.message = id
        made.headless = False
        made.preapproved = _NOBODY
        made.__class__ = Caller
        anonymous: Caller = made
        return anonymous
    known: dict[str, Any] = {"conversation": id, "message": id, **given}
    known["preapproved"] = frozenset(known.get("preapproved", ()))
    try:
        return Caller(**known)
    except TypeError as problem:
        raise SettingsError(f"crib.call: {problem}") from problem


def _check_injected(catalog: Catalog, known: Mapping[Any, Provider]) -> None:
    """Raises for a parameter that nothing can fill; later would be in the middle of a turn."""
    for tool in catalog.view(Caller()).tools:
        try:
            injected = tool.injected
        except DefinitionError:
            continue  # said where the tool is shown or called: it costs that tool alone
        for name, kind in injected.items():
            if kind not in known:
                shown = getattr(kind, "__name__", str(kind))
                raise SettingsError(f"tool {tool.name!r} of {tool.source}: nothing gives {name!r} a {shown}")
