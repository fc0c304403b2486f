"""A contestant: a script in an environment of its own, kept running, asked for seconds line by line."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
#: Where the peers' environments are kept between runs.
ENVIRONMENTS = HERE.parent / ".envs"


def python_of(name: str) -> Path:
    """The interpreter of a peer's environment, made or brought up to date first; always of this Python's version.

    Raises CalledProcessError where its pinned packages cannot be installed.
    """
    pins = HERE / f"requirements-{name}.txt"
    place = ENVIRONMENTS / name
    python = place / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    stamp = place / ".pins"
    wanted = hashlib.sha256(pins.read_bytes() + sys.version.encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {name} into {place} ...", file=sys.stderr)
    shutil.rmtree(place, ignore_errors=True)
    uv = shutil.which("uv")
    if uv is not None:
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(place))
        _run(uv, "pip", "install", "--quiet", "--python", str(python), "--requirement", str(pins))
    else:
        _run(sys.executable, "-m", "venv", str(place))
        _run(str(python), "-m", "pip", "install", "--quiet", "--requirement", str(pins))
    stamp.write_text(wanted)
    return python


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


class Contestant:
    """`run` gives the seconds that n calls of a case took. Raises RuntimeError, with what it said, where it died."""

    def __init__(self, name: str, python: Path) -> None:
        self.name = name
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the process)
        own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH" or name == "toolcrib"}
        self._process = subprocess.Popen(
            [str(python), str(HERE / f"peer_{name.replace('-', '_')}.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True, cwd=HERE, env=own,
        )  # fmt: skip
        ready = self._answer()
        self.cases: list[str] = ready["ready"]
        self.version: str = ready["version"]
        self.python: str = ready["python"]

    def run(self, case: str, n: int) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"run": case, "n": n}) + "\n")
        self._process.stdin.flush()
        return float(self._answer()["seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._said.seek(0)
            said = self._said.read().decode(errors="replace")
            raise RuntimeError(f"{self.name} ended with status {self._process.returncode}:\n{said[-2000:]}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Ends its process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._said.close()
