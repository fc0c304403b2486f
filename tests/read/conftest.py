"""Tools to read arguments for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import TypedDict

from toolcrib.call import Tool


@pytest.fixture(scope="session")
def python_tool() -> Callable[..., Tool]:
    """Makes a Python tool with these fields, as a decorated function would be one."""

    def make(fields: dict[str, Any], /, *, pinned: dict[str, Any] | None = None, **config: Any) -> Tool:
        shape: Any = TypedDict("Shape", fields)  # type: ignore[misc]
        shape.__pydantic_config__ = ConfigDict(extra="forbid", **config)  # type: ignore[typeddict-item]
        return Tool(
            name="python", body=lambda **values: values, adapter=lambda: TypeAdapter(shape), pinned=pinned,
            parameters=lambda: TypeAdapter(shape).json_schema(),
        )  # fmt: skip

    return make


@pytest.fixture(scope="session")
def schema_tool() -> Callable[..., Tool]:
    """Makes a tool with a JSON Schema out of its properties and further words."""

    def make(properties: dict[str, Any] | None = None, /, *, pinned: dict[str, Any] | None = None, **more: Any) -> Tool:
        root = {"type": "object", **({} if properties is None else {"properties": properties}), **more}
        return Tool(name="schema", body=lambda arguments: arguments, parameters=root, pinned=pinned)

    return make
