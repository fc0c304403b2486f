"""The tools of a module: `DEFINITION` with `execute`, functions decorated with `@tool`, toolkit classes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from toolcrib.call import Call, Caller, Tool
from toolcrib.define.callables import call_of
from toolcrib.define.checks import check
from toolcrib.define.function import attached_to, tool_of
from toolcrib.define.injected import IdempotencyKey, injected_type
from toolcrib.define.options import OPTIONS, checked_options, unknown_names
from toolcrib.define.sound import plainly_sound
from toolcrib.define.toolkit import is_toolkit_class, tools_of_toolkit
from toolcrib.errors import DefinitionError

#: What `execute` may take by name beside the arguments. Names stand for types that only a runtime has.
CONTEXT: Mapping[str, Any] = {
    "caller": Caller,
    "call": Call,
    "turn": "Turn",
    "tools": "Tools",
    "idempotency_key": IdempotencyKey,
}
_KEYS = ("id", *OPTIONS, "parameters")


def tools_of_module(module: ModuleType, *, source: str) -> list[Tool]:
    """All tools a module defines, in the order of definition; what it merely imports is not among them.

    DEFINITION: a `Tool`, or a dict of `name` (or `id`; with both, the name is the tool's), `description`, `parameters`
    and the options of `@tool`. Then `execute(args, **context)`, sync or async, is the body: args is a plain dict, and
    context what its signature names out of `CONTEXT` and `Injected[...]`; all of CONTEXT where it takes `**context`.
    Toolkits have their own source, "toolkit:NAME". Raises DefinitionError that says what is wrong.
    """
    tools: list[Tool] = []
    seen: set[int] = set()
    for name, value in vars(module).items():
        if name == "DEFINITION":
            tools.append(_defined(module, value, source))
        elif getattr(value, "__module__", None) != module.__name__ or id(value) in seen:
            continue
        elif is_toolkit_class(value):
            tools += () if value.internal else tools_of_toolkit(value)
        elif name == "execute" and hasattr(module, "DEFINITION"):
            continue
        elif not isinstance(value, type) and attached_to(value) is not None:
            tools.append(tool_of(value).replace(source=source))
        seen.add(id(value))
    if not tools:
        raise DefinitionError(_nothing(module))
    _refuse_twins(tools)
    return tools


def _nothing(module: ModuleType) -> str:
    if hasattr(module, "execute"):
        return "it has execute and no DEFINITION: add DEFINITION = {'name': ..., 'description': ..., 'parameters': ...}"
    return "it defines no tool: add DEFINITION and execute(args), decorate a function with @tool, or subclass Toolkit"


def _refuse_twins(tools: list[Tool]) -> None:
    origins = [(tool.source, tool.name) for tool in tools]
    if len(set(origins)) == len(origins):
        return
    for origin in origins:
        if origins.count(origin) > 1:
            raise DefinitionError(f"it defines two tools called {origin[1]!r}")


def _defined(module: ModuleType, definition: Any, source: str) -> Tool:
    if isinstance(definition, Tool):
        return definition.replace(source=source)
    if not isinstance(definition, Mapping):
        raise DefinitionError(
            f"DEFINITION is one tool, a dict; got {type(definition).__name__}. For several tools, use @tool"
        )
    name = _named(definition)
    unknown = [key for key in definition if key not in _KEYS]
    if unknown:
        raise DefinitionError(f"DEFINITION of {name!r}: {unknown_names('key', unknown, _KEYS)}")
    if not hasattr(module, "execute"):
        raise DefinitionError(f"DEFINITION of {name!r}: no execute beside it: add def execute(args): ...")
    execute = module.execute
    if not callable(execute):
        raise DefinitionError(f"execute is no function; got {type(execute).__name__}")
    options = checked_options(name, {key: definition[key] for key in OPTIONS if key in definition and key != "name"})
    parameters = definition.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise DefinitionError(f"DEFINITION of {name!r}: parameters is a JSON Schema; got {type(parameters).__name__}")
    plain = parameters is None or plainly_sound(parameters)
    made = Tool(
        name=name,
        body=_visibly_async(execute),
        parameters=None if parameters is None else partial(dict, parameters) if plain else dict(parameters),
        source=source,
        injected=_context(execute),
        **{"description": partial(_described, execute), **options},
    )
    if not plain or made.output is not None:
        problems = check(made)
        if problems:
            raise DefinitionError("; ".join(problems))
    return made


def _named(definition: Mapping[str, Any]) -> str:
    for key in ("name", "id"):
        value = definition.get(key)
        if value is not None and not (isinstance(value, str) and value.strip()):
            raise DefinitionError(f"DEFINITION: {key} is a non-empty text; got {value!r}")
    name = definition.get("name") or definition.get("id")
    if not name:
        raise DefinitionError("DEFINITION has neither name nor id: add 'name', what the model calls the tool")
    return str(name)


def _described(execute: Any) -> str:
    return inspect.getdoc(execute) or "" if inspect.isroutine(execute) else ""


def _visibly_async(execute: Any) -> Callable[..., Any]:
    called = call_of(execute)
    through = not inspect.isroutine(execute) and inspect.iscoroutinefunction(called)
    return called if through else execute  # type: ignore[no-any-return]


def _context(execute: Any) -> dict[str, Any]:
    """Keyword of execute -> what the runtime gives it."""
    if type(execute) is FunctionType and not hasattr(execute, "__wrapped__"):
        code = execute.__code__
        if code.co_argcount == 1 and not code.co_kwonlyargcount and not code.co_flags & inspect.CO_VARARGS:
            return dict(CONTEXT) if code.co_flags & inspect.CO_VARKEYWORDS else {}
    try:
        arguments, *others = inspect.signature(execute).parameters.values()
    except ValueError:
        raise DefinitionError("execute takes no arguments: make it execute(args), args being a dict") from None
    if arguments.kind not in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
        raise DefinitionError(
            f"execute's first parameter, {arguments}, must be plain: it is given the dict of arguments"
        )
    wanted: dict[str, Any] = {}
    hints = _hints(execute)
    for other in others:
        typed = injected_type(hints.get(other.name))
        if other.kind is inspect.Parameter.VAR_KEYWORD:
            wanted = {**CONTEXT, **wanted}
        elif other.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            raise DefinitionError(f"execute gets its context by name: {other} cannot be filled in")
        elif typed is not None:
            wanted[other.name] = typed
        elif other.name in CONTEXT:
            wanted[other.name] = CONTEXT[other.name]
        elif other.default is inspect.Parameter.empty:
            raise DefinitionError(
                f"execute wants {other.name!r}, which is no context ({', '.join(CONTEXT)}, Injected[a provided type]). "
                "The tool's own arguments are in its first parameter, a dict"
            )
    return wanted


def _hints(execute: Any) -> dict[str, Any]:
    annotations = getattr(execute, "__annotations__", {})
    if not any("Injected" in str(annotation) for annotation in annotations.values()):
        return {}
    try:
        return typing.get_type_hints(execute, include_extras=True)
    except Exception as problem:
        raise DefinitionError(f"execute: an annotation cannot be resolved: {problem}") from problem
