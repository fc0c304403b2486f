"""Every store that keeps the journal's contract. Another one joins by another entry in `STORES`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from toolcrib.journal.sqlite import SqliteStore
from toolcrib.journal.store import Store

#: Makes a store, each time as another process would: the same book under the same path, another owner.
MakeStore = Callable[[], Store]

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "crib.db", shared=False),
    "memory": lambda folder: SqliteStore(None),
}
SHARED_BY_PROCESSES = [name for name in STORES if name != "memory"]


@pytest.fixture(params=list(STORES))
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    made = STORES[request.param](tmp_path)
    yield made
    await made.aclose()


@pytest.fixture(params=SHARED_BY_PROCESSES)
async def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MakeStore]:
    made: list[Store] = []

    def make() -> Store:
        made.append(STORES[request.param](tmp_path))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()
