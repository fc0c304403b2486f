"""Property names that a provider takes: renamed in the whole schema at once, one shown name for one original name.

One map for all places keeps the way back free of guesses: in a union a key means the same whichever alternative the
model took. A shown name never equals a real property name of the schema, wherever that stands.
"""

from __future__ import annotations

import hashlib
import re

from toolcrib.call import Schema
from toolcrib.dialects.schemas.walk import mapped, nodes

_KEPT = 55


def shown_names(root: Schema, pattern: str, unsafe: str) -> dict[str, str]:
    """Original -> shown, for the property names of a tidy schema that do not match the whole of `pattern`.

    unsafe: a pattern of the characters that become `_`. Names that then are too long, taken or have nothing readable
    left end in a hash of the original. Depends on the schema alone.
    """
    rule = re.compile(pattern)
    found = dict.fromkeys(name for node in nodes(root) for name in _named(node))
    taken = {name for name in found if rule.fullmatch(name)}
    shown: dict[str, str] = {}
    for name in found:
        if name not in taken:
            shown[name] = _shown(name, rule, unsafe, taken)
    return shown


def _named(node: Schema) -> list[str]:
    dependent = node.get("dependentRequired", {})
    return [
        *node.get("properties", ()), *node.get("required", ()), *node.get("dependentSchemas", ()), *dependent,
        *(name for names in dependent.values() for name in names),
    ]  # fmt: skip


def _shown(name: str, rule: re.Pattern[str], unsafe: str, taken: set[str]) -> str:
    stem = re.sub(unsafe, "_", name)
    if not rule.fullmatch(stem[:1]):
        stem = "_" + stem
    candidate = stem
    count = 0
    while candidate in taken or not rule.fullmatch(candidate) or not re.search("[a-zA-Z0-9]", candidate):
        mark = hashlib.sha256(f"{name}{count or ''}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
        candidate = f"{stem[:_KEPT].rstrip('_') if stem.strip('_') else 'p'}_{mark}"
        count += 1
    taken.add(candidate)
    return candidate


def renamed(node: Schema, names: dict[str, str]) -> Schema:
    """A schema with the shown names everywhere; a renamed property says what it is really called."""
    if not names:
        return node
    copy = mapped(node, lambda child: renamed(child, names))
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if keyword in copy:
            copy[keyword] = {names.get(key, key): child for key, child in copy[keyword].items()}
    if "required" in copy:
        copy["required"] = [names.get(key, key) for key in copy["required"]]
    if "dependentRequired" in copy:
        copy["dependentRequired"] = {
            key: [names.get(name, name) for name in others] for key, others in copy["dependentRequired"].items()
        }
    for original in node.get("properties", ()):
        if original in names:
            copy["properties"][names[original]] = _labelled(copy["properties"][names[original]], original)
    return copy


def _labelled(child: Schema, original: str) -> Schema:
    if "$ref" in child or "anyOf" in child:  # some providers take nothing beside these
        return child
    described = child.get("description")
    return child | {"description": f"{described} (named {original!r})" if described else f"Named {original!r}."}
