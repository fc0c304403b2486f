"""Where the schemas inside a schema are, and what a provider's view of one is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toolcrib.call import Schema
from toolcrib.errors import DefinitionError
from toolcrib.wire import Restore

#: Keywords whose value maps names to schemas, is a list of schemas, or is one schema (or a bool).
KEYED = ("properties", "patternProperties", "$defs", "dependentSchemas")
LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = (
    "items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems",
    "unevaluatedProperties",
)  # fmt: skip
#: What says something about a value without restricting it.
ANNOTATIONS = ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly")
#: Schemas nested deeper are shown as "anything": no provider takes them, and all that reads them recurses.
LEVELS = 40


@dataclass(frozen=True, slots=True)
class SchemaView:
    """A parameter schema as one provider takes it.

    parameters: always an object schema with "type" and "properties". restore: gives arguments their original names and
    values back, before they are checked against the original schema; None where nothing was bent; never raises.
    strict: OpenAI's strict mode may be switched on. notes: what was lost or moved, for the operator.
    """

    parameters: dict[str, Any]
    restore: Restore | None = None
    strict: bool = False
    notes: tuple[str, ...] = ()


def children(node: Schema) -> Iterator[Schema]:
    """The schemas directly inside a tidy one."""
    for keyword, value in node.items():
        if keyword in KEYED:
            yield from (child for child in value.values() if isinstance(child, dict))
        elif keyword in LISTED:
            yield from (child for child in value if isinstance(child, dict))
        elif keyword in SINGLE and isinstance(value, dict):
            yield value


def mapped(node: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A copy of a tidy schema with each schema directly inside it changed."""
    copy: Schema = {}
    for keyword, value in node.items():
        if keyword in KEYED:
            value = {key: change(child) if isinstance(child, dict) else child for key, child in value.items()}
        elif keyword in LISTED:
            value = [change(child) if isinstance(child, dict) else child for child in value]
        elif keyword in SINGLE and isinstance(value, dict):
            value = change(value)
        copy[keyword] = value
    return copy


def nodes(root: Schema) -> Iterator[Schema]:
    """All schemas of a tidy one, itself first, in the order in which they are written."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(list(children(node))))


def target(ref: str, root: Schema) -> Schema:
    """What a reference of a tidy schema points to."""
    if ref == "#":
        return root
    found: Schema = root.get("$defs", {}).get(ref.removeprefix("#/$defs/"), {})
    return found


def with_definitions(shown: Schema, root: Schema, change: Callable[[Schema], Schema] = lambda node: node) -> Schema:
    """The schema with those definitions of the root that it reaches, each changed, and no others."""
    wanted: dict[str, Schema] = {}
    work = [shown]
    while work:
        for node in nodes(work.pop()):
            name = node.get("$ref", "#").removeprefix("#/$defs/")
            if name != "#" and name not in wanted:
                wanted[name] = change(target(node["$ref"], root))
                work.append(wanted[name])
    return {**shown, "$defs": wanted} if wanted else shown


def carried(name: str, build: Callable[[], SchemaView]) -> SchemaView:
    """The view, or a DefinitionError that names the tool."""
    try:
        return build()
    except DefinitionError as problem:
        raise DefinitionError(f"tool {name!r}: {problem}") from problem
    except RecursionError as problem:
        raise DefinitionError(f"tool {name!r}: its parameter schema is nested too deep to be shown") from problem
