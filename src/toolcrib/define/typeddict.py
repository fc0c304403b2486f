"""`typing.TypedDict` for pydantic, which takes it from Python 3.12 on: a faithful copy made with typing_extensions."""

from __future__ import annotations

import sys
import types
import typing
from typing import Annotated, Any, Literal, Union, cast

import typing_extensions

QUALIFIERS: tuple[Any, ...] = (
    typing_extensions.Required,
    typing_extensions.NotRequired,
    typing_extensions.ReadOnly,
)


class RecursiveTypedDict(TypeError):
    """A `typing.TypedDict` that holds itself cannot be copied."""


def typed_dict(name: str, fields: dict[str, Any], **further: Any) -> Any:
    """A TypedDict made at run time, of the kind pydantic takes on every Python."""
    return cast(Any, typing_extensions.TypedDict)(name, fields, **further)


def for_pydantic(annotation: Any) -> Any:
    """The same type with every `typing.TypedDict` in it replaced; unchanged where there is none."""
    return annotation if sys.version_info >= (3, 12) else _replaced(annotation, {})


def _replaced(annotation: Any, seen: dict[Any, Any]) -> Any:
    if isinstance(annotation, type) and typing.is_typeddict(annotation):
        return _copy(annotation, seen) if type(annotation).__module__ == "typing" else annotation
    origin = typing_extensions.get_origin(annotation)
    if origin is None or origin is Literal or not hasattr(annotation, "__args__"):
        return annotation
    if origin is Annotated:
        inner = _replaced(annotation.__origin__, seen)
        return annotation if inner is annotation.__origin__ else Annotated[(inner, *annotation.__metadata__)]
    before = annotation.__args__
    after = tuple(_replaced(argument, seen) for argument in before)
    if all(new is old for new, old in zip(after, before, strict=True)):
        return annotation
    if origin is Union or origin is types.UnionType:
        return Union[after]  # noqa: UP007 - made of a tuple
    if isinstance(annotation, types.GenericAlias):
        return types.GenericAlias(origin, after)
    return annotation.copy_with(after)


def _copy(typed: Any, seen: dict[Any, Any]) -> Any:
    if typed in seen:
        if seen[typed] is None:
            raise RecursiveTypedDict(f"{typed.__name__} holds itself: import TypedDict from typing_extensions")
        return seen[typed]
    seen[typed] = None
    fields: dict[str, Any] = {}
    for name, hint in typing_extensions.get_type_hints(typed, include_extras=True).items():
        hint = _replaced(hint, seen)
        if typing_extensions.get_origin(hint) not in QUALIFIERS:
            needed = name in typed.__required_keys__
            hint = (typing_extensions.Required if needed else typing_extensions.NotRequired)[hint]
        fields[name] = hint
    copy = typed_dict(typed.__name__, fields)
    for attribute in ("__doc__", "__module__", "__qualname__", "__pydantic_config__"):
        if hasattr(typed, attribute):
            setattr(copy, attribute, getattr(typed, attribute))
    seen[typed] = copy
    return copy
