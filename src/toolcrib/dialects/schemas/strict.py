"""A schema rewritten for OpenAI's strict mode: closed objects, all properties required, optional ones nullable."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.definition import Schema, canonical
from toolcrib.dialects.schemas.merge import ALSO, COMPOSED, elsewhere, flatten, merge, remarks, split, types
from toolcrib.dialects.schemas.texts import told
from toolcrib.dialects.schemas.walk import LEVELS, target

#: Keywords of the strict subset by type; all others are told in the description.
_TAKEN = {
    "string": ("pattern", "format", "enum"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum"),
    "boolean": ("enum",),
    "array": ("items", "minItems", "maxItems"),
    "object": ("properties", "required", "additionalProperties"),
}
FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_LOOKAROUND = re.compile(r"\(\?[=!<]|\\[1-9]|\\[kpP]")
_SILENT = ("title", "description", "deprecated", "readOnly", "writeOnly", "examples")


class NotStrict(Exception):
    """The schema cannot be written for strict mode."""


def strict_schema(shown: Schema, root: Schema, names: dict[str, str]) -> tuple[Schema, tuple[str, ...]]:
    """The root object in the strict subset, with its definitions, and the keywords moved to descriptions.

    shown: what `object_root` gave. Raises NotStrict where values would be admitted that the subset cannot describe.
    """
    work = _Strict(root, names)
    closed = {"additionalProperties": False} | shown
    parameters = work.object(closed, frozenset({"#"}), 0)
    definitions: Schema = {}
    while work.wanted.keys() - definitions.keys():
        name = next(name for name in work.wanted if name not in definitions)
        ref = f"#/$defs/{name}"
        definitions[name] = work.node(target(ref, root), frozenset({ref}), 1)
    return ({**parameters, "$defs": definitions} if definitions else parameters), tuple(work.moved)


class _Strict:
    __slots__ = ("moved", "names", "root", "wanted")

    def __init__(self, root: Schema, names: dict[str, str]) -> None:
        self.root = root
        self.names = names
        self.moved: dict[str, None] = {}
        self.wanted: dict[str, None] = {}

    def node(self, node: Schema, path: frozenset[str], level: int, *, optional: bool = False) -> Schema:
        if level > LEVELS:
            raise NotStrict
        if "$ref" in node and node.keys() <= {"$ref", "title"}:
            return self.reference(node["$ref"], optional)
        flat, refs = flatten(node, self.root)
        if refs & path:
            if "$ref" in node and remarks(node).keys() >= node.keys() - {"$ref"}:
                return self.reference(node["$ref"], optional, self.describe(remarks(node), {}))
            raise NotStrict
        path |= refs
        branches, null, said = split(flat, self.root, self.names)
        if not branches:
            return self.describe(said, {}) | {"type": "null"}
        if len(branches) > 1:
            options = [self.node(branch, path, level + 1) for branch in branches]
            return self.describe(said, {}) | {"anyOf": _with_null(options, null or optional)}
        branch = branches[0]
        if branch.keys() == {"$ref"} and not said:
            return self.reference(branch["$ref"], null or optional)
        if branch.keys() & COMPOSED:
            return self.node(merge(said, branch), path, level + 1, optional=null or optional)
        return self.typed(said, branch, path, level, null or optional)

    def reference(self, ref: str, optional: bool, said: Schema | None = None) -> Schema:
        """A reference; since nothing may stand beside it, what is said of it stands beside an anyOf around it."""
        if ref == "#":
            raise NotStrict  # the root shown need not be the root referred to
        self.wanted[ref.removeprefix("#/$defs/")] = None
        if not optional and not said:
            return {"$ref": ref}
        return (said or {}) | {"anyOf": [{"$ref": ref}, *([{"type": "null"}] if optional else [])]}

    def typed(self, said: Schema, node: Schema, path: frozenset[str], level: int, null: bool) -> Schema:
        kinds = types(node)
        if not kinds or ("not" in node and node["not"] == {}):
            raise NotStrict
        if "enum" in node:
            return self.listed(said, node, null)
        kind = kinds[0]
        if kind == "object":
            shown = self.object(said | node, path, level)
        elif kind == "array":
            shown = self.array(said | node, path, level)
        else:
            taken = {key: value for key, value in node.items() if self.takes(kind, key, value)}
            rest = {k: v for k, v in node.items() if k not in taken and k != "type" and not elsewhere(k, kind)}
            shown = self.describe(said, rest) | {"type": kind} | taken
        if not null:
            return shown
        if kind in ("object", "array"):
            return {"anyOf": [shown, {"type": "null"}]}
        return shown | {"type": [kind, "null"]}

    def takes(self, kind: str, keyword: str, value: Any) -> bool:
        if keyword not in _TAKEN[kind] or (keyword == "format" and value not in FORMATS):
            return False
        return not (keyword == "pattern" and _LOOKAROUND.search(value))

    def listed(self, said: Schema, node: Schema, null: bool) -> Schema:
        values = [*node["enum"], *([None] if null else [])]
        if any(isinstance(value, (dict, list)) for value in values):
            raise NotStrict
        rest = {key: value for key, value in node.items() if key in (ALSO, "not", "if", "then", "else")}
        kinds = types({"enum": values})
        return self.describe(said, rest) | {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}

    def array(self, node: Schema, path: frozenset[str], level: int) -> Schema:
        if "prefixItems" in node or not isinstance(node.get("items"), dict):
            raise NotStrict
        shown = self.describe(remarks(node), _other(node, "array")) | {"type": "array"}
        shown["items"] = self.node(node["items"], path, level + 1)
        return shown | {key: node[key] for key in ("minItems", "maxItems") if key in node}

    def object(self, node: Schema, path: frozenset[str], level: int) -> Schema:
        extra = node.get("additionalProperties")
        free = "properties" not in node or (not node["properties"] and extra is not False)
        if free or extra not in (None, False) or "patternProperties" in node:
            raise NotStrict
        required = node.get("required", ())
        if any(key not in node["properties"] for key in required):
            raise NotStrict
        shown = self.describe(remarks(node), _other(node, "object")) | {"type": "object"}
        shown["properties"] = {
            key: self.node(child, path, level + 1, optional=key not in required)
            for key, child in node["properties"].items()
        }
        return shown | {"required": list(node["properties"]), "additionalProperties": False}

    def describe(self, said: Schema, moved: Schema) -> Schema:
        """The annotations strict mode takes, the others and the moved keywords in the description."""
        moved = {key: value for key, value in moved.items() if key not in ("default", "type")}
        self.moved |= dict.fromkeys(moved)
        if "default" in said and said["default"] is not None:
            moved = {"default": said["default"]} | moved
        description = told(said.get("description"), moved)
        kept = {"title": said["title"]} if "title" in said else {}
        return kept | ({"description": description} if description else {})


def _other(node: Schema, kind: str) -> Schema:
    skipped = {*_TAKEN[kind], *_SILENT, "default"}
    return {key: value for key, value in node.items() if key not in skipped and not elsewhere(key, kind)}


def _with_null(options: list[Schema], null: bool) -> list[Schema]:
    distinct = list({canonical(option): option for option in options}.values())
    nulls = any(option.get("type") == "null" for option in distinct)
    return distinct + ([{"type": "null"}] if null and not nulls else [])
