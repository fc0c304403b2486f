"""The demo: real tools on recorded replies, whole and from an installed package's point of view."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from tests_docs import ROOT

DEMO = ROOT / "src" / "toolcrib" / "demo"
#: What the test fixtures of vercel/ai hold, byte for byte.
RECORDED = {
    "1-openai.json": "groq__groq-tool-call.json",
    "2-openai-responses.json": "openai__openai-client-tool-search.2.json",
    "3-anthropic.json": "anthropic__anthropic-tool-no-args.json",
    "4-gemini.jsonl": "google__google-stream-no-args-tool-call.chunks.txt",
}
DIGESTS = {
    "1-openai.json": "fc36356589f92669783bea5cdd7b863018475db7cbf6b142eda4b3fbaac1d8db",
    "2-openai-responses.json": "6d0767dbaa7dfd1964ea8502e274428dcb47175d2afde3b105d31dde81a01727",
    "3-anthropic.json": "62f3611f1655d442031703ed53a15d9c713be100ea6c0afd6f2ccc7859ddfd92",
    "4-gemini.jsonl": "458bb608abd07d37ef0ada2df4664ce4b08c7529242e3959c42cce6ebe65ab43",
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-c", "from toolcrib.cli.main import app; app()", "demo"],
        cwd=folder, capture_output=True, text=True, encoding="utf-8", env={"PATH": "", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []
    return done.stdout


def test_it_shows_parallel_calls_an_unknown_name_and_broken_arguments(shown: str) -> None:
    assert shown.count("wrote  read_screen") == 3
    assert "There is no tool 'get_weather'" in shown
    assert "location: is required" in shown
    assert "the code fence around it was left out" in shown


def test_it_ends_with_the_journal_of_what_happened(shown: str) -> None:
    journal = shown[shown.index("What happened") :].splitlines()
    rows = [line.split()[:3] for line in journal[2:10]]
    assert rows == [
        ["weather", "refused", "invalid_arguments"],
        ["get_weather", "refused", "unknown_tool"],
        ["updateIssueList", "confirmed", "ok"],
        ["read_theme", "confirmed", "ok"],
        ["read_screen", "confirmed", "ok"],
        ["read_screen", "confirmed", "ok"],
        ["read_screen", "confirmed", "ok"],
        ["weather", "confirmed", "ok"],
    ]


def test_it_is_plain_text_where_it_is_no_terminal(shown: str) -> None:
    assert "\x1b" not in shown
    assert all(line == line.rstrip() for line in shown.splitlines())


@pytest.mark.parametrize("ours", RECORDED)
def test_a_recorded_reply_is_as_it_was_recorded(ours: str) -> None:
    assert hashlib.sha256((DEMO / "replies" / ours).read_bytes()).hexdigest() == DIGESTS[ours]


def test_every_reply_has_its_origin_beside_it() -> None:
    text = (DEMO / "replies" / "README.md").read_text(encoding="utf-8")
    for file in (DEMO / "replies").iterdir():
        assert file.name == "README.md" or f"`{file.name}`" in text
    for origin in RECORDED.values():
        assert f"`{origin.partition('__')[2]}`" in text


def test_the_toolbox_holds_every_kind_of_tool_file() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(DEMO / "toolbox").glob("*_tool.py")}
    assert any("DEFINITION" in text for text in texts.values())
    assert any("async def" in text for text in texts.values())
    assert any("write_text" in text for text in texts.values())
