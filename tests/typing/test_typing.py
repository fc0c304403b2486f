"""The public types, as mypy strict and pyright strict see them from a user's program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
WRONG = {
    number
    for number, line in enumerate((PROGRAMS / "mistakes.py").read_text().splitlines(), 1)
    if line.endswith("# wrong")
}


def mypy(name: str, cache: Path) -> set[int]:
    words = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(cache), "--config-file", "", PROGRAMS / name]
    done = subprocess.run(words, capture_output=True, text=True, cwd=cache)
    assert done.returncode in (0, 1), done.stderr
    return {int(line) for line in re.findall(rf"{name}:(\d+): error", done.stdout)}


def pyright(name: str, folder: Path) -> set[int]:
    mode = "standard" if name.startswith("gemini") else "strict"
    shutil.copy(PROGRAMS / name, folder / name)
    (folder / "pyrightconfig.json").write_text(json.dumps({"include": [name], "typeCheckingMode": mode}))
    words = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == 1
    found = report["generalDiagnostics"]
    return {each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"}


@pytest.mark.slow
@pytest.mark.parametrize("program", ["loops.py", "gemini_loop.py"])
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_agent_loops_with_the_providers_sdks_check_strictly(checker: object, program: str, tmp_path: Path) -> None:
    assert callable(checker)
    assert checker(program, tmp_path) == set()


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_mistakes_are_seen(checker: object, tmp_path: Path) -> None:
    assert callable(checker)
    assert checker("mistakes.py", tmp_path) == WRONG
