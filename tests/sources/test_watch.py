from __future__ import annotations

import asyncio
import importlib.util

import pytest

from toolcrib.sources.folder import Folder
from toolcrib.sources.watch import watch

WAYS = [0.02, pytest.param(None, marks=pytest.mark.skipif(not importlib.util.find_spec("watchfiles"), reason="extra"))]


@pytest.mark.parametrize("poll", WAYS)
async def test_a_change_is_told_until_it_is_stopped(tmp_path, define, poll):
    define("a_tool.py", "a", 1)
    source, changed, stop = Folder(tmp_path), asyncio.Event(), asyncio.Event()
    source.tools()

    async def on_change() -> None:
        if source.reload():
            changed.set()

    task = asyncio.create_task(watch([source], on_change, stop, quiet=0.02, poll=poll))
    for gives in range(2, 200):
        define("a_tool.py", "a", gives)
        try:
            await asyncio.wait_for(changed.wait(), 0.3)
            break
        except TimeoutError:
            continue
    assert source.tools()[0].body({}) > 1
    stop.set()
    await asyncio.wait_for(task, 10)


async def test_what_the_listener_raises_does_not_end_the_watch(tmp_path, define, caplog):
    define("a_tool.py", "a", 1)
    calls, twice, stop = [], asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_change() -> None:
        calls.append(1)
        if len(calls) >= 2:
            loop.call_soon_threadsafe(twice.set)
        raise RuntimeError("no")

    task = asyncio.create_task(watch([Folder(tmp_path)], on_change, stop, quiet=0.02, poll=0.02))
    for gives in range(2, 200):
        define("a_tool.py", "a", gives)
        try:
            await asyncio.wait_for(twice.wait(), 0.1)
            break
        except TimeoutError:
            continue
    assert twice.is_set()
    stop.set()
    await asyncio.wait_for(task, 10)
    assert "reloading tools failed" in caplog.text
