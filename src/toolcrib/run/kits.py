"""Toolkits that open: once before the first action of each is entered, closed when the crib ends."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.define.toolkit import Toolkit

log = logging.getLogger("toolcrib")


class OpenKits:
    """Which toolkits are open. Safe for threads and loops; a failed `open` fails that call and is tried again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[int, tuple[Toolkit, concurrent.futures.Future[None]]] = {}

    async def opened(self, kit: Any) -> None:
        """Returns once the toolkit is open. Raises what its `open` raises."""
        from toolcrib.define.toolkit import Toolkit

        if type(kit).open is Toolkit.open:
            return
        with self._lock:
            known = self._known.get(id(kit))
            if known is None:
                ours: concurrent.futures.Future[None] = concurrent.futures.Future()
                self._known[id(kit)] = (kit, ours)
        if known is not None:
            await asyncio.shield(asyncio.wrap_future(known[1]))
            return
        try:
            await kit.open()
        except BaseException as problem:
            with self._lock:
                del self._known[id(kit)]
            ours.set_exception(problem if isinstance(problem, Exception) else RuntimeError("opening was stopped"))
            raise
        ours.set_result(None)

    async def close(self) -> None:
        """Closes what is open; what one raises is logged."""
        with self._lock:
            known, self._known = self._known, {}
        for kit, _ in known.values():
            try:
                await kit.close()
            except Exception:
                log.exception("closing %r failed", kit)
