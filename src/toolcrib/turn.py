"""Turn: one message of a user with all the model rounds that answer it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

from toolcrib import ids, words
from toolcrib.bridge import Faced, blocking, bridge, faced
from toolcrib.call import Caller, Dialect, Result
from toolcrib.errors import UnknownTool
from toolcrib.flight import Flight
from toolcrib.journal.store import StepTaken
from toolcrib.messages import Messages
from toolcrib.step import Step
from toolcrib.stream import SyncTurnStream, TurnStream

if TYPE_CHECKING:
    from toolcrib.catalog.menu import Menu
    from toolcrib.catalog.view import View
    from toolcrib.runtime import Crib
    from toolcrib.wire import Asked, Reply


class ToolsRequest(TypedDict, total=False):
    """What a request of OpenAI or Anthropic takes: `tools`, absent when there are none."""

    tools: list[Any]


class ConfigRequest(TypedDict, total=False):
    """What a request of Gemini takes: `config`, absent when there are no tools."""

    config: Any


class Turn:
    """Made by `Crib.turn`. It owns the menus shown to the model, the count of steps and of invented names.

    The same reply never runs twice in it: one with the same response id is the same step, whose recorded results are
    returned. With a given `message` it continues from the journal: as long as replies equal the recorded steps, in
    order, those are returned; the first difference begins a new step.
    """

    def __init__(self, crib: Crib, caller: Caller, *, view: Sequence[str] | None, max_steps: int, named: bool) -> None:
        self._crib = crib
        self.caller = caller
        self.view = None if view is None else tuple(view)
        self._max_steps = max_steps
        self._named = named
        self.id = turn_key(caller) if named else ids.fresh()
        #: Invented tool names of this turn, counted.
        self.unknown: Counter[str] = Counter()
        self._menus: dict[str, Menu] = {}
        self._steps = 0
        self._by_response: dict[str, concurrent.futures.Future[list[Result]]] = {}
        #: Steps recorded before this object was made, still to be compared with what comes; None: not looked yet.
        self._recorded: list[Any] | None = None if named else []
        self._all_recorded: list[Any] = []
        self._unconfirmed = named

    def menu(self, dialect: str) -> Menu:
        """What the model is shown in that dialect: the menu last asked for, or, if none was, today's."""
        known = self._menus.get(dialect)
        if known is None:
            known = self._menus[dialect] = self._menu_of(
                self._crib.catalog.view(self.caller, self.view, strict=False), dialect
            )
        return known

    def _menu_of(self, view: View, dialect: str) -> Menu:
        from toolcrib.catalog.menu import Menu
        from toolcrib.dialects import format_of

        return Menu.of(view, format_of(dialect))

    async def _shown(self, dialect: str) -> Menu:
        await self._crib.open_sources()
        self._check_preapproved()
        view = await self._crib.usable(self._crib.catalog.view(self.caller, self.view))
        menu = self._menus[dialect] = self._menu_of(view, dialect)
        return menu

    def _check_preapproved(self) -> None:
        """A name that matches no tool raises before a model is paid."""
        if self.caller.preapproved:
            view = self._crib.catalog.view(self.caller, self.view)
            for name in sorted(self.caller.preapproved):
                if view.find(name) is None:
                    who = f" for user {self.caller.user!r}" if self.caller.user else ""
                    raise UnknownTool(f"no tool {name!r}{who}; {view.nearest_text(name)} (preapproved=...)")

    async def tools(self, dialect: Dialect) -> list[Any]:
        """The schemas of the tools this turn sees, as that provider wants them; [] when it sees none."""
        return (await self._shown(dialect)).specs()

    @overload
    async def request(self, dialect: Literal["openai", "openai-responses", "anthropic"]) -> ToolsRequest: ...
    @overload
    async def request(self, dialect: Literal["gemini"]) -> ConfigRequest: ...
    async def request(self, dialect: Dialect) -> Any:
        """Keyword arguments to splat into the provider's call; {} when the turn sees no tool."""
        return (await self._shown(dialect)).request()

    async def run(self, reply: Any, dialect: Dialect | None = None, echo: bool = True) -> Messages:
        """Runs the calls of a model's reply and gives the messages to append: the assistant's, then the results.

        reply: an SDK response object, its dict or JSON text, a bare assistant message or content, or a list of
        Responses items; or a recorded stream, as text or a list of events (of several responses in a row each is
        run as a step, in order). echo=False leaves the assistant's message out. Raises ReplyError for what is no whole
        reply: then nothing ran and nothing is recorded.
        """
        from toolcrib.dialects.recognise import read_all

        return await self.run_replies(read_all(reply, dialect), echo=echo)

    async def run_replies(self, replies: Sequence[Reply], *, echo: bool = True) -> Messages:
        """`run` for replies that have been read."""
        await self._crib.open()
        if len(replies) == 1:
            return await self._run_reply(replies[0], echo)
        whole = Messages()
        for read in replies:
            part = await self._run_reply(read, echo)
            whole += part
            whole.results += part.results
            whole.done, whole.text = part.done, part.text
        return whole

    async def _run_reply(self, read: Reply, echo: bool) -> Messages:
        from toolcrib.dialects import format_of

        if not read.calls:
            await self.confirm()
            return Messages(read.echo if echo else (), done=True, text=read.text)
        self._check_preapproved()
        results = await self._once(read)
        answers = format_of(read.dialect).results(read, results)
        return Messages(
            [*(copy.deepcopy(read.echo) if echo else ()), *answers], results=results, text=read.text, done=False
        )

    async def confirm(self) -> None:
        """Says that the messages returned so far are kept. The next `run` on the turn does it by itself."""
        if self._unconfirmed:
            await self._crib.open()
            await self._crib.book.confirm(self.id)
            self._unconfirmed = False

    def stream(self, source: Any, dialect: Dialect | None = None) -> TurnStream:
        """`async with turn.stream(provider_stream) as events`: the text as it comes, then one event per state of each
        call; afterwards `events.messages` is what `run` returns. Nothing runs before the stream has ended whole;
        leaving early aborts."""
        return TurnStream(self, source, dialect)

    def observe(self, observer: Any) -> Callable[[], None]:
        """Adds an observer of the crib; the answer takes it away again."""
        return self._crib.observers.add(observer)

    # The same reply never runs twice

    async def _once(self, read: Reply) -> list[Result]:
        key = read.response_id
        if key is None:
            return await self._step(read, [])
        while (known := self._by_response.get(key)) is not None:
            await asyncio.wait((asyncio.wrap_future(known),))
            if not known.cancelled():
                return known.result()
        ours: concurrent.futures.Future[list[Result]] = concurrent.futures.Future()
        self._by_response[key] = ours
        results: list[Result] = []
        try:
            await self._step(read, results)
        finally:
            if len(results) == len(read.calls):  # also where a cancellation is on its way: all calls have ended
                ours.set_result(results)
            else:  # recorded in part, if at all: whoever comes next asks the journal
                del self._by_response[key]
                self._recorded = None if self._crib.book.kept else []
                ours.cancel()
                ours.set_running_or_notify_cancel()
        return results

    async def _step(self, read: Reply, results: list[Result]) -> list[Result]:
        """Fills `results`, also on the way out of a cancellation, once every call has ended."""
        while True:
            recorded = await self._same_recorded(read)
            if recorded is not None:
                self._unconfirmed = True
                results += await self._crib.book.continued(recorded)
                return results
            self._steps += 1
            number = self._steps
            flights = [self._flight(asked, number, place) for place, asked in enumerate(read.calls)]
            if number > self._max_steps:
                for flight in flights:
                    flight.end("quota_exceeded", words.text("quota_exceeded"))
            try:
                await self._run_step(read, number, flights)
            except StepTaken:  # by another process: it may be the same reply, with or without a response id
                self._steps = number - 1
                self._recorded = None
                continue
            finally:
                if all(flight.settled for flight in flights):
                    results += [flight.told or flight.result for flight in flights if flight.result is not None]
            return results

    async def _same_recorded(self, read: Reply) -> Any:
        """The recorded step that this reply is, if there is one."""
        if self._recorded is None:
            self._all_recorded = await self._crib.book.steps(self.id)
            self._recorded = [step for step in self._all_recorded if step.step > self._steps]
            self._steps = max((step.step for step in self._all_recorded), default=0)
        if read.response_id is not None:
            for step in self._all_recorded:
                if step.response_id == read.response_id:
                    self._recorded = [later for later in self._recorded if later.step > step.step]
                    return step
        if self._recorded:
            following = self._recorded.pop(0)
            if following.digest == read.digest:
                return following
            self._recorded = []
        return None

    def _flight(self, asked: Asked, number: int, place: int) -> Flight:
        return Flight(
            ids.fresh(), asked.name, asked.raw, asked.arguments, self.caller, self, self.id, number, place, asked
        )

    async def _run_step(self, read: Reply, number: int, flights: list[Flight]) -> None:
        """Raises StepTaken when the step's number was taken before anything began."""
        crib = self._crib
        menu = self.menu(read.dialect)
        for flight in flights:
            flight.menu = menu

        async def begin(all_flights: Sequence[Flight]) -> None:
            await crib.book.begin(self.caller, self.id, number, read, all_flights, confirm=self._unconfirmed)
            if crib.observers:
                for flight in all_flights:
                    await crib.observers.tell(flight, "proposed")

        try:
            await Step(crib, flights, begin).run()
        finally:
            self._unconfirmed = True


def turn_key(caller: Caller) -> str:
    """The key of a turn that any process can find again: from tenant, user, conversation and message alone."""
    who = json.dumps([caller.tenant, caller.user, caller.conversation, caller.message])
    return hashlib.sha256(who.encode()).hexdigest()[:24]


class SyncTurn(Faced):
    """A Turn without `await`: see `Turn`, whose methods these are."""

    tools = blocking(Turn.tools)
    run = blocking(Turn.run)
    confirm = blocking(Turn.confirm)
    stream = faced(Turn.stream, SyncTurnStream)

    @overload
    def request(self, dialect: Literal["openai", "openai-responses", "anthropic"]) -> ToolsRequest: ...
    @overload
    def request(self, dialect: Literal["gemini"]) -> ConfigRequest: ...
    def request(self, dialect: Dialect) -> Any:
        """See `Turn.request`."""
        return bridge.run(self._original.request(dialect))

    @property
    def caller(self) -> Caller:
        """Who asks."""
        caller: Caller = self._original.caller
        return caller
