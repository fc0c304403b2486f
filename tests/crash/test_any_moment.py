"""A longer program, killed wherever it commits or acts, and at random moments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import victim
from table import TABLE

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are of POSIX")

HERE = Path(victim.__file__).parent


def script(name: str, *words: str) -> str:
    done = subprocess.run([sys.executable, str(HERE / name), *words], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_crash_table_holds() -> None:
    assert len(script("table.py").splitlines()) == len(TABLE) + 2


def test_killed_anywhere_no_effect_is_unrecorded_repeated_or_told_wrongly() -> None:
    assert "200 runs" in script("moments.py", "200")


@pytest.mark.slow
def test_killed_eight_hundred_times_no_effect_is_unrecorded_repeated_or_told_wrongly() -> None:
    assert "800 runs" in script("moments.py", "800")
