"""Whether a schema keeps the rules of OpenAI's strict mode: the flag is set on the word of this check alone.

The rules are those of the guide to structured outputs: closed objects, all properties required, a subset of keywords,
5000 properties, 10 levels of nesting, 1000 values in all enumerations, 15000 characters in one of more than 250 texts,
120000 characters in all names and values.
"""

from __future__ import annotations

from typing import Any

from toolcrib.call import Schema
from toolcrib.dialects.schemas.walk import nodes, target

PROPERTIES, NESTING, VALUES, LISTED_TEXT, ALL_TEXT = 5_000, 10, 1_000, 15_000, 120_000
_KEYWORDS = frozenset(
    {
        "type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description", "title",
        "$ref", "$defs", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minItems", "maxItems",
    }
)  # fmt: skip


def strict_faults(schema: Schema) -> list[str]:
    """What strict mode would refuse; empty when it takes the schema."""
    faults = [fault for node in nodes(schema) for fault in _node_faults(node)]
    if schema.get("type") != "object" or "anyOf" in schema:
        faults.append("the root is no plain object")
    if any(_comes_back(f"#/$defs/{name}", schema) for name in schema.get("$defs", ())):
        faults.append("a definition that is one of its own alternatives")
    return faults + _size_faults(schema)


def _comes_back(ref: str, root: Schema) -> bool:
    """Whether a reference leads to itself through references and unions alone."""
    seen: set[str] = set()
    work = [target(ref, root)]
    while work:
        node = work.pop()
        work.extend(node.get("anyOf", ()))
        if "$ref" in node and node["$ref"] not in seen:
            seen.add(node["$ref"])
            work.append(target(node["$ref"], root))
    return ref in seen


def _node_faults(node: Schema) -> list[str]:
    faults = [f"{keyword} is not taken" for keyword in node if keyword not in _KEYWORDS]
    if "$ref" in node:
        return faults + ([] if node.keys() == {"$ref"} else ["$ref has siblings"])
    if "type" not in node and "anyOf" not in node:
        faults.append("a schema without a type")
    kinds = node.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "object" in kinds:
        if node.get("additionalProperties") is not False:
            faults.append("an object that is not closed")
        if list(node.get("properties", ())) != node.get("required"):
            faults.append("an object whose properties are not all required")
    if "array" in kinds and not isinstance(node.get("items"), dict):
        faults.append("an array without items")
    return faults


def _size_faults(schema: Schema) -> list[str]:
    everything = list(nodes(schema))
    names = [name for node in everything for name in (*node.get("properties", ()), *node.get("$defs", ()))]
    enums: list[list[Any]] = [node["enum"] for node in everything if "enum" in node]
    values = [value for enum in enums for value in enum]
    faults = []
    if sum(len(node.get("properties", ())) for node in everything) > PROPERTIES:
        faults.append(f"more than {PROPERTIES} properties")
    if len(values) > VALUES:
        faults.append(f"more than {VALUES} enumerated values")
    if any(len(enum) > 250 and _length(enum) > LISTED_TEXT for enum in enums):
        faults.append(f"an enumeration of more than {LISTED_TEXT} characters")
    if _length(names) + _length(values) > ALL_TEXT:
        faults.append(f"more than {ALL_TEXT} characters in names and values")
    if _nesting(schema, schema, {}, frozenset()) > NESTING:
        faults.append(f"nested more than {NESTING} levels deep")
    return faults


def _length(values: list[Any]) -> int:
    return sum(len(value) if isinstance(value, str) else len(repr(value)) for value in values)


def _nesting(node: Schema, root: Schema, known: dict[str, int], path: frozenset[str]) -> int:
    """Levels of objects and arrays on the longest way down, each definition entered once."""
    ref = node.get("$ref")
    if ref is not None:
        if ref in path:
            return 0
        if ref not in known:
            known[ref] = _nesting(target(ref, root), root, known, path | {ref})
        return known[ref]
    below = [*node.get("properties", {}).values(), *node.get("anyOf", ())]
    below += [node["items"]] if isinstance(node.get("items"), dict) else []
    deepest = max((_nesting(child, root, known, path) for child in below), default=0)
    kinds = node.get("type", ())
    return deepest + ("object" in kinds or "array" in kinds)
