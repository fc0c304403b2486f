"""What all contestants share: JSON lines in, seconds out, and the same care around the clock."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

#: The text a model wrote.
ARGUMENTS = '{"a": 1, "b": 2}'
#: Awaited N times in a row; answers what the tool answered, in whatever shape this contestant gives it.
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


async def serve(cases: dict[str, Call], check: Callable[[Any], bool], **about: str) -> None:
    """Answers {"run": case, "n": N} with {"seconds": S}, line by line, until its input ends.

    The first line says what is ready, and only after each case has given the right answer once. Reading blocks the
    loop: nothing else is to run in it.
    """
    for name, call in cases.items():
        answer = await call()
        assert check(answer), f"{name} gave {answer!r}"
    _say({"ready": sorted(cases), "python": sys.version.split()[0], **about})
    for line in sys.stdin:
        asked = json.loads(line)
        _say({"seconds": await seconds(cases[asked["run"]], asked["n"])})


def start(main: Callable[[], Awaitable[None]]) -> None:
    """Runs a contestant; what it prints goes to stderr, since stdout carries the answers."""
    global _say
    answers, sys.stdout = sys.stdout, sys.stderr

    def say(line: dict[str, Any]) -> None:
        answers.write(json.dumps(line) + "\n")
        answers.flush()

    _say = say
    asyncio.run(main())  # type: ignore[arg-type]


def _say(line: dict[str, Any]) -> None:
    raise RuntimeError("serve() runs inside start()")
