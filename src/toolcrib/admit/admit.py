"""The stage `admit`: policies say whether a call should happen, guards may only refuse.

Policies run in their order, each awaited before the next, and in the model's order of calls. Deny beats ask whatever
their order; the first deny or cancel ends the round. Guards follow; the first reason ends the call. There is no
answer by which a policy or guard turns a refusal into a run. One that fails, or answers nonsense, refuses.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from toolcrib import words
from toolcrib.bridge import awaitable
from toolcrib.call import Ask, Call, Cancel, Decision, Deny, Tool
from toolcrib.errors import SettingsError
from toolcrib.flight import Flight

log = logging.getLogger("toolcrib")

Policy: TypeAlias = Callable[[Call], "Decision | Awaitable[Decision]"]
Guard: TypeAlias = Callable[[Call], "str | None"]

_ASKING = ("destructive", "effectful", "never")


class Admit:
    """Decides for one call. ask: what asks where no tool or policy says so ("destructive", "effectful", "never")."""

    name = "admit"
    closing = False

    def __init__(self, policies: Sequence[Policy], guards: Guards, ask: str) -> None:
        if ask not in _ASKING:
            raise SettingsError(f"ask is one of {', '.join(_ASKING)}; got {ask!r}")
        self._policies = tuple(policies)
        self._guards = guards
        self._ask = ask

    def __call__(self, flight: Flight) -> Awaitable[None] | None:
        tool = flight.tool
        assert tool is not None
        asked_by_tool = tool.approval is not None or self._ask_by_default(tool)
        if asked_by_tool:
            return self._decide(flight, tool)
        if self._policies:
            return self._decide(flight, tool)
        self._guards(flight)
        return None

    def _ask_by_default(self, tool: Tool) -> bool:
        return (self._ask == "destructive" and tool.destructive) or (self._ask == "effectful" and not tool.read_only)

    async def _decide(self, flight: Flight, tool: Tool) -> None:
        asks: list[str] = []
        for policy in self._policies:
            try:
                decision = policy(flight.call)
                if awaitable(decision):
                    decision = await decision
            except Exception as problem:
                log.exception("policy %s failed on call %s", _name(policy), flight.id)
                return flight.end("denied", words.text("denied"), operator=f"policy {_name(policy)}: {problem!r}")
            if decision is None:
                continue
            if isinstance(decision, Ask):
                asks.append(decision.reason)
            elif isinstance(decision, Deny):
                return flight.end("denied", words.text("denied", decision.reason))
            elif isinstance(decision, Cancel):
                flight.operator = decision.reason
                return flight.end(
                    "aborted_before_start", words.text("aborted_before_start", decision.reason), state="skipped"
                )
            else:
                log.error("policy %s answered %r, which is no decision; the call is refused", _name(policy), decision)
                return flight.end("denied", words.text("denied"), operator=f"policy {_name(policy)} gave {decision!r}")
        demand = await self._demand(flight, tool)
        if demand is not None:
            asks.append(demand)
        if asks:
            flight.asks = "; ".join(reason for reason in asks if reason)
        self._guards(flight)
        return None

    async def _demand(self, flight: Flight, tool: Tool) -> str | None:
        """Why the tool itself asks; None when it does not. A question that fails is a yes to asking."""
        approval = tool.approval
        if approval == "never":
            return None
        if approval == "ask":
            return "the tool asks"
        if callable(approval):
            try:
                answer: Any = approval(flight.call)
                if awaitable(answer):
                    answer = await answer
            except Exception:
                log.exception("the approval function of tool %r failed; a person must decide", tool.name)
                return "the tool could not tell"
            if isinstance(answer, Ask):
                return answer.reason or "the tool asks"
            return None if answer in (None, False, "never") else str(answer) if isinstance(answer, str) else "it asks"
        return "destructive" if tool.destructive else "effectful" if self._ask_by_default(tool) else None


class Guards:
    """The guards of a crib, asked in order; used by `admit` and once more by `start`, since time has passed."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        for guard in guards:
            if not callable(guard):
                raise SettingsError(f"a guard is a function of the call; got {guard!r}")
            if inspect.iscoroutinefunction(guard):
                raise SettingsError(f"guard {_name(guard)} is async; guards are sync: make it a policy")
        self._guards = list(guards)

    def __bool__(self) -> bool:
        return bool(self._guards)

    def __call__(self, flight: Flight) -> None:
        """Ends the call if a guard has a reason."""
        for guard in self._guards:
            try:
                reason = guard(flight.call)
            except Exception as problem:
                log.exception("guard %s failed on call %s", _name(guard), flight.id)
                return flight.end("guarded", words.text("guarded"), operator=f"guard {_name(guard)}: {problem!r}")
            if reason is not None:
                shown = reason if isinstance(reason, str) else ""
                return flight.end("guarded", words.text("guarded", shown), operator=f"guard {_name(guard)}: {reason!r}")
        return None


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__
