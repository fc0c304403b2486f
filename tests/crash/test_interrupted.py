"""Ctrl-C in the middle of a body: what runs is drained, what waits is not begun, and the journal says both."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import victim

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are of POSIX")

TOOLS = """
import asyncio, pathlib, time
from toolcrib import tool

async def stay(name):
    pathlib.Path(name).touch()
    try:
        await asyncio.sleep(60)
    finally:
        pathlib.Path(f"{name}-left").touch()

@tool
async def pay(name: str) -> str:
    await stay(name)

@tool(read_only=True)
async def look(name: str) -> str:
    await stay(name)

@tool
def post(name: str) -> str:
    pathlib.Path(name).touch()
    while not pathlib.Path("go-on").exists():
        time.sleep(0.01)
    return "posted"
"""
PROGRAMS = {
    "a loop": """
import asyncio, json
from toolcrib import Crib

async def main():
    async with Crib(["."], db="sqlite:///crib.db") as crib:
        await crib.turn(conversation="c", message="m").run(json.load(open("reply.json")))

asyncio.run(main())
""",
    "no loop": """
import json
from toolcrib import Crib

with Crib(["."], db="sqlite:///crib.db") as crib:
    crib.turn(conversation="c", message="m").run(json.load(open("reply.json")))
""",
}
RUN = ["-m", "toolcrib", "run", "reply.json", "--tools", ".", "--db", "sqlite:///crib.db"]
SAME = ["--conversation", "c", "--message", "m"]


class Folder:
    """A working folder with tools and a reply, and the process that runs in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "some_tool.py").write_text(TOOLS)

    def begin(self, reply: str, entered: str, *words: str) -> subprocess.Popen[str]:
        """Starts it, and waits until the bodies of these names have been entered."""
        (self.path / "reply.json").write_text(json.dumps(victim.reply(reply)))
        child = subprocess.Popen(
            [sys.executable, *words], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        end = time.monotonic() + 30
        while not all((self.path / name).exists() for name in entered.split()):
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)
        return child

    def states(self) -> list[tuple[str, str | None]]:
        rows = victim.rows(self.path / "crib.db", "m")
        return [(state, code) for _, _, state, code in rows]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_body_with_effects_is_cancelled_and_unknown_and_the_rest_is_not_begun(folder: Folder, sent: int) -> None:
    child = folder.begin("pay:a look:b post:c", "a", *RUN, *SAME)
    child.send_signal(sent)
    out, said = child.communicate(timeout=30)
    assert (child.returncode, out) == (130, ""), said
    assert "Traceback" not in said
    ends = [("unknown", "aborted"), ("skipped", "aborted_before_start"), ("skipped", "aborted_before_start")]
    assert folder.states() == ends
    assert (folder.path / "a-left").exists(), "the body came to its own end"
    assert not (folder.path / "b").exists()
    again = subprocess.run([sys.executable, *RUN, *SAME], cwd=folder.path, capture_output=True, text=True, timeout=30)
    assert again.returncode == 0, again.stderr
    results: list[Any] = json.loads(again.stdout)[1:]
    assert [result["tool_call_id"] for result in results] == ["id-a", "id-b", "id-c"]
    assert folder.states() == ends
    assert not (folder.path / "b").exists(), "the same reply again is told what happened and runs nothing"


def test_reads_that_overlap_have_failed_and_may_be_repeated(folder: Folder) -> None:
    child = folder.begin("look:a look:b pay:c", "a b", *RUN, *SAME)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert child.returncode == 130
    assert folder.states() == [("failed", "aborted"), ("failed", "aborted"), ("skipped", "aborted_before_start")]


def test_a_body_in_a_thread_is_waited_for_and_its_success_stands(folder: Folder) -> None:
    child = folder.begin("post:a pay:b", "a", *RUN, *SAME)
    child.send_signal(signal.SIGINT)
    assert child.stderr is not None
    assert "waiting for what has begun" in child.stderr.readline()
    (folder.path / "go-on").touch()
    child.communicate(timeout=30)
    assert child.returncode == 130
    assert folder.states() == [("executed", "ok"), ("skipped", "aborted_before_start")]


def test_pressed_again_it_leaves_at_once_and_the_next_process_calls_it_unknown(folder: Folder) -> None:
    child = folder.begin("post:a pay:b", "a", *RUN, *SAME)
    child.send_signal(signal.SIGINT)
    assert child.stderr is not None
    child.stderr.readline()
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert child.returncode == 130
    assert folder.states() == [("started", None), ("proposed", None)]
    again = subprocess.run([sys.executable, *RUN, *SAME], cwd=folder.path, capture_output=True, text=True, timeout=30)
    assert again.returncode == 0, again.stderr
    assert folder.states() == [("unknown", "outcome_unknown"), ("skipped", "not_started")]


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_of_ones_own_closes_its_rows_before_the_interrupt_goes_on(folder: Folder, kind: str) -> None:
    child = folder.begin("pay:a look:b", "a", "-c", PROGRAMS[kind])
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert child.returncode == -signal.SIGINT, said
    assert "KeyboardInterrupt" in said
    assert folder.states() == [("unknown", "aborted"), ("skipped", "aborted_before_start")]
