"""Schemas as Gemini takes them in a function declaration's `parameters`, a subset of OpenAPI's Schema.

The rules, from the reference of Schema and FunctionDeclaration and the API's own error texts: only the fields of the
message exist, all others are refused; a type stands on every schema without anyOf, and nothing beside anyOf; enum and
the formats date-time and enum are for strings, int32 and int64 for integers, float and double for numbers; an array has
items; an object below the root has properties, which stand on nothing else; required names properties; values of an
enum are texts and not empty; parameter names are identifiers of at most 64 characters. References are not taken.

What the subset cannot say is told in the description. Values it cannot carry are written as text: members of an
enumeration that are no texts, free-form objects, what lies below a cut recursion; `restore` reads them back.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from toolcrib.definition import Schema, canonical
from toolcrib.dialects.schemas import texts
from toolcrib.dialects.schemas.keys import renamed, shown_names
from toolcrib.dialects.schemas.merge import COMPOSED, elsewhere, flatten, merge, split, types
from toolcrib.dialects.schemas.restore import UNUSED, Restorer, value_text
from toolcrib.dialects.schemas.root import object_root
from toolcrib.dialects.schemas.texts import short, told
from toolcrib.dialects.schemas.tidy import tidy
from toolcrib.dialects.schemas.walk import ANNOTATIONS, LEVELS, SchemaView, carried

KEY = r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"
UNSAFE = r"[^a-zA-Z0-9_]"
DESCRIPTION_LENGTH = 16_000
#: Schemas that come out of references; beyond it a reference is shown as JSON text.
INLINED = 1_000
#: How often one definition is unfolded on one path; fewer where that would grow beyond INLINED.
UNFOLDED = 3

_TAKEN = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}
_FORMATS = {"string": ("date-time",), "integer": ("int32", "int64"), "number": ("float", "double")}
_SILENT = frozenset({"type", "properties", "enum", *ANNOTATIONS} - {"examples"})
_LISTING = frozenset({"enum", "const", "type", "title", "description"})
_LOOKAROUND = re.compile(r"\(\?[=!<]|\\[1-9]")


def cut_description(text: str, limit: int = DESCRIPTION_LENGTH) -> str:
    """A tool's description in at most `limit` characters."""
    return texts.cut_description(text, limit)


def view(schema: Schema, *, name: str) -> SchemaView:
    """The schema for `parameters`. Raises DefinitionError where no arguments could ever fit."""
    return carried(name, lambda: _view(schema))


def _view(schema: Schema) -> SchemaView:
    root, notes = tidy(schema)
    names = shown_names(root, KEY, UNSAFE)
    shown, further = object_root(root, names)
    for unfolded in range(UNFOLDED, -1, -1):
        work = _Showing(root, names, unfolded)
        parameters = work.root_object(shown)
        if work.inlined <= INLINED:
            break
    restore = Restorer(root, names, values=True, wrapped=work.wrapped) if names or work.bent else None
    return SchemaView(renamed(parameters, names), restore, notes=(*notes, *further, *work.said()))


class _Showing:
    """One pass over a schema; `bent` says that arguments need a way back."""

    __slots__ = ("bent", "inlined", "moved", "names", "notes", "root", "unfolded", "wrapped")

    def __init__(self, root: Schema, names: dict[str, str], unfolded: int) -> None:
        self.root = root
        self.names = names
        self.unfolded = unfolded
        self.inlined = 0
        self.bent = False
        self.wrapped = ""
        self.moved: dict[str, None] = {}
        self.notes: dict[str, None] = {}

    def said(self) -> tuple[str, ...]:
        moved = f"{', '.join(self.moved)}: written into the descriptions, enforced on the arguments"
        return (*self.notes, *((moved,) if self.moved else ()))

    def root_object(self, shown: Schema) -> Schema:
        """The root: empty properties stay empty; one that takes any keys takes them as one JSON text."""
        if shown["properties"] or shown.get("additionalProperties") in (None, False):
            if not shown["properties"]:
                return self.described(shown, {}, "object") | {"type": "object", "properties": {}}
            return self.object(shown, Counter({"#": 1}), 0)
        self.bent, self.wrapped = True, "arguments_json"
        free = {key: value for key, value in shown.items() if key != "properties"}
        text = self.as_text(free, "A JSON object with all arguments, written as text.")
        return {"type": "object", "properties": {self.wrapped: text}}

    def node(self, node: Schema, path: Counter[str], level: int) -> Schema:
        flat, refs = flatten(node, self.root)
        path = path + Counter(refs)
        self.inlined += bool(path.keys() - {"#"})
        branches, null, said = split(flat, self.root, self.names)
        if flat and level > LEVELS:
            return self.deeper(flat, said, null, f"nested more than {LEVELS} schemas deep")
        if any(path[ref] > max(self.unfolded, 1) for ref in refs):
            return self.deeper(flat, said, null, "the recursion is cut")
        if refs and self.inlined > INLINED:
            return self.deeper(flat, said, null, f"references grow beyond {INLINED} schemas")
        shown = self.shown(branches, said, path, level)
        return _nullable(shown) if null else shown

    def shown(self, branches: list[Schema], said: Schema, path: Counter[str], level: int) -> Schema:
        if not branches:
            return self.described(said, {}, "string", "Always null.") | {"type": "string", "nullable": True}
        if len(branches) > 1:
            return self.union(said, branches, path, level)
        if branches[0].keys() & COMPOSED:
            return self.node(merge(said, branches[0]), path, level + 1)
        return self.typed(branches[0], said, path, level)

    def union(self, said: Schema, branches: list[Schema], path: Counter[str], level: int) -> Schema:
        listed = self.one_enum(said, branches)
        if listed is not None:
            return listed
        shown = [self.node(branch, path, level + 1) for branch in branches]
        flat = [option for one in shown for option in one.get("anyOf", [one])]
        options = list({canonical(option): option for option in flat}.values())
        text = self.described(said, {}, "").get("description")
        if text:
            options[0] = {**options[0], "description": " ".join(filter(None, (text, options[0].get("description"))))}
        return options[0] if len(options) == 1 else {"anyOf": options}

    def one_enum(self, said: Schema, branches: list[Schema]) -> Schema | None:
        """One list of values for alternatives that are single values or lists of them, with what is said of each."""
        values: list[Any] = []
        meanings: list[str] = []
        for branch in branches:
            flat, _ = flatten(branch, self.root)
            if not flat.keys() <= _LISTING or not flat.keys() & {"enum", "const"}:
                return None
            here = flat.get("enum", [flat.get("const")])
            values += here
            meaning = flat.get("description") or flat.get("title")
            if meaning and len(here) == 1:
                meanings.append(f"{value_text(here[0])}: {short(meaning, 200)}")
        shown = self.listed({"enum": values}, said)
        if meanings:
            shown["description"] = " ".join(filter(None, (shown.get("description"), "; ".join(meanings) + ".")))
        return shown if None not in values else _nullable(shown)

    def typed(self, node: Schema, said: Schema, path: Counter[str], level: int) -> Schema:
        if "enum" in node:
            return self.listed(node, said)
        kinds = types(node)
        if not kinds:
            self.bent = True
            text = self.described(said, node, "", "Any value; an object or an array is written as JSON text.")
            text |= {"type": "string", "nullable": True}
            return {"anyOf": [text, {"type": "number"}, {"type": "boolean"}]}
        kind = kinds[0]
        if kind == "object":
            return self.any_object(said | node, path, level)
        shown = self.described(said, node, kind) | {"type": kind}
        shown |= {key: value for key, value in node.items() if _takes(kind, key, value)}
        if kind == "array":
            shown["items"] = self.items(node, path, level)
        return shown

    def listed(self, node: Schema, said: Schema) -> Schema:
        values = [value for value in node["enum"] if value is not None]
        shown = list(dict.fromkeys(map(value_text, values)))
        self.bent = self.bent or shown != values
        return self.described(said, node, "string") | {"type": "string", "enum": shown}

    def items(self, node: Schema, path: Counter[str], level: int) -> Schema:
        items = node.get("items")
        prefix = node.get("prefixItems", ())
        options = [*prefix, *([items] if isinstance(items, dict) and (items or not prefix) else [])]
        distinct = list({canonical(option): option for option in options}.values())
        one = distinct[0] if len(distinct) == 1 else {"anyOf": distinct} if distinct else {}
        return self.node(one, path, level + 1)

    def any_object(self, node: Schema, path: Counter[str], level: int) -> Schema:
        if node.get("properties"):
            return self.object(node, path, level)
        extra = node.get("additionalProperties")
        if extra is False or ("properties" in node and extra is None and "patternProperties" not in node):
            self.bent = True
            nothing = {"type": "boolean", "description": "Nothing to give here: leave it out."}
            shown = self.described(node, node, "object", "An object without content.") | {"type": "object"}
            return shown | {"properties": {UNUSED: nothing}}
        return self.as_text(node, "A JSON object, written as text.")

    def object(self, node: Schema, path: Counter[str], level: int) -> Schema:
        properties = node["properties"]
        required = [key for key in node.get("required", ()) if key in properties]
        told_of = node if len(required) < len(node.get("required", ())) else {**node, "required": []}
        shown = self.described(node, told_of, "object") | {"type": "object"}
        shown |= {key: value for key, value in node.items() if _takes("object", key, value)}
        shown["properties"] = {key: self.node(child, path, level + 1) for key, child in properties.items()}
        return shown | ({"required": required} if required else {})

    def as_text(self, node: Schema, sentence: str) -> Schema:
        self.bent = True
        return self.described(node, node, "", sentence) | {"type": "string"}

    def deeper(self, flat: Schema, said: Schema, null: bool, why: str) -> Schema:
        """What is not unfolded any more: JSON as text where a text can mean nothing else, so that all can be said."""
        kinds = self.kinds(flat)
        if not kinds or "string" in kinds:
            self.notes[f"{why}: what lies deeper is shown as a plain value"] = None
            text = self.described(said, {}, "", "Deeper down, only a text, a number or a boolean can be given.")
            shown: Schema = {"anyOf": [text | {"type": "string"}, {"type": "number"}, {"type": "boolean"}]}
            return _nullable(shown) if null else shown
        self.notes[f"{why}: what lies deeper is shown as JSON text"] = None
        self.bent = True
        keys = [self.names.get(key, key) for key in flat.get("properties", ())][:20]
        hint = f" with the keys {', '.join(keys)}, as described further up" if keys else ""
        what = kinds.pop() if len(kinds) == 1 else "value"
        shown = self.described(said, {}, "", f"A JSON {what}{hint}, written as text.") | {"type": "string"}
        return _nullable(shown) if null else shown

    def kinds(self, flat: Schema) -> set[str]:
        """The types that a flattened schema and the alternatives in it admit; empty where one of them may be any."""
        options = [flatten(option, self.root)[0] for word in ("anyOf", "oneOf") for option in flat.get(word, ())]
        found = [types(option) for option in ([flat] if types(flat) or not options else options)]
        return {kind for kinds in found for kind in kinds} - {"null"} if all(found) else set()

    def described(self, said: Schema, node: Schema, kind: str, *sentences: str) -> Schema:
        """The description, with those keywords of `node` that a schema of this type cannot have."""
        moved = {
            key: value for key, value in node.items() if not _takes(kind, key, value) and _is_told(kind, key, value)
        }
        self.moved |= dict.fromkeys(moved)
        if said.get("default") is not None:
            moved["default"] = said["default"]
        text = told(said.get("description") or said.get("title"), moved, *sentences)
        return {"description": text} if text else {}


def _takes(kind: str, keyword: str, value: Any) -> bool:
    """Whether a schema of this type shows the keyword as it is."""
    if keyword == "format":
        return value in _FORMATS.get(kind, ())
    return keyword in _TAKEN.get(kind, ()) and not (keyword == "pattern" and _LOOKAROUND.search(value))


def _is_told(kind: str, keyword: str, value: Any) -> bool:
    """Whether a keyword that is not shown says something of the values that a model must know."""
    if keyword in _SILENT or (kind and elsewhere(keyword, kind)):
        return False
    if keyword in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems"):
        return value is not False
    return bool(value) if keyword in ("required", "prefixItems") else value is False or keyword != "items"


def _nullable(shown: Schema) -> Schema:
    """Null admitted: on every alternative, since nothing may stand beside anyOf."""
    if "anyOf" in shown:
        return {"anyOf": [_nullable(option) for option in shown["anyOf"]]}
    return shown | {"nullable": True}
