"""The commands, as a person and a script use them."""

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
from typer.testing import CliRunner, Result

from toolcrib.cli.main import app

TOOLS = '''
from toolcrib import tool

@tool(read_only=True)
def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b

@tool(destructive=True)
def drop(table: str) -> str:
    """Drop a table."""
    return "gone"

@tool
async def wait(seconds: float) -> str:
    """Wait."""
    import asyncio
    print("begun", flush=True)
    await asyncio.sleep(seconds)
    return "done"
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("TOOLCRIB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "math_tool.py").write_text(TOOLS)
    return tmp_path


def cli(*words: str, input: str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=input)


def message(*calls: tuple[str, Any], id: str | None = None) -> str:
    content = [
        {"type": "tool_use", "id": f"t{i}", "name": name, "input": given} for i, (name, given) in enumerate(calls)
    ]
    whole: dict[str, Any] = {"role": "assistant", "content": content}
    if id is not None:
        whole |= {
            "id": id,
            "type": "message",
            "model": "m",
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {},
        }
    return json.dumps(whole)


def test_run_prints_one_json_array_on_stdout_and_the_rest_on_stderr(here: Path) -> None:
    done = cli(
        "run", "--tools", ".", "-", input=message(("add", {"a": 1, "b": "2"}), ("drop", {"table": "x"}), ("nope", {}))
    )
    assert done.exit_code == 0, done.output
    messages = json.loads(done.stdout)
    assert [each["role"] for each in messages] == ["assistant", "user"]
    results = messages[1]["content"]
    assert [each["tool_use_id"] for each in results] == ["t0", "t1", "t2"]
    assert [each.get("is_error", False) for each in results] == [False, True, True]
    assert "conversation " in done.stderr
    rows = json.loads(cli("journal", "list", "--json").stdout)
    assert [(row["tool"], row["state"], row["code"], row["user"]) for row in rows] == [
        ("add", "confirmed", "ok", "local"),
        ("drop", "refused", "approval_unavailable", "local"),
        ("nope", "refused", "unknown_tool", "local"),
    ]
    wanted = {"id", "tool", "state", "code", "user", "conversation", "provider_call_id", "attempts"}
    assert wanted | {"proposed_at", "started_at", "ended_at"} <= set(rows[0])
    assert rows[0]["provider_call_id"] == "t0"


def test_the_same_response_of_a_message_is_not_run_again(here: Path) -> None:
    words = ("run", "--tools", ".", "--conversation", "c", "--message", "m", "-")
    first, second = (cli(*words, input=message(("add", {"a": 1}), id="msg_1")) for _ in range(2))
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert len(json.loads(cli("journal", "list", "--json").stdout)) == 1
    assert len(json.loads(cli("journal", "--json").stdout)) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nofile.json"), "nofile.json"),
        (("call", "add", "--tools", "nowhere"), "nowhere"),
        (("call", "add", "--db", "mysql://x"), "mysql"),
        (("tools", "--tools", ".", "--dialect", "latin"), "latin"),
        (("journal", "show", "zzz"), "zzz"),
        (("new", "not a name"), "not a name"),
        (("repair", "math_tool.py"), "JSON"),
    ],
)
def test_wrong_use_is_one_clear_line_and_exit_2(here: Path, words: tuple[str, ...], said: str) -> None:
    done = cli(*words)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    line = [each for each in done.stderr.strip().splitlines() if not each.startswith("conversation")]
    assert len(line) == 1
    assert said in line[0]


@pytest.mark.parametrize(
    "text", ["", "hello", "{}", '{"data": 1, "meta": 2}', "[1, 2]", '{"error": {"message": "boom"}}', "null"]
)
def test_what_is_no_model_response_runs_nothing_and_exits_2(here: Path, text: str) -> None:
    done = cli("run", "--tools", ".", "-", input=text)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert json.loads(cli("journal", "list", "--json").stdout) == []


def test_call_prints_the_result_and_exits_1_when_it_is_not_ok(here: Path) -> None:
    done = cli("call", "add", '{"a": 20, "b": 22}', "--tools", "math_tool.py")
    assert (done.exit_code, done.stdout) == (0, "42\n")
    assert cli("call", "add", "{'a': 1,}", "--tools", ".").exit_code == 0
    for words, code in (
        (("add", '{"a": "x"}'), "invalid_arguments"),
        (("ad", "{}"), "unknown_tool"),
        (("drop", '{"table": "x"}', "--headless"), "headless_denied"),
    ):
        failed = cli("call", *words, "--tools", ".", "--json")
        assert failed.exit_code == 1
        assert json.loads(failed.stdout)["code"] == code
    allowed = cli("call", "drop", '{"table": "x"}', "--allow", "drop", "--tools", ".")
    assert (allowed.exit_code, allowed.stdout) == (0, "gone\n")


def test_tools_prints_exactly_what_a_provider_is_shown(here: Path) -> None:
    shown = json.loads(cli("tools", "--tools", ".", "--dialect", "anthropic", "--json").stdout)
    assert [set(each) for each in shown] == [{"name", "description", "input_schema"}] * 3
    gemini = json.loads(cli("tools", "--tools", ".", "--dialect", "gemini").stdout)
    assert [each["name"] for each in gemini[0]["functionDeclarations"]] == ["add", "drop", "wait"]
    assert all("parameters" in each for each in gemini[0]["functionDeclarations"])
    assert json.loads(cli("tools", "--dialect", "openai").stdout) == []
    people = cli("tools", "--tools", ".").stdout
    assert "Add two numbers." in people
    assert "destructive" in people


def test_a_broken_tool_file_is_one_warning_and_the_rest_load(here: Path) -> None:
    (here / "bad_tool.py").write_text("import nothing_like_this\n")
    done = cli("call", "add", '{"a": 1}', "--tools", ".")
    assert (done.exit_code, done.stdout) == (0, "1\n")
    assert "bad_tool.py:1" in done.stderr
    assert "nothing_like_this" in done.stderr
    assert cli("doctor", "--tools", ".").exit_code == 1


def test_new_writes_a_tool_that_works_and_never_overwrites(here: Path) -> None:
    assert cli("new", "greet").exit_code == 0
    assert cli("call", "greet", '{"text": "ab", "times": 2}', "--tools", "toolbox").stdout == "abab\n"
    again = cli("new", "greet")
    assert again.exit_code == 2
    assert "exists" in again.stderr


def test_settings_of_the_project_hold_and_options_win(here: Path) -> None:
    (here / "sub").mkdir()
    (here / "toolcrib.toml").write_text('[crib]\ntools = ["math_tool.py"]\ndb = "sqlite:///book.db"\nuser = "ada"\n')
    os.chdir(here / "sub")
    assert cli("call", "add", '{"a": 5}').stdout == "5\n"
    assert (here / "book.db").exists()
    assert json.loads(cli("journal", "list", "--json").stdout)[0]["user"] == "ada"
    assert json.loads(cli("journal", "list", "--json", "--db", "sqlite:///other.db").stdout) == []
    (here / "toolcrib.toml").write_text("[crib]\ntools = []\ntolls = 1\n")
    wrong = cli("tools")
    assert wrong.exit_code == 2
    assert "toolcrib.toml:3" in wrong.stderr
    assert "tools" in wrong.stderr


def test_repair_fills_a_missing_result_with_its_true_state(here: Path) -> None:
    assistant = message(("add", {"a": 1}), ("wait", {"seconds": 0}))
    assert cli("run", "--tools", ".", "--conversation", "c", "-", input=assistant).exit_code == 0
    history = json.dumps(
        [{"role": "user", "content": "go"}, json.loads(assistant), {"role": "user", "content": "and?"}]
    )
    mended = json.loads(cli("repair", "--conversation", "c", "--user", "local", "-", input=history).stdout)
    results = mended[2]["content"]
    assert [block["type"] for block in results] == ["tool_result", "tool_result", "text"] or mended[3][
        "content"
    ] == "and?"
    assert "1" in json.dumps(results[0])
    again = json.loads(cli("repair", "-", input=json.dumps(mended)).stdout)
    assert again == mended


def test_show_export_and_erase(here: Path) -> None:
    cli("call", "add", '{"a": 7}', "--tools", ".", "--user", "ada")
    (row,) = json.loads(cli("journal", "list", "--json").stdout)
    whole = json.loads(cli("journal", "show", row["id"][:6], "--json").stdout)
    assert whole["arguments"] == {"a": 7}
    assert whole["value"] == 7
    assert '"kind":"call"' in cli("journal", "export").stdout
    assert cli("journal", "erase", "--user", "ada", "--yes").exit_code == 0
    assert json.loads(cli("journal", "show", row["id"], "--json").stdout)["arguments"] is None


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_in_the_middle_ends_in_order_with_130(here: Path) -> None:
    words = [sys.executable, "-m", "toolcrib", "run", "--tools", ".", "-"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(message(("wait", {"seconds": 60}), ("add", {"a": 1})))
    child.stdin.close()
    assert child.stderr is not None
    assert child.stderr.readline() == "begun\n", "what a tool prints is not mixed with the messages"
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    assert child.wait(20) == 130
    assert child.stdout.read() == ""
    child.stdout.close()
    child.stderr.close()
    rows = json.loads(cli("journal", "list", "--json").stdout)
    assert [(row["state"], row["code"]) for row in rows] == [
        ("unknown", "aborted"),
        ("skipped", "aborted_before_start"),
    ]


def test_an_object_of_a_module_in_the_working_folder_can_be_named(here: Path) -> None:
    (here / "my_agent_tools.py").write_text("def twice(n: int) -> int:\n    return n * 2\n")
    command = [
        str(Path(sys.executable).parent / "toolcrib"),
        "call",
        "twice",
        '{"n": 4}',
        "--tools",
        "my_agent_tools:twice",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=here)
    assert (done.returncode, done.stdout) == (0, "8\n"), done.stderr
