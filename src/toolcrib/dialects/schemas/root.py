"""The root of a parameter schema as one plain object: what every provider demands of it."""

from __future__ import annotations

from toolcrib.call import Schema
from toolcrib.dialects.schemas.merge import ALSO, flatten, one_object, types
from toolcrib.dialects.schemas.texts import told
from toolcrib.errors import DefinitionError

#: What no provider, or not every one, takes at the root beside the properties.
_REFUSED = (ALSO, "enum", "const", "not")
_CONDITIONS = ("then", "else")


def object_root(root: Schema, names: dict[str, str]) -> tuple[Schema, tuple[str, ...]]:
    """The tidy schema's root with references resolved and unions merged, and notes.

    It has "type": "object" and "properties" first, and no $defs; the description keeps what could not stay.
    Raises DefinitionError where arguments can never be an object.
    """
    flat, _ = flatten(root, root)
    flat = {keyword: value for keyword, value in flat.items() if keyword != "$defs"}
    if types(flat) and "object" not in types(flat) and not ("enum" in flat or "const" in flat):
        raise DefinitionError(f"its parameters describe {' or '.join(types(flat))}, and arguments are an object")
    if flat.get("not") == {}:
        raise DefinitionError("its parameters are the schema false, which no arguments can satisfy")
    whole = one_object(flat, root, names)
    notes: tuple[str, ...] = ()
    if "anyOf" in flat or "oneOf" in flat:
        notes = ("alternatives at the root were merged into one object; the original is enforced on the arguments",)
    moved = {keyword: whole.pop(keyword) for keyword in _REFUSED if keyword in whole}
    if moved:
        notes += (f"{', '.join(moved)} at the root: moved to the description",)
        whole["description"] = told(whole.get("description"), moved)
    whole.pop("default", None)
    properties = dict(whole.get("properties", {}))
    for keyword in _CONDITIONS:
        if keyword in whole:
            branch, _ = flatten(whole[keyword], root)
            properties = branch.get("properties", {}) | properties
    first: Schema = {"type": "object", "properties": properties}
    return first | {keyword: value for keyword, value in whole.items() if keyword not in first}, notes
