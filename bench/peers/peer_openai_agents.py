"""openai-agents: a `FunctionTool`, invoked as the runner does once it has its context."""

from __future__ import annotations

from importlib.metadata import version

from agents import FunctionTool, function_tool
from agents.tool import invoke_function_tool
from agents.tool_context import ToolContext
from serve import ARGUMENTS, add, serve, start


async def main() -> None:
    tool = function_tool(add)
    assert isinstance(tool, FunctionTool)

    async def call() -> object:
        # The runner makes one context for each call.
        context = ToolContext(context=None, tool_name="add", tool_call_id="call_1", tool_arguments=ARGUMENTS)
        return await invoke_function_tool(function_tool=tool, context=context, arguments=ARGUMENTS)

    await serve({"add": call}, lambda answer: answer == 3, version("openai-agents"))


start(main)
