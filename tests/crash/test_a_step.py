"""A step whose process was killed, and what the next process makes of the same reply."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import victim

from toolcrib import Crib

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL is of POSIX")


class Book:
    """One journal and one world, and the processes that use them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "crib.db"
        self.url = f"sqlite:///{self.path}"
        self.world = folder / "world"

    def process(self, place: str, *replies: str) -> subprocess.CompletedProcess[str]:
        words = [self.url, str(self.world), place, *replies]
        return subprocess.run([sys.executable, victim.__file__, *words], capture_output=True, text=True, timeout=60)

    def killed(self, place: str, *replies: str) -> None:
        done = self.process(place, *replies)
        assert done.returncode == -signal.SIGKILL, done.stderr

    def told(self, *replies: str) -> list[dict[str, Any]]:
        """What a process that nobody kills is told."""
        done = self.process("", *replies)
        assert done.returncode == 0, done.stderr
        told: list[dict[str, Any]] = json.loads(done.stdout)
        return told

    def states(self) -> list[tuple[str, str | None]]:
        return [(state, code) for _, _, state, code in victim.rows(self.path)]

    def entered(self) -> list[str]:
        return [name for _, name, _ in victim.effects(self.world)]

    def toolcrib(self, *words: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "toolcrib", *words, "--json", "--db", self.url], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path)


def answers(said: dict[str, Any]) -> list[tuple[str, str]]:
    """(id of the call, text) of each result; every call of the assistant's message has one, in its order."""
    assistant, *results = said["messages"]
    assert [result["tool_call_id"] for result in results] == [call["id"] for call in assistant["tool_calls"]]
    assert {result["role"] for result in results} == {"tool"}
    return [(result["tool_call_id"], result["content"]) for result in results]


THREE = "look:slow-a look:b pay:c"


@pytest.mark.parametrize("id", ["", "r1= "])
def test_the_call_that_had_ended_keeps_its_result_and_no_other_is_guessed(book: Book, id: str) -> None:
    book.killed("after settle 1", id + THREE)
    assert book.states() == [("started", None), ("executed", "ok"), ("proposed", None)]
    said = book.told(id + THREE)
    assert said[0]["codes"] == ["outcome_unknown", "ok", "not_started"]
    (_, first), (_, second), (_, third) = answers(said[0])
    assert "verify" in first
    assert second == "look b"
    assert "not begun" in third
    assert book.entered() == ["slow-a", "b"], "nothing ran again"
    assert book.told(id + THREE) == said, "and the next process is told the same"
    assert book.states() == [("unknown", "outcome_unknown"), ("confirmed", "ok"), ("skipped", "not_started")]


@pytest.mark.parametrize("id", ["", "r1= "])
def test_messages_that_were_not_confirmed_are_handed_over_again(book: Book, id: str) -> None:
    book.killed("after run 1", id + "look:a post:b pay:refused pay:c")
    assert [state for state, _ in book.states()] == ["executed", "executed", "refused", "executed"]
    (said,) = book.told(id + "look:a post:b pay:refused pay:c")
    assert [text for _, text in answers(said)][:2] == ["look a", "post b"]
    assert said["codes"] == ["ok", "ok", "denied", "ok"]
    assert book.entered() == ["a", "b", "c"]
    assert [state for state, _ in book.states()] == ["confirmed", "confirmed", "refused", "confirmed"]


def test_a_second_step_confirms_the_first_and_dies_alone(book: Book) -> None:
    book.killed("after effect 2", "pay:a", "post:b")
    assert book.states() == [("confirmed", "ok"), ("started", None)]
    first, second = book.told("pay:a", "post:b")
    assert (first["codes"], second["codes"]) == (["ok"], ["outcome_unknown"])
    assert book.entered() == ["a", "b"]


def test_a_second_step_that_was_never_recorded_runs_in_the_next_process(book: Book) -> None:
    book.killed("before begin 2", "pay:a", "pay:b")
    first, second = book.told("pay:a", "pay:b")
    assert (first["codes"], second["codes"]) == (["ok"], ["ok"])
    assert book.entered() == ["a", "b"]


def test_killed_while_a_policy_decides_nothing_is_recorded_and_nothing_has_run(book: Book) -> None:
    book.killed("policy 2", "look:a pay:b")
    assert book.states() == []
    assert book.entered() == []
    assert book.told("look:a pay:b")[0]["codes"] == ["ok", "ok"], "so it runs now, whole"
    assert book.entered() == ["a", "b"]


@pytest.mark.parametrize("place", ["before start 1", "after settle 1"])
def test_a_call_that_waited_for_its_turn_was_not_started(book: Book, place: str) -> None:
    book.killed(place, "pay:a pay:b post:c")
    assert book.states() == [("executed", "ok"), ("proposed", None), ("proposed", None)]
    (said,) = book.told("pay:a pay:b post:c")
    assert said["codes"] == ["ok", "not_started", "not_started"]
    assert book.entered() == ["a"]


def test_a_start_that_was_committed_is_unknown_although_its_body_was_not_entered(book: Book) -> None:
    book.killed("after start 1", "pay:a pay:b")
    assert book.entered() == ["a"]
    assert book.told("pay:a pay:b")[0]["codes"] == ["ok", "outcome_unknown"]


@pytest.mark.parametrize(("how", "tool"), [("recover", "pay"), ("open", "post"), ("open", "look")])
async def test_what_a_killed_body_left_is_ended_once(book: Book, how: str, tool: str) -> None:
    book.killed("after effect 1", f"{tool}:a pay:b")
    left = [("started", None), ("proposed", None)]
    listed = book.toolcrib("journal", "list")
    assert [(row["state"], row["code"]) for row in listed] == left
    assert book.toolcrib("journal", "list") == listed
    assert book.states() == left, "looking changes nothing"
    watch(book.path)
    ended = [("unknown", "outcome_unknown"), ("skipped", "not_started")]
    if how == "recover":
        assert [(row["state"], row["code"]) for row in book.toolcrib("recover")] == ended
    else:
        async with Crib([], db=book.url) as crib:
            assert await crib.recover() == []
    assert book.states() == ended
    assert book.toolcrib("recover") == []
    async with Crib([], db=book.url) as crib:
        assert await crib.recover() == []
    assert changes(book.path) == [("proposed", "skipped"), ("started", "unknown")]
    assert book.entered() == ["a"]


def test_a_sub_call_dies_with_the_body_that_made_it(book: Book) -> None:
    book.killed("after effect 2", "via:a look:b")
    assert book.entered() == ["a", "a-below"]
    (said,) = book.told("via:a look:b")
    assert said["codes"] == ["outcome_unknown", "not_started"]
    ends = {(tool, state, code) for _, tool, state, code in victim.rows(book.path)}
    assert ends == {
        ("via", "unknown", "outcome_unknown"),
        ("pay", "unknown", "outcome_unknown"),
        ("look", "skipped", "not_started"),
    }
    assert book.entered() == ["a", "a-below"]


def watch(path: Path) -> None:
    """From now on the database itself writes down each change of a state."""
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE watched (old TEXT, new TEXT);"
        "CREATE TRIGGER watch AFTER UPDATE OF state ON calls"
        " BEGIN INSERT INTO watched VALUES (OLD.state, NEW.state); END;"
    )
    connection.close()


def changes(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT old, new FROM watched ORDER BY old").fetchall()
    connection.close()
    return found
