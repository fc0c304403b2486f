"""The options of `@tool` and of a tool file's DEFINITION: one list, checked at one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict

from toolcrib.call import Call, Schema
from toolcrib.errors import DefinitionError


class ToolOptions(TypedDict, total=False):
    """What may be declared of a tool; `Tool` explains each.

    name: default the function's. description: default the docstring's. approval: "never", "ask" or a function of the
    call. parallel, claims: a bool, and functions of the frozen arguments. retry: needs read_only or idempotent.
    output: a JSON Schema of the value. availability: a probe without arguments.
    """

    name: str
    description: str
    read_only: bool
    idempotent: bool
    destructive: bool
    open_world: bool
    parallel: bool | Callable[[Any], Any]
    claims: Callable[[Any], Any]
    approval: Literal["never", "ask"] | Callable[[Call], Any]
    timeout: float
    retry: Any
    breaker: Any
    trust: Literal["internal", "external"]
    runs: Literal["server", "client"]
    reconcile: Callable[..., Any]
    output: Schema
    availability: Callable[[], Any]


OPTIONS = tuple(ToolOptions.__annotations__)
_BOOLS = ("read_only", "idempotent", "destructive", "open_world")
_FUNCTIONS = ("claims", "reconcile", "availability")


def checked_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that say something, checked for what `Tool` itself does not check. None means not declared.

    Raises DefinitionError for unknown names, wrong types and contradictions.
    """
    unknown = [key for key in options if key not in OPTIONS]
    if unknown:
        raise DefinitionError(f"tool {name!r}: {unknown_names('option', unknown, OPTIONS)}")
    given = {key: value for key, value in options.items() if value is not None}
    for key in _BOOLS:
        if key in given and not isinstance(given[key], bool):
            raise DefinitionError(f"tool {name!r}: {key} is True or False; got {given[key]!r}")
    for key in _FUNCTIONS:
        if key in given and not callable(given[key]):
            raise DefinitionError(f"tool {name!r}: {key} is a function; got {type(given[key]).__name__}")
    if not isinstance(given.get("description", ""), str):
        raise DefinitionError(f"tool {name!r}: description is text; got {type(given['description']).__name__}")
    if isinstance(given.get("timeout"), bool):
        raise DefinitionError(f"tool {name!r}: timeout is a positive number of seconds; got {given['timeout']!r}")
    if not isinstance(given.get("output", {}), Mapping):
        raise DefinitionError(f"tool {name!r}: output is a JSON Schema, a dict; got {type(given['output']).__name__}")
    _refuse_contradictions(name, given)
    return given


def _refuse_contradictions(name: str, given: Mapping[str, Any]) -> None:
    if given.get("read_only") and given.get("destructive"):
        raise DefinitionError(f"tool {name!r}: read_only and destructive contradict each other")
    if not _repeats(given.get("retry")):
        return
    if not (given.get("read_only") or given.get("idempotent")):
        raise DefinitionError(
            f"tool {name!r}: retry repeats the body, and nothing says that this is harmless; declare read_only=True or "
            "idempotent=True, or leave retry out"
        )
    if given.get("runs") == "client":
        raise DefinitionError(
            f"tool {name!r}: runs='client' leaves the body to the caller's own code; retry cannot apply"
        )


def _repeats(retry: Any) -> bool:
    attempts = retry if isinstance(retry, int) else getattr(retry, "attempts", retry)
    if isinstance(attempts, bool) or not isinstance(attempts, int):
        return bool(attempts)
    return attempts > 1


def unknown_names(what: str, unknown: Iterable[str], known: Iterable[str]) -> str:
    """For example: unknown option 'readonly'; did you mean 'read_only'?"""
    from difflib import get_close_matches

    known = list(known)
    said = []
    for key in unknown:
        close = get_close_matches(str(key), known, n=1, cutoff=0.6)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known) or 'none'}"
        said.append(f"unknown {what} {key!r}; {hint}")
    return " ".join(said)
