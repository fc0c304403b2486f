"""What README shows, runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests_docs import ROOT, blocks, chat


async def test_the_python_example_answers_with_what_the_tool_said(folder: Path) -> None:
    toolbox = ROOT / "src" / "toolcrib" / "demo" / "toolbox"
    shutil.copytree(toolbox, folder / "toolbox")
    (example,) = blocks("README.md", "python")
    names: dict[str, Any] = {"__name__": "readme"}
    exec(compile(example, "README.md", "exec"), names)
    client, endpoint = chat(("disk_usage", '{"mount_point": "."}'), ("weather", '{"location": "Paris"}'), said="Half.")

    assert await names["answer"](client, "How full is the disk?") == "Half."

    first, second = endpoint.requests
    assert {"disk_usage", "weather"} <= {each["function"]["name"] for each in first["tools"]}
    assert [message["role"] for message in second["messages"]] == ["user", "assistant", "tool", "tool"]
    assert '"total":' in second["messages"][2]["content"]
    assert (folder / "crib.db").exists()


def test_the_python_example_has_twenty_lines() -> None:
    (example,) = blocks("README.md", "python")
    assert len([line for line in example.splitlines() if line.strip()]) == 20


@pytest.mark.skipif(os.name == "nt", reason="the commands are written for a POSIX shell")
def test_the_commands_run_as_written(folder: Path) -> None:
    (commands,) = blocks("README.md", "sh")
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-ec", commands], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "hello hello hello" in done.stdout
    assert '"hi hi ' in done.stdout
    assert "nothing to recover" in done.stdout


def test_the_scripts_named_in_the_documentation_are_there() -> None:
    for name in ("demo", "test", "check", "lock"):
        assert os.access(ROOT / "scripts" / name, os.X_OK)


def test_all_links_between_the_documents_lead_somewhere() -> None:
    import re

    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
