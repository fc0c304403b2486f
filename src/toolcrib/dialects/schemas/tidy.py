"""Any JSON Schema of the wild as one modern dialect: Draft 2020-12, without what only a validator of files needs.

After `tidy` every keyword has a value of its right type; types are JSON's own words; every reference is `#` or
`#/$defs/NAME` and has its target; `$defs` stands at the root alone; tuples are `prefixItems`; what was no schema admits
anything. No reference is inlined here. The schema given is not touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from toolcrib.definition import Schema, canonical
from toolcrib.dialects.schemas.walk import LEVELS
from toolcrib.dialects.schemas.words import types_of
from toolcrib.errors import DefinitionError
from toolcrib.frozen import thaw

_DROP: Any = object()
_UNSAFE = re.compile(r"[^a-zA-Z0-9_.-]+")
#: Keywords whose value is data: a description is the one place for names that a schema gives other meanings.
_NOT_A_NODE = frozenset({"enum", "const", "default", "examples", "example"})


def tidy(schema: Schema) -> tuple[Schema, tuple[str, ...]]:
    """The schema in the one dialect, and notes on what could not be read."""
    return _Tidying(schema).whole()


class _Tidying:
    __slots__ = ("names", "notes", "queue", "root")

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.names: dict[str, str] = {}
        self.queue: list[tuple[str, Any]] = []
        self.notes: dict[str, None] = {}

    def whole(self) -> tuple[Schema, tuple[str, ...]]:
        if not isinstance(self.root, dict):
            raise DefinitionError(f"parameters must be a JSON Schema, a dict; got {type(self.root).__name__}")
        root = self.node(self.root, 0)
        definitions: dict[str, Schema] = {}
        while self.queue:
            name, raw = self.queue.pop(0)
            definitions[name] = self.node(raw, 0)
        return ({**root, "$defs": definitions} if definitions else root), tuple(self.notes)

    def note(self, text: str) -> None:
        self.notes[text] = None

    def node(self, raw: Any, level: int) -> Schema:
        if isinstance(raw, bool):
            return {} if raw else {"not": {}}
        if isinstance(raw, str):
            raw = {"type": raw}
        if not isinstance(raw, dict):
            self.note(f"no schema but {type(raw).__name__} stands where one must: shown as anything")
            return {}
        if level > LEVELS:
            self.note(f"nested more than {LEVELS} schemas deep: what lies deeper is shown as anything")
            return {}
        out: Schema = {}
        for keyword, value in raw.items():
            self.keyword(out, keyword, value, raw, level)
        _tidy_required(out, raw)
        return out

    def keyword(self, out: Schema, keyword: str, value: Any, raw: Schema, level: int) -> None:
        if keyword == "type":
            types, unknown = types_of(value)
            for word in unknown:
                self.note(f"the type {word!r} is none of JSON's: shown as anything")
            if types:
                out["type"] = types[0] if len(types) == 1 else types
        elif keyword == "$ref":
            self.reference(out, value)
        elif keyword in _MAPS:
            if isinstance(value, dict):
                out[keyword] = {key: self.node(child, level + 1) for key, child in value.items()}
        elif keyword in _LISTS:
            if isinstance(value, list) and value:
                out[keyword] = [self.node(child, level + 1) for child in value]
        elif keyword in ("items", "additionalItems"):
            self.items(out, keyword, value, raw, level)
        elif keyword in _ONES:
            out[keyword] = value if keyword in _BOOLS and isinstance(value, bool) else self.node(value, level + 1)
        elif keyword == "dependencies" and isinstance(value, dict):
            self.dependencies(out, value, level)
        elif keyword in _PLAIN:
            plain = _PLAIN[keyword](value)
            if plain is not _DROP:
                out[keyword] = plain
        elif keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            self.bound(out, keyword, value)

    def bound(self, out: Schema, keyword: str, value: Any) -> None:
        """Draft 4 wrote `exclusiveMinimum: true` beside the minimum."""
        number = _number(value)
        if number is not _DROP:
            out[keyword] = number
        elif value is True:
            out[keyword] = True  # resolved by _tidy_required, when its partner is known

    def items(self, out: Schema, keyword: str, value: Any, raw: Schema, level: int) -> None:
        tuple_like = isinstance(raw.get("items"), list)
        if keyword == "additionalItems":
            if tuple_like:
                out["items"] = value if isinstance(value, bool) else self.node(value, level + 1)
        elif not tuple_like:
            out["items"] = False if value is False else self.node(value, level + 1)
        elif value:
            out["prefixItems"] = [self.node(child, level + 1) for child in value]

    def dependencies(self, out: Schema, value: dict[str, Any], level: int) -> None:
        names = {key: _names(one) for key, one in value.items() if isinstance(one, list)}
        schemas = {key: self.node(one, level + 1) for key, one in value.items() if not isinstance(one, list)}
        if names:
            out.setdefault("dependentRequired", {}).update(names)
        if schemas:
            out.setdefault("dependentSchemas", {}).update(schemas)

    def reference(self, out: Schema, ref: Any) -> None:
        pointer = self.local(ref)
        if pointer is None:
            self.note(f"the reference {str(ref)[:120]!r} leads nowhere in this schema: shown as anything")
        elif not pointer:
            out["$ref"] = "#"
        else:
            out["$ref"] = "#/$defs/" + self.names[pointer]

    def local(self, ref: Any) -> str | None:
        """The pointer that a reference is, its target queued; "" for the root, None where it leads nowhere."""
        if not isinstance(ref, str):
            return None
        base, _, pointer = ref.partition("#")
        if base and base != self.root.get("$id", self.root.get("id")):
            return None
        if pointer in ("", "/"):
            return ""
        if pointer not in self.names:
            found = _at(self.root, pointer) if pointer.startswith("/") else _anchored(self.root, pointer)
            if not isinstance(found, (dict, bool)):
                return None
            self.names[pointer] = self.name(pointer)
            self.queue.append((self.names[pointer], found))
        return pointer

    def name(self, pointer: str) -> str:
        stem = _UNSAFE.sub("_", unquote(pointer).rpartition("/")[2])[:60] or "definition"
        taken, name, count = set(self.names.values()), stem, 2
        while name in taken:
            name, count = f"{stem}_{count}", count + 1
        return name


def _tidy_required(out: Schema, raw: Schema) -> None:
    """What depends on two keywords: the bounds of Draft 4, and `required: true` inside a property."""
    for exclusive, inclusive in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if out.get(exclusive) is True:
            del out[exclusive]
            if inclusive in out:
                out[exclusive] = out.pop(inclusive)
    properties = raw.get("properties")
    if isinstance(properties, dict):
        marked = [key for key, one in properties.items() if isinstance(one, dict) and one.get("required") is True]
        if marked:
            out["required"] = list(dict.fromkeys([*out.get("required", ()), *marked]))


def _at(root: Schema, pointer: str) -> Any:
    here: Any = root
    for token in pointer[1:].split("/"):
        token = unquote(token).replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict) and token in here:
            here = here[token]
        elif isinstance(here, list) and token.isdecimal() and int(token) < len(here):
            here = here[int(token)]
        else:
            return None
    return here


def _anchored(root: Schema, anchor: str) -> Any:
    work: list[Any] = [root]
    while work:
        node = work.pop()
        if isinstance(node, dict):
            if anchor in (node.get("$anchor"), node.get("$dynamicAnchor")) or f"#{anchor}" in (
                node.get("$id"), node.get("id"),
            ):  # fmt: skip
                return node
            work.extend(value for keyword, value in node.items() if keyword not in _NOT_A_NODE)
        elif isinstance(node, list):
            work.extend(node)
    return None


def _text(value: Any) -> Any:
    return value if isinstance(value, str) and value else _DROP


def _flag(value: Any) -> Any:
    return value if isinstance(value, bool) else _DROP


def _number(value: Any) -> Any:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else _DROP


def _positive(value: Any) -> Any:
    number = _number(value)
    return number if number is not _DROP and number > 0 else _DROP


def _count(value: Any) -> Any:
    number = _number(value)
    return int(number) if number is not _DROP and number >= 0 and number == int(number) else _DROP


def _names(value: Any) -> Any:
    if not isinstance(value, list):
        return _DROP
    return list(dict.fromkeys(name for name in value if isinstance(name, str)))


def _name_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return _DROP
    return {key: _names(names) for key, names in value.items() if isinstance(names, list)}


def _distinct(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        return _DROP
    return list({canonical(item): thaw(item) for item in value}.values())


_PLAIN: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("title", "description", "format", "pattern", "contentEncoding", "contentMediaType"), _text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _flag),
    **dict.fromkeys(("minimum", "maximum"), _number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    **dict.fromkeys(("const", "default"), thaw),
    **dict.fromkeys(("enum", "examples"), _distinct),
    "multipleOf": _positive,
    "required": _names,
    "dependentRequired": _name_lists,
}
_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES = (
    "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else", "unevaluatedItems",
    "unevaluatedProperties",
)  # fmt: skip
_BOOLS = ("additionalProperties", "unevaluatedItems", "unevaluatedProperties")
