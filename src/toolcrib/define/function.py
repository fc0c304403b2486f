"""`@tool`, and the definition any callable has or can be given."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any, TypeVar, Unpack, overload

from toolcrib.call import Tool
from toolcrib.define.callables import (
    call_of,
    captured_names,
    is_async,
    is_unbound,
    name_of,
    positional_only,
    refuse_what_is_no_tool,
)
from toolcrib.define.interface import Interface
from toolcrib.define.options import ToolOptions, checked_options
from toolcrib.errors import DefinitionError

F = TypeVar("F", bound=Callable[..., Any])

#: Where a callable carries its definition.
ATTACHED = "__toolcrib__"


class Attached:
    """What `@tool` leaves on a function: the options as declared, and the tool it is by itself.

    interfaces: by class, for a method, so that all objects of a class share one.
    """

    __slots__ = ("captured", "function", "interfaces", "options", "tool")

    def __init__(self, function: Any, options: dict[str, Any], captured: Mapping[str, Any], tool: Tool) -> None:
        self.function = function
        self.options = options
        self.captured = captured
        self.tool = tool
        self.interfaces: dict[tuple[type, Any], Interface] = {}


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Makes a function a tool and returns it unchanged: `@tool`, or `@tool(read_only=True, ...)` with `ToolOptions`.

    Nothing is resolved here: types and docstring are read when the schema is first asked for. Raises DefinitionError
    for options that are unknown, of a wrong type, or contradict each other.
    """
    if function is not None:
        if not callable(function) and not isinstance(function, (staticmethod, classmethod)):
            raise DefinitionError(
                f"@tool takes its options by name, for example @tool(name='look_up'); got {function!r}"
            )
        return _attach(function, options, sys._getframe(1))

    def decorate(function: F) -> F:
        _attach(function, options, sys._getframe(1))
        return function

    return decorate


def _attach(function: Any, options: Mapping[str, Any], frame: FrameType) -> Any:
    descriptor = isinstance(function, (staticmethod, classmethod))
    carrier = function.__func__ if descriptor else function
    if not is_unbound(carrier):
        refuse_what_is_no_tool(carrier)
    name = options.get("name") or name_of(carrier)
    given = checked_options(name, options)
    captured = captured_names(carrier, frame)
    made = _made(carrier, name, given, Interface(name, carrier, captured))
    attached = Attached(carrier, given, captured, made)
    for place in (carrier, function) if descriptor else (function,):
        try:
            setattr(place, ATTACHED, attached)
        except AttributeError as problem:
            raise DefinitionError(
                f"tool {name!r}: a {type(place).__name__} cannot carry a definition: write a def around it"
            ) from problem
    return function


def tool_of(function: Any) -> Tool:
    """The definition of a callable: the one `@tool` attached, or one made from its signature; a Tool is itself.

    Functions, async functions, bound methods, partials and objects with `__call__`. A wrapper made with
    `functools.wraps` has the signature and the options of what it wraps; so has a partial, without what it fixes.
    Raises DefinitionError.
    """
    if isinstance(function, Tool):
        return function
    if isinstance(function, staticmethod):
        function = function.__func__
    refuse_what_is_no_tool(function)
    attached = attached_to(function)
    if attached is None:
        name = name_of(function)
        return _made(function, name, {}, Interface(name, function, captured_names(function, sys._getframe(1))))
    if attached.function is function:
        return attached.tool
    return tool_around(function, attached)


def attached_to(function: Any) -> Attached | None:
    """What `@tool` left on a callable, or on what it wraps, binds or calls."""
    while isinstance(function, (partial, staticmethod, classmethod)):
        function = function.func if isinstance(function, partial) else function.__func__
    found = getattr(function, ATTACHED, None) or getattr(call_of(function), ATTACHED, None)
    return found if isinstance(found, Attached) else None


def tool_around(function: Any, attached: Attached, **options: Any) -> Tool:
    """The attached definition around another callable: an object's method, a wrapper. `options` are further fields."""
    name = attached.options.get("name") or name_of(function)
    fields = {**attached.options, **options}
    if not inspect.ismethod(function) or not isinstance(function.__func__, FunctionType):
        return _made(function, name, fields, Interface(name, function, attached.captured))
    owner = function.__self__ if isinstance(function.__self__, type) else type(function.__self__)
    interface = attached.interfaces.get((owner, function.__func__))
    if interface is None:
        # Bound to the class, not to the object: the interface outlives the object and must not keep its secrets.
        interface = Interface(name, MethodType(function.__func__, owner), attached.captured)
        attached.interfaces[owner, function.__func__] = interface
    return _made(function, name, fields, interface)


def _made(function: Any, name: str, options: Mapping[str, Any], interface: Interface) -> Tool:
    further = {key: value for key, value in options.items() if key not in ("name", "description")}
    return Tool(
        name=name,
        description=options.get("description", interface.description),
        body=_body(function, interface),
        parameters=interface.parameters,
        injected=interface.injected,
        adapter=interface.adapter,
        **further,
    )


def _body(function: Any, interface: Interface) -> Callable[..., Any]:
    """The function itself where keywords reach all its parameters; async stays visible as async."""
    if positional_only(function):
        return _by_position(function, interface)
    if not inspect.isroutine(function) and is_async(function):
        return function.__call__  # type: ignore[no-any-return]
    return function  # type: ignore[no-any-return]


def _by_position(function: Any, interface: Interface) -> Callable[..., Any]:
    def arranged(values: dict[str, Any]) -> list[Any]:
        taken = interface.signature().by_position
        return [values.pop(name) if name in values else default for name, default in taken]

    if is_async(function):

        async def awaiting(**values: Any) -> Any:
            return await function(*arranged(values), **values)

        return awaiting

    def calling(**values: Any) -> Any:
        return function(*arranged(values), **values)

    return calling
