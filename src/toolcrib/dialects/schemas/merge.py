"""What is spread over `$ref`, `allOf` and unions, put into one schema.

Views only: the original is what arguments are checked against, so where two parts contradict each other the first one
is shown. A part at the place of use comes before what it refers to, so its description wins.
"""

from __future__ import annotations

from typing import Any

from toolcrib.definition import Schema, canonical
from toolcrib.dialects.schemas.texts import short
from toolcrib.dialects.schemas.walk import ANNOTATIONS, target

_MOST_PARTS = 200
_UNIONS = ("anyOf", "oneOf")
#: Keywords that tell the type of a schema without `type`.
_TELLING = {
    "object": (
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    ),
    "array": (
        "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains",
        "unevaluatedItems",
    ),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}  # fmt: skip
#: keyword -> the type it is about.
ABOUT = {keyword: kind for kind, keywords in _TELLING.items() for keyword in keywords}
#: Keywords by which an alternative is more than a schema of one type.
COMPOSED = frozenset({"$ref", "allOf", *_UNIONS, *ANNOTATIONS})
#: Our own keyword for what a flattened schema demands besides: for descriptions only, never shown as a keyword.
ALSO = "also"
_OPTIONS_DEPTH = 4


def elsewhere(keyword: str, kind: str) -> bool:
    """Whether a keyword is about another type than this one, and so says nothing of its values."""
    about = ABOUT.get(keyword)
    return about is not None and about != ("number" if kind == "integer" else kind)


def json_type(value: Any) -> str:
    """The JSON type of a plain value."""
    if value is None:
        return "null"
    for kind, types in (("boolean", bool), ("string", str), ("integer", int), ("number", float), ("array", list)):
        if isinstance(value, types):
            return kind
    return "object"


def types(node: Schema) -> list[str]:
    """The types a flattened schema admits, told or inferred; [] where it says nothing of them."""
    told = node.get("type")
    if told is not None:
        return [told] if isinstance(told, str) else list(told)
    values = node["enum"] if "enum" in node else [node["const"]] if "const" in node else []
    if values:
        return list(dict.fromkeys(map(json_type, values)))
    return next(([kind] for kind, keywords in _TELLING.items() if any(word in node for word in keywords)), [])


def flatten(node: Schema, root: Schema) -> tuple[Schema, frozenset[str]]:
    """One schema for a node with its references and allOf parts, and the references taken in.

    The schemas inside stay as they are. What cannot be joined (a second union) comes to stand under ALSO.
    """
    if "$ref" not in node and "allOf" not in node:
        return node, frozenset()
    merged: Schema = {}
    refs: set[str] = set()
    parts = [node]
    for _ in range(_MOST_PARTS):
        if not parts:
            break
        part = parts.pop(0)
        ref = part.get("$ref")
        inner = list(part.get("allOf", ()))
        merged = merge(merged, {key: value for key, value in part.items() if key not in ("$ref", "allOf", "$defs")})
        if ref is not None and ref not in refs:
            refs.add(ref)
            inner.insert(0, target(ref, root))
        parts = inner + parts
    return merged, frozenset(refs)


def merge(first: Schema, second: Schema) -> Schema:
    """Both at once, as far as one schema can say it."""
    if not first or not second:
        return dict(first or second)
    merged = dict(first)
    rest: Schema = {}
    for keyword, value in second.items():
        if keyword not in merged:
            merged[keyword] = value
        elif keyword in _JOINED:
            merged[keyword] = _JOINED[keyword](merged[keyword], value)
        elif keyword not in ANNOTATIONS and canonical(merged[keyword]) != canonical(value):
            rest[keyword] = value
    if rest:
        merged[ALSO] = [*merged.get(ALSO, ()), rest]
    return merged


def _join_types(first: Any, second: Any) -> Any:
    ours = [first] if isinstance(first, str) else first
    theirs = [second] if isinstance(second, str) else second
    both = [kind for kind in ours if kind in theirs or (kind == "integer" and "number" in theirs)]
    both += ["integer"] if "integer" in theirs and "number" in ours and "integer" not in both else []
    return (both[0] if len(both) == 1 else both) or first


def _join_enums(first: list[Any], second: list[Any]) -> list[Any]:
    known = {canonical(value) for value in second}
    return [value for value in first if canonical(value) in known] or first


def _join_properties(first: dict[str, Schema], second: dict[str, Schema]) -> dict[str, Schema]:
    joined = dict(first)
    for key, child in second.items():
        same = key in joined and canonical(joined[key]) == canonical(child)
        joined[key] = child if key not in joined or same else {"allOf": [joined[key], child]}
    return joined


def _join_extra(first: Any, second: Any) -> Any:
    if first is False or second is False:
        return False
    return second if first is True else first


def _join_schemas(first: Any, second: Any) -> Any:
    if first is False or second is False:
        return False
    return first if canonical(first) == canonical(second) else {"allOf": [first, second]}


_JOINED: dict[str, Any] = {
    "type": _join_types,
    "enum": _join_enums,
    "properties": _join_properties,
    "patternProperties": _join_properties,
    "dependentSchemas": _join_properties,
    "required": lambda first, second: list(dict.fromkeys([*first, *second])),
    "dependentRequired": lambda first, second: second | first,
    "additionalProperties": _join_extra,
    "items": _join_schemas,
    "propertyNames": _join_schemas,
    "uniqueItems": lambda first, second: first or second,
    ALSO: lambda first, second: [*first, *second],
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def remarks(node: Schema) -> Schema:
    """What a schema says without restricting anything."""
    return {keyword: node[keyword] for keyword in ANNOTATIONS if keyword in node}


def split(node: Schema, root: Schema, names: dict[str, str]) -> tuple[list[Schema], bool, Schema]:
    """A flattened schema as (its alternatives without null, whether null is one, what is said of all of them).

    Every alternative has at most one type and, once flattened, is about that type alone; none has a union beside
    properties of its own: those become one object, its alternatives told in its description.
    """
    said = remarks(node)
    core = {keyword: value for keyword, value in node.items() if keyword not in ANNOTATIONS}
    union = next((keyword for keyword in _UNIONS if keyword in core), None)
    if union is None:
        return _by_type(core, said)
    if "properties" in core:
        whole = one_object(core, root, names)
        described = " ".join(filter(None, (said.get("description"), whole.pop("description", None))))
        return [whole | {"type": "object"}], "null" in types(node), said | {"description": described}
    options = core.pop(union)
    branches = [{"allOf": [option, core]} if core else option for option in options]
    kept = [branch for branch in branches if not _is_null(branch, root)]
    return kept, len(kept) < len(branches), said


def _by_type(core: Schema, said: Schema) -> tuple[list[Schema], bool, Schema]:
    found = types(core)
    values = core.get("enum", [core["const"]] if "const" in core else None)
    null = "null" in found and (values is None or None in values)
    if values is not None:  # an enumeration is one alternative, whatever its types
        kept = [value for value in values if value is not None]
        rest = {keyword: value for keyword, value in core.items() if keyword not in ("const", "enum")}
        return ([rest | {"enum": kept}] if kept else []), null, said
    kinds = [kind for kind in found if kind != "null" and not (kind == "integer" and "number" in found)]
    if not found or len(kinds) == 1:
        return [core | {"type": kinds[0]} if kinds else core], null, said
    return [_about(core, kind) for kind in kinds], null, said


def _about(core: Schema, kind: str) -> Schema:
    """The part of a schema that is about one of its types."""
    return {key: value for key, value in core.items() if not elsewhere(key, kind)} | {"type": kind}


def _is_null(branch: Schema, root: Schema) -> bool:
    if "properties" in branch or "$ref" in branch:
        return False
    flat, _ = flatten(branch, root)
    return types(flat) == ["null"]


def one_object(node: Schema, root: Schema, names: dict[str, str], depth: int = 0) -> Schema:
    """A flattened object schema and its anyOf and oneOf as one object without them.

    Properties of all alternatives are there; required is what all of them require; the description tells them apart,
    with names as a model is shown them (`names`: original -> shown).
    """
    merged = {keyword: value for keyword, value in node.items() if keyword not in _UNIONS}
    for keyword in _UNIONS:
        options = _objects(node.get(keyword, ()), root, names, depth)
        if options:
            merged = _with_options(merged, options, keyword, names)
    return merged


def _objects(options: Any, root: Schema, names: dict[str, str], depth: int) -> list[Schema]:
    if depth > _OPTIONS_DEPTH:
        return []
    found = []
    for option in options:
        flat, _ = flatten(option, root)
        if any(keyword in flat for keyword in _UNIONS):
            flat = one_object(flat, root, names, depth + 1)
        if not types(flat) or "object" in types(flat):
            found.append(flat)
    return found


def _with_options(merged: Schema, options: list[Schema], keyword: str, names: dict[str, str]) -> Schema:
    own = set(merged.get("properties", {}))
    properties = dict(merged.get("properties", {}))
    variants: dict[str, dict[bytes, Schema]] = {}
    for option in options:
        for key, child in option.get("properties", {}).items():
            if key not in own:
                variants.setdefault(key, {})[canonical(child)] = child
    for key, seen in variants.items():
        properties[key] = next(iter(seen.values())) if len(seen) == 1 else {"anyOf": list(seen.values())}
    common = [key for key in options[0].get("required", ()) if all(key in o.get("required", ()) for o in options)]
    required = list(dict.fromkeys([*merged.get("required", ()), *common]))
    told = [_told(option, names) for option in options]
    merged = merged | {"properties": properties}
    if required:
        merged["required"] = required
    if "additionalProperties" not in merged:
        extras = [option.get("additionalProperties") for option in options]
        if all(extra is False for extra in extras):
            merged["additionalProperties"] = False
        elif any(extra is True or isinstance(extra, dict) for extra in extras):
            merged["additionalProperties"] = True
    if any(told) and len(told) > 1:
        words = "Give exactly one of: " if keyword == "oneOf" else "Give at least one of: "
        sentence = words + "; ".join(f"({n}) {text or 'nothing more'}" for n, text in enumerate(told, 1)) + "."
        merged["description"] = " ".join(filter(None, (merged.get("description"), sentence)))
    return merged


def _told(option: Schema, names: dict[str, str]) -> str:
    """The names an alternative requires, with their value where it is fixed; its optional ones in brackets."""
    properties: dict[str, Schema] = option.get("properties", {})
    required = option.get("required", ())
    parts = []
    for key in required:
        child = properties.get(key, {})
        values = child.get("enum", [child["const"]] if "const" in child else [])
        parts.append(names.get(key, key) + (f"={short(values[0], 60)}" if len(values) == 1 else ""))
    parts += [f"[{names.get(key, key)}]" for key in properties if key not in required]
    text = ", ".join(parts[:30]) + (", …" if len(parts) > 30 else "")
    title = option.get("title")
    return f"{title}: {text}" if title and text else text or title or ""
