"""What remains of a process that was killed."""

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

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are of POSIX")

POINTS = Path(__file__).parent / "points.py"

TOOLS = """
import pathlib, time
from toolcrib import tool

@tool
def pay(amount: int) -> str:
    pathlib.Path("paid").touch()
    time.sleep(60)
    return "paid"

@tool
def ask(amount: int) -> str:
    return "asked"
"""


def toolcrib(folder: Path, *words: str, **kwargs: Any) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "toolcrib", *words], cwd=folder, capture_output=True, text=True, **kwargs
    )


def listed(folder: Path) -> list[tuple[str, str, str | None]]:
    rows = json.loads(toolcrib(folder, "journal", "list", "--json", "--db", "sqlite:///crib.db").stdout)
    return [(row["tool"], row["state"], row["code"]) for row in rows]


def test_killed_inside_a_body_the_call_is_started_and_after_recover_unknown(tmp_path: Path) -> None:
    (tmp_path / "pay_tool.py").write_text(TOOLS)
    content = [{"type": "tool_use", "id": name, "name": name, "input": {"amount": 1}} for name in ("pay", "ask")]
    (tmp_path / "reply.json").write_text(json.dumps({"role": "assistant", "content": content}))
    words = ("run", "reply.json", "--tools", ".", "--db", "sqlite:///crib.db", "--conversation", "c", "--message", "m")
    child = subprocess.Popen(
        [sys.executable, "-m", "toolcrib", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    ends = time.monotonic() + 30
    while not (tmp_path / "paid").exists() and time.monotonic() < ends:
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    before = [("pay", "started", None), ("ask", "proposed", None)]
    assert listed(tmp_path) == before
    assert listed(tmp_path) == before, "looking changes nothing"
    assert toolcrib(tmp_path, "doctor", "--db", "sqlite:///crib.db").returncode == 0
    assert listed(tmp_path) == before
    recovered = json.loads(toolcrib(tmp_path, "recover", "--json", "--db", "sqlite:///crib.db").stdout)
    assert len(recovered) == 2
    after = [("pay", "unknown", "outcome_unknown"), ("ask", "skipped", "not_started")]
    assert listed(tmp_path) == after
    assert json.loads(toolcrib(tmp_path, "recover", "--json", "--db", "sqlite:///crib.db").stdout) == []
    (tmp_path / "paid").unlink()
    again = toolcrib(tmp_path, *words, timeout=30)
    assert again.returncode == 0, again.stderr
    results = json.loads(again.stdout)[1]["content"]
    assert [block["tool_use_id"] for block in results] == ["pay", "ask"]
    assert "not known" in results[0]["content"]
    assert "not begun" in results[1]["content"]
    assert not (tmp_path / "paid").exists(), "what is unknown is not repeated"
    assert listed(tmp_path) == after


def test_killed_at_every_point_no_call_is_without_a_row_and_none_ends_twice() -> None:
    done = subprocess.run([sys.executable, POINTS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("nothing") == 24


@pytest.mark.slow
def test_two_hundred_kills_break_no_promise() -> None:
    done = subprocess.run([sys.executable, POINTS, "200"], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "200 runs" in done.stdout
    assert "0 broken" in done.stdout
