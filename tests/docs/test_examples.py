"""Every program under `examples/` runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests_docs import ROOT, blocks

from toolcrib.settings import load


@pytest.mark.parametrize("program", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_it_runs(program: Path, folder: Path) -> None:
    done = subprocess.run([sys.executable, str(program)], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"role": "tool"' in done.stdout


def test_the_settings_shown_can_be_read(folder: Path) -> None:
    (text,) = blocks("docs/settings.md", "toml")
    (folder / "toolcrib.toml").write_text(text, encoding="utf-8")
    (folder / "toolbox").mkdir()
    found = load(folder, {"TOOLCRIB_THREADS": "4", "TOOLCRIB_TOOLS": "a, b"})
    assert found.get("tools") == ["a", "b"]
    assert found.get("db") == f"sqlite:///{folder / 'crib.db'}"
    assert (found.get("max_parallel"), found.get("threads")) == (10, 4)
