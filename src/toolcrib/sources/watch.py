"""Watching sources while they are being written. For development."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from toolcrib.sources.source import Source

log = logging.getLogger("toolcrib.sources")

#: path -> (modification time in ns, size)
_State = dict[str, tuple[int, int]]


async def watch(
    sources: Sequence[Source],
    on_change: Callable[[], Any],
    stop: asyncio.Event,
    *,
    quiet: float = 0.2,
    poll: float | None = None,
) -> None:
    """Calls `on_change` whenever Python files of the sources have changed, until `stop` is set.

    on_change: for example `crib.reload`; a sync function runs in a thread, an async one is awaited; what it raises is
    logged. quiet: seconds without further changes before it is called. poll: look every so many seconds instead of
    using the `watchfiles` library; without the library, that is what happens anyway.
    """
    paths = list({path for source in sources for path in source.paths()})
    async for _ in _changes(paths, stop, quiet, poll):
        try:
            done = on_change() if inspect.iscoroutinefunction(on_change) else await asyncio.to_thread(on_change)
            if inspect.isawaitable(done):
                await done
        except Exception:
            log.exception("reloading tools failed; the tools there were are kept")


def _changes(paths: list[Path], stop: asyncio.Event, quiet: float, poll: float | None) -> AsyncIterator[None]:
    if poll is None:
        try:
            import watchfiles  # noqa: F401
        except ImportError:
            poll = 0.5
        else:
            return _told(paths, stop, quiet)
    return _polled(paths, stop, quiet, poll)


async def _told(paths: list[Path], stop: asyncio.Event, quiet: float) -> AsyncIterator[None]:
    from watchfiles import PythonFilter, awatch

    # Editors replace a file by renaming another over it, so a single file's folder is watched, not the file.
    folders = {path if path.is_dir() else path.parent for path in paths}
    if not folders:
        await stop.wait()
        return
    step = max(1, int(quiet * 1000))
    changes = awatch(
        *folders,
        watch_filter=PythonFilter(),
        stop_event=stop,
        step=step,
        debounce=10 * step,
        recursive=any(path.is_dir() for path in paths),
    )
    async for _ in changes:
        yield


async def _polled(paths: list[Path], stop: asyncio.Event, quiet: float, poll: float) -> AsyncIterator[None]:
    known = await asyncio.to_thread(_state, paths)
    while not await _stopped(stop, poll):
        now = await asyncio.to_thread(_state, paths)
        if now == known:
            continue
        while not await _stopped(stop, quiet):
            before, now = now, await asyncio.to_thread(_state, paths)
            if now == before:
                break
        known = now
        yield


async def _stopped(stop: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _state(paths: list[Path]) -> _State:
    state: _State = {}
    for path in paths:
        for folder, inner, files in os.walk(path if path.is_dir() else path.parent):
            inner[:] = [name for name in inner if name != "__pycache__" and name[0] != "." and path.is_dir()]
            for place in (os.path.join(folder, file) for file in files if file.endswith(".py")):
                try:
                    stat = os.stat(place)
                except OSError:  # gone this instant
                    continue
                state[place] = (stat.st_mtime_ns, stat.st_size)
    return state
