"""Parameters that the runtime fills in: no model sees them, and no argument reaches them."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

T = TypeVar("T")


class _Marker:
    __slots__ = ()

    def __repr__(self) -> str:
        return "Injected"


INJECTED = _Marker()

#: `caller: Injected[Caller]` is a `Caller` to type checkers and to the body, and absent from the tool's schema.
Injected = Annotated[T, INJECTED]


class IdempotencyKey(str):
    """For the service a body talks to: `key: Injected[IdempotencyKey]`. The same over all attempts of one call."""

    __slots__ = ()


def injected_type(annotation: Any) -> Any:
    """The T of an outermost `Injected[T]` (of `Injected[T | None]` too); None for every other annotation."""
    if get_origin(annotation) is not Annotated or INJECTED not in annotation.__metadata__:
        return None
    wanted = annotation.__origin__
    if get_origin(wanted) in (Union, UnionType):
        members = [member for member in get_args(wanted) if member is not NoneType]
        if len(members) == 1:
            return members[0]
    return wanted


def must_be_injected(annotation: Any) -> bool:
    """Whether a type stands for what only the runtime knows, so that a model must never write it."""
    from toolcrib.call import Call, Caller

    if not isinstance(annotation, type) or issubclass(annotation, (Call, Caller, IdempotencyKey)):
        return isinstance(annotation, type)
    ours = annotation.__module__.partition(".")[0] == "toolcrib"
    return ours and annotation.__name__ in ("Turn", "Tools", "Progress")
