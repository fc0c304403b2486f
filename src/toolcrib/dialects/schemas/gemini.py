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

from toolcrib.call import Schema, canonical
from toolcrib.dialects.schemas import texts
from toolcrib.dialects.schemas.keys import renamed, shown_names
from toolcrib.dialects.schemas.merge import COMPOSED, elsewhere, flatten, merge, split, types
from toolcrib.dialects.schemas.restore import UNUSED, Restorer, value_text
from toolcrib.dialects.schemas.root import object_root
from toolcrib.dialects.schemas.texts import short, told
from toolcrib.dialects.schemas.tidy import tidy
from toolcrib.dialects.schemas.walk import LEVELS, SchemaView, carried

KEY = r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"
UNSAFE = r"[^a-zA-Z0-9_]"
DESCRIPTION_LENGTH = 16_000
#: Schemas that come out of references; beyond it a reference is shown as JSON text.
INLINED = 2_000
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
_SILENT = frozenset({"type", "deprecated", "readOnly", "writeOnly", "title", "description"})
_STRUCTURE = frozenset({"properties", "required", "items", "prefixItems", "enum", "const", "allOf", "anyOf", "oneOf"})
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
                return self.described(shown, {}, {}, "object") | {"type": "object", "properties": {}}
            return self.object(shown, {}, Counter({"#": 1}), 0)
        self.bent, self.wrapped = True, "arguments_json"
        free = {key: value for key, value in shown.items() if key != "properties"}
        text = self.as_text(free, {}, "A JSON object with all arguments, written as text")
        return {"type": "object", "properties": {self.wrapped: text}}

    def node(self, node: Schema, path: Counter[str], level: int) -> Schema:
        flat, refs = flatten(node, self.root)
        path = path + Counter(refs)
        self.inlined += bool(path.keys() - {"#"})
        branches, null, said = split(flat, self.root, self.names)
        if level > LEVELS or any(path[ref] > max(self.unfolded, 1) for ref in refs):
            return self.deeper(flat, said, null, "the recursion is cut here")
        if refs and self.inlined > INLINED:
            return self.deeper(flat, said, null, f"references grow beyond {INLINED} schemas")
        shown = self.shown(flat, branches, said, path, level)
        return _nullable(shown) if null else shown

    def shown(self, flat: Schema, branches: list[Schema], said: Schema, path: Counter[str], level: int) -> Schema:
        rest = {"allOf": flat["allOf"]} if "allOf" in flat else {}
        if not branches:
            return self.described(said, rest, {}, "string", "Always null.") | {"type": "string", "nullable": True}
        if len(branches) > 1:
            return self.union(said, branches, rest, path, level)
        branch = branches[0]
        if branch.keys() & COMPOSED:
            return self.node(merge(said, branch), path, level + 1)
        return self.typed(branch, said, rest, path, level)

    def union(self, said: Schema, branches: list[Schema], rest: Schema, path: Counter[str], level: int) -> Schema:
        listed = self.one_enum(said, branches)
        if listed is not None:
            return listed
        shown = [self.node(branch, path, level + 1) for branch in branches]
        flat = [option for one in shown for option in one.get("anyOf", [one])]
        options = list({canonical(option): option for option in flat}.values())
        text = self.described(said, rest, {}, "").get("description")
        if text:
            options[0] = {**options[0], "description": " ".join(filter(None, (text, options[0].get("description"))))}
        return options[0] if len(options) == 1 else {"anyOf": options}

    def one_enum(self, said: Schema, branches: list[Schema]) -> Schema | None:
        """One list of values for alternatives that are single values or lists of them, with what is said of each."""
        values: list[Any] = []
        meanings: list[str] = []
        for branch in branches:
            flat, _ = flatten(branch, self.root)
            if not flat.keys() <= {"enum", "const", "type", "title", "description"} or not flat.keys() & {"enum", "const"}:
                return None
            here = flat.get("enum", [flat.get("const")])
            values += here
            meaning = flat.get("description") or flat.get("title")
            if meaning and len(here) == 1:
                meanings.append(f"{value_text(here[0])}: {short(meaning, 200)}")
        shown = self.typed({"enum": values}, said, {}, Counter(), 0)
        if meanings:
            shown["description"] = " ".join(filter(None, (shown.get("description"), "; ".join(meanings) + ".")))
        return shown if None not in values else _nullable(shown)

    def typed(self, node: Schema, said: Schema, rest: Schema, path: Counter[str], level: int) -> Schema:
        if "enum" in node:
            return self.listed(node, said, rest)
        kinds = types(node)
        if not kinds:
            return self.anything(node, said, rest)
        kind = kinds[0]
        if kind == "object":
            return self.any_object(said | node, rest, path, level)
        shown = self.described(said, node | rest, node, kind)
        shown |= {"type": kind} | {key: node[key] for key in _TAKEN[kind] if self.takes(node, key)}
        if node.get("format") in _FORMATS.get(kind, ()):
            shown["format"] = node["format"]
        if kind == "array":
            shown["items"] = self.items(node, path, level)
        return shown

    def takes(self, node: Schema, keyword: str) -> bool:
        return keyword in node and not (keyword == "pattern" and _LOOKAROUND.search(node["pattern"]))

    def listed(self, node: Schema, said: Schema, rest: Schema) -> Schema:
        values = [value for value in node["enum"] if value is not None]
        shown = list(dict.fromkeys(map(value_text, values)))
        self.bent = self.bent or shown != values
        return self.described(said, node | rest, {}, "string") | {"type": "string", "enum": shown}

    def items(self, node: Schema, path: Counter[str], level: int) -> Schema:
        prefix = node.get("prefixItems")
        if prefix:
            further = [node["items"]] if isinstance(node.get("items"), dict) and node["items"] else []
            distinct = {canonical(option): option for option in (*prefix, *further)}
            return self.node({"anyOf": list(distinct.values())} if len(distinct) > 1 else prefix[0], path, level + 1)
        items = node.get("items")
        return self.node(items if isinstance(items, dict) else {}, path, level + 1)

    def any_object(self, node: Schema, rest: Schema, path: Counter[str], level: int) -> Schema:
        if node.get("properties"):
            return self.object(node, rest, path, level)
        self.bent = True
        extra = node.get("additionalProperties")
        if extra is False or ("properties" in node and extra is None and "patternProperties" not in node):
            shown = self.described(node, node | rest, {}, "object", "An object without content.") | {"type": "object"}
            nothing = {"type": "boolean", "description": "Nothing to give here: leave it out."}
            return shown | {"properties": {UNUSED: nothing}}
        return self.as_text(node, rest, "A JSON object, written as text")

    def object(self, node: Schema, rest: Schema, path: Counter[str], level: int) -> Schema:
        properties = node["properties"]
        required = [key for key in node.get("required", ()) if key in properties]
        rest = rest | {"required": node["required"]} if len(required) < len(node.get("required", ())) else rest
        shown = self.described(node, {**node, "required": [], **rest}, node, "object")
        shown |= {"type": "object"} | {key: node[key] for key in _TAKEN["object"] if key in node}
        shown["properties"] = {key: self.node(child, path, level + 1) for key, child in properties.items()}
        return shown | ({"required": required} if required else {})

    def as_text(self, node: Schema, rest: Schema, sentence: str) -> Schema:
        self.bent = True
        return self.described(node, node | rest, {}, "object", f"{sentence}.") | {"type": "string"}

    def anything(self, node: Schema, said: Schema, rest: Schema) -> Schema:
        self.bent = True
        sentence = "Any value; an object or an array is written as JSON text."
        text = self.described(said, node | rest, {}, "", sentence) | {"type": "string", "nullable": True}
        return {"anyOf": [text, {"type": "number"}, {"type": "boolean"}]}

    def deeper(self, flat: Schema, said: Schema, null: bool, why: str) -> Schema:
        """What is not unfolded any more: its JSON as text, so that nothing becomes impossible to say."""
        self.notes[f"{why}: what lies deeper is shown as JSON text"] = None
        kinds = [kind for kind in types(flat) if kind in ("object", "array")]
        what = f"JSON {kinds[0]}" if len(kinds) == 1 else "JSON value"
        self.bent = True
        keys = [self.names.get(key, key) for key in flat.get("properties", ())][:20]
        hint = f" with the keys {', '.join(keys)}, as described further up" if keys else ""
        described = self.described(said, {}, {}, "", f"A {what}{hint}, written as text.")
        shown = described | {"type": "string"}
        return _nullable(shown) if null else shown

    def described(self, said: Schema, node: Schema, kept: Schema, kind: str, *sentences: str) -> Schema:
        """The description, with those keywords of `node` that the type's schema, showing `kept`, leaves out."""
        moved: Schema = {}
        for key, value in node.items():
            taken = key in _TAKEN.get(kind, ()) and self.takes(kept, key)
            taken = taken or (key == "format" and key in kept and value in _FORMATS.get(kind, ()))
            if not taken and self.is_told(key, value, kind):
                moved[key] = value
        self.moved |= dict.fromkeys(key for key in moved if key != "default")
        if said.get("default") is not None:
            moved["default"] = said["default"]
        text = told(said.get("description") or said.get("title"), moved, *sentences)
        return {"description": text} if text else {}

    def is_told(self, key: str, value: Any, kind: str) -> bool:
        if key in _SILENT or value is None or key == "default":
            return False
        if key in ("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "items") and value is False:
            return key == "items"
        if key in ("items", "properties", "enum"):
            return False
        if key in ("required", "prefixItems"):
            return bool(value) and not (kind and elsewhere(key, kind))
        return key not in _STRUCTURE - {"allOf"} and not (kind and elsewhere(key, kind))


def _nullable(shown: Schema) -> Schema:
    """Null admitted: on every alternative, since nothing may stand beside anyOf."""
    if "anyOf" in shown:
        return {"anyOf": [_nullable(option) for option in shown["anyOf"]]}
    return shown | {"nullable": True}
