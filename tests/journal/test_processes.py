"""Several processes on one file: nothing lost, nobody hindered, the dead told from the living."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from toolcrib.ids import fresh
from toolcrib.journal.rows import CallRow
from toolcrib.journal.sqlite import SqliteStore

HEAD = """
import asyncio, os, sys, time
from toolcrib.ids import fresh
from toolcrib.journal.rows import CallRow
from toolcrib.journal.sqlite import SqliteStore

def started():
    now = time.time_ns() // 1000
    return CallRow(id=fresh(), tool="t", user="ada", state="started", attempts=1, proposed_at=now, started_at=now)

def ended(row):
    row.state, row.code, row.value, row.ended_at = "executed", "ok", "1", time.time_ns() // 1000
    return row

def say(*words):
    print(*words, flush=True)
"""
CALLS_UNTIL_KILLED = """
async def caller(store):
    while True:
        row = started()
        await store.begin(None, [row])
        say("begun", row.id)
        await store.settle(ended(row))
        say("settled", row.id)

async def main():
    store = SqliteStore(sys.argv[1])
    await asyncio.gather(*(caller(store) for _ in range(4)))

asyncio.run(main())
"""
posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals and fork")


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(child: subprocess.Popen[str]) -> str:
    out, problems = child.communicate(timeout=120)
    assert child.returncode == 0, problems
    return out


async def test_eight_processes_write_one_file_and_nothing_is_lost(tmp_path: Path) -> None:
    code = """
    async def caller(store):
        for _ in range(25):
            row = started()
            await store.begin(None, [row])
            assert await store.settle(ended(row)) == "landed"

    async def main():
        store = SqliteStore(sys.argv[1])
        await asyncio.gather(*(caller(store) for _ in range(4)))
        await store.aclose()

    asyncio.run(main())
    """
    children = [process(code, tmp_path / "crib.db") for _ in range(8)]
    await asyncio.gather(*(asyncio.to_thread(finished, child) for child in children))
    store = SqliteStore(tmp_path / "crib.db")
    assert len(await store.find(state="executed")) == 800
    await store.aclose()
    assert os.listdir(tmp_path / "crib.db.owners") == []


async def kill_and_recover(path: Path, pause: float) -> None:
    child = process(CALLS_UNTIL_KILLED, path)
    assert child.stdout is not None
    first = child.stdout.readline()
    await asyncio.sleep(pause)
    child.kill()
    said = [line.split() for line in (first + child.stdout.read()).splitlines()]
    child.wait()
    child.stdout.close()
    assert child.stderr is not None
    child.stderr.close()
    store = SqliteStore(path)
    given_up = {row.id for row in await store.recover()}
    rows = {row.id: row for row in await store.find()}
    # The kill may have torn the last line: only whole ones count.
    begun = {words[1] for words in said if len(words) == 2 and words[0] == "begun" and len(words[1]) == 20}
    settled = {words[1] for words in said if len(words) == 2 and words[0] == "settled" and len(words[1]) == 20}
    assert begun
    assert begun <= rows.keys()
    assert all(rows[id].state == "executed" for id in settled)
    assert {row.state for row in rows.values()} <= {"executed", "unknown"}
    assert given_up <= {row.id for row in rows.values() if row.state == "unknown"}
    assert await store.recover() == []
    await store.aclose()


@posix
async def test_a_killed_process_leaves_no_call_without_a_row_and_none_unsettled(tmp_path: Path) -> None:
    for i in range(20):
        await kill_and_recover(tmp_path / f"{i % 2}.db", random.random() * 0.02)


@posix
@pytest.mark.slow
async def test_a_hundred_killed_processes_leave_nothing_unsettled(tmp_path: Path) -> None:
    for _ in range(100):
        await kill_and_recover(tmp_path / "crib.db", random.random() * 0.05)


@posix
async def test_a_stopped_process_lives_and_a_killed_one_does_not(tmp_path: Path) -> None:
    code = """
    async def main():
        store = SqliteStore(sys.argv[1])
        await store.begin(None, [started()])
        say(store.owner)
        await asyncio.sleep(60)

    asyncio.run(main())
    """
    child = process(code, tmp_path / "crib.db")
    assert child.stdout is not None
    owner = child.stdout.readline().strip()
    store = SqliteStore(tmp_path / "crib.db")
    child.send_signal(signal.SIGSTOP)
    assert await store.alive(owner)
    assert await store.recover() == []
    child.kill()
    child.communicate()
    assert not await store.alive(owner)
    assert [row.code for row in await store.recover()] == ["outcome_unknown"]
    await store.aclose()


@posix
async def test_a_forked_child_keeps_no_dead_owner_alive(tmp_path: Path) -> None:
    code = """
    async def main():
        store = SqliteStore(sys.argv[1])
        await store.begin(None, [started()])
        child = os.fork()
        if child == 0:
            sys.stdout.flush(); os.close(1); os.close(2)
            time.sleep(30)
            os._exit(0)
        say(store.owner, child)
        os.kill(os.getpid(), 9)

    asyncio.run(main())
    """
    child = process(code, tmp_path / "crib.db")
    owner, orphan = child.communicate(timeout=60)[0].split()
    store = SqliteStore(tmp_path / "crib.db")
    os.kill(int(orphan), 0)
    assert not await store.alive(owner)
    assert len(await store.recover()) == 1
    await store.aclose()
    os.kill(int(orphan), signal.SIGKILL)


@posix
async def test_parent_and_forked_children_write_on_with_writers_and_owners_of_their_own(tmp_path: Path) -> None:
    code = """
    async def calls(store, count):
        async def one():
            row = started()
            await store.begin(None, [row])
            assert await store.settle(ended(row)) == "landed"
        await asyncio.gather(*(one() for _ in range(count)))
        return len(await store.find())

    store = SqliteStore(sys.argv[1])
    asyncio.run(calls(store, 50))
    parent = store.owner
    children = []
    for i in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                asyncio.run(calls(store, 50))
                assert store.owner != parent
                asyncio.run(store.aclose())
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                os._exit(1)
        children.append(pid)
        asyncio.run(calls(store, 50))
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 4
    assert store.owner == parent
    asyncio.run(calls(store, 50))
    asyncio.run(store.aclose())
    """
    finished(process(code, tmp_path / "crib.db"))
    store = SqliteStore(tmp_path / "crib.db")
    assert len(await store.find(state="executed")) == 50 * 10
    await store.aclose()
    with sqlite3.connect(tmp_path / "crib.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@posix
async def test_a_fork_in_the_middle_of_many_writes_harms_neither_side(tmp_path: Path) -> None:
    code = """
    store = SqliteStore(sys.argv[1])

    async def caller(count):
        for _ in range(count):
            row = started()
            await store.begin(None, [row])
            await store.settle(ended(row))

    async def main():
        calling = asyncio.gather(*(caller(40) for _ in range(8)))
        children = []
        for _ in range(5):
            await asyncio.sleep(0.005)
            pid = os.fork()
            if pid == 0:
                os.execv(sys.executable, [sys.executable, "-c", "pass"]) if len(children) % 2 else in_child()
            children.append(pid)
        await calling
        assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 5
        await store.aclose()

    def in_child():
        import threading
        def run():
            try:
                asyncio.run(caller(10))
                asyncio.run(store.aclose())
                os._exit(0)
            finally:
                os._exit(1)
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()

    asyncio.run(main())
    """
    finished(process(code, tmp_path / "crib.db"))
    store = SqliteStore(tmp_path / "crib.db")
    assert len(await store.find(state="executed")) == 8 * 40 + 3 * 10
    await store.aclose()


@posix
async def test_what_is_queued_is_written_although_the_program_ends_without_closing(tmp_path: Path) -> None:
    code = """
    async def main():
        store = SqliteStore(sys.argv[1])
        for _ in range(500):
            store.begin(None, [started()])

    asyncio.run(main())
    """
    finished(process(code, tmp_path / "crib.db"))
    store = SqliteStore(tmp_path / "crib.db")
    assert len(await store.recover()) == 500
    await store.aclose()


async def test_a_long_lock_by_another_program_is_waited_for(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crib.db")
    await store.open()
    other = sqlite3.connect(tmp_path / "crib.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    row = CallRow(id=fresh(), state="started", proposed_at=1)
    writing = asyncio.ensure_future(store.begin(None, [row]))
    await asyncio.sleep(0.3)
    assert not writing.done()
    other.execute("ROLLBACK")
    other.close()
    await writing
    await store.aclose()


async def test_the_event_loop_goes_on_while_the_journal_is_locked_and_written(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "crib.db")
    await store.open()
    other = sqlite3.connect(tmp_path / "crib.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    rows = [CallRow(id=fresh(), state="started", proposed_at=1) for _ in range(200)]
    writing = asyncio.gather(*(store.begin(None, [row]) for row in rows))
    beats = 0
    while beats < 20:
        await asyncio.sleep(0.01)
        beats += 1
    assert not writing.done()
    other.execute("ROLLBACK")
    other.close()
    await writing
    await store.aclose()
