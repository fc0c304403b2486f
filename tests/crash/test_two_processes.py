"""The same reply in several processes at once, as when a request is sent again while the first still runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import victim

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is of POSIX")

HERE = str(Path(victim.__file__).parent)
TOGETHER = f"{HERE}/together.py"


def rounds(folder: Path, count: int, how: str, *replies: str) -> list[dict[str, Any]]:
    words = [sys.executable, TOGETHER, str(folder), str(count), how, *replies]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("id", ["r1= ", ""], ids=["with a response id", "without one"])
def test_bodies_run_once_and_every_process_is_told_the_same(tmp_path: Path, id: str) -> None:
    for found in rounds(tmp_path, 6, "at-once", *[id + "look:a pay:brief-b post:c"] * 3):
        assert found["ends"] == [0, 0, 0]
        assert sorted(found["entered"]) == ["a", "brief-b", "c"]
        assert [state for _, _, state, _ in found["rows"]] == ["confirmed"] * 3
        first, *others = found["said"]
        assert len(others) == 2
        assert all(other == first for other in others)
        assert first["codes"] == ["ok", "ok", "ok"]


@pytest.mark.parametrize("id", ["r1= ", ""], ids=["with a response id", "without one"])
def test_who_waits_for_a_process_that_is_killed_takes_nothing_over(tmp_path: Path, id: str) -> None:
    for found in rounds(tmp_path, 2, "killed", *[id + "pay:slow-a look:b"] * 3):
        assert found["ends"] == [-signal.SIGKILL, 0, 0]
        assert found["entered"] == ["slow-a"]
        assert [code for _, _, _, code in found["rows"]] == ["outcome_unknown", "not_started"]
        assert [one["codes"] for one in found["said"]] == [["outcome_unknown", "not_started"]] * 2


@pytest.mark.parametrize("ids", [("r1= ", "r2= "), ("", "")], ids=["with response ids", "without"])
def test_other_replies_to_the_same_message_are_steps_of_their_own(tmp_path: Path, ids: tuple[str, str]) -> None:
    for found in rounds(tmp_path, 4, "at-once", ids[0] + "pay:brief-a post:b", ids[1] + "pay:brief-c"):
        assert found["ends"] == [0, 0]
        assert sorted(found["entered"]) == ["b", "brief-a", "brief-c"]
        assert {code for _, _, _, code in found["rows"]} == {"ok"}


FORKED = """
import asyncio, os, sys, victim
from pathlib import Path

url, world = sys.argv[1], Path(sys.argv[2])

async def main():
    async with victim.crib(url, world, victim.Plug()) as parent:
        own = asyncio.create_task(parent.call("pay", {"name": "brief-parent"}, message="m"))
        while not victim.effects(world):
            await asyncio.sleep(0.01)
        child = os.fork()
        if child == 0:
            asyncio.set_event_loop(None)
            asyncio.events._set_running_loop(None)
            try:
                asyncio.run(parent.call("pay", {"name": "slow-child"}, message="m"))
            finally:
                os._exit(1)
        while len(victim.effects(world)) < 2:
            await asyncio.sleep(0.01)
        assert await parent.recover() == []
        os.kill(child, 9)
        os.waitpid(child, 0)
        assert [result.code for result in await parent.recover()] == ["outcome_unknown"]
        assert (await own).ok
        assert (await parent.call("pay", {"name": "later"}, message="m")).ok

asyncio.run(main())
"""


def test_a_killed_child_that_used_its_parents_crib_leaves_the_parents_calls_alone(tmp_path: Path) -> None:
    words = [sys.executable, "-c", FORKED, f"sqlite:///{tmp_path}/crib.db", str(tmp_path / "world")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": HERE})
    assert done.returncode == 0, done.stderr
    states = {state for _, _, state, _ in victim.rows(tmp_path / "crib.db")}
    assert states == {"executed", "unknown"}
