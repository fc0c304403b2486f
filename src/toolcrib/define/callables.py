"""What kind of callable it is, and where the names in its annotations are found."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from functools import partial
from types import FrameType, FunctionType, WrapperDescriptorType
from typing import Any

from toolcrib.errors import DefinitionError


def underlying(function: Any) -> Any:
    """The function whose signature, globals and docstring count: partials, methods, wrappers and objects opened."""
    for _ in range(64):  # a wrapper may name itself
        if isinstance(function, partial):
            function = function.func
        elif inspect.ismethod(function) or isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif isinstance(function, FunctionType):
            break
        else:
            call = call_of(type(function))
            if call is None or isinstance(call, WrapperDescriptorType):
                break
            function = call
    return function


def call_of(thing: Any) -> Any:
    """Its `__call__`, None where it has none."""
    return getattr(thing, "__call__", None)  # noqa: B004


def is_async(function: Any) -> bool:
    """Whether calling it gives a coroutine, as far as can be seen; an object's `__call__` counts."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call_of(function))


def name_of(function: Any) -> str:
    """The name a tool takes from its callable. Raises DefinitionError for a lambda and for what has none."""
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    if name == "<lambda>" or not isinstance(name, str):
        raise DefinitionError("a lambda has no name a model could call: use def, or tool(name=...)(function)")
    return name


def refuse_what_is_no_tool(function: Any) -> None:
    """Raises DefinitionError for what cannot become one tool: values, classes, methods without their object."""
    if isinstance(function, type):
        raise DefinitionError(
            f"the class {function.__name__} is no tool: decorate its methods with @tool and make it a Toolkit, "
            "or give an instance with __call__"
        )
    if isinstance(function, classmethod) or not (callable(function) or isinstance(function, staticmethod)):
        got = "a classmethod without its class" if isinstance(function, classmethod) else f"a {type(function).__name__}"
        raise DefinitionError(f"a tool is made of a callable; got {got}")
    if is_unbound(function):
        own = function.__code__.co_varnames[0]
        raise DefinitionError(
            f"{function.__qualname__} is a method without its object (the parameter {own!r}): give the method of an "
            "instance, or make its class a Toolkit and give that"
        )


def is_unbound(function: Any) -> bool:
    """Whether it is a function that stands in a class and still waits for self or cls."""
    if not isinstance(function, FunctionType):
        return False
    code = function.__code__
    home, _, _ = function.__qualname__.rpartition(".")
    in_class = bool(home) and not home.endswith("<locals>")
    return in_class and code.co_argcount > 0 and code.co_varnames[0] in ("self", "cls")


def fixed_keywords(function: Any) -> frozenset[str]:
    """Keywords that nobody may give any more: those of partials, and the name of a bound method's own object."""
    fixed: set[str] = set()
    while isinstance(function, partial):
        fixed |= function.keywords.keys()
        function = function.func
    if inspect.ismethod(function) and isinstance(function.__func__, FunctionType):
        fixed |= {*function.__func__.__code__.co_varnames[:1]}
    return frozenset(fixed)


def positional_only(function: Any) -> bool:
    """Whether some parameter may be given by position alone, as far as a cheap look tells; builtins count as such."""
    code = getattr(underlying(function), "__code__", None)
    return code is None or code.co_posonlyargcount > 0


def scopes(function: Any, captured: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Where annotations are looked up: the globals, then the function's locals, then (last) its object's class."""
    target = underlying(function)
    local: dict[str, Any] = dict(captured)
    free = target.__code__.co_freevars if isinstance(target, FunctionType) else ()
    for name, cell in zip(free, target.__closure__ if free else (), strict=True):
        try:
            local.setdefault(name, cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    for parameter in getattr(target, "__type_params__", ()):
        local.setdefault(parameter.__name__, parameter)
    while isinstance(function, partial):
        function = function.func
    owner = function.__self__ if inspect.ismethod(function) else function
    owner = owner if isinstance(owner, type) else type(owner)
    of_class: dict[str, Any] = {}
    for ancestor in reversed(owner.__mro__[:-1]):
        of_class |= vars(ancestor)
    return getattr(target, "__globals__", {}), local, of_class if owner is not FunctionType else {}


def captured_names(function: Any, frame: FrameType | None) -> dict[str, Any]:
    """The names of the enclosing functions and classes that textual annotations use, where these are running now.

    Only for functions that are not at a module's top; costs nothing for all others, and keeps no frame alive.
    """
    target = underlying(function)
    if not isinstance(target, FunctionType) or "." not in target.__qualname__:
        return {}
    wanted = _names_in_annotations(target)
    code, found = target.__code__, dict[str, Any]()
    while frame is not None and wanted - found.keys():
        if any(constant is code for constant in frame.f_code.co_consts):
            code, names = frame.f_code, frame.f_locals
            if names is frame.f_globals:
                break
            found |= {name: names[name] for name in wanted & set(names) if name not in found}
        frame = frame.f_back
    return found


def _names_in_annotations(target: FunctionType) -> set[str]:
    if sys.version_info >= (3, 14) and not target.__code__.co_flags & 0x1000000:  # annotations are evaluated in scope
        return set()
    words: set[str] = set()
    for annotation in target.__annotations__.values():
        if not isinstance(annotation, type):
            words |= set(re.findall(r"[^\W\d]\w*", annotation if isinstance(annotation, str) else repr(annotation)))
    return words
