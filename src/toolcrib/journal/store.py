"""What the runtime asks of a journal: one contract, whatever database keeps it.

Every write is one transaction of its own meaning (the store may put several into one commit) and is durable when its
awaitable is done; one that starts a call survives a power loss too. A caller that is cancelled while it waits loses
the answer, never the write. All methods are safe from any thread and event loop, and open the journal at first use.

Transitions are compare-and-set: on state, owner and fence. A row that has ended is changed by its confirmation, a late
settle of an `unknown` one, a person's decision on an `unknown` one and by erasing, never by anything else.

Raises JournalError where the journal cannot be opened, read or written: nothing of that write then happened, unless the
answer alone was lost. Every write may be repeated with the same row: the second one changes nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from toolcrib.errors import JournalError

if TYPE_CHECKING:
    from toolcrib.journal.rows import CallRow, StepRow

#: What became of a settle: it ended the call, it ended a call that had been given up, or it was only put on record.
Settled: TypeAlias = Literal["landed", "late", "kept"]


class StepTaken(JournalError):
    """`begin` found the step recorded already, by somebody else: nothing of it was written; read it instead."""


class CallMissing(JournalError):
    """The journal does not have this call (it was pruned, or the file was replaced): trying again cannot help."""


class Store(Protocol):
    """A journal. Rows are read when a method is called, not when it is done."""

    @property
    def owner(self) -> str:
        """The id under which this process starts calls here; another one after a fork."""

    async def open(self) -> None:
        """Opens the file or connection, makes or migrates the schema. Implicit at first use."""

    async def aclose(self) -> None:
        """Waits for the writes on their way and lets go. A later use opens again."""

    def begin(self, step: StepRow | None, calls: Sequence[CallRow], confirm: str | None = None) -> Awaitable[None]:
        """Records a step and calls, in one transaction, each proposed, waiting, started or already ended.

        Raises StepTaken when the step is there already, and not by this very write.

        Stamps `owner`, and `fence` 1 on started ones. confirm: a turn whose ended calls in steps before this one
        (without a step: in all) are confirmed in the same transaction.
        """

    def start(self, call: CallRow) -> Awaitable[bool]:
        """Claims a call: `proposed` or `awaiting_approval` as read, or `unknown` if its tool may be repeated.

        Guarded by the state, owner and fence of `call`. Once awaited with True, the row has state, owner, fence + 1;
        `started_at` and `attempts` are the runtime's. False: it is not ours to start any more; nothing changed.
        """

    def settle(self, call: CallRow) -> Awaitable[Settled]:
        """Records an outcome: `state`, `code`, `value`, `content`, `error`, `notes`, `attempts`, `ended_at`.

        By (id, owner, fence): lands on `started`; lands late on `unknown` that nobody decided or claimed since;
        otherwise is kept in `late_result`. Raises CallMissing where there is no such row.
        """

    async def end(self, call: CallRow) -> bool:
        """Ends a call that was never started: on `proposed` or `awaiting_approval` of this owner and fence.

        A call the journal does not have yet is inserted. False: somebody else started or ended it.
        """

    async def mark(self, call: CallRow, code: str) -> bool:
        """Gives a started call a code while its body still runs: its caller was answered."""

    async def decide(self, call: CallRow, by: str) -> bool:
        """Settles an `unknown` call by a person or by reconciling, with an event. Guarded by `version` as read."""

    async def confirm(self, turn: str, upto: int | None = None, *, calls: Sequence[str] = ()) -> int:
        """Says that results are kept: of a turn's steps up to `upto` (None: all), or of the calls with these ids.

        Ended calls get `confirmed_at`, executed ones become `confirmed`. How many changed.
        """

    async def steps(self, turn: str) -> list[StepRow]:
        """The turn's steps in order."""

    async def calls(self, turn: str, step: int | None = None) -> list[CallRow]:
        """The calls of a step in the model's order, or of all the turn's steps. Lone calls belong to no turn."""

    async def call(self, id: str) -> CallRow | None:
        """One call by its whole id."""

    async def find(
        self,
        *,
        tenant: str | None = None,
        user: str | None = None,
        conversation: str | None = None,
        tool: str | None = None,
        state: str | Sequence[str] | None = None,
        prefix: str | None = None,
        limit: int | None = None,
        latest: bool = False,
    ) -> list[CallRow]:
        """Calls, oldest first. None does not filter. limit: at most so many, the oldest, or the newest if `latest`."""

    async def step_by_response(self, turn: str, response_id: str) -> StepRow | None:
        """The step a provider's response was recorded as."""

    async def conversation_steps(
        self, conversation: str, *, tenant: str | None, user: str | None, digest: str | None = None
    ) -> list[StepRow]:
        """The steps of a conversation of exactly this tenant and user, oldest first; with that digest, if given."""

    async def alive(self, owner: str) -> bool:
        """Whether the process behind an owner id still lives. A stopped one does."""

    async def recover(self) -> list[CallRow]:
        """Ends what dead owners left; the rows it ended, oldest first.

        `started` becomes `unknown`, `proposed` becomes `skipped` unless a call of its step waits for an answer;
        `awaiting_approval` is untouched. Of several recoverers at once, one ends each row.
        """

    def export(
        self, *, tenant: str | None = None, user: str | None = None, conversation: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Everything, as JSON-able dicts with a `kind` ("step", "call", "event"); JSON columns as values."""

    async def erase(self, *, user: str | None = None, tenant: str | None = None) -> int:
        """Empties the contents of all ended calls of a user or tenant, and their steps; how many calls.

        Keys, hashes and states stay. Calls that have not ended are left. Records itself as an event.
        """

    async def prune(self, older_than: int, *, tenant: str | None = None) -> int:
        """Deletes calls that ended before a time (microseconds UTC), with their steps; how many. Records itself."""
