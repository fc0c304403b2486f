"""The checks of a whole definition that need its types resolved or a validator compiled: once, when a crib opens."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from toolcrib.call import Schema, Tool
from toolcrib.errors import DefinitionError


def check(tool: Tool) -> list[str]:
    """What is wrong with a tool, one sentence each; empty when its schemas serialise, round-trip and compile.

    Reads the description, the parameters and the injected types, so whatever resolves late is resolved. Never raises
    for a fault of the definition.
    """
    problems: list[str] = []
    try:
        description, parameters, _ = tool.description, tool.parameters, tool.injected
    except DefinitionError as problem:
        return [str(problem)]
    if not isinstance(description, str):
        problems.append(f"tool {tool.name!r}: the description is {type(description).__name__}, not text")
    problems += _schema_faults(tool.name, "parameters", parameters)
    if tool.output is not None:
        problems += _schema_faults(tool.name, "output", tool.output)
    if problems:
        return problems
    properties = parameters.get("properties", {})
    if _closed(parameters):
        for what, names in (("required", parameters.get("required", ())), ("pinned", tool.pinned)):
            strange = [name for name in names if name not in properties]
            if strange:
                problems.append(f"tool {tool.name!r}: {what}, but no property of its parameters: {', '.join(strange)}")
    return problems


def _closed(schema: Schema) -> bool:
    """Whether the properties at the root are all there can be."""
    open_by = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if")
    return schema.get("additionalProperties", False) is False and not any(keyword in schema for keyword in open_by)


def _schema_faults(name: str, what: str, schema: Any) -> list[str]:
    try:
        if json.loads(json.dumps(schema, allow_nan=False)) != schema:
            return [f"tool {name!r}: {what} does not survive being written as JSON"]
    except (TypeError, ValueError, RecursionError) as problem:
        return [f"tool {name!r}: {what} cannot be written as JSON: {problem}"]
    try:
        _compile(schema)
    except ValueError as problem:
        return [f"tool {name!r}: {what} is no valid JSON Schema: {_short(problem)}"]
    return []


def _compile(schema: Any) -> None:
    import jsonschema_rs

    jsonschema_rs.validator_for(schema, retriever=_no_network)


def _no_network(uri: str) -> NoReturn:
    raise ValueError(f"{uri} lies outside the schema")


def _short(problem: ValueError) -> str:
    """The sentence, and where in the schema; not the schema printed again."""
    where = ".".join(map(str, getattr(problem, "instance_path", ())))
    sentence = str(getattr(problem, "message", problem)).strip()
    return f"{sentence} (at {where})" if where else sentence
