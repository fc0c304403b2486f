"""pydantic-ai: `ToolManager.handle_call`, prepared for a run step as its agent does, over a `FunctionToolset`."""

from __future__ import annotations

from importlib.metadata import version

from pydantic_ai import RunContext
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.tool_manager import ToolManager
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RunUsage
from serve import ARGUMENTS, add, serve, start


async def main() -> None:
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage(), run_step=0)
    manager = await ToolManager(FunctionToolset([add])).for_run_step(context)
    part = ToolCallPart(tool_name="add", args=ARGUMENTS, tool_call_id="call_1")

    async def call() -> int:
        return await manager.handle_call(part)

    await serve({"add": call}, lambda answer: answer == 3, version("pydantic-ai-slim"))


start(main)
