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


async def case(timeout: float | None = None, **options: Any) -> Call:
    crib = Crib([Tool.of(add).replace(timeout=timeout)], db="off", **options)
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
    cases = {
        "add": await case(),
        "all": await case(
            timeout=30,
            policies=[looks_at_digest, looks_at_caller],
            guards=[guard_one, guard_two],
            on=[observer_one, observer_two],
        ),
        "one policy": await case(policies=[lambda call: None]),
        "one guard": await case(guards=[guard_one]),
        "one observer": await case(on=[observer_one]),
        "a deadline": await case(timeout=30),
    }
    await serve(cases, lambda answer: answer.unwrap() == 3, installed)


start(main)
