"""langgraph: a `ToolNode` on a list of tool calls, with the runtime its graph would give it."""

from __future__ import annotations

import json
from importlib.metadata import version

from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from serve import ARGUMENTS, add, serve, start


async def main() -> None:
    node = ToolNode([tool(add)])
    config = {"configurable": {"__pregel_runtime": Runtime()}}

    async def call() -> list:
        # langchain's chat models parse the text; what a ToolNode gets is the object.
        asked = {"name": "add", "args": json.loads(ARGUMENTS), "id": "call_1", "type": "tool_call"}
        return await node.ainvoke([asked], config)

    def fine(answer: dict) -> bool:
        return answer["messages"][0].content == "3"

    await serve({"add": call}, fine, version("langgraph"))


start(main)
