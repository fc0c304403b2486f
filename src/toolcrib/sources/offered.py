"""What a program may offer as tools, wherever it stands: in a list, in a module, behind an entry point."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from toolcrib.call import Tool
from toolcrib.define.function import attached_to, tool_of
from toolcrib.errors import DefinitionError

ACCEPTED = "a function, a Tool, a toolkit (class or instance), or a list of them"

#: Return annotations of functions that are tools themselves, not makers of tools.
_PLAIN = frozenset({"str", "int", "float", "bool", "bytes", "dict", "None"})


def tools_in(thing: Any, source: str) -> list[Tool]:
    """The tools of one thing, or of a list of them, in their order. Raises DefinitionError.

    Tools that name no source of their own get `source`; a toolkit's have the toolkit.
    """
    if isinstance(thing, (list, tuple)):
        return [tool for item in thing for tool in tools_in(item, source)]
    if _is_toolkit(thing):
        from toolcrib.define.toolkit import tools_of_toolkit

        return tools_of_toolkit(thing)
    if not offers(thing):
        raise DefinitionError(f"{ACCEPTED} is needed; got {described(thing)}")
    return [_of_source(tool_of(thing), source)]


def offers(thing: Any) -> bool:
    """Whether it is something tools can be made of; a list is not looked into."""
    if isinstance(thing, (Tool, staticmethod)) or _is_toolkit(thing):
        return True
    return callable(thing) and not isinstance(thing, type)


def tools_made_by(thing: Any, source: str) -> list[Tool]:
    """As `tools_in`; and a function without parameters that is not decorated is called for what it gives."""
    if not _is_maker(thing):
        return tools_in(thing, source)
    made = thing()
    if inspect.isawaitable(made):
        if inspect.iscoroutine(made):
            made.close()
        raise DefinitionError(f"{thing.__qualname__} is async; what makes tools must be an ordinary function")
    if inspect.isgenerator(made):
        made = list(made)
    if not isinstance(made, (list, tuple)) and not offers(made):
        raise DefinitionError(
            f"{thing.__qualname__} takes no arguments and is not decorated, so it was called for its tools, and gave "
            f"{described(made)}; if it is a tool itself, decorate it with @tool"
        )
    return tools_in(made, source)


def tools_defined_in(module: ModuleType, source: str) -> list[Tool]:
    """Toolkits and decorated functions that a module itself defines; none is no error. Raises DefinitionError."""
    found: list[Tool] = []
    seen: set[int] = set()
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) != module.__name__ or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, type):
            if _is_toolkit(value) and not getattr(value, "internal", True):
                found += tools_in(value, source)
        elif attached_to(value) is not None:
            found.append(_of_source(tool_of(value), source))
    return found


def twin(tools: Iterable[Tool]) -> Tool | None:
    """The first tool that has the origin of an earlier one."""
    seen: set[tuple[str, str]] = set()
    for tool in tools:
        if (tool.source, tool.name) in seen:
            return tool
        seen.add((tool.source, tool.name))
    return None


def _is_toolkit(thing: Any) -> bool:
    """An instance or a subclass of Toolkit; where nobody has loaded that class, there is none."""
    module = sys.modules.get("toolcrib.define.toolkit")
    return module is not None and (isinstance(thing, module.Toolkit) or module.is_toolkit_class(thing))


def described(thing: Any) -> str:
    """A value for an error text, without its contents."""
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"a value of type {type(thing).__name__}"


def _of_source(tool: Tool, source: str) -> Tool:
    return tool.replace(source=source) if tool.source == "functions" and source != "functions" else tool


def _is_maker(thing: Any) -> bool:
    if not isinstance(thing, FunctionType) or attached_to(thing) is not None:
        return False
    if inspect.signature(thing).parameters:
        return False
    gives = thing.__annotations__.get("return", "")
    named = gives if isinstance(gives, str) else "None" if gives is None else getattr(gives, "__name__", "")
    return named.partition("[")[0] not in _PLAIN
