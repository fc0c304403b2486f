"""From arguments in a view's names and values back to those of the original schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json

from toolcrib.call import Schema
from toolcrib.dialects.schemas.merge import ABOUT
from toolcrib.dialects.schemas.walk import target
from toolcrib.frozen import MAX_DEPTH

#: How an empty text stands in a list of values where a provider takes no empty one.
EMPTY = "(empty)"
#: The one property of an object that has none, for a provider that takes no empty object.
UNUSED = "unused"


def value_text(value: Any) -> str:
    """A value of an enumeration as the text that stands for it."""
    if isinstance(value, str):
        return value or EMPTY
    return to_json(value).decode()


class Restorer:
    """Walks arguments along the tidy schema they belong to; at every place all alternatives count at once.

    names: original -> shown. values: also texts that stand for other values, and JSON written as text, are read. A text
    stays a text wherever the schema admits a free one. wrapped: a key of the root whose text holds all arguments.
    nulls: null is taken away where it says that nothing is given. Total: what fits nothing stays as it is.
    """

    __slots__ = ("names", "nulls", "root", "values", "wrapped")

    def __init__(
        self, root: Schema, names: dict[str, str], *, values: bool = False, wrapped: str = "", nulls: bool = False
    ) -> None:
        self.root = root
        self.nulls = nulls
        self.names = {shown: original for original, shown in names.items()}
        self.values = values
        self.wrapped = wrapped

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(arguments, dict):
            return arguments
        if self.wrapped and isinstance(arguments.get(self.wrapped), str):
            inner = _parsed(arguments[self.wrapped])
            if isinstance(inner, dict):
                arguments = inner | {key: value for key, value in arguments.items() if key != self.wrapped}
        restored: dict[str, Any] = self.object(arguments, list(self.expand([self.root])), 0)
        return restored

    def expand(self, schemas: list[Schema]) -> Iterator[Schema]:
        """All schemas that speak of one place: through references, unions and conditions, each once."""
        seen: set[int] = set()
        work = list(reversed(schemas))
        while work:
            schema = work.pop()
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            inner = [target(schema["$ref"], self.root)] if "$ref" in schema else []
            for keyword in ("allOf", "anyOf", "oneOf"):
                inner += schema.get(keyword, ())
            inner += [schema[keyword] for keyword in ("then", "else") if keyword in schema]
            inner += schema.get("dependentSchemas", {}).values()
            work.extend(reversed(inner))

    def value(self, value: Any, schemas: list[Schema], depth: int) -> Any:
        if not schemas or depth > MAX_DEPTH or not isinstance(value, (str, dict, list)):
            return value
        places = list(self.expand(schemas))
        if isinstance(value, str) and self.values:
            value = _meant(value, places)
        if isinstance(value, dict):
            return self.object(value, places, depth)
        if isinstance(value, list):
            return [self.value(item, _of_item(places, index), depth + 1) for index, item in enumerate(value)]
        return value

    def object(self, value: dict[str, Any], places: list[Schema], depth: int) -> dict[str, Any]:
        if self.values and depth and set(value) == {UNUSED} and _stands_empty(places):
            return {}
        restored = {}
        for key, item in value.items():
            original = self.names.get(key, key) if isinstance(key, str) else key
            if original != key and (original in value or not _declares(places, original)):
                original = key
            inner = _of_key(places, original)
            if not (self.nulls and item is None and self.refuses_null(inner, places, original)):
                restored[original] = self.value(item, inner, depth + 1)
        return restored

    def refuses_null(self, schemas: list[Schema], places: list[Schema], key: str) -> bool:
        """Whether a property is known and optional, and null is none of its values."""
        if not schemas or key in places[0].get("required", ()):
            return False
        telling = list(filter(_tells, self.expand(schemas)))
        return bool(telling) and not any(None in _values(place) or "null" in _open_types(place) for place in telling)


def _declares(places: list[Schema], key: str) -> bool:
    return any(key in place.get("properties", ()) or key in place.get("required", ()) for place in places)


def _of_key(places: list[Schema], key: str) -> list[Schema]:
    declared = [place["properties"][key] for place in places if key in place.get("properties", ())]
    if declared:
        return declared
    extra = [place.get("additionalProperties") for place in places]
    patterned = [child for place in places for child in place.get("patternProperties", {}).values()]
    return [child for child in (*extra, *patterned) if isinstance(child, dict)]


def _of_item(places: list[Schema], index: int) -> list[Schema]:
    found = []
    for place in places:
        prefix = place.get("prefixItems", ())
        item = prefix[index] if index < len(prefix) else place.get("items")
        if item is None and "array" in (_types(place) or ()):
            item = {}
        if isinstance(item, dict):
            found.append(item)
    return found


def _is_empty(place: Schema) -> bool:
    """Whether a schema is an object that has no properties by its own words."""
    return place.get("properties") == {}


def _stands_empty(places: list[Schema]) -> bool:
    """Whether the key that fills an empty object has no meaning of its own there."""
    return any(map(_is_empty, places)) and not _declares(places, UNUSED)


def _types(place: Schema) -> list[str] | None:
    told = place.get("type")
    if told is None:
        about = {ABOUT[keyword] for keyword in place if keyword in ABOUT}
        return sorted(about) if about else None
    return [told] if isinstance(told, str) else list(told)


def _tells(place: Schema) -> bool:
    """Whether a schema by itself restricts which values there can be."""
    return _types(place) is not None or "enum" in place or "const" in place


def _values(place: Schema) -> list[Any]:
    """The values that a schema lists; [] where it lists none."""
    listed: list[Any] = place["enum"] if "enum" in place else [place["const"]] if "const" in place else []
    return listed


def _open_types(place: Schema) -> list[str]:
    """The types of which a schema admits more than listed values."""
    return [] if "enum" in place or "const" in place else _types(place) or []


def _meant(value: str, places: list[Schema]) -> Any:
    """What a text stands for at a place that all these schemas describe."""
    telling = list(filter(_tells, places))
    listed = [item for place in telling for item in _values(place)]
    if value in [item for item in listed if isinstance(item, str)]:
        return value
    stands_for = [item for item in listed if value_text(item) == value]
    kinds = {kind for place in telling for kind in _open_types(place)}
    if stands_for and "string" not in kinds:
        return stands_for[0]
    if "string" in kinds:
        return value
    if any(map(_is_empty, places)) and value.strip() in ("", "{}"):
        return {}
    parsed = _parsed(value)
    fits = isinstance(parsed, (dict, list)) and (not telling or _kind(parsed) in kinds)
    return parsed if fits else value


def _kind(parsed: Any) -> str:
    return "object" if isinstance(parsed, dict) else "array"


def _parsed(text: str) -> Any:
    """A JSON object or array written as text; None for every other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None


def _finite(word: str) -> float:
    number = float(word)
    if number - number != 0:
        raise ValueError(word)
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one that says a key twice has no certain meaning."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a key stands there twice")
    return read
