"""A parameter schema as something to walk: references, names, and the question whether one part of it takes a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from toolcrib.errors import DefinitionError

if TYPE_CHECKING:
    import jsonschema_rs

Pointer: TypeAlias = str
_ROOT = "urn:toolcrib:parameters"
_LEGACY = re.compile(r"draft-0[3467]")
_MODERN = re.compile(r"draft/20(19-09|20-12)")
_COMPOSED = ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
_OPEN = ("additionalProperties", "patternProperties", "unevaluatedProperties")
#: References followed in a row before a schema counts as going round in circles.
MAX_HOPS = 50


class SchemaTree:
    """One tool's parameter schema, the root closed unless it says otherwise. Everything is compiled at first use.

    `closed_names` is set where the draft has no word for a closed composed root: the only names it takes.
    """

    __slots__ = ("_admits", "_known", "_registry", "_validator", "closed_names", "legacy", "name", "root")

    def __init__(self, name: str, root: dict[str, Any]) -> None:
        self.name = name
        self.root = root
        self.legacy = bool(_LEGACY.search(str(root.get("$schema", ""))))
        self.closed_names: frozenset[str] | None = None
        self._validator: Any = None
        self._registry: Any = None
        self._admits: dict[Pointer, Any] = {}
        self._known: dict[Pointer, dict[str, None]] = {}

    @property
    def validator(self) -> jsonschema_rs.Validator:
        """The whole schema with its closed root. Raises DefinitionError, naming the tool, where it does not compile."""
        if self._validator is None:
            self._validator = self._compiled()
        validator: jsonschema_rs.Validator = self._validator
        return validator

    def takes(self, pointer: Pointer, value: Any) -> bool:
        """Whether the part of the schema at a pointer takes a value as it is."""
        found = self._admits.get(pointer)
        if found is None:
            found = self._admits[pointer] = self._part(pointer)
        return bool(found is not False and found.is_valid(value))

    def refuses(self, pointer: Pointer, value: Any) -> bool:
        """Whether that part provably does not take it; False also where the part cannot be asked alone."""
        return not self.takes(pointer, value) and self._admits[pointer] is not False

    def at(self, path: tuple[str | int, ...]) -> Any:
        """The schema of one place of the arguments, references followed; steps it does not know are skipped.

        None where it knows none of them.
        """
        schema: Any = self.root
        found = False
        for name in path:
            for part, _, _ in self.parts(schema, ""):
                inner = _inner(part, name)
                if inner is not None:
                    schema, found = inner, True
                    break
        hops = 0
        while isinstance(schema, dict) and "$ref" in schema and hops < MAX_HOPS:
            target = self.resolve(schema["$ref"])
            if target is None:
                break
            schema, hops = target[0], hops + 1
        return schema if found else None

    def resolve(self, reference: Any) -> tuple[Any, Pointer] | None:
        """The schema and pointer a local reference leads to; None for any other."""
        if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
            return None
        node: Any = self.root
        from urllib.parse import unquote

        for step in unquote(reference[2:]).split("/") if len(reference) > 1 else ():
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and step in node:
                node = node[step]
            elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
                node = node[int(step)]
            else:
                return None
        return node, reference[1:]

    def parts(self, schema: Any, pointer: Pointer, hops: int = 0) -> Iterator[tuple[dict[str, Any], Pointer, bool]]:
        """The schema and all it is composed of for the same value: (part, pointer, whether it always applies)."""
        if not isinstance(schema, dict) or hops > MAX_HOPS:
            return
        yield schema, pointer, True
        target = self.resolve(schema.get("$ref"))
        if target is not None:
            yield from self.parts(*target, hops + 1)
        for word in ("allOf", "anyOf", "oneOf"):
            branches = schema.get(word)
            for index, branch in enumerate(branches if isinstance(branches, list) else ()):
                for part, where, always in self.parts(branch, f"{pointer}/{word}/{index}", hops + 1):
                    yield part, where, always and word == "allOf"
        for word in ("if", "then", "else"):
            for part, where, _ in self.parts(schema.get(word), f"{pointer}/{word}", hops + 1):
                yield part, where, False

    def known(self, schema: Any, pointer: Pointer) -> dict[str, None]:
        """The property names declared for an object there, over all it is composed of, in order."""
        found = self._known.get(pointer)
        if found is None:
            names = (name for part, _, _ in self.parts(schema, pointer) for name in _mapping(part, "properties"))
            found = self._known[pointer] = dict.fromkeys(names)
        return found

    def matches_pattern(self, name: str, schema: Any, pointer: Pointer) -> bool:
        """Whether a property name is one of those declared by pattern there."""
        patterns = {each for part, _, _ in self.parts(schema, pointer) for each in _mapping(part, "patternProperties")}
        return any(_found(pattern, name) for pattern in patterns)

    def required(self, schema: Any, pointer: Pointer) -> frozenset[str]:
        """The property names that must always be given there."""
        names: set[str] = set()
        for part, _, always in self.parts(schema, pointer):
            listed = part.get("required")
            if always and isinstance(listed, list):
                names.update(name for name in listed if isinstance(name, str))
        return frozenset(names)

    def closed(self, schema: Any, pointer: Pointer) -> bool:
        """Whether an object there takes no other names than the known ones."""
        if pointer == "":
            return not any(word in part for part, _, _ in self.parts(schema, pointer) for word in _OPEN) or (
                self.root.get("additionalProperties") is False or self.root.get("unevaluatedProperties") is False
            )
        closing = ("additionalProperties", "unevaluatedProperties")
        return any(part.get(word) is False for part, _, _ in self.parts(schema, pointer) for word in closing)

    def defaults(self) -> dict[str, Any]:
        """Declared defaults of the root's properties that their own schema takes."""
        found: dict[str, Any] = {}
        for part, pointer, always in self.parts(self.root, ""):
            for name, schema in _mapping(part, "properties").items() if always else ():
                if isinstance(schema, dict) and "default" in schema and name not in found:
                    value = schema["default"]
                    if self.takes(step(f"{pointer}/properties", name), value):
                        found[name] = value
        return found

    def _compiled(self) -> Any:
        closed = dict(self.root)
        if not any(word in self.root for word in _OPEN):
            if not any(word in self.root for word in _COMPOSED):
                closed["additionalProperties"] = False
            elif not self.legacy:
                closed["unevaluatedProperties"] = False
            elif not any(word in part for part, _, _ in self.parts(self.root, "") for word in _OPEN):
                self.closed_names = frozenset(self.known(self.root, ""))
        try:
            return self._build(closed)
        except Exception as problem:
            failure = _first_line(problem)
        if "$schema" not in self.root:
            # Many who leave the draft out still write an older one: lists under `items`, a boolean `exclusiveMinimum`.
            for draft in ("07", "04"):
                try:
                    older = dict(closed, **{"$schema": f"http://json-schema.org/draft-{draft}/schema#"})
                    if "unevaluatedProperties" not in self.root:
                        older.pop("unevaluatedProperties", None)
                    validator = self._build(older)
                except Exception:
                    continue
                self.legacy = True
                self.root = dict(self.root, **{"$schema": older["$schema"]})
                if "unevaluatedProperties" in closed and "unevaluatedProperties" not in self.root:
                    self.closed_names = frozenset(self.known(self.root, ""))
                return validator
        raise DefinitionError(f"tool {self.name!r}: the parameter schema does not compile: {failure}")

    def _build(self, schema: dict[str, Any], registry: Any = None) -> Any:
        import jsonschema_rs

        return jsonschema_rs.validator_for(
            _of_a_draft(schema), registry=registry, offline=True, validate_formats=False, mask="the value"
        )

    def _part(self, pointer: Pointer) -> Any:
        """The validator of one part; False where it cannot be compiled alone."""
        import jsonschema_rs

        try:
            if self._registry is None:
                assert self.validator is not None  # it settles the draft
                self._registry = jsonschema_rs.Registry([(_ROOT, _of_a_draft(self.root))])
            wrapper = {"$ref": f"{_ROOT}#{_quoted(pointer)}"}
            if self.legacy:
                wrapper["$schema"] = self.root["$schema"]
            return self._build(wrapper, self._registry)
        except Exception:
            return False


def step(pointer: Pointer, name: str) -> Pointer:
    """One step further down a JSON pointer."""
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"


def _of_a_draft(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without a `$schema` that names no draft: the newest one is meant."""
    draft = schema.get("$schema")
    if draft is None or (isinstance(draft, str) and (_LEGACY.search(draft) or _MODERN.search(draft))):
        return schema
    return {key: value for key, value in schema.items() if key != "$schema"}


def _inner(schema: dict[str, Any], name: str | int) -> Any:
    """The schema of one property or item, where this part declares it."""
    if isinstance(name, str):
        found = _mapping(schema, "properties").get(name)
        return schema.get("additionalProperties") if found is None and "properties" not in schema else found
    for word in ("prefixItems", "items"):
        listed = schema.get(word)
        if isinstance(listed, list):
            if name < len(listed):
                return listed[name]
        elif listed is not None:
            return listed
    return None


def _found(pattern: str, name: str) -> bool:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return False


def _mapping(schema: dict[str, Any], word: str) -> dict[str, Any]:
    found = schema.get(word)
    return found if isinstance(found, dict) else {}


def _quoted(pointer: Pointer) -> str:
    from urllib.parse import quote

    return quote(pointer, safe="/~$")


def _first_line(problem: Exception) -> str:
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0]
