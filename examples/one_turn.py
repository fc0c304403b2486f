"""A turn without a provider: the reply is written out here. Run it: python examples/one_turn.py"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from toolcrib import Crib, Event, tool

REPLY: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "area", "arguments": '{"width": "3", "height": 4}'}},
        {"id": "call_2", "type": "function", "function": {"name": "volume", "arguments": "{}"}},
    ],
}


@tool(read_only=True)
async def area(width: float, height: float) -> float:
    """The area of a rectangle.

    Args:
        width: In metres.
        height: In metres.
    """
    return width * height


def watch(event: Event) -> None:
    print(f"{event.call.tool:8} {event.name}")


async def main() -> None:
    async with Crib([area], db="sqlite://", on=watch) as crib:
        turn = crib.turn(user="ada", conversation="c1")
        new = await turn.run(REPLY)
        print(json.dumps(new, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
