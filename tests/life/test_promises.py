"""What holds for every step, whatever the model asks, the bodies do and the moment of a cancellation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolcrib import Ask, Call, Cancel, Crib, Deny, Tool, ToolError
from toolcrib.call import ENDED, REFUSED

BEHAVIOURS = ("ok", "slow", "fail", "error", "cancelled", "bad", "deny", "ask", "guard", "odd")

asked = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(["read", "write", "blocking", "again", "absent"]),
        "do": st.sampled_from(BEHAVIOURS),
        "broken": st.sampled_from([None, None, None, "{", "[]", '{"do": 1}', '{"do": "ok", "do": "fail"}']),
        "id": st.sampled_from(["a", "b", "", "unique"]),
    }
)


class World:
    """Bodies that note each entry, by call id."""

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.ended: list[str] = []

    def tools(self) -> list[Tool]:
        schema = {"type": "object", "properties": {"do": {"type": "string"}}, "required": ["do"]}

        def outcome(do: str) -> Any:
            if do == "fail":
                raise ToolError("expected")
            if do == "error":
                raise ValueError("unexpected")
            if do == "bad":
                return object()
            return do

        async def body(arguments: dict[str, Any], call: Call) -> Any:
            self.entered.append(call.id)
            try:
                if arguments["do"] == "cancelled":
                    raise asyncio.CancelledError
                await asyncio.sleep(0.002 if arguments["do"] == "slow" else 0)
                return outcome(arguments["do"])
            finally:
                self.ended.append(call.id)

        def blocking(arguments: dict[str, Any], call: Call) -> Any:
            self.entered.append(call.id)
            try:
                return outcome(arguments["do"])
            finally:
                self.ended.append(call.id)

        injected = {"call": Call}
        return [
            Tool(name="read", parameters=schema, body=body, injected=injected, read_only=True),
            Tool(name="write", parameters=schema, body=body, injected=injected),
            Tool(name="again", parameters=schema, body=body, injected=injected, idempotent=True, parallel=True),
            Tool(name="blocking", parameters=schema, body=blocking, injected=injected, read_only=True),
        ]


def policy(call: Call) -> Any:
    return {"deny": Deny("no"), "ask": Ask("sure?"), "odd": "allow"}.get(call.arguments["do"])


def generous(call: Call) -> None:
    return None


def guard(call: Call) -> str | None:
    return "guarded" if call.arguments["do"] == "guard" else None


def message(calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"id{place}" if call["id"] == "unique" else call["id"],
                "type": "function",
                "function": {"name": call["tool"], "arguments": call["broken"] or json.dumps({"do": call["do"]})},
            }
            for place, call in enumerate(calls)
        ],
    }


def expected(call: dict[str, Any]) -> str:
    if call["tool"] == "absent":
        return "unknown_tool"
    if call["broken"]:
        return "invalid_arguments"
    codes = {"fail": "tool_error", "error": "tool_error", "bad": "invalid_output", "deny": "denied", "odd": "denied"}
    codes |= {"ask": "approval_unavailable", "guard": "guarded"}
    if call["do"] == "cancelled":
        return "ok" if call["tool"] == "blocking" else "tool_error"
    return codes.get(call["do"], "ok")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(asked, min_size=1, max_size=8), st.integers(1, 4), st.permutations([policy, generous]))
def test_every_call_ends_once_in_order_and_only_what_may_run_runs(
    calls: list[dict[str, Any]], window: int, policies: list[Any]
) -> None:
    world = World()

    async def go() -> None:
        async with Crib(world.tools(), db="sqlite://", policies=policies, guards=[guard], max_parallel=window) as crib:
            new = await crib.turn(user="ada").run(message(calls))
            assert [result.code for result in new.results] == [expected(call) for call in calls]
            wire = [call["id"] for call in new[0]["tool_calls"]]
            assert len(set(wire)) == len(wire)
            assert [each["tool_call_id"] for each in new[1:]] == wire
            (turn,) = {row.turn for row in await crib.book.store.find()}
            rows = await crib.book.store.calls(turn)
            assert [row.id for row in rows] == [result.call_id for result in new.results]
            assert all(row.state in ENDED for row in rows)
            assert [row.code for row in rows] == [result.code for result in new.results]
            ran = {result.call_id for result in new.results if result.code not in REFUSED}
            assert set(world.entered) == ran
            assert len(world.entered) == len(ran)

    asyncio.run(go())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(asked, min_size=1, max_size=6), st.floats(0, 0.01), st.booleans())
def test_a_cancellation_at_any_moment_leaves_nothing_open_and_nothing_runs_after_it(
    calls: list[dict[str, Any]], moment: float, at_step: bool
) -> None:
    world = World()

    async def go() -> None:
        async with Crib(world.tools(), db="sqlite://", policies=[policy], guards=[guard]) as crib:
            turn = crib.turn(user="ada", conversation="c", message="m")
            task = asyncio.create_task(turn.run(message(calls)))
            await asyncio.sleep(moment)
            task.cancel()
            cancelled = False
            try:
                await task
            except asyncio.CancelledError:
                cancelled = True
            entered = list(world.entered)
            assert sorted(entered) == sorted(world.ended), "whatever was entered has been awaited"
            rows = await crib.book.store.find()
            assert len(rows) in (0, len(calls))
            assert all(row.state in ENDED for row in rows)
            assert len(set(entered)) == len(entered)
            assert set(entered) <= {
                row.id for row in rows if row.state in ("executed", "confirmed", "failed", "unknown")
            }
            if cancelled and rows:
                again = await crib.turn(user="ada", conversation="c", message="m").run(message(calls))
                assert [result.call_id for result in again.results] == [row.id for row in rows]
                assert world.entered == entered, "recorded is not run"

    asyncio.run(go())


@settings(max_examples=100, deadline=None)
@given(st.permutations([lambda call: Deny("no"), lambda call: Ask("?"), generous, lambda call: None]), st.booleans())
def test_deny_beats_ask_whatever_the_order_and_advance_approval(policies: list[Any], given_ahead: bool) -> None:
    async def go() -> None:
        world = World()
        async with Crib(world.tools(), db="off", policies=policies) as crib:
            ahead = ["write"] if given_ahead else []
            result = await crib.call("write", {"do": "ok"}, preapproved=ahead)
            assert result.code == "denied"
        assert world.entered == []

    asyncio.run(go())


async def test_a_cancel_decision_lets_nothing_later_begin() -> None:
    world = World()

    def stop(call: Call) -> Any:
        return Cancel("stop") if call.arguments["do"] == "slow" else None

    async with Crib(world.tools(), db="off", policies=[stop]) as crib:
        calls = [{"tool": "read", "do": do, "broken": None, "id": "unique"} for do in ("ok", "slow", "ok")]
        new = await crib.turn().run(message(calls))
    assert [result.code for result in new.results] == ["ok", "aborted_before_start", "aborted_before_start"]
    assert len(world.entered) == 1
