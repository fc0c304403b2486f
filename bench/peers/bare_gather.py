"""Eight calls of one model message that sleep 10 ms each, beside a bare `asyncio.gather` of the same eight bodies."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from toolcrib import Crib, tool

CALLS = 8
NAP = 0.01


@tool(read_only=True)
async def rest(place: int) -> int:
    """Sleep on the loop."""
    await asyncio.sleep(NAP)
    return place


@tool(read_only=True)
def doze(place: int) -> int:
    """Sleep in a thread."""
    time.sleep(NAP)
    return place


def reply(name: str) -> dict[str, Any]:
    """A recorded completion that asks for all eight."""
    functions = [{"name": name, "arguments": json.dumps({"place": place})} for place in range(CALLS)]
    calls = [{"id": f"call_{n}", "type": "function", "function": function} for n, function in enumerate(functions)]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


async def _step(crib: Crib, name: str) -> float:
    turn = crib.turn()
    await turn.request("openai")
    recorded = reply(name)
    return await _timed(lambda: turn.run(recorded))


async def _timed(work: Callable[[], Awaitable[Any]]) -> float:
    gc.collect()
    begun = time.perf_counter()
    done = await work()
    took = time.perf_counter() - begun
    assert len(getattr(done, "results", done)) == CALLS
    assert all(result.ok for result in getattr(done, "results", ()))
    return took


async def _bare_async() -> float:
    return await _timed(lambda: asyncio.gather(*(asyncio.sleep(NAP, place) for place in range(CALLS))))


async def _bare_threads() -> float:
    return await _timed(lambda: asyncio.gather(*(asyncio.to_thread(time.sleep, NAP) for _ in range(CALLS))))


async def measure(rounds: int) -> dict[str, list[float]]:
    """Seconds of each way, round by round: the bare ones, a step without a journal, and one with it."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(4 * CALLS))
    with tempfile.TemporaryDirectory() as folder:
        async with Crib([rest, doze], db="off") as off, Crib([rest, doze], db=f"sqlite:///{folder}/crib.db") as on:
            ways: dict[str, Callable[[], Awaitable[float]]] = {
                "async, bare": _bare_async,
                "async": lambda: _step(off, "rest"),
                "async, journal": lambda: _step(on, "rest"),
                "sync, bare": _bare_threads,
                "sync": lambda: _step(off, "doze"),
                "sync, journal": lambda: _step(on, "doze"),
            }
            for way in list(ways.values()) * 3:
                await way()
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(rounds):
                for name in random.sample(list(ways), len(ways)):
                    times[name].append(await ways[name]())
    return times
