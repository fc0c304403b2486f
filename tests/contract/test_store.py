"""What every journal must do, whatever keeps it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from toolcrib.errors import JournalError
from toolcrib.ids import fresh
from toolcrib.journal.rows import CallRow, StepRow
from toolcrib.journal.store import CallMissing, StepTaken, Store


def now() -> int:
    return time.time_ns() // 1000


def proposed(**fields: Any) -> CallRow:
    given: dict[str, Any] = {"id": fresh(), "tool": "disk_usage", "user": "ada", "proposed_at": now(), "raw": "{}"}
    return CallRow(**(given | fields))


def started(**fields: Any) -> CallRow:
    return proposed(**({"state": "started", "attempts": 1, "started_at": now()} | fields))


def ended(row: CallRow, state: str = "executed", code: str = "ok", value: Any = 1) -> CallRow:
    row.state, row.code, row.value, row.ended_at = state, code, json.dumps(value), now()
    return row


def a_step(number: int = 0, **fields: Any) -> StepRow:
    given: dict[str, Any] = {"turn": "t1", "step": number, "user": "ada", "conversation": "c1", "digest": "d"}
    return StepRow(**(given | {"assistant": "[]", "created_at": now()} | fields))


async def there(store: Store, row: CallRow) -> CallRow:
    found = await store.call(row.id)
    assert found is not None
    return found


class TestBeginning:
    async def test_a_started_call_is_there_with_owner_and_fence_once_begin_is_done(self, store: Store) -> None:
        row = started(raw='{"a": 1}', arguments='{"a":1}', effects="read_only")
        await store.begin(None, (row,))
        found = await there(store, row)
        assert (found.state, found.owner, found.fence, found.raw) == ("started", store.owner, 1, '{"a": 1}')
        assert found == row

    async def test_a_step_comes_with_all_its_calls_in_the_models_order(self, store: Store) -> None:
        rows = [
            started(turn="t1", step=0, ordinal=0),
            proposed(turn="t1", step=0, ordinal=1),
            ended(proposed(turn="t1", step=0, ordinal=2), "refused", "denied"),
            proposed(turn="t1", step=0, ordinal=3, state="awaiting_approval"),
        ]
        await store.begin(a_step(), rows)
        assert [(row.ordinal, row.state) for row in await store.calls("t1", 0)] == [
            (0, "started"), (1, "proposed"), (2, "refused"), (3, "awaiting_approval"),
        ]  # fmt: skip
        assert [step.digest for step in await store.steps("t1")] == ["d"]

    async def test_the_same_provider_id_in_another_turn_user_or_step_is_another_row(self, store: Store) -> None:
        for turn, number, user in (("t1", 0, "ada"), ("t1", 1, "ada"), ("t2", 0, "bob")):
            await store.begin(
                a_step(number, turn=turn, user=user),
                [proposed(turn=turn, step=number, ordinal=i, user=user, provider_call_id="call_0") for i in (0, 1)],
            )
        assert len(await store.find()) == 6
        assert [row.ordinal for row in await store.calls("t1", 1)] == [0, 1]

    async def test_beginning_the_same_again_changes_nothing(self, store: Store) -> None:
        step, row = a_step(), started(turn="t1", step=0)
        await store.begin(step, [row])
        await store.begin(step, [row])
        lone = started()
        await store.begin(None, [lone])
        await store.begin(None, [lone])
        assert len(await store.find()) == 2

    async def test_a_step_recorded_by_somebody_else_is_told_apart_and_leaves_nothing_behind(self, store: Store) -> None:
        await store.begin(a_step(), [proposed(turn="t1", step=0)])
        other = started(turn="t1", step=0)
        with pytest.raises(StepTaken):
            await store.begin(a_step(created_at=5), [other])
        assert await store.call(other.id) is None

    async def test_another_call_under_an_id_that_is_taken_is_an_error(self, store: Store) -> None:
        row = started()
        await store.begin(None, [row])
        with pytest.raises(JournalError):
            await store.begin(None, [started(id=row.id, raw="other")])
        assert (await there(store, row)).raw == "{}"

    async def test_a_write_that_fails_takes_no_other_with_it(self, store: Store) -> None:
        first = started()
        await store.begin(None, [first])
        writes = [store.begin(None, [started()]) for _ in range(5)]
        writes.insert(2, store.begin(None, [started(id=first.id, raw="other")]))
        writes.insert(4, store.begin(None, [started(raw=object())]))
        outcomes = await asyncio.gather(*writes, return_exceptions=True)
        assert [isinstance(outcome, JournalError) for outcome in outcomes] == [i in (2, 4) for i in range(7)]
        assert len(await store.find()) == 6

    async def test_text_no_database_can_hold_is_written_with_escapes(self, store: Store) -> None:
        rows = [started(raw="a\ud800b"), started(raw="nul\x00 and \U0001f600"), started(raw="x\udfff")]
        await asyncio.gather(*(store.begin(None, [row]) for row in rows))
        assert [(await there(store, row)).raw for row in rows] == ["a\\ud800b", "nul\x00 and \U0001f600", "x\\udfff"]
        for row in rows:
            ended(row).content = "\ud800"
        assert await asyncio.gather(*(store.settle(row) for row in rows)) == ["landed"] * 3

    async def test_a_row_changed_after_it_was_handed_over_changes_no_write(self, store: Store) -> None:
        row = started()
        writing = store.begin(None, [row])
        row.raw = "later"
        await writing
        assert (await there(store, row)).raw == "{}"


class TestStarting:
    async def test_a_proposed_call_is_claimed_once(self, make_store: Callable[[], Store]) -> None:
        one, other = make_store(), make_store()
        row = proposed()
        await one.begin(None, [row])
        copy = await there(other, row)
        row.started_at = copy.started_at = now()
        won = [await one.start(row), await other.start(copy)]
        assert won == [True, False]
        assert ((await there(one, row)).fence, row.fence, copy.state) == (1, 1, "proposed")

    async def test_a_waiting_call_is_claimed_by_whoever_carries_on(self, make_store: Callable[[], Store]) -> None:
        one, other = make_store(), make_store()
        row = proposed(state="awaiting_approval")
        await one.begin(None, [row])
        copy = await there(other, row)
        assert await other.start(copy)
        assert (await there(one, row)).owner == other.owner

    @pytest.mark.parametrize("state", ["executed", "confirmed", "failed", "refused", "skipped", "started"])
    async def test_nothing_that_has_started_or_ended_starts_again(self, store: Store, state: str) -> None:
        row = started() if state == "started" else ended(proposed(), state)
        await store.begin(None, [row])
        assert not await store.start(await there(store, row))
        assert (await there(store, row)).state == state

    @pytest.mark.parametrize(
        ("effects", "again"),
        [("", False), ("destructive", False), ("read_only", True), ("idempotent,open_world", True)],
    )
    async def test_what_is_unknown_is_claimed_again_only_where_that_was_declared_harmless(
        self, store: Store, effects: str, again: bool
    ) -> None:
        row = started(effects=effects)
        await store.begin(None, [row])
        await store.settle(ended(row, "unknown", "timeout"))
        row = await there(store, row)
        assert await store.start(row) is again
        found = await there(store, row)
        assert (found.state, found.fence) == (("started", 2) if again else ("unknown", 1))


class TestSettling:
    async def test_an_outcome_lands_on_a_started_call_and_repeating_it_changes_nothing(self, store: Store) -> None:
        row = started()
        await store.begin(None, [row])
        ended(row, value={"n": 1})
        assert [await store.settle(row), await store.settle(row)] == ["landed", "landed"]
        found = await there(store, row)
        assert (found.state, found.code, found.value, found.late_result) == ("executed", "ok", '{"n": 1}', None)

    async def test_a_known_outcome_is_never_replaced(self, store: Store) -> None:
        row = started()
        await store.begin(None, [row])
        await store.settle(ended(row, value=1))
        assert await store.settle(ended(row, "failed", "timeout", value=2)) == "kept"
        found = await there(store, row)
        assert (found.state, found.value) == ("executed", "1")
        assert json.loads(found.late_result or "")[0]["value"] == "2"

    async def test_an_outcome_after_the_call_was_given_up_lands_late(self, make_store: Callable[[], Store]) -> None:
        one, other = make_store(), make_store()
        row = started()
        await one.begin(None, [row])
        await one.aclose()
        assert [found.code for found in await other.recover()] == ["outcome_unknown"]
        assert await one.settle(ended(row)) == "late"
        assert await one.settle(row) == "late"
        found = await there(other, row)
        assert (found.state, found.late) == ("executed", 1)

    async def test_an_outcome_of_an_older_claim_is_only_kept(self, make_store: Callable[[], Store]) -> None:
        one, other = make_store(), make_store()
        row = started(effects="idempotent")
        await one.begin(None, [row])
        await one.aclose()
        (given_up,) = await other.recover()
        assert await other.start(given_up)
        assert await one.settle(ended(row, value="old")) == "kept"
        assert await other.settle(ended(given_up, value="new")) == "landed"
        assert (await there(other, row)).value == '"new"'

    async def test_what_a_person_decided_stands(self, store: Store) -> None:
        row = started()
        await store.begin(None, [row])
        await store.settle(ended(row, "unknown", "timeout"))
        seen = await there(store, row)
        assert await store.decide(ended(seen, "executed", "ok", "it arrived"), by="ada")
        assert not await store.decide(seen, by="bob")
        assert await store.settle(ended(row, "failed", "aborted")) == "kept"
        assert (await there(store, row)).state == "executed"
        events = [item async for item in store.export() if item["kind"] == "event"]
        assert [(item["event"], item["actor"], item["call"]) for item in events] == [("decided", "ada", row.id)]

    async def test_an_outcome_of_a_call_the_journal_never_had_is_an_error(self, store: Store) -> None:
        with pytest.raises(CallMissing):
            await store.settle(ended(started(owner="x", fence=1)))

    async def test_several_outcomes_of_one_call_at_once_end_it_once(self, store: Store) -> None:
        row = started()
        await store.begin(None, [row])
        settling = [store.settle(ended(row, value=i)) for i in range(4)]
        outcomes = await asyncio.gather(*settling)
        assert sorted(outcomes) == ["kept", "kept", "kept", "landed"]
        found = await there(store, row)
        assert outcomes[int(found.value or "")] == "landed"

    async def test_a_call_whose_caller_was_answered_stays_started_until_its_body_ends(self, store: Store) -> None:
        row = started()
        await store.begin(None, [row])
        assert await store.mark(row, "timeout")
        found = await there(store, row)
        assert (found.state, found.code, found.ended_at) == ("started", "timeout", None)
        assert await store.settle(ended(row)) == "landed"
        assert not await store.mark(row, "timeout")


class TestEnding:
    @pytest.mark.parametrize("state", ["proposed", "awaiting_approval"])
    async def test_a_call_that_never_started_ends_once(self, store: Store, state: str) -> None:
        row = proposed(state=state)
        await store.begin(None, [row])
        ended(row, "refused", "rejected")
        assert [await store.end(row), await store.end(row)] == [True, True]
        assert not await store.end(ended(row, "skipped", "aborted_before_start"))
        assert (await there(store, row)).code == "rejected"

    async def test_a_started_call_does_not_end_as_if_it_had_not_started(self, store: Store) -> None:
        row = proposed()
        await store.begin(None, [row])
        await store.start(await there(store, row))
        assert not await store.end(ended(row, "skipped", "aborted_before_start"))
        assert (await there(store, row)).state == "started"

    async def test_a_call_the_journal_does_not_have_is_put_there_ended(self, store: Store) -> None:
        row = ended(proposed(), "refused", "unknown_tool")
        assert await store.end(row)
        assert (await there(store, row)).code == "unknown_tool"


class TestConfirming:
    async def test_the_next_step_confirms_what_ended_before_it_and_nothing_else(self, store: Store) -> None:
        rows = [
            started(turn="t1", step=0, ordinal=0),
            ended(proposed(turn="t1", step=0, ordinal=1), "refused", "denied"),
            started(turn="t1", step=0, ordinal=2),
        ]
        stranger = started(turn="t2", step=0)
        await store.begin(a_step(), rows)
        await store.begin(a_step(turn="t2"), [stranger])
        await store.settle(ended(rows[0]))
        await store.settle(ended(stranger))
        refused = ended(proposed(turn="t1", step=1), "refused", "denied")
        await store.begin(a_step(1), [refused], confirm="t1")
        calls = await store.calls("t1")
        assert [(row.state, row.confirmed_at is not None) for row in calls] == [
            ("confirmed", True), ("refused", True), ("started", False), ("refused", False),
        ]  # fmt: skip
        assert (await there(store, stranger)).state == "executed"

    async def test_confirming_twice_changes_nothing_the_second_time(self, store: Store) -> None:
        row, lone = started(turn="t1", step=0), started()
        await store.begin(a_step(), [row])
        await store.begin(None, [lone])
        await store.settle(ended(row))
        await store.settle(ended(lone))
        assert await store.confirm("t1", 0) == 1
        assert await store.confirm("t1") == 0
        assert await store.confirm("", calls=[lone.id]) == 1
        assert [row.state for row in await store.find()] == ["confirmed", "confirmed"]


class TestFinding:
    async def test_calls_are_found_by_what_they_are_oldest_first(self, store: Store) -> None:
        rows = [
            proposed(id=f"a{i}", user=user, conversation=f"c{i % 2}", tool="x" if i < 2 else "y")
            for i, user in enumerate(["ada", "bob", "ada", "bob"])
        ]
        for row in rows:
            await store.begin(None, [row])
        await store.end(ended(rows[3], "skipped", "not_started"))

        async def ids(**filters: Any) -> str:
            return " ".join(row.id for row in await store.find(**filters))

        assert await ids() == "a0 a1 a2 a3"
        assert await ids(user="ada") == "a0 a2"
        assert await ids(conversation="c1", tool="y") == "a3"
        assert await ids(state="proposed") == "a0 a1 a2"
        assert await ids(state=["skipped", "proposed"], user="bob") == "a1 a3"
        assert await ids(prefix="a2") == "a2"
        assert await ids(limit=2) == "a0 a1"
        assert await ids(limit=2, latest=True) == "a2 a3"
        assert await ids(tenant="other") == ""

    async def test_a_step_is_found_by_the_providers_response_and_by_its_digest(self, store: Store) -> None:
        await store.begin(a_step(0, response_id="r0", digest="d0"), [])
        await store.begin(a_step(1, response_id="r1", digest="d1"), [])
        await store.begin(a_step(0, turn="t2", user="bob", digest="d1"), [])
        found = await store.step_by_response("t1", "r1")
        assert found is not None
        assert found.step == 1
        assert await store.step_by_response("t2", "r1") is None
        steps = await store.conversation_steps("c1", tenant=None, user="ada")
        assert [step.digest for step in steps] == ["d0", "d1"]
        steps = await store.conversation_steps("c1", tenant=None, user="bob", digest="d1")
        assert [step.turn for step in steps] == ["t2"]
        assert await store.conversation_steps("c1", tenant=None, user=None) == []


class TestRecovering:
    async def test_what_a_dead_owner_left_is_ended_and_what_lives_is_not(self, make_store: Callable[[], Store]) -> None:
        dead, living, looking = make_store(), make_store(), make_store()
        begun, ready, waiting = started(), proposed(), proposed(state="awaiting_approval")
        own = started()
        for row in (begun, ready, waiting):
            await dead.begin(None, [row])
        await living.begin(None, [own])
        gone = dead.owner
        await dead.aclose()
        assert [await looking.alive(gone), await looking.alive(living.owner)] == [False, True]
        found = await looking.recover()
        assert [(row.id, row.state, row.code) for row in found] == [
            (begun.id, "unknown", "outcome_unknown"), (ready.id, "skipped", "not_started"),
        ]  # fmt: skip
        assert await looking.recover() == []
        assert (await there(looking, own)).state == "started"
        assert (await there(looking, waiting)).state == "awaiting_approval"

    async def test_the_calls_of_a_waiting_step_belong_to_the_step(self, make_store: Callable[[], Store]) -> None:
        dead, looking = make_store(), make_store()
        rows = [proposed(turn="t1", step=0, ordinal=i) for i in range(3)]
        rows[0].state = "awaiting_approval"
        rows[2].state = "started"
        await dead.begin(a_step(), rows)
        await dead.begin(a_step(turn="t2"), [proposed(turn="t2", step=0)])
        await dead.aclose()
        await looking.recover()
        assert [row.state for row in await looking.calls("t1")] == ["awaiting_approval", "proposed", "unknown"]
        assert [row.state for row in await looking.calls("t2")] == ["skipped"]

    async def test_of_several_recoverers_one_ends_each_row(self, make_store: Callable[[], Store]) -> None:
        dead, *others = [make_store() for _ in range(5)]
        await asyncio.gather(*(dead.begin(None, [started()]) for _ in range(30)))
        await dead.aclose()
        found = [row.id for rows in await asyncio.gather(*(other.recover() for other in others)) for row in rows]
        assert len(found) == len(set(found)) == 30


class TestKeepingLess:
    async def test_erasing_empties_contents_and_keeps_keys_hashes_and_states(self, store: Store) -> None:
        mine, theirs, running = started(turn="t1", step=0), started(user="bob"), started(turn="t2", step=0)
        await store.begin(a_step(assistant='["secret"]'), [mine])
        await store.begin(a_step(turn="t2"), [running])
        await store.begin(None, [theirs])
        mine.error, mine.content = "secret", '["secret"]'
        await store.settle(ended(mine, value="secret"))
        await store.settle(ended(theirs, value="theirs"))
        assert await store.erase(user="ada") == 1
        found = await there(store, mine)
        assert (found.state, found.code, found.tool) == ("executed", "ok", "disk_usage")
        assert (found.raw, found.value, found.content, found.error) == (None, None, None, None)
        assert (await there(store, theirs)).value == '"theirs"'
        assert (await there(store, running)).raw == "{}"
        assert [(step.digest, step.assistant) for step in await store.steps("t1")] == [("d", None)]
        assert await store.erase(user="ada") == 0
        exported = [item async for item in store.export()]
        assert "secret" not in json.dumps(exported)
        assert [item["event"] for item in exported if item["kind"] == "event"] == ["erased", "erased"]

    async def test_pruning_deletes_what_ended_before_a_time_and_nothing_that_is_open(self, store: Store) -> None:
        old, open_, other = started(turn="t1", step=0), started(turn="t1", step=1), started(tenant="x")
        await store.begin(a_step(0, created_at=1), [old])
        await store.begin(a_step(1, created_at=1), [open_])
        await store.begin(None, [other])
        await store.settle(ended(old))
        await store.settle(ended(other))
        assert await store.prune(1) == 0
        assert await store.prune(now() + 1, tenant="x") == 1
        assert await store.prune(now() + 1) == 1
        assert [row.id for row in await store.find()] == [open_.id]
        assert [step.step for step in await store.steps("t1")] == [1]

    async def test_an_export_is_all_there_is_as_json(self, store: Store) -> None:
        row = started(turn="t1", step=0, arguments='{"a":[1]}', notes='["x"]')
        await store.begin(a_step(assistant='[{"role":"assistant"}]'), [row])
        step, call = [json.loads(json.dumps(item)) async for item in store.export(user="ada")]
        assert (step["kind"], step["assistant"]) == ("step", [{"role": "assistant"}])
        assert (call["kind"], call["id"], call["arguments"], call["notes"]) == ("call", row.id, {"a": [1]}, ["x"])
        assert [item async for item in store.export(user="bob")] == []


class TestWaiting:
    async def test_a_cancelled_caller_does_not_lose_the_write(self, store: Store) -> None:
        row = started()
        writing = asyncio.ensure_future(store.begin(None, [row]))
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        await store.open()
        assert (await there(store, row)).state == "started"

    async def test_many_callers_each_get_their_own_answer(self, store: Store) -> None:
        async def one(i: int) -> None:
            row = started(raw=str(i))
            await store.begin(None, [row])
            assert await store.settle(ended(row, value=i)) == "landed"
            assert (await there(store, row)).value == str(i)

        await asyncio.gather(*(one(i) for i in range(300)))

    async def test_several_event_loops_use_one_store(self, store: Store) -> None:
        def in_a_thread() -> None:
            async def all_of_it() -> None:
                rows = [started() for _ in range(20)]
                await asyncio.gather(*(store.begin(None, [row]) for row in rows))
                assert await asyncio.gather(*(store.settle(ended(row)) for row in rows)) == ["landed"] * 20

            asyncio.run(all_of_it())

        await asyncio.gather(*(asyncio.to_thread(in_a_thread) for _ in range(4)))
        assert len(await store.find(state="executed")) == 80

    async def test_closing_waits_for_what_is_on_its_way(self, make_store: Callable[[], Store]) -> None:
        store = make_store()
        rows = [started() for _ in range(50)]
        writes = [store.begin(None, [row]) for row in rows]
        await store.aclose()
        await asyncio.gather(*writes)
        assert len(await make_store().find()) == 50
