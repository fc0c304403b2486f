"""What the journal holds of a step and of a call, as plain mutable records: one field for each column."""

from __future__ import annotations

from dataclasses import dataclass, fields
from operator import attrgetter


@dataclass(slots=True)
class StepRow:
    """One model message with calls. assistant: JSON text of the echo, None once erased. Times: microseconds UTC."""

    turn: str
    step: int
    tenant: str | None = None
    user: str | None = None
    conversation: str = ""
    message: str = ""
    agent: str | None = None
    dialect: str = ""
    response_id: str | None = None
    digest: str = ""
    assistant: str | None = None
    #: Stamped by the store.
    owner: str | None = None
    created_at: int = 0


@dataclass
class CallRow:
    """One call. Times are integer microseconds UTC; `arguments`, `notes`, `value`, `content`, `late_result` JSON text.

    The store fills in what is its own: `owner` and `fence` in `begin` and `start`, `version` when a row is read. The
    rest is the runtime's. A row handed to the store is read at once: changes after that touch no write on its way.
    """

    id: str
    turn: str = ""
    #: None for a call outside a model's message: a lone one, or one made by a body.
    step: int | None = None
    ordinal: int = 0
    parent: str | None = None
    tenant: str | None = None
    user: str | None = None
    conversation: str = ""
    message: str = ""
    agent: str | None = None
    tool: str = ""
    source: str = ""
    #: The name as the model wrote it, where it differs from `tool`'s.
    name: str = ""
    provider_call_id: str | None = None
    raw: str | None = None
    arguments: str | None = None
    notes: str = "[]"
    #: The declared effects, separated by commas; empty means effectful.
    effects: str = ""
    #: Digest of the tool's definition, where somebody looked at it.
    definition: str | None = None
    state: str = "proposed"
    code: str | None = None
    owner: str | None = None
    #: How often the call was claimed: 0 before its first start.
    fence: int = 0
    #: How often a body was entered.
    attempts: int = 0
    proposed_at: int = 0
    started_at: int | None = None
    value: str | None = None
    content: str | None = None
    #: For the operator alone.
    error: str | None = None
    #: 1 where the outcome came after the call had been given up as unknown.
    late: int = 0
    #: What a body brought when nothing could land any more; it changed nothing.
    late_result: str | None = None
    version: int = 0
    ended_at: int | None = None
    confirmed_at: int | None = None

    @property
    def repeatable(self) -> bool:
        """Whether the tool declared that running it twice does no more than running it once."""
        effects = self.effects.split(",")
        return "read_only" in effects or "idempotent" in effects


STEP_COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(StepRow))
CALL_COLUMNS: tuple[str, ...] = tuple(field.name for field in fields(CallRow))
#: What a call can have before it has ended; the rest is left to the columns' defaults when such a row is inserted.
OPEN_COLUMNS: tuple[str, ...] = CALL_COLUMNS[: CALL_COLUMNS.index("value")]
#: What erasing empties, and with what.
CONTENTS: dict[str, str] = {
    "raw": "NULL", "arguments": "NULL", "notes": "'[]'", "value": "NULL", "content": "NULL", "error": "NULL",
    "late_result": "NULL",
}  # fmt: skip

step_values = attrgetter(*STEP_COLUMNS)
call_values = attrgetter(*CALL_COLUMNS)
open_values = attrgetter(*OPEN_COLUMNS)
