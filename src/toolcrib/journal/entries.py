"""Between what passes through the stages and what the journal keeps: flights and replies to rows, rows to results."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import from_json, to_json

from toolcrib import words
from toolcrib.call import Caller, Result
from toolcrib.flight import Flight
from toolcrib.journal.rows import CallRow, StepRow
from toolcrib.wire import Reply


def step_row(caller: Caller, turn: str, number: int, read: Reply, now: int) -> StepRow:
    """A step as its first commit writes it."""
    return StepRow(
        turn=turn,
        step=number,
        tenant=caller.tenant,
        user=caller.user,
        conversation=caller.conversation,
        message=caller.message,
        agent=caller.agent,
        dialect=read.dialect,
        response_id=read.response_id,
        digest=read.digest,
        assistant=to_json(read.echo).decode(),
        created_at=now,
    )


_new_row = object.__new__


def call_row(flight: Flight, now: int) -> CallRow:
    """A call as it stands: proposed, started or ended."""
    caller, tool, state = flight.caller, flight.tool, flight.state
    # Only what differs from the columns' defaults: half of what `__init__` costs, and every call makes one.
    row = _new_row(CallRow)
    row.id = flight.id
    row.turn = flight.turn
    row.step = flight.step
    row.ordinal = flight.ordinal
    row.parent = flight.parent
    row.tenant = caller.tenant
    row.user = caller.user
    row.conversation = caller.conversation
    row.message = caller.message
    row.agent = caller.agent
    row.tool = flight.name if tool is None else tool.name
    row.source = "" if tool is None else tool.source
    row.name = flight.name
    row.provider_call_id = flight.provider_call_id
    row.raw = flight.raw if flight.raw is not None else _given(flight)
    row.arguments = None if flight.arguments is None else to_json(flight.arguments).decode()
    row.effects = "" if tool is None else ",".join(tool.effects)
    row.state = state
    row.proposed_at = flight.proposed_at
    if flight.notes:
        row.notes = to_json(flight.notes).decode()
    if state == "started":
        row.started_at = now
        row.attempts = 1
    elif flight.result is not None:
        put_outcome(row, flight, now)
    return row


def _given(flight: Flight) -> str | None:
    """What a provider gave as a value, where the arguments do not say it: it was changed, or could not be read."""
    if flight.arguments is not None and not flight.notes:
        return None
    return to_json(flight.given, fallback=repr, inf_nan_mode="strings").decode(errors="replace")


def put_outcome(row: CallRow, flight: Flight, now: int) -> None:
    """An ended call's outcome, on its row. `row.state` stays what the journal last said until the store says more."""
    result = cast(Result, flight.result)
    row.state = result.state
    row.code = result.code
    row.value = None if result.value is None else to_json(result.value).decode()
    row.content = to_json(result.content).decode()
    row.error = flight.operator
    row.attempts = flight.attempts
    row.ended_at = now
    if flight.notes:
        row.notes = to_json(flight.notes).decode()


def result_of(row: CallRow) -> Result:
    """The result a row holds; for a call that died without one, what a model must be told of it."""
    code = cast(Any, row.code or ("outcome_unknown" if row.state == "unknown" else "not_started"))
    state = cast(Any, "unknown" if code == "timeout" and row.state == "started" else row.state)
    repeat = row.repeatable if code in ("timeout", "aborted") else None
    content = (
        from_json(row.content) if row.content else ({"type": "text", "text": words.text(code, may_repeat=repeat)},)
    )
    return Result(
        code=code,
        state=state,
        call_id=row.id,
        tool=row.tool,
        content=tuple(content),
        value=from_json(row.value) if row.value else None,
        notes=tuple(from_json(row.notes)) if row.notes else (),
        provider_call_id=row.provider_call_id,
    )
