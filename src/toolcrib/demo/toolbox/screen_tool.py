"""An asynchronous tool: while one call waits, others run."""

import asyncio

from toolcrib import tool

_SCREENS = {"A": "sign in", "B": "list of projects", "C": "one project"}


@tool(read_only=True)
async def read_screen(id: str) -> str:
    """What a screen of the app shows.

    Args:
        id: The screen's letter.
    """
    await asyncio.sleep(0.05)
    return f"screen {id}: {_SCREENS.get(id, 'no such screen')}"
