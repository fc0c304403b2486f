"""Schemas as OpenAI takes them, in Chat Completions and Responses alike.

The rules, from its guide to structured outputs and function calling and its own error texts: the root has type object
and no oneOf, anyOf, allOf, enum or not; every array has items, which are no list; a description has at most 1024
characters. Strict mode has rules of its own (`strict`); where they cannot be kept the tool is sent without it. Names of
properties are held to the pattern that the strictest servers speaking this format enforce.
"""

from __future__ import annotations

from toolcrib.call import Schema
from toolcrib.dialects.schemas import texts
from toolcrib.dialects.schemas.keys import renamed, shown_names
from toolcrib.dialects.schemas.lint import strict_faults
from toolcrib.dialects.schemas.merge import types
from toolcrib.dialects.schemas.restore import Restorer
from toolcrib.dialects.schemas.root import object_root
from toolcrib.dialects.schemas.strict import NotStrict, strict_schema
from toolcrib.dialects.schemas.tidy import tidy
from toolcrib.dialects.schemas.walk import SchemaView, carried, children, mapped, nodes, with_definitions

KEY = r"[a-zA-Z0-9_.-]{1,64}"
UNSAFE = r"[^a-zA-Z0-9_.-]"
DESCRIPTION_LENGTH = 1024


def cut_description(text: str, limit: int = DESCRIPTION_LENGTH) -> str:
    """A tool's description in at most `limit` characters."""
    return texts.cut_description(text, limit)


def view(schema: Schema, *, name: str) -> SchemaView:
    """The schema for `parameters`, strict where it can be. Raises DefinitionError where no arguments could ever fit."""
    return carried(name, lambda: _view(schema))


def _view(schema: Schema) -> SchemaView:
    root, notes = tidy(schema)
    names = shown_names(root, KEY, UNSAFE)
    shown, further = object_root(root, names)
    restore = Restorer(root, names) if names else None
    notes = (*notes, *further)
    try:
        parameters, moved = strict_schema(shown, root, names)
    except NotStrict:
        pass
    else:
        parameters = renamed(parameters, names)
        if not strict_faults(parameters):
            if moved:
                notes = (*notes, f"{', '.join(moved)}: written into the descriptions, enforced on the arguments")
            if _has_alternatives(root):
                restore = Restorer(root, names, nulls=True)
            return SchemaView(parameters, restore, strict=True, notes=notes)
    parameters = renamed(with_definitions(_with_items(shown), root, _with_items), names)
    return SchemaView(parameters, restore, notes=notes)


def _with_items(node: Schema) -> Schema:
    copy = mapped(node, _with_items)
    if "array" in types(copy) and "items" not in copy:
        copy["items"] = {}
    return copy


def _has_alternatives(root: Schema) -> bool:
    """Whether properties may stand in alternatives: there null, for what an alternative lacks, fits none of them."""
    words = ("anyOf", "oneOf", "then", "else", "dependentSchemas")
    return any(
        option.keys() & {"properties", "$ref", "required", "allOf"}
        for node in nodes(root)
        for option in children({word: node[word] for word in words if word in node})
    )
