"""Toolcrib: `Crib.call` with the journal off, bare and with everything that a call may be made to pass."""

from __future__ import annotations

import logging
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from serve import ARGUMENTS, Call, add, serve, start

from toolcrib import Crib, Tool


def looks_at_digest(call: Any) -> None:
    assert len(call.arguments_digest) == 64


async def looks_at_caller(call: Any) -> None:
    assert call.caller.user is None


def guard_one(call: Any) -> str | None:
    return "too large" if call.arguments["a"] > 1000 else None


def guard_two(call: Any) -> str | None:
    return "too large" if call.arguments["b"] > 1000 else None


def observer_one(event: Any) -> None:
    assert event.name


async def observer_two(event: Any) -> None:
    assert event.call


async def case(tool: Tool, **options: Any) -> Call:
    crib = Crib([tool], db="off", **options)
    await crib.open()

    async def call() -> Any:
        return await crib.call("add", ARGUMENTS)

    return call


async def main() -> None:
    logging.getLogger("toolcrib").setLevel(logging.ERROR)
    try:
        installed = version("toolcrib")
    except PackageNotFoundError:
        installed = "(source)"
    plain = Tool.of(add)
    hurried = plain.replace(timeout=30)
    cases = {
        "add": await case(plain),
        "all": await case(
            hurried,
            policies=[looks_at_digest, looks_at_caller],
            guards=[guard_one, guard_two],
            on=[observer_one, observer_two],
        ),
        "one policy": await case(plain, policies=[lambda call: None]),
        "one guard": await case(plain, guards=[guard_one]),
        "one observer": await case(plain, on=[observer_one]),
        "a deadline": await case(hurried),
    }
    await serve(cases, lambda answer: answer.unwrap() == 3, installed)


start(main)
