"""What the journal makes on a disk, and what it says of a file it cannot use."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from toolcrib.errors import JournalError
from toolcrib.ids import fresh
from toolcrib.journal import schema
from toolcrib.journal.rows import CallRow
from toolcrib.journal.sqlite import SqliteStore

posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX file modes")


def row() -> CallRow:
    return CallRow(id=fresh(), state="started", proposed_at=1, started_at=1)


async def outcome(store: SqliteStore) -> Exception | None:
    try:
        await store.begin(None, [row()])
    except Exception as problem:
        return problem
    return None


def torn_copy(path: Path, copy: Path) -> None:
    copy.write_bytes(path.read_bytes())
    Path(f"{copy}-wal").write_bytes(Path(f"{path}-wal").read_bytes()[:-1000])


def files_with(text: bytes, folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file() and text in path.read_bytes()]


async def fails(path: Path) -> str:
    store = SqliteStore(path)
    with pytest.raises(JournalError) as caught:
        await store.open()
    with pytest.raises(JournalError):
        await store.begin(None, [row()])
    with pytest.raises(JournalError):
        await store.find()
    await store.aclose()
    text = str(caught.value)
    assert "\n" not in text
    return text


@posix
async def test_a_new_journal_is_for_its_owner_alone(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crib.db")
    await store.begin(None, [row()])
    modes = {name: stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in os.listdir(tmp_path)}
    assert modes == {"crib.db": 0o600, "crib.db-wal": 0o600, "crib.db-shm": 0o600, "crib.db.owners": 0o700}
    await store.aclose()


async def test_what_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, not a journal\n" * 100)
    before = path.read_bytes()
    assert "no SQLite database" in await fails(path)
    assert path.read_bytes() == before


async def test_a_database_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    for table in ("orders (id)", "meta (name, value)", "meta (key)"):
        path.unlink(missing_ok=True)
        connection = sqlite3.connect(path)
        connection.execute(f"CREATE TABLE {table}")
        connection.commit()
        connection.close()
        before = path.read_bytes()
        assert "tables of something else" in await fails(path)
        assert path.read_bytes() == before


async def test_an_empty_file_becomes_a_journal(tmp_path: Path) -> None:
    path = tmp_path / "crib.db"
    path.touch()
    store = SqliteStore(path)
    await store.begin(None, [row()])
    assert len(await store.find()) == 1
    await store.aclose()


async def test_a_folder_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    assert "is a folder" in await fails(tmp_path)
    assert "does not exist" in await fails(tmp_path / "missing" / "crib.db")
    (tmp_path / "file").touch()
    assert "does not exist" in await fails(tmp_path / "file" / "crib.db")


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_file_or_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "crib.db"
    path.touch(mode=0o400)
    assert "read-only" in await fails(path)
    path.unlink()
    os.chmod(tmp_path, 0o500)
    assert "cannot be" in await fails(path)
    os.chmod(tmp_path, 0o700)


async def test_a_newer_schema_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "crib.db"
    store = SqliteStore(path)
    await store.open()
    await store.aclose()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE meta SET value = ?", (str(schema.LATEST + 6),))
    connection.commit()
    connection.close()
    text = await fails(path)
    assert "newer Toolcrib" in text
    assert "upgrade" in text


async def test_opening_a_journal_that_is_up_to_date_changes_no_schema(tmp_path: Path) -> None:
    path = tmp_path / "crib.db"
    for _ in range(2):
        store = SqliteStore(path)
        await store.begin(None, [row()])
        await store.aclose()
        connection = sqlite3.connect(path)
        (version,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.close()
        assert version == len([name for name in schema._FIRST if name.startswith("CREATE")])


async def test_many_that_open_a_new_file_at_once_make_its_schema_once(tmp_path: Path) -> None:
    import asyncio

    stores = [SqliteStore(tmp_path / "crib.db", shared=False) for _ in range(8)]
    await asyncio.gather(*(store.begin(None, [row()]) for store in stores))
    assert len(await stores[0].find()) == 8
    for store in stores:
        await store.aclose()


def test_every_migration_says_what_it_does() -> None:
    assert all(migrate.__doc__ and "\n" not in migrate.__doc__ for migrate in schema.MIGRATIONS)


async def test_a_damaged_file_is_told_and_hangs_nobody(tmp_path: Path) -> None:
    path = tmp_path / "crib.db"
    store = SqliteStore(path)
    for _ in range(50):
        await store.begin(None, [row()])
    await store.aclose()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    store = SqliteStore(path)
    outcomes = [await outcome(store) for _ in range(50)]
    assert any(isinstance(problem, JournalError) and "damaged" in str(problem) for problem in outcomes)
    await store.aclose()
    path.write_bytes(whole[:100] + b"\xff" * 4000 + whole[4100:])
    assert await fails(path)


async def test_a_torn_log_keeps_what_was_committed_before(tmp_path: Path) -> None:
    path, copy = tmp_path / "crib.db", tmp_path / "copy.db"
    store = SqliteStore(path)
    for _ in range(5):
        await store.begin(None, [row()])
    torn_copy(path, copy)
    await store.aclose()
    torn = SqliteStore(copy)
    assert len(await torn.find()) == 4
    await torn.begin(None, [row()])
    assert len(await torn.find()) == 5
    await torn.aclose()


@posix
async def test_a_file_that_was_removed_is_made_anew_and_nothing_is_written_into_the_void(tmp_path: Path) -> None:
    path = tmp_path / "crib.db"
    store = SqliteStore(path)
    await store.begin(None, [row()])
    for name in ("crib.db", "crib.db-wal", "crib.db-shm"):
        (tmp_path / name).unlink()
    late = row()
    await store.begin(None, [late])
    assert [found.id for found in await store.find()] == [late.id]
    other = SqliteStore(path, shared=False)
    assert [found.id for found in await other.find()] == [late.id]
    await other.aclose()
    await store.aclose()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux")
async def test_a_full_disk_is_told_to_each_that_waits_and_passes(tmp_path: Path) -> None:
    import asyncio

    store = SqliteStore(tmp_path / "crib.db")
    await store.open()
    assert store._file is not None
    connection = store._file.writer.connection
    assert connection is not None
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    await store._write(lambda connection: connection.execute(f"PRAGMA max_page_count={pages + 2}"))
    big = [CallRow(id=fresh(), state="started", proposed_at=1, raw="x" * 9000) for _ in range(5)]
    outcomes = await asyncio.gather(*(store.begin(None, [one]) for one in big), return_exceptions=True)
    assert all(isinstance(outcome, JournalError) and "full" in str(outcome) for outcome in outcomes)
    await store.begin(None, [row()])
    assert len(await store.find()) == 1
    await store.aclose()


async def test_stores_of_one_file_in_one_process_share_an_owner_until_the_last_is_closed(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "crib.db")
    one, other = SqliteStore(tmp_path / "crib.db"), SqliteStore(tmp_path / "link.db")
    await one.open()
    await other.open()
    assert one.owner == other.owner
    await one.aclose()
    await one.aclose()
    assert os.listdir(tmp_path / "crib.db.owners") == [other.owner]
    await other.begin(None, [row()])
    await other.aclose()
    assert os.listdir(tmp_path / "crib.db.owners") == []


async def test_a_store_may_be_used_again_after_it_was_closed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crib.db")
    for _ in range(3):
        await store.begin(None, [row()])
        await store.aclose()
    assert len(await store.find()) == 3
    await store.aclose()


async def test_erased_contents_are_gone_from_the_files_too(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crib.db")
    one = row()
    one.user, one.raw = "ada", "the-secret-in-question" * 50
    await store.begin(None, [one])
    one.state, one.code, one.ended_at = "executed", "ok", 2
    await store.settle(one)
    assert files_with(b"the-secret-in-question", tmp_path)
    await store.erase(user="ada")
    assert files_with(b"the-secret-in-question", tmp_path) == []
    await store.aclose()
