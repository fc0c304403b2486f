from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from toolcrib.call import Schema, Tool
from toolcrib.errors import DefinitionError
from toolcrib.wire import ToolView


class FakeFormat:
    """A provider whose form is simple to read; it refuses tools that say so in their description."""

    def __init__(self, name: str = "fake", pattern: str = r"[a-zA-Z_][a-zA-Z0-9_-]*", length: int = 64) -> None:
        self.name = name
        self.name_pattern = pattern
        self.name_length = length
        self.viewed = 0

    def view(self, name: str, tool: Tool) -> ToolView:
        self.viewed += 1
        if tool.description == "refused":
            raise DefinitionError("this provider has no such schemas")
        restore = (lambda arguments: {"restored": arguments}) if "bent" in tool.description else None
        return ToolView(
            spec={"name": name, "schema": tool.parameters},
            restore=restore,
            warnings=("not strict",) if tool.description == "loose" else (),
        )

    def tools(self, views: Sequence[ToolView]) -> list[dict[str, Any]]:
        return [view.spec for view in views]

    def request(self, views: Sequence[ToolView]) -> dict[str, Any]:
        return {"tools": self.tools(views), "choice": "auto"} if views else {}


@pytest.fixture
def fake() -> FakeFormat:
    return FakeFormat()


@pytest.fixture(scope="session")
def make() -> Callable[..., Tool]:
    def tool(name: str, source: str = "functions", description: str = "", **options: Any) -> Tool:
        schema: Schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
        return Tool(name=name, source=source, description=description, parameters=schema, body=print, **options)

    return tool
