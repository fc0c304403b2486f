"""fastmcp: its client, connected in memory to its server."""

from __future__ import annotations

import json
from importlib.metadata import version

from fastmcp import Client, FastMCP
from serve import ARGUMENTS, add, serve, start


async def main() -> None:
    server = FastMCP("bench")
    server.tool(add)
    async with Client(server) as client:

        async def call() -> object:
            # A client takes an object: whoever has the model's text parses it.
            return (await client.call_tool("add", json.loads(ARGUMENTS))).data

        await serve({"add": call}, lambda answer: answer == 3, version("fastmcp"))


start(main)
