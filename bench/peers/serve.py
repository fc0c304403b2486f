"""What all contestants share: JSON lines in, seconds out, and the same care around the clock."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

#: The text a model wrote.
ARGUMENTS = '{"a": 1, "b": 2}'
#: One call; answers what the contestant answers, in its own shape.
Call = Callable[[], Awaitable[Any]]


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def seconds(call: Call, n: int) -> float:
    """How long n calls in a row take: awaited directly, the collector run before and off meanwhile."""
    gc.collect()
    gc.disable()
    try:
        begun = time.perf_counter()
        for _ in range(n):
            await call()
        return time.perf_counter() - begun
    finally:
        gc.enable()


async def serve(cases: dict[str, Call], right: Callable[[Any], bool], version: str) -> None:
    """Answers {"run": case, "n": N} with {"seconds": S}, line by line, until its input ends.

    The first line says what there is to run, and comes only after each case has given the right answer once. Waiting
    for a line blocks the loop: nothing is to run in it meanwhile.
    """
    for name, call in cases.items():
        answer = await call()
        if not right(answer):
            raise SystemExit(f"{name} gave {answer!r}")
    _say({"ready": sorted(cases), "version": version, "python": sys.version.split()[0]})
    for line in sys.stdin:
        asked = json.loads(line)
        _say({"seconds": await seconds(cases[asked["run"]], asked["n"])})


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), file=sys.__stdout__, flush=True)


def start(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a contestant. Whatever else it prints goes to stderr: stdout carries the answers."""
    sys.stdout = sys.stderr
    asyncio.run(main())
