"""What type checkers see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from __future__ import annotations

from typing import Any, assert_type

from toolcrib.call import Call, Caller, Tool
from toolcrib.define.config import ConfigField
from toolcrib.define.function import tool, tool_of
from toolcrib.define.injected import IdempotencyKey, Injected
from toolcrib.define.toolkit import Toolkit, tools_of_toolkit


@tool
def bare(n: int, caller: Injected[Caller]) -> str:
    assert_type(caller, Caller)
    assert_type(caller.user, str | None)
    return str(n)


@tool(read_only=True, timeout=3, approval="ask", claims=lambda arguments: [arguments["n"]])
async def declared(n: int, key: Injected[IdempotencyKey], maybe: Injected[Call | None] = None) -> int:
    assert_type(maybe, Call | None)
    return n + len(key)


class Kit(Toolkit):
    config = (ConfigField("a", secret=True),)

    @tool(idempotent=True)
    def act(self, n: int) -> int:
        return n


async def use() -> None:
    assert_type(bare(1, Caller()), str)
    assert_type(await declared(1, IdempotencyKey("k")), int)
    assert_type(Kit(a="x").act(2), int)
    assert_type(tool_of(bare), Tool)
    assert_type(tools_of_toolkit(Kit), list[Tool])
    assert_type(Kit(a="x").settings["a"], Any)
"""
WRONG = """
from toolcrib.call import Caller
from toolcrib.define.function import tool
from toolcrib.define.injected import Injected


@tool
def bare(n: int, caller: Injected[Caller]) -> str:
    return str(n)


bare("one", Caller())


@tool(readonly=True)
def other() -> None: ...
"""


def run(command: list[str], folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    (folder / name).write_text(text)
    return subprocess.run(
        [sys.executable, "-m", *command, name], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.slow
def test_mypy_strict_sees_through_injection_and_decoration(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    mypy = ["mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    good = run(mypy, tmp_path, "good.py", PROGRAM)
    assert good.returncode == 0, good.stdout + good.stderr
    wrong = run(mypy, tmp_path, "wrong.py", WRONG)
    assert 'incompatible type "str"; expected "int"' in wrong.stdout, wrong.stdout
    assert 'did you mean "read_only"' in wrong.stdout, wrong.stdout


@pytest.mark.slow
def test_pyright_strict_sees_through_injection_and_decoration(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    command = ["pyright", "--pythonpath", sys.executable]
    good = run(command, tmp_path, "good.py", PROGRAM)
    assert good.returncode == 0, good.stdout + good.stderr
    wrong = run(command, tmp_path, "wrong.py", WRONG)
    assert "wrong.py:12" in wrong.stdout, wrong.stdout
    assert "wrong.py:15" in wrong.stdout, wrong.stdout
    assert "could not be resolved" not in wrong.stdout
