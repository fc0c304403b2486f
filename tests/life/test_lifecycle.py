"""A Crib's life: lazy, at module level, over forks, closing, reloading."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from toolcrib import Crib, DefinitionError, Injected, JournalError, SettingsError, SourceError, Tool, Toolkit, tool


@tool(read_only=True)
def add(a: int, b: int = 0) -> int:
    """Add."""
    return a + b


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/crib.db"


async def test_nothing_is_touched_before_the_first_use(tmp_path: Path) -> None:
    crib = Crib(["nowhere/at/all"], db=f"sqlite:///{tmp_path}/crib.db")
    crib.turn(user="ada")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(SourceError, match="nowhere"):
        await crib.call("add", {})


async def test_a_journal_that_cannot_be_written_is_a_clear_failure_at_once(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(JournalError, match="folder"):
        await Crib([add], db=f"sqlite:///{tmp_path}/folder").open()


async def test_a_failed_opening_may_be_tried_again(tmp_path: Path) -> None:
    crib = Crib([add], db=f"sqlite:///{tmp_path}/later/crib.db")
    with pytest.raises(JournalError):
        await crib.call("add", {"a": 1})
    (tmp_path / "later").mkdir()
    assert (await crib.call("add", {"a": 1})).ok
    await crib.aclose()


async def test_a_closed_crib_says_so(db: str) -> None:
    async with Crib([add], db=db) as crib:
        pass
    await crib.aclose()
    with pytest.raises(SettingsError, match="closed"):
        await crib.call("add", {"a": 1})


async def test_many_first_uses_at_once_open_it_once(db: str) -> None:
    crib = Crib([add], db=db)
    results = await asyncio.gather(*(crib.call("add", {"a": each}) for each in range(20)))
    assert [result.value for result in results] == list(range(20))
    await crib.aclose()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forking is of POSIX")
def test_it_survives_a_fork(db: str) -> None:
    crib = Crib([add], db=db)
    assert crib.sync.call("add", {"a": 1}, user="parent").value == 1
    child = os.fork()
    if child == 0:
        try:
            fine = crib.sync.call("add", {"a": 2}, user="child").value == 2
            os._exit(0 if fine else 3)
        except BaseException:
            os._exit(4)
    assert crib.sync.call("add", {"a": 3}, user="parent").value == 3
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0

    async def users() -> list[Any]:
        return [(row.user, row.state) for row in await crib.book.store.find()]

    assert sorted(asyncio.run(users())) == [("child", "executed"), ("parent", "executed"), ("parent", "executed")]
    crib.sync.close()


async def test_a_parameter_that_nothing_can_fill_is_told_when_it_opens(db: str) -> None:
    class Database:
        pass

    @tool
    def query(database: Injected[Database]) -> str:
        return ""

    with pytest.raises((SettingsError, DefinitionError), match="database"):
        await Crib([query], db=db).open()


async def test_a_toolkit_is_opened_before_its_first_action_and_closed_at_the_end(db: str) -> None:
    told: list[str] = []

    class Shelf(Toolkit):
        async def open(self) -> None:
            told.append("open")

        async def close(self) -> None:
            told.append("close")

        @tool(read_only=True)
        async def look(self, place: int) -> str:
            told.append("look")
            return f"shelf {place}"

    async with Crib([Shelf()], db=db) as crib:
        assert told == []
        results = await asyncio.gather(*(crib.call("look", {"place": place}) for place in (1, 2)))
        assert [result.value for result in results] == ["shelf 1", "shelf 2"]
    assert told == ["open", "look", "look", "close"]


async def test_a_source_that_is_watched_is_reloaded(tmp_path: Path, db: str) -> None:
    folder = tmp_path / "toolbox"
    folder.mkdir()
    source = "from toolcrib import tool\n@tool\ndef say() -> str:\n    return 'one'\n"
    (folder / "say_tool.py").write_text(source)
    async with Crib([str(folder)], db=db, watch=True) as crib:
        assert (await crib.call("say")).value == "one"
        await asyncio.sleep(0.3)
        (folder / "say_tool.py").write_text(source.replace("one", "two, now"))
        ends = time.monotonic() + 20
        while (await crib.call("say")).value == "one" and time.monotonic() < ends:
            await asyncio.sleep(0.05)
        assert (await crib.call("say")).value == "two, now"


async def test_one_bad_tool_costs_only_itself(db: str) -> None:
    bad = Tool(name="bad", parameters={"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}, body=lambda a: a)
    async with Crib([add, bad], db=db) as crib:
        for dialect in ("openai", "openai-responses", "anthropic", "gemini"):
            shown = await crib.turn().tools(dialect)  # type: ignore[arg-type]
            assert "add" in str(shown)
        assert (await crib.call("add", {"a": 1})).ok
        assert not (await crib.call("bad", {"x": 1})).ok
