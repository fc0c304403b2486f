"""One call, through the public API, with the journal on."""

from __future__ import annotations

import asyncio
import threading
import time
from contextvars import ContextVar
from typing import Any

import pytest

from toolcrib import Call, Caller, Cancel, Crib, Deny, Event, IdempotencyKey, Injected, Tool, ToolError, Tools, tool


@tool(read_only=True)
async def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@tool
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


@pytest.fixture
def db(tmp_path: Any) -> str:
    return f"sqlite:///{tmp_path}/crib.db"


async def rows(crib: Crib) -> list[Any]:
    return list(await crib.book.store.find())


async def test_a_call_is_read_run_and_written_down(db: str) -> None:
    async with Crib([add], db=db) as crib:
        result = await crib.call("add", '{"a": 1, "b": "2"}', user="ada")
        assert (result.ok, result.code, result.state, result.value) == (True, "ok", "executed", 3)
        assert len(result.notes) == 1
        assert "b" in result.notes[0]
        (row,) = await rows(crib)
        assert (row.id, row.tool, row.state, row.code, row.user) == (result.call_id, "add", "executed", "ok", "ada")
        assert row.arguments == '{"a":1,"b":2}'
        assert row.raw == '{"a": 1, "b": "2"}'
        assert row.value == "3"
        assert row.attempts == 1
        assert row.proposed_at <= row.started_at <= row.ended_at


async def test_the_function_itself_names_its_tool(db: str) -> None:
    async with Crib([add], db=db) as crib:
        assert (await crib.call(add, {"a": 4})).unwrap() == 4


async def test_a_sync_body_runs_beside_the_loop_with_the_callers_context(db: str) -> None:
    who: ContextVar[str] = ContextVar("who", default="nobody")
    seen: list[tuple[str, bool]] = []

    @tool
    def look() -> str:
        seen.append((who.get(), threading.current_thread() is threading.main_thread()))
        return "done"

    async with Crib([look], db=db) as crib:
        who.set("ada")
        assert (await crib.call("look")).ok
    assert seen == [("ada", False)]


async def test_a_sync_function_that_returns_a_coroutine_is_awaited(db: str) -> None:
    async def later() -> int:
        await asyncio.sleep(0)
        return 7

    @tool
    def now() -> Any:
        return later()

    async with Crib([now], db=db) as crib:
        assert (await crib.call("now")).value == 7


async def test_an_unknown_tool_is_a_result_and_a_row(db: str) -> None:
    async with Crib([add], db=db) as crib:
        result = await crib.call("ad_d_numbers", {})
        assert (result.code, result.state) == ("unknown_tool", "refused")
        assert "add" in result.text
        (row,) = await rows(crib)
        assert (row.state, row.code) == ("refused", "unknown_tool")


async def test_wrong_arguments_never_reach_the_body(db: str) -> None:
    async with Crib([add], db=db) as crib:
        result = await crib.call("add", {"a": "many"})
        assert (result.code, result.state) == ("invalid_arguments", "refused")
        assert "a" in result.text
        assert (await crib.call("add", '{"a": 1, "c": 2}')).code == "invalid_arguments"
        assert (await crib.call("add", '{"a": 1')).code == "invalid_arguments"


async def test_an_expected_failure_is_told_as_the_tool_words_it(db: str) -> None:
    @tool
    def fetch() -> str:
        raise ToolError("the shelf is empty")

    async with Crib([fetch], db=db) as crib:
        result = await crib.call("fetch")
        assert (result.code, result.state, result.text) == ("tool_error", "executed", "the shelf is empty")


async def test_an_unexpected_exception_is_told_and_says_that_an_effect_may_have_happened(db: str) -> None:
    @tool
    def charge() -> str:
        raise ConnectionError("connection reset")

    @tool(read_only=True)
    def look() -> str:
        raise ConnectionError("connection reset")

    async with Crib([charge, look], db=db) as crib:
        result = await crib.call("charge")
        assert (result.code, result.state) == ("tool_error", "executed")
        assert "ConnectionError: connection reset" in result.text
        assert "may have happened" in result.text
        assert "may have happened" not in (await crib.call("look")).text
    async with Crib([charge], db=db, mask_errors=True) as crib:
        result = await crib.call("charge")
        assert "connection" not in result.text
        assert result.call_id in result.text


async def test_hostile_exceptions_and_exits_end_one_call_only(db: str) -> None:
    class Hostile(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

        __repr__ = __str__

    @tool
    def hostile() -> str:
        raise Hostile

    @tool
    def leave() -> str:
        raise SystemExit(3)

    @tool
    async def cancelled() -> str:
        raise asyncio.CancelledError

    async with Crib([hostile, leave, cancelled], db=db) as crib:
        for name in ("hostile", "leave", "cancelled"):
            assert (await crib.call(name)).code == "tool_error"


async def test_policies_and_guards_refuse_and_nothing_turns_that_into_a_run(db: str) -> None:
    ran: list[str] = []

    @tool
    def act(what: str) -> str:
        ran.append(what)
        return "done"

    async def policy(call: Call) -> Any:
        return {"deny": Deny("not today"), "cancel": Cancel("stop"), "odd": True}.get(call.arguments["what"])

    def guard(call: Call) -> str | None:
        if call.arguments["what"] == "raise":
            raise RuntimeError("secret rule")
        return "guarded so" if call.arguments["what"] == "guard" else None

    async with Crib([act], db=db, policies=[policy], guards=[guard]) as crib:
        ends = {what: await crib.call("act", {"what": what}) for what in ("deny", "cancel", "odd", "guard", "raise")}
        assert {what: end.code for what, end in ends.items()} == {
            "deny": "denied",
            "cancel": "aborted_before_start",
            "odd": "denied",
            "guard": "guarded",
            "raise": "guarded",
        }
        assert "not today" in ends["deny"].text
        assert "secret" not in ends["raise"].text
        assert ran == []
        assert (await crib.call("act", {"what": "go"})).ok
    assert ran == ["go"]


async def test_what_must_be_asked_does_not_run_while_nobody_can_be_asked(db: str) -> None:
    @tool(destructive=True)
    def drop(table: str) -> str:
        raise AssertionError("must not run")

    async with Crib([drop], db=db) as crib:
        assert (await crib.call("drop", {"table": "x"})).code == "approval_unavailable"
        assert (await crib.call("drop", {"table": "x"}, headless=True)).code == "headless_denied"


async def test_nobody_can_change_the_arguments_that_run(db: str) -> None:
    seen: list[Any] = []

    def policy(call: Call) -> None:
        dict.__setitem__(call.arguments["order"], "amount", 1_000_000)

    @tool
    def pay(order: dict[str, int]) -> int:
        order["seen"] = 1
        return order["amount"]

    taken = Tool(
        name="pay_raw",
        parameters={"type": "object", "properties": {"order": {"type": "object"}}},
        body=lambda arguments: (arguments["order"].update(seen=1), arguments["order"]["amount"])[1],
    )
    async with Crib([pay, taken], db=db, policies=[policy], on=lambda event: seen.append(event.call.arguments)) as crib:
        for name in ("pay", "pay_raw"):
            assert (await crib.call(name, {"order": {"amount": 3}})).value == 3
        assert all(row.arguments == '{"order":{"amount":3}}' for row in await rows(crib))
        with pytest.raises(TypeError):
            seen[0]["order"] = {}


async def test_injected_parameters_come_from_the_runtime_alone(db: str) -> None:
    @tool
    async def who(
        question: str,
        caller: Injected[Caller],
        call: Injected[Call],
        key: Injected[IdempotencyKey],
        tools: Injected[Tools],
    ) -> list[Any]:
        below = await tools.call("add", {"a": 1, "b": 1})
        return [caller.user, call.id, key, below.value, below.call_id]

    assert set(Tool.of(who).parameters["properties"]) == {"question"}
    async with Crib([who, add], db=db) as crib:
        result = await crib.call("who", {"question": "?"}, user="ada")
        assert result.value == ["ada", result.call_id, result.call_id, 2, f"{result.call_id}:1"]
        assert (await crib.call("who", {"question": "?", "caller": "eve"})).code == "invalid_arguments"
        (sub,) = [row for row in await rows(crib) if row.parent]
        assert (sub.parent, sub.user, sub.state) == (result.call_id, "ada", "executed")


async def test_observers_are_told_each_state_and_isolated(db: str) -> None:
    seen: list[str] = []

    async def broken(event: Event) -> None:
        raise RuntimeError("observer")

    async with Crib([add], db=db, on=[broken, lambda event: seen.append(event.name)]) as crib:
        assert (await crib.call("add", {"a": 1})).ok
        assert (await crib.call("add", {})).code == "invalid_arguments"
    assert seen == ["started", "executed", "refused"]


async def test_an_async_body_past_its_deadline_is_cancelled(db: str) -> None:
    ended: list[str] = []

    @tool(timeout=0.05)
    async def slow() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cleaned")
        return "never"

    async with Crib([slow], db=db) as crib:
        result = await crib.call("slow")
        assert (result.code, result.state) == ("timeout", "unknown")
        assert ended == ["cleaned"]


async def test_a_sync_body_past_its_deadline_runs_on_and_its_outcome_reaches_the_book_alone(db: str) -> None:
    release = threading.Event()

    @tool(timeout=0.05)
    def stuck() -> str:
        release.wait(20)
        return "late"

    async with Crib([stuck, shout], db=db, threads=1) as crib:
        result = await crib.call("stuck")
        assert (result.code, result.state) == ("timeout", "unknown")
        (row,) = await rows(crib)
        assert (row.state, row.code) == ("started", "timeout")
        assert (await crib.call("shout", {"text": "a"})).value == "A", "its thread was replaced"
        release.set()
        for _ in range(200):
            row = (await rows(crib))[0]
            if row.state == "executed":
                break
            await asyncio.sleep(0.02)
        assert (row.state, row.code, row.value) == ("executed", "ok", '"late"')
        assert result.code == "timeout"


async def test_a_call_that_waits_for_a_thread_past_its_deadline_is_never_begun(db: str) -> None:
    ran: list[str] = []
    release = threading.Event()

    @tool(parallel=True)
    def hold() -> str:
        release.wait(20)
        return "held"

    @tool(timeout=0.05, parallel=True)
    def waits() -> str:
        ran.append("begun")
        return "ran"

    async with Crib([hold, waits], db=db, threads=1) as crib:
        holding = asyncio.create_task(crib.call("hold"))
        await asyncio.sleep(0.02)
        result = await crib.call("waits")
        assert (result.code, result.state) == ("timeout", "failed")
        release.set()
        assert (await holding).ok
        assert (await crib.call("hold")).ok
    assert ran == []


async def test_a_cancelled_call_is_settled_before_the_cancellation_goes_on(db: str) -> None:
    begun = asyncio.Event()

    @tool
    async def wait() -> str:
        begun.set()
        await asyncio.sleep(60)
        return "never"

    async with Crib([wait], db=db) as crib:
        task = asyncio.create_task(crib.call("wait"))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (row,) = await rows(crib)
        assert (row.state, row.code) == ("unknown", "aborted")


async def test_a_success_that_outlives_a_cancellation_stays_a_success(db: str) -> None:
    begun = threading.Event()

    @tool
    def work() -> str:
        begun.set()
        time.sleep(0.1)
        return "done"

    async with Crib([work], db=db) as crib:
        task = asyncio.create_task(crib.call("work"))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (row,) = await rows(crib)
        assert (row.state, row.code, row.value) == ("executed", "ok", '"done"')


async def test_answers_that_json_cannot_hold_do_not_pass_as_answers(db: str) -> None:
    values: dict[str, Any] = {
        "nan": [float("nan"), {"x": float("inf")}],
        "bytes": {"id": 1, "blob": b"\xff\xd8"},
        "set": {3, 1, 2},
        "keys": {1: "a", None: "b"},
        "generator": (item for item in [1]),
        "object": object(),
    }

    @tool
    async def give(what: str) -> Any:
        return values[what]

    async with Crib([give], db=db) as crib:
        got = {what: await crib.call("give", {"what": what}) for what in values}
    assert got["nan"].value == [None, {"x": None}]
    assert got["nan"].text == '[null,{"x":null}]'
    assert got["bytes"].value == {"id": 1, "blob": {"base64": "/9g=", "bytes": 2}}
    assert got["set"].value == [1, 2, 3]
    assert got["keys"].value == {"1": "a", "null": "b"}
    assert got["object"].code == "invalid_output"


async def test_without_a_journal_a_call_runs_and_nothing_is_kept() -> None:
    crib = Crib([add], db="off")
    assert (await crib.call("add", {"a": 2})).value == 2
    await crib.aclose()


def test_the_synchronous_face_works_outside_and_inside_a_running_loop(db: str) -> None:
    with Crib([add, shout], db=db) as crib:
        assert crib.call("add", {"a": 1, "b": 1}).value == 2

        async def inside() -> Any:
            return crib.call("shout", {"text": "x"}).value

        assert asyncio.run(inside()) == "X"


def test_one_crib_serves_many_loops_and_threads(db: str) -> None:
    crib = Crib([add, shout], db=db)
    values: list[Any] = []

    def work(number: int) -> None:
        async def calls() -> list[Any]:
            results = await asyncio.gather(*(crib.call("add", {"a": number, "b": each}) for each in range(5)))
            return [result.value for result in results]

        values.append(asyncio.run(calls()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values) == [[number + each for each in range(5)] for number in range(6)]
    crib.sync.close()
