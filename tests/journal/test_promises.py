"""Whatever order two owners begin, start, settle, die and recover in: no call without a row, none ended twice."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from toolcrib.ids import fresh
from toolcrib.journal.rows import CallRow, StepRow
from toolcrib.journal.sqlite import SqliteStore

KNOWN = {"executed", "confirmed", "failed", "refused", "skipped"}
OWNERS = st.integers(0, 1)


class Life(RuleBasedStateMachine):
    """Two owners on one file; `held` are the rows as a runtime holds them, older copies among them."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "crib.db"
        self.stores = [SqliteStore(self.path, shared=False) for _ in range(2)]
        self.begun: set[str] = set()
        self.outcomes: dict[str, tuple[Any, ...]] = {}
        self.steps = 0

    def do(self, awaitable: Any) -> Any:
        async def run() -> Any:
            return await awaitable()

        return self.loop.run_until_complete(run())

    @rule(
        target=held, who=OWNERS, state=st.sampled_from(["proposed", "started", "awaiting_approval"]), lone=st.booleans()
    )
    def begin(self, who: int, state: str, lone: bool) -> CallRow:
        now = time.time_ns() // 1000
        row = CallRow(id=fresh(), state=state, proposed_at=now, effects="idempotent" if lone else "")
        step = None
        if not lone:
            self.steps += 1
            row.turn, row.step = "t1", self.steps
            step = StepRow(turn="t1", step=self.steps, created_at=now)
        self.do(lambda: self.stores[who].begin(step, [row]))
        self.begun.add(row.id)
        return row

    @rule(target=held, row=held, who=OWNERS)
    def read(self, row: CallRow, who: int) -> CallRow:
        found = self.do(lambda: self.stores[who].call(row.id))
        assert found is not None
        return found  # type: ignore[no-any-return]

    @rule(row=held, who=OWNERS)
    def start(self, row: CallRow, who: int) -> None:
        before = self.do(lambda: self.stores[who].call(row.id))
        row.started_at = time.time_ns() // 1000
        if self.do(lambda: self.stores[who].start(row)):
            assert before.state in ("proposed", "awaiting_approval") or (before.state, lone(before)) == (
                "unknown",
                True,
            )
            assert before.fence + 1 == row.fence

    @rule(row=consumes(held), who=OWNERS, state=st.sampled_from(["executed", "failed", "unknown"]), value=st.integers())
    def settle(self, row: CallRow, who: int, state: str, value: int) -> None:
        before = self.do(lambda: self.stores[who].call(row.id))
        row.state, row.code, row.value, row.ended_at = state, "ok", json.dumps(value), time.time_ns() // 1000
        became = self.do(lambda: self.stores[who].settle(row))
        after = self.do(lambda: self.stores[who].call(row.id))
        mine = (before.owner, before.fence) == (row.owner, row.fence)
        if before.state == "started" and mine:
            assert became == "landed"
        elif before.state == "unknown" and mine and not before.late:
            assert became == "late"
        if became != "kept":
            assert (after.state, after.value) == (state, row.value)
        assert self.do(lambda: self.stores[who].settle(row)) == became

    @rule(row=held, who=OWNERS)
    def end(self, row: CallRow, who: int) -> None:
        before = self.do(lambda: self.stores[who].call(row.id))
        copy = dataclasses.replace(row)
        copy.state, copy.code, copy.ended_at = "refused", "denied", time.time_ns() // 1000
        if self.do(lambda: self.stores[who].end(copy)):
            assert before.state in ("proposed", "awaiting_approval")

    @rule(who=OWNERS)
    def confirm(self, who: int) -> None:
        self.do(lambda: self.stores[who].confirm("t1"))

    @rule(who=OWNERS)
    def die_and_recover(self, who: int) -> None:
        self.do(self.stores[who].aclose)
        before = {row.id: row for row in self.do(self.stores[1 - who].find)}
        ended = self.do(self.stores[1 - who].recover)
        for row in ended:
            assert before[row.id].state in ("started", "proposed")
            assert row.state == ("unknown" if before[row.id].state == "started" else "skipped")
        assert self.do(self.stores[1 - who].recover) == []

    @invariant()
    def nothing_is_lost_and_no_known_outcome_is_replaced(self) -> None:
        rows = {row.id: row for row in self.do(self.stores[0].find)}
        assert rows.keys() == self.begun
        for id, row in rows.items():
            assert (row.ended_at is not None) == (row.state in KNOWN or row.state == "unknown")
            outcome = (row.state.replace("confirmed", "executed"), row.code, row.value, row.ended_at)
            if id in self.outcomes:
                assert outcome == self.outcomes[id]
            if row.state in KNOWN:
                self.outcomes[id] = outcome

    def teardown(self) -> None:
        for store in self.stores:
            self.do(store.aclose)
        self.loop.close()
        self.folder.cleanup()


def lone(row: CallRow) -> bool:
    return row.step is None


TestLife = Life.TestCase
TestLife.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
