"""Schemas as the Anthropic Messages API takes them in `input_schema`.

The rules, from its documentation of tool use and its own error texts: the root has type object and no oneOf, allOf or
anyOf; the schema is valid JSON Schema Draft 2020-12; property keys match ^[a-zA-Z0-9_.-]{1,64}$. Local references,
recursion and unions below the root are taken as they are. No limit of a description's length is documented.
"""

from __future__ import annotations

from toolcrib.call import Schema
from toolcrib.dialects.schemas import texts
from toolcrib.dialects.schemas.keys import renamed, shown_names
from toolcrib.dialects.schemas.restore import Restorer
from toolcrib.dialects.schemas.root import object_root
from toolcrib.dialects.schemas.tidy import tidy
from toolcrib.dialects.schemas.walk import SchemaView, carried, with_definitions

KEY = r"[a-zA-Z0-9_.-]{1,64}"
UNSAFE = r"[^a-zA-Z0-9_.-]"
DESCRIPTION_LENGTH = 16_000


def cut_description(text: str, limit: int = DESCRIPTION_LENGTH) -> str:
    """A tool's description in at most `limit` characters."""
    return texts.cut_description(text, limit)


def view(schema: Schema, *, name: str) -> SchemaView:
    """The schema for `input_schema`. Raises DefinitionError where no arguments could ever fit."""
    return carried(name, lambda: _view(schema))


def _view(schema: Schema) -> SchemaView:
    root, notes = tidy(schema)
    names = shown_names(root, KEY, UNSAFE)
    shown, further = object_root(root, names)
    parameters = renamed(with_definitions(shown, root), names)
    return SchemaView(parameters, Restorer(root, names) if names else None, notes=(*notes, *further))
