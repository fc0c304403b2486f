"""A callable's parameters, read at the first use: which a model gives, of what type, and which are injected."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Optional, Union, get_args, get_origin

from toolcrib.define.callables import fixed_keywords, scopes
from toolcrib.define.injected import INJECTED, injected_type, must_be_injected
from toolcrib.errors import DefinitionError

#: No default: the model must give it. Ellipsis as a default means the same.
REQUIRED: Any = inspect.Parameter.empty


#: A default that is not ours to show: the key stays absent where the model leaves it out.
OPTIONALLY: Any = object()


class Parameter(NamedTuple):
    """One parameter a model gives. default: REQUIRED, OPTIONALLY, or the value."""

    name: str
    annotation: Any
    default: Any


class Signature(NamedTuple):
    """extra: the type of further keywords the callable takes, None where it takes none. refused: those of them that a
    model may not give. by_position: parameters that take no keyword, in order, with their defaults."""

    parameters: tuple[Parameter, ...]
    injected: dict[str, Any]
    extra: Any
    refused: frozenset[str]
    by_position: tuple[tuple[str, Any], ...]


def signature_of(tool: str, function: Any, captured: Mapping[str, Any]) -> Signature:
    """Reads a callable, following `functools.wraps`. Raises DefinitionError, naming the parameter and its type."""
    reader = _Reader(tool, function, captured)
    fixed = fixed_keywords(function)
    parameters: list[Parameter] = []
    injected: dict[str, Any] = {}
    by_position: list[tuple[str, Any]] = []
    extra: Any = None
    for found in _inspected(tool, function):
        if found.name in fixed:
            continue
        annotation = reader.resolve(found.name, found.annotation)
        wanted = injected_type(annotation)
        if found.kind is inspect.Parameter.VAR_POSITIONAL:
            raise DefinitionError(f"tool {tool!r}: *{found.name} has no place among named arguments; take a list")
        if found.kind is inspect.Parameter.VAR_KEYWORD:
            if wanted is not None:
                raise DefinitionError(f"tool {tool!r}: **{found.name} cannot be injected: name each injected parameter")
            unpacked = _unpacked(annotation)
            extra = annotation if unpacked is None else None
            parameters += unpacked or ()
            continue
        if found.kind is inspect.Parameter.POSITIONAL_ONLY:
            by_position.append((found.name, found.default))
        if wanted is not None:
            injected[found.name] = wanted
        else:
            _refuse_runtime_types(tool, found.name, annotation)
            default = REQUIRED if found.default is ... else found.default
            parameters.append(Parameter(found.name, _nullable(annotation, default), default))
    return Signature(tuple(parameters), injected, extra, fixed | injected.keys(), tuple(by_position))


def _inspected(tool: str, function: Any) -> list[inspect.Parameter]:
    if isinstance(function, staticmethod):
        function = function.__func__
    try:
        return list(inspect.signature(function).parameters.values())
    except NameError as problem:
        raise DefinitionError(f"tool {tool!r}: an annotation names what is not defined: {problem}") from problem
    except (ValueError, TypeError) as problem:
        raise DefinitionError(f"tool {tool!r}: Python knows no signature of it: write a def around it") from problem


class _Reader:
    """Resolves textual annotations against the callable's own namespaces."""

    def __init__(self, tool: str, function: Any, captured: Mapping[str, Any]) -> None:
        self.tool = tool
        self.globals, self.local, self.of_class = scopes(function, captured)

    def resolve(self, parameter: str, annotation: Any) -> Any:
        if annotation is inspect.Parameter.empty:
            return Any
        if isinstance(annotation, type) and not get_args(annotation):
            return annotation
        try:
            try:
                return self._evaluated(annotation, self.local)
            except NameError:
                return self._evaluated(annotation, {**self.of_class, **self.local})
        except NameError as problem:
            raise DefinitionError(
                f"tool {self.tool!r}: parameter {parameter!r}: its type {shown(annotation)} is not found ({problem}): "
                "define or import it at the top of the module, not under TYPE_CHECKING nor after the function"
            ) from problem
        except Exception as problem:
            raise DefinitionError(
                f"tool {self.tool!r}: parameter {parameter!r}: {shown(annotation)} is no type ({problem})"
            ) from problem

    def _evaluated(self, annotation: Any, local: dict[str, Any]) -> Any:
        holder = SimpleNamespace(__annotations__={"it": annotation})
        return typing.get_type_hints(holder, self.globals, local, include_extras=True)["it"]


def _nullable(annotation: Any, default: Any) -> Any:
    """`x: str = None` says by its default that None is fine."""
    if default is not None or _takes_none(annotation):
        return annotation
    if get_origin(annotation) is Annotated:
        return Annotated[(_nullable(annotation.__origin__, None), *annotation.__metadata__)]
    return Optional[annotation]  # noqa: UP045 - the | of two types fails where one is text


def _takes_none(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    if annotation in (Any, None, NoneType, object):
        return True
    if get_origin(annotation) in (Union, UnionType):
        return any(_takes_none(member) for member in get_args(annotation))
    return get_origin(annotation) is Literal and None in get_args(annotation)


def _unpacked(annotation: Any) -> list[Parameter] | None:
    """The keys of `**options: Unpack[SomeTypedDict]` as parameters; None for any other annotation."""
    import typing_extensions as extensions

    from toolcrib.define.typeddict import QUALIFIERS

    if get_origin(annotation) not in (typing.Unpack, extensions.Unpack):
        return None
    typed = get_args(annotation)[0]
    found = []
    for name, hint in extensions.get_type_hints(typed, include_extras=True).items():
        needed = name in typed.__required_keys__
        while extensions.get_origin(hint) in QUALIFIERS:
            qualifier: Any = extensions.get_origin(hint)
            (hint,) = get_args(hint)
            needed = qualifier is extensions.Required or (needed and qualifier is not extensions.NotRequired)
        found.append(Parameter(name, hint, REQUIRED if needed else OPTIONALLY))
    return found


def _refuse_runtime_types(tool: str, parameter: str, annotation: Any) -> None:
    """Refuses, at any depth, what only the runtime knows: identity never comes from arguments."""
    if get_origin(annotation) is Annotated and INJECTED in annotation.__metadata__:
        raise DefinitionError(
            f"tool {tool!r}: parameter {parameter!r}: Injected stands around the whole type: Injected[T | None], "
            "not Injected[T] | None"
        )
    if must_be_injected(annotation):
        raise DefinitionError(
            f"tool {tool!r}: parameter {parameter!r}: a model must not write a {annotation.__name__}; "
            f"Injected[{annotation.__name__}] lets the runtime fill it in"
        )
    inner = (annotation.__origin__,) if get_origin(annotation) is Annotated else get_args(annotation)
    for part in inner if get_origin(annotation) is not Literal else ():
        _refuse_runtime_types(tool, parameter, part)


def shown(annotation: Any) -> str:
    """A type as its author wrote it, near enough."""
    if isinstance(annotation, str):
        return annotation
    return annotation.__qualname__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
