"""A journal whose answer is lost, or that fails: what is not proven committed does not run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcrib import Crib, JournalError, tool
from toolcrib.journal.location import open_store

ran: list[int] = []


@tool
async def pay(amount: int) -> int:
    ran.append(amount)
    return amount


class Flaky:
    """A store whose first commit fails: before it happens, or after, when only the answer is lost."""

    def __init__(self, store: Any, *, lost: bool) -> None:
        self._store, self._lost = store, lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def begin(self, *words: Any, **keywords: Any) -> None:
        if self._lost:
            await self._store.begin(*words, **keywords)
        raise JournalError("the disk is gone")


def message() -> dict[str, Any]:
    content = [{"type": "tool_use", "id": f"t{n}", "name": "pay", "input": {"amount": n}} for n in (1, 2)]
    return {"role": "assistant", "content": content}


@pytest.mark.parametrize("lost", [True, False])
async def test_a_start_is_run_only_where_its_commit_is_proven(tmp_path: Path, lost: bool) -> None:
    ran.clear()
    store = Flaky(open_store(f"sqlite:///{tmp_path}/crib.db"), lost=lost)
    async with Crib([pay], db=store) as crib:  # type: ignore[arg-type]
        one = await crib.call("pay", {"amount": 7})
        new = await crib.turn(user="ada").run(message())
        codes = [one.code, *(result.code for result in new.results)]
        rows = [row.state for row in await crib.book.store.find()]
    if lost:
        assert codes == ["ok"] * 3
        assert ran == [7, 1, 2]
        assert rows == ["executed"] * 3
    else:
        assert codes == ["journal_unavailable"] * 3
        assert ran == []
        assert rows == []
    assert len(new) == 2, "every call has its result all the same"
