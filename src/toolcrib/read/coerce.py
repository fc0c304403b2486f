"""Arguments brought to their schema without loss: the walk that both kinds of tools share.

A value that fits as it is stays. What is changed is noted; what would lose something is left alone, so that validation
refuses it, or is refused here where validation would not see the loss.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from toolcrib.read import scalars
from toolcrib.read.names import renamings
from toolcrib.read.preview import Preview, place
from toolcrib.read.schema import MAX_HOPS, Pointer, SchemaTree, step
from toolcrib.read.strict import BadJson, same
from toolcrib.read.text import read_value

Path: TypeAlias = tuple[str | int, ...]
_ABSENT: Any = object()
#: Steps of one walk: beyond them a value is refused, as trying branches within branches may double at every level.
MOST_STEPS = 100_000


class TooMuch(Exception):
    """A value too large, or too deep in alternatives, to be brought to its schema."""


class Coercion:
    """One walk over one call's arguments.

    rounded: whole floats whose text said something else. hidden: names at the root that count as not declared.
    exact: names at the root whose values are never touched. notes and refused fill up on the way.
    """

    __slots__ = ("exact", "hidden", "notes", "preview", "refused", "rounded", "steps", "tree")

    def __init__(
        self,
        tree: SchemaTree,
        preview: Preview,
        rounded: set[float] | frozenset[float] = frozenset(),
        hidden: frozenset[str] = frozenset(),
        exact: frozenset[str] = frozenset(),
        steps: list[int] | None = None,
    ) -> None:
        self.tree = tree
        self.preview = preview
        self.rounded = rounded
        self.hidden = hidden
        self.exact = exact
        self.steps = [0] if steps is None else steps
        self.notes: list[str] = []
        self.refused: list[tuple[Path, str]] = []

    def arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        """The arguments as their schema wants them; `given` is not changed. Raises TooMuch."""
        made: dict[str, Any] = self.site(given, self.tree.root, "", ())
        return made

    def site(self, value: Any, schema: Any, pointer: Pointer, path: Path) -> Any:
        """One place of the arguments: names first, over all the schema is composed of, then the value part by part."""
        if type(value) is dict:
            required = self.tree.required(schema, pointer)
            value = self.named(value, schema, pointer, path, required)
        else:
            required = frozenset()
        return self.part(value, schema, pointer, path, required, 0)

    def named(
        self, value: dict[str, Any], schema: Any, pointer: Pointer, path: Path, required: frozenset[str]
    ) -> dict[str, Any]:
        known = self.tree.known(schema, pointer)
        if not path and self.hidden:
            known = {name: None for name in known if name not in self.hidden}
        unknown = [name for name in value if name not in known]
        if not unknown or not known:
            return value
        unknown = [name for name in unknown if not self.tree.matches_pattern(name, schema, pointer)]
        renamed = renamings(unknown, value, known)
        if renamed and not self.tree.closed(schema, pointer):
            # In an open object another name is data, unless what it stands for is missing.
            renamed = {name: target for name, target in renamed.items() if target in required}
        if not renamed:
            return value
        for name, target in renamed.items():
            self.notes.append(f"{place((*path, target))}: given as {self.preview.text(name)}")
        return {renamed.get(name, name): item for name, item in value.items()}

    def part(self, value: Any, schema: Any, pointer: Pointer, path: Path, required: frozenset[str], hops: int) -> Any:
        """A value by one schema: what it refers to, what it is composed of, what it lists, its own words."""
        if not isinstance(schema, dict) or hops > MAX_HOPS:
            return value
        self.steps[0] += 1
        if self.steps[0] > MOST_STEPS:
            raise TooMuch
        target = self.tree.resolve(schema["$ref"]) if "$ref" in schema else None
        if target is not None:
            value = self.part(value, *target, path, required, hops + 1)
            if self.tree.legacy:
                return value
        if isinstance(schema.get("allOf"), list):
            for index, branch in enumerate(schema["allOf"]):
                value = self.part(value, branch, f"{pointer}/allOf/{index}", path, required, hops + 1)
        for word in ("anyOf", "oneOf"):
            if isinstance(schema.get(word), list):
                value = self.branch(value, schema[word], f"{pointer}/{word}", path, required, hops + 1)
        if "enum" in schema or "const" in schema:
            value = self.listed(value, schema, path)
        return self.typed(value, schema, pointer, path, required)

    def branch(
        self, value: Any, branches: list[Any], pointer: Pointer, path: Path, required: frozenset[str], hops: int
    ) -> Any:
        """An exact branch wins over coercion; else the one result that some branch takes."""
        exact = [index for index in range(len(branches)) if self.tree.takes(f"{pointer}/{index}", value)]
        found: list[tuple[Any, Coercion]] = []
        for index in exact or range(len(branches)):
            trial = Coercion(self.tree, self.preview, self.rounded, steps=self.steps)
            made = trial.part(value, branches[index], f"{pointer}/{index}", path, required, hops)
            if trial.refused or not self.tree.takes(f"{pointer}/{index}", made):
                continue
            if exact and same(made, value):
                return value
            if not any(same(made, other) for other, _ in found):
                found.append((made, trial))
        if len(found) > 1:
            found = self.likeliest(value, found)
        if len(found) == 1 or (found and exact):
            made, trial = found[0]
            self.notes += trial.notes
            return made
        if exact:
            self.refused.append((path, "a number that was rounded, or one of another kind"))
        return value

    def likeliest(self, value: Any, found: list[tuple[Any, Coercion]]) -> list[tuple[Any, Coercion]]:
        """Of several readings of a text the one that it spells as JSON."""
        if not isinstance(value, str):
            return found
        try:
            spelled = read_value(value).value
        except BadJson:
            return found
        return [each for each in found if same(each[0], spelled)] or found

    def listed(self, value: Any, schema: dict[str, Any], path: Path) -> Any:
        """A value by `enum` or `const`: the listed one it is exactly, or the one it spells."""
        options = schema["enum"] if isinstance(schema.get("enum"), list) else [schema.get("const")]
        if any(same(value, option) for option in options):
            return value
        if isinstance(value, bool):
            if any(type(option) in (int, float) and option == value for option in options):
                self.refused.append((path, "a boolean where a number is expected"))
            return value
        if isinstance(value, (int, float)):
            equal = [o for o in options if isinstance(o, (int, float)) and o == value]
            numbers = [o for o in equal if not isinstance(o, bool)]
            if not equal:
                return value
            if isinstance(value, float) and value in self.rounded:
                self.refused.append((path, "a number that no double holds exactly"))
                return value
            return self.changed(value, (numbers or equal)[0], path)
        if isinstance(value, str):
            spelled = [option for option in options if _spells(value, option)]
            if len(spelled) == 1:
                return self.changed(value, spelled[0], path)
        return value

    def typed(self, value: Any, schema: dict[str, Any], pointer: Pointer, path: Path, required: frozenset[str]) -> Any:
        """A value by `type`, and what lies inside it."""
        declared = schema.get("type")
        types: Any = (declared,) if isinstance(declared, str) else declared if isinstance(declared, list) else ()
        kind = type(value)
        if kind is dict:
            return self.object(value, schema, pointer, path, required)
        if kind is list:
            return self.array(value, schema, pointer, path)
        if not types or value is None or kind is bool:
            return value
        if kind is str:
            return value if "string" in types else self.spelled(value, types, schema, pointer, path)
        if kind is float and "integer" in types and "number" not in types and value.is_integer():
            exact = None if value in self.rounded else scalars.whole(value)
            if exact is None:
                self.refused.append((path, "an integer is expected, and this number was rounded or is beyond 2**53"))
                return value
            return self.changed(value, exact, path)
        if "boolean" in types and "integer" not in types and "number" not in types and value in (0, 1):
            return self.changed(value, bool(value), path)
        return value

    def spelled(self, text: str, types: Any, schema: dict[str, Any], pointer: Pointer, path: Path) -> Any:
        """A text where the schema allows none: as the scalar it spells, or the JSON of an array or object it holds."""
        readings = [_scalar(text, kind) for kind in ("integer", "number", "boolean", "null") if kind in types]
        for made in readings:
            if made is not _ABSENT:
                return self.changed(text, made, path)
        if "array" not in types and "object" not in types:
            return text
        try:
            parsed = read_value(text)
        except BadJson:
            return text
        made = parsed.value
        if not (isinstance(made, list) and "array" in types) and not (isinstance(made, dict) and "object" in types):
            return text
        if parsed.conflicting:
            key = self.preview.text(parsed.conflicting[0])
            self.refused.append((path, f"the key {key} is given with different values"))
            return text
        self.notes.append(f"{place(path)}: a text holding JSON was decoded")
        self.notes += [f"{place(path)}: {what}" for what in parsed.mended]
        self.notes += [f"{place((*path, name))}: given twice with the same value" for name in parsed.repeated]
        before, self.rounded = self.rounded, self.rounded | parsed.rounded
        made = self.site(made, schema, pointer, path)
        self.rounded = before
        return made

    def object(
        self, value: dict[str, Any], schema: dict[str, Any], pointer: Pointer, path: Path, required: frozenset[str]
    ) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        made: dict[str, Any] = {}
        for name, item in value.items():
            if not path and name in self.exact:
                made[name] = item
            elif name in properties:
                where = step(f"{pointer}/properties", name)
                if item is None and name not in required and self.tree.refuses(where, None):
                    self.notes.append(f"{place((*path, name))}: null was left out, as it may be absent")
                else:
                    made[name] = self.site(item, properties[name], where, (*path, name))
            else:
                made[name] = self.other(name, item, schema, pointer, (*path, name))
        return made

    def other(self, name: str, item: Any, schema: dict[str, Any], pointer: Pointer, path: Path) -> Any:
        """A property that is not declared by name."""
        patterns = schema.get("patternProperties")
        matched = False
        for pattern, inner in patterns.items() if isinstance(patterns, dict) else ():
            try:
                matches = re.search(pattern, name) is not None
            except re.error:
                continue
            if matches:
                matched = True
                item = self.site(item, inner, step(f"{pointer}/patternProperties", pattern), path)
        for word in () if matched else ("additionalProperties", "unevaluatedProperties"):
            if isinstance(schema.get(word), dict):
                return self.site(item, schema[word], f"{pointer}/{word}", path)
        return item

    def array(self, value: list[Any], schema: dict[str, Any], pointer: Pointer, path: Path) -> list[Any]:
        first, rest, word = schema.get("prefixItems"), schema.get("items"), "prefixItems"
        rest_at = f"{pointer}/items"
        if isinstance(rest, list):
            first, rest, word, rest_at = rest, schema.get("additionalItems"), "items", f"{pointer}/additionalItems"
        first = first if isinstance(first, list) else []
        made: list[Any] = []
        for index, item in enumerate(value):
            inner, where = (first[index], f"{pointer}/{word}/{index}") if index < len(first) else (rest, rest_at)
            made.append(self.site(item, inner, where, (*path, index)))
        return made

    def changed(self, value: Any, made: Any, path: Path) -> Any:
        if not same(value, made):
            self.notes.append(self.preview.note(path, value, made))
        return made


def _scalar(text: str, kind: str) -> Any:
    made: Any
    if kind == "integer":
        made = scalars.to_integer(text)
    elif kind == "number":
        made = scalars.to_number(text)
    elif kind == "boolean":
        made = scalars.to_boolean(text)
    else:
        return None if text == "null" else _ABSENT
    return _ABSENT if made is None else made


def _spells(text: str, option: Any) -> bool:
    if isinstance(option, bool):
        return scalars.to_boolean(text) is option
    if isinstance(option, int):
        return scalars.to_integer(text) == option
    if isinstance(option, float):
        return scalars.to_number(text) == option
    return option is None and text == "null"
