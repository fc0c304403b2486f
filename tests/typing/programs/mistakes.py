"""What the type checkers must refuse: each line marked `wrong`."""

from __future__ import annotations

from toolcrib import Crib, Tool, tool


@tool(read_only=True)
def add(a: int) -> int:
    return a


crib = Crib([add])
add("x")  # wrong
crib.turn(usr="ada")  # wrong
crib.sync.call(add, {}, usr="ada")  # wrong
tool(readonly=True)  # wrong
Tool(name="x")  # wrong
text: str = crib.sync.call(add, {})  # wrong


async def loop() -> None:
    await crib.turn().tools("opanai")  # wrong
