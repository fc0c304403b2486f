"""The words people write for JSON Schema's seven types."""

from __future__ import annotations

import re
from typing import Any

from toolcrib.call import Schema
from toolcrib.dialects.schemas.walk import KEYED, LISTED, SINGLE

_SYNONYMS = {
    "string": "str text char character varchar bytes bytestring binary blob file path uri url uuid guid email date "
    "datetime date-time time timestamp duration decimal-string symbol nvarchar",
    "integer": "int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 long short byte bigint biginteger smallint",
    "number": "float float32 float64 double decimal bigdecimal numeric real num",
    "boolean": "bool bit",
    "array": "list tuple set frozenset arraylist linkedlist vector sequence iterable collection slice queue deque",
    "object": "dict dictionary map hashmap hashtable treemap linkedhashmap record struct mapping json jsonobject",
    "null": "none nil void nonetype",
}
_TYPES = {word: kind for kind, words in _SYNONYMS.items() for word in (kind, *words.split())}
#: Words that say nothing, on purpose.
_ANY = frozenset({"any", "unknown", "mixed", "variant", "enum", "union", "optional", "*", ""})
_HEAD = re.compile(r"[\s<\[({?|].*", re.DOTALL)


def types_of(value: Any) -> tuple[list[str], list[str]]:
    """The JSON types that a `type` keyword means, [] for any, and the words that could not be read."""
    found: dict[str, None] = {}
    unknown: list[str] = []
    anything = False
    for word in value if isinstance(value, list) else [value]:
        head = _head(word)
        if head in _TYPES:
            found[_TYPES[head]] = None
        else:
            anything = True
            if head not in _ANY:
                unknown.append(word if isinstance(word, str) else type(word).__name__)
    return ([] if anything else list(found)), unknown


def _head(word: Any) -> str:
    """`List[str]`, `java.util.ArrayList<String>` and `string?` without what follows or precedes the type's own name."""
    if word is None:
        return "null"
    if not isinstance(word, str):
        return "(no text)"
    text = word.strip()
    if text.endswith("[]"):
        return "array"
    return _HEAD.sub("", text).rpartition(".")[2].casefold()


def normalise(schema: Schema) -> Schema:
    """A copy in which every `type` is one of JSON Schema's own words; a word that cannot be read is left out.

    Iterative: any depth. Nothing else is changed, and data (enum, const, default, examples) is not looked into.
    """
    root: list[Any] = [schema]
    work: list[tuple[Any, Any, Any]] = [(root, 0, schema)]
    while work:
        holder, place, node = work.pop()
        if not isinstance(node, dict):
            continue
        copy = holder[place] = dict(node)
        if "type" in node:
            types, _ = types_of(node["type"])
            copy["type"] = types[0] if len(types) == 1 else types
            if not types:
                del copy["type"]
        for keyword, value in node.items():
            if keyword in (*KEYED, "definitions") and isinstance(value, dict):
                copy[keyword] = dict(value)
                work.extend((copy[keyword], key, child) for key, child in value.items())
            elif keyword in (*LISTED, "items") and isinstance(value, list):
                copy[keyword] = list(value)
                work.extend((copy[keyword], index, child) for index, child in enumerate(value))
            elif keyword in (*SINGLE, "additionalItems") and isinstance(value, dict):
                work.append((copy, keyword, value))
    return root[0]  # type: ignore[no-any-return]
