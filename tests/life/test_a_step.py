"""The calls of one model message: order, barriers, abort, replay. Through the public API."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Call, Cancel, Crib, Deny, SettingsError, UnknownTool, tool


def reply(*calls: tuple[str, Any], id: str | None = None, ids: list[str] | None = None) -> dict[str, Any]:
    """An assistant message of OpenAI Chat; a whole completion if it has an id."""
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": ids[place] if ids else f"call_{place}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for place, (name, arguments) in enumerate(calls)
        ],
    }
    if id is None:
        return message
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": id, "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


class World:
    """Tools whose bodies leave a trace: name+ when entered, name- when left."""

    def __init__(self) -> None:
        self.trace: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        trace, gates = self.trace, self.gates

        async def body(name: str) -> str:
            trace.append(f"{name}+")
            try:
                if name in gates:
                    await gates[name].wait()
                else:
                    await asyncio.sleep(0.01)
            finally:
                trace.append(f"{name}-")
            return name

        @tool(read_only=True)
        async def read(name: str) -> str:
            return await body(name)

        @tool
        async def write(name: str) -> str:
            return await body(name)

        self.tools = [read, write]


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/crib.db"


async def test_every_call_gets_one_result_in_the_models_order(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(user="ada")
        new = await turn.run(
            reply(("read", {"name": "a"}), ("nope", {}), ("read", {"nam": 1}), ("write", {"name": "b"}))
        )
        assert [message["role"] for message in new] == ["assistant", "tool", "tool", "tool", "tool"]
        assert [message["tool_call_id"] for message in new[1:]] == ["call_0", "call_1", "call_2", "call_3"]
        assert [result.code for result in new.results] == ["ok", "unknown_tool", "invalid_arguments", "ok"]
        assert not new.done
        assert json.loads(json.dumps(new)) == new
        final = await turn.run({"role": "assistant", "content": "that is all"})
        assert final.done
        assert final == [{"role": "assistant", "content": "that is all"}]
        states = [row.state for row in await crib.book.store.find()]
        assert states == ["confirmed", "refused", "refused", "confirmed"]


async def test_reads_overlap_and_a_write_is_a_barrier(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as crib:
        await crib.turn().run(
            reply(*(("write" if name == "x" else "read", {"name": name}) for name in ("a", "b", "x", "c", "d")))
        )
    before, after = world.trace.index("x+"), world.trace.index("x-")
    assert set(world.trace[:before]) == {"a+", "b+", "a-", "b-"}
    assert world.trace[:2] == ["a+", "b+"], "reads begin together"
    assert after == before + 1
    assert world.trace[after + 1 : after + 3] == ["c+", "d+"]


async def test_the_window_is_bounded_and_rolls(db: str) -> None:
    world = World()
    running = most = 0

    @tool(read_only=True)
    async def count() -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return most

    async with Crib([*world.tools, count], db=db, max_parallel=3) as crib:
        new = await crib.turn().run(reply(*[("count", {})] * 12))
        assert all(result.ok for result in new.results)
    assert most == 3
    for wrong in (0, -1, True, 2.5, "3"):
        with pytest.raises(SettingsError):
            Crib([], max_parallel=wrong)  # type: ignore[arg-type]


async def test_only_the_exact_true_of_a_declared_function_lets_calls_overlap(db: str) -> None:
    running = most = 0

    def declared(arguments: Any) -> Any:
        return {"yes": True, "truthy": 1, "no": False}.get(arguments["say"]) if arguments["say"] != "raise" else 1 / 0

    @tool(parallel=declared)
    async def act(say: str) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1

    async with Crib([act], db=db) as crib:
        for say, expected in (("yes", 2), ("truthy", 1), ("no", 1), ("raise", 1)):
            most = 0
            new = await crib.turn().run(reply(("act", {"say": say}), ("act", {"say": say})))
            assert [result.code for result in new.results] == ["ok", "ok"]
            assert most == expected, say


async def test_a_later_call_that_ends_first_is_published_later(db: str) -> None:
    world = World()
    world.gates["slow"] = asyncio.Event()
    published: list[Any] = []

    def watch(event: Any) -> None:
        if event.result is not None:
            published.append(event.result.value)
        if event.name == "executed":
            return

    async with Crib(world.tools, db=db, on=watch) as crib:
        task = asyncio.create_task(crib.turn().run(reply(("read", {"name": "slow"}), ("read", {"name": "fast"}))))
        async with asyncio.timeout(20):
            while "fast-" not in world.trace:
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        rows = {row.arguments: row.state for row in await crib.book.store.find()}
        assert rows['{"name":"fast"}'] == "executed", "durable the moment it is known"
        assert published == []
        world.gates["slow"].set()
        new = await task
    assert published == ["slow", "fast"]
    assert [result.value for result in new.results] == ["slow", "fast"]


async def test_one_failing_call_leaves_its_siblings_alone(db: str) -> None:
    @tool(read_only=True)
    async def cancels() -> str:
        raise asyncio.CancelledError

    world = World()
    async with Crib([*world.tools, cancels], db=db) as crib:
        new = await crib.turn().run(reply(("cancels", {}), ("read", {"name": "b"}), ("read", {"name": "c"})))
    assert [result.code for result in new.results] == ["tool_error", "ok", "ok"]


async def test_a_cancelled_step_records_every_call_before_the_cancellation_goes_on(db: str) -> None:
    world = World()
    world.gates |= {"hang": asyncio.Event(), "stuck": asyncio.Event()}
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(user="ada", conversation="c", message="m")
        calls = reply(
            ("read", {"name": "done"}),
            ("read", {"name": "hang"}),
            ("write", {"name": "never"}),
            ("read", {"name": "x"}),
            id="r1",
        )
        task = asyncio.create_task(turn.run(calls))
        async with asyncio.timeout(20):
            while "done-" not in world.trace:
                await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        rows = await crib.book.store.find()
        assert [(row.state, row.code) for row in rows] == [
            ("executed", "ok"),
            ("failed", "aborted"),
            ("skipped", "aborted_before_start"),
            ("skipped", "aborted_before_start"),
        ]
        assert "never+" not in world.trace
        again = await turn.run(calls)
        assert [result.code for result in again.results] == [
            "ok",
            "aborted",
            "aborted_before_start",
            "aborted_before_start",
        ]
        assert world.trace.count("done+") == 1


async def test_a_policy_that_cancels_ends_the_rest_of_the_step(db: str) -> None:
    world = World()
    asked: list[str] = []

    def policy(call: Call) -> Any:
        asked.append(call.arguments["name"])
        return {"stop": Cancel("enough"), "no": Deny("no")}.get(call.arguments["name"])

    async with Crib(world.tools, db=db, policies=[policy]) as crib:
        new = await crib.turn().run(reply(*(("read", {"name": name}) for name in ("a", "no", "stop", "b"))))
    assert [result.code for result in new.results] == ["ok", "denied", "aborted_before_start", "aborted_before_start"]
    assert asked == ["a", "no", "stop"]
    assert world.trace == ["a+", "a-"]


async def test_the_same_reply_never_runs_twice(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn()
        both = await asyncio.gather(*(turn.run(reply(("write", {"name": "a"}), id="r1")) for _ in range(3)))
        assert both[0] == both[1] == both[2]
        assert world.trace == ["a+", "a-"]
        await turn.run(reply(("write", {"name": "a"}), id="r2"))
        assert world.trace == ["a+", "a-"] * 2, "another response with the same calls is another step"


async def test_a_turn_with_a_message_continues_from_the_journal(db: str) -> None:
    world = World()
    who: Any = {"user": "ada", "conversation": "c", "message": "m"}
    first, second, other = (reply(("write", {"name": name})) for name in "abc")
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(**who)
        before = [await turn.run(first), await turn.run(second)]
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(**who)
        assert [await turn.run(first), await turn.run(second)] == before
        assert world.trace == ["a+", "a-", "b+", "b-"], "recorded steps are returned, not run"
        await turn.run(second)
        assert world.trace[4:] == ["b+", "b-"], "after the recorded steps, an equal reply is a new step"
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(**who)
        await turn.run(other)
        assert world.trace[6:] == ["c+", "c-"], "the first difference begins a new step"
        await turn.run(first)
        assert world.trace[8:] == ["a+", "a-"]
        assert {row.step for row in await crib.book.store.find()} == {1, 2, 3, 4, 5}
        assert (await crib.turn(**{**who, "user": "eve"}).run(first)).results[0].ok
        assert world.trace[10:] == ["a+", "a-"], "another user's turn is another turn"


async def test_two_turns_of_one_message_at_once_run_a_reply_once(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as one, Crib(world.tools, db=db) as two:
        turns = [crib.turn(user="ada", conversation="c", message="m") for crib in (one, two)]
        results = await asyncio.gather(*(turn.run(reply(("write", {"name": "a"}), id="r1")) for turn in turns))
    assert world.trace == ["a+", "a-"]
    assert results[0] == results[1]


async def test_duplicate_and_blank_provider_ids_pair_one_result_with_each_call(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as crib:
        new = await crib.turn().run(reply(*(("read", {"name": name}) for name in "abcd"), ids=["x", "x", "", "x"]))
        wire = [call["id"] for call in new[0]["tool_calls"]]
        assert len(set(wire)) == 4
        assert wire[0] == "x"
        assert [message["tool_call_id"] for message in new[1:]] == wire
        assert [json.loads(row.arguments)["name"] for row in await crib.book.store.find()] == list("abcd")


async def test_past_its_last_step_a_turn_refuses_every_call(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(max_steps=1)
        assert (await turn.run(reply(("read", {"name": "a"})))).results[0].ok
        assert (await turn.run(reply(("read", {"name": "b"})))).results[0].code == "quota_exceeded"
    assert world.trace == ["a+", "a-"]


async def test_a_view_narrows_what_can_be_seen_and_run(db: str) -> None:
    world = World()
    async with Crib(world.tools, db=db) as crib:
        turn = crib.turn(view=["read"])
        assert [each["function"]["name"] for each in await turn.tools("openai")] == ["read"]
        assert (await turn.run(reply(("write", {"name": "a"})))).results[0].code == "unknown_tool"
        assert await crib.turn().request("openai") == {"tools": await crib.turn().tools("openai")}
        with pytest.raises(UnknownTool, match="read"):
            await crib.turn(preapproved=["raed"]).request("openai")
    assert world.trace == []


async def test_without_tools_the_request_says_nothing(db: str) -> None:
    async with Crib([], db=db) as crib:
        assert await crib.turn().request("openai") == {}
        assert await crib.turn().tools("openai") == []


async def test_a_reload_changes_no_call_in_flight(tmp_path: Path, db: str) -> None:
    folder = tmp_path / "toolbox"
    folder.mkdir()
    file = folder / "say_tool.py"
    head = "import time\nfrom toolcrib import tool\n@tool\n"
    source = head + "def say(n: int) -> str:\n    time.sleep(0.1)\n    return 'one'\n"
    file.write_text(source)
    async with Crib([str(folder)], db=db) as crib:
        turn = crib.turn()
        task = asyncio.create_task(turn.run(reply(("say", {"n": 1}))))
        await asyncio.sleep(0.03)
        file.write_text(source.replace("'one'", "'two, now'"))
        assert crib.reload()
        assert (await task).results[0].value == "one"
        assert (await turn.run(reply(("say", {"n": 1})))).results[0].value == "two, now"


async def test_sync_and_async_tools_behave_alike_in_both_faces(db: str) -> None:
    @tool(timeout=0.05)
    def sync_tool(wait: float) -> str:
        threading.Event().wait(wait)
        return "ok"

    @tool(timeout=0.05)
    async def async_tool(wait: float) -> str:
        await asyncio.sleep(wait)
        return "ok"

    crib = Crib(
        [sync_tool, async_tool], db=db, policies=[lambda call: Deny("no") if call.arguments["wait"] == 7 else None]
    )
    for name in ("sync_tool", "async_tool"):
        for waits, code in ((0, "ok"), (0.5, "timeout"), (7, "denied")):
            one = await crib.turn().run(reply((name, {"wait": waits})))
            two = await asyncio.to_thread(lambda n=name, w=waits: crib.sync.turn().run(reply((n, {"wait": w}))))
            assert one.results[0].code == two.results[0].code == code
    await crib.aclose()


async def test_a_stream_gives_text_then_states_then_messages(db: str) -> None:
    world = World()

    async def provider() -> Any:
        for text in ("let me ", "look"):
            yield {"id": "r", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}
        call = {"index": 0, "id": "c", "type": "function", "function": {"name": "read", "arguments": '{"name": "a"}'}}
        yield {"id": "r", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
        assert world.trace == []
        yield {
            "id": "r",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}],
        }

    async with Crib(world.tools, db=db) as crib:
        async with crib.turn().stream(provider()) as events:
            names = [event.text or event.name async for event in events if event.name != "chunk"]
        assert names == ["let me ", "look", "proposed", "started", "executed"]
        assert [message["role"] for message in events.messages] == ["assistant", "tool"]


async def test_leaving_a_stream_early_aborts_completely(db: str) -> None:
    world = World()
    world.gates["hang"] = asyncio.Event()
    async with Crib(world.tools, db=db) as crib:
        async with crib.turn().stream(reply(("write", {"name": "hang"}), ("write", {"name": "b"}))) as events:
            async for event in events:
                if event.name == "started":
                    break
        assert [(row.state, row.code) for row in await crib.book.store.find()] == [
            ("unknown", "aborted"),
            ("skipped", "aborted_before_start"),
        ]
    assert world.trace == ["hang+", "hang-"]
