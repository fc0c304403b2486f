"""A call on its way through the stages: the one mutable thing that all of them share, private to the runtime.

Everybody outside sees `Call` (frozen, made when somebody looks) and `Result`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from toolcrib.call import Call, CallDraft, Caller, Code, Result, ResultDraft, State, Tool
from toolcrib.frozen import freeze

if TYPE_CHECKING:
    import asyncio

    from toolcrib.wire import Asked, Restore


class Flight:
    """One call between `resolve` and `publish`.

    `given` is what the model or program gave where that was no text. `arguments` are plain data and stay private:
    everybody else sees the frozen copy on `call`. `values` are the typed ones of a Python tool, for one attempt.
    `row` is what the journal holds of it, None before the first commit and with the journal off.
    """

    #: The menu the model saw, None for a call that names a tool directly.
    menu: Any = None
    provider_call_id: str | None = None
    tool: Tool | None = None
    restore: Restore | None = None
    arguments: dict[str, Any] | None = None
    values: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    #: Why a person must decide; None when nobody needs to.
    asks: str | None = None
    state: State = "proposed"
    code: Code | None = None
    attempts = 0
    #: What the body returned, until `answer` has read it; and what it raised.
    body_result: Any = None
    failure: BaseException | None = None
    #: For the operator alone: never shown to a model.
    operator: str | None = None
    result: Result | None = None
    #: What its caller is told where that is not the outcome: the journal still has to get that one.
    told: Result | None = None
    row: Any = None
    #: A cancellation that arrived on the way: raised again once the call is settled and published.
    interrupted: asyncio.CancelledError | None = None
    #: The body was left running past its deadline; its outcome goes to the journal when it ends.
    late = False
    #: Its outcome is durable (or there is no journal): it may be published when its turn comes.
    settled = False
    _call: Call | None = None

    def __init__(
        self,
        id: str,
        name: str,
        raw: str | None,
        given: Any,
        caller: Caller,
        scope: Any,
        turn: str,
        step: int | None = None,
        ordinal: int = 0,
        asked: Asked | None = None,
        parent: str | None = None,
    ) -> None:
        self.id = id
        self.name = name
        self.raw = raw
        self.given = given
        self.caller = caller
        #: Whose call it is: the Turn it runs in, for injection and counters; None for a lone call.
        self.scope = scope
        self.turn = turn
        self.step = step
        self.ordinal = ordinal
        self.asked = asked
        self.parent = parent
        self.proposed_at = time.time_ns() // 1000
        if asked is not None:
            self.provider_call_id = asked.provider_call_id

    @property
    def call(self) -> Call:
        """The call as policies, guards, observers and bodies see it."""
        if self._call is None:
            tool = self.tool
            made: Any = CallDraft()
            made.id = self.id
            made.tool = self.name if tool is None else tool.name
            made.arguments = None if self.arguments is None else freeze(self.arguments)
            made.caller = self.caller
            made.raw = self.raw or ""
            made.turn = self.turn
            made.step = self.step or 0
            made.ordinal = self.ordinal
            made.parent = self.parent
            made.provider_call_id = self.provider_call_id
            made.source = "" if tool is None else tool.source
            made.effects = () if tool is None else tool.effects
            made.notes = self.notes
            made.__class__ = Call
            self._call = made
        return self._call

    @property
    def may_repeat(self) -> bool:
        """Whether a body that was entered may be said to have changed nothing that matters: read-only or idempotent."""
        return self.tool is not None and not self.tool.effectful

    def end(self, code: Code, text: str, *, state: State = "refused", operator: str | None = None) -> None:
        """Ends the call with an error text for the model. The first end stands."""
        if self.result is None:
            self.operator = operator
            self.finish(code, state, content=({"type": "text", "text": text},))

    def finish(self, code: Code, state: State, *, content: tuple[dict[str, Any], ...], value: Any = None) -> None:
        """Gives the call its result."""
        self.state = state
        self.code = code
        made: Any = ResultDraft()
        made.code = code
        made.state = state
        made.call_id = self.id
        made.tool = self.name if self.tool is None else self.tool.name
        made.content = content
        made.value = value
        made.notes = self.notes
        made.provider_call_id = self.provider_call_id
        made.approval_id = None
        made.__class__ = Result
        self.result = made
