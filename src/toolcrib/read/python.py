"""Arguments of a Python tool: exactly by pydantic where they fit, else coerced by the schema, else by its lax rules.

pydantic alone would also take a true for an integer, a number for a date and text such as `nan`: what its lax mode
accepted is looked at once more and refused where the kind of the value was changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError, to_json

from toolcrib.errors import DefinitionError
from toolcrib.read import scalars
from toolcrib.read.coerce import Coercion
from toolcrib.read.faults import Fault, of_exception, of_pydantic
from toolcrib.read.strict import same

if TYPE_CHECKING:
    from toolcrib.call import Tool
    from toolcrib.read.preview import Preview
    from toolcrib.read.schema import SchemaTree

#: Core schemas that read plain data and its JSON text alike, and share no mutable part with the input.
_ALIKE = frozenset(
    {"typed-dict", "typed-dict-field", "str", "int", "float", "bool", "none", "nullable", "list", "default"}
)
_TEMPORAL = ("date", "time")
_NUMERIC = ("int", "float", "decimal", "complex", "finite")


class Refused(Exception):
    """Arguments that this tool does not take. arguments: as far as they had been read."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(len(faults))
        self.faults = faults
        self.arguments: Any = None


class PythonRoad:
    """Reads the arguments of one Python tool. Built at its first call."""

    __slots__ = ("_core", "_exact", "_listed", "_numbers_as_text", "_plain", "_tree", "_validator")

    def __init__(self, tool: Tool, tree: SchemaTree) -> None:
        assert tool.adapter is not None
        try:
            adapter = tool.adapter()
            self._validator: Any = adapter.validator
            self._core: Any = adapter.core_schema
        except DefinitionError:
            raise
        except Exception as problem:
            raise DefinitionError(f"tool {tool.name!r}: its parameters make no schema: {problem}") from problem
        self._tree = tree
        self._plain = _alike(self._core)
        # pydantic takes true for 1 among listed values, even strictly: such tools are walked every time.
        self._listed = _lists_numbers(tree.root)
        self._exact: frozenset[str] | None = None
        self._numbers_as_text: bool | None = None

    def check_pinned(self, pinned: dict[str, Any], name: str) -> None:
        """Raises DefinitionError where a pinned argument does not fit its parameter."""
        try:
            self.values(pinned)
        except Refused as refused:
            for fault in refused.faults:
                if fault.path and fault.path[0] in pinned:
                    raise DefinitionError(f"tool {name!r}: pinned {fault.path[0]!r}: {fault.said}") from None

    def quick(self, arguments: dict[str, Any], text: str | None, preview: Preview) -> dict[str, Any] | None:
        """The typed values of arguments that fit exactly as they are; None or an exception otherwise."""
        if self._listed:
            walk = Coercion(self._tree, preview)
            if not same(walk.arguments(arguments), arguments) or walk.refused:
                return None
        if self._plain:
            made: dict[str, Any] = self._validator.validate_python(arguments, strict=True)
            return made
        made = self._validator.validate_json(to_json(arguments) if text is None else text, strict=True)
        return made

    def read(
        self, given: dict[str, Any], pinned: dict[str, Any], coercion: Coercion
    ) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
        """(plain arguments, typed values, notes); raises Refused."""
        as_given = {**given, **pinned}
        if not self._listed:
            try:
                return as_given, self._validator.validate_json(to_json(as_given), strict=True), []
            except Exception:  # whatever a user's validator raises: the other readings are tried first
                pass
        coercion.exact = self._strict_names()
        made = {**coercion.arguments(given), **pinned}
        if coercion.refused:
            raise Refused([Fault(path, said) for path, said in coercion.refused])
        try:
            return made, self.values(made), coercion.notes
        except Refused as refused:
            refused.arguments = made
            if self._listed or same(made, as_given):
                raise
            try:  # a validator of the user's own may want the value as it was written
                return as_given, self.values(as_given), []
            except Refused:
                raise refused from None

    def values(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Typed values of plain arguments, strictly or by lax rules that change no kind; raises Refused."""
        text = to_json(arguments)
        try:
            made: dict[str, Any] = self._validator.validate_json(text, strict=True)
            return made
        except ValidationError as problem:
            strict = problem
        except Exception as problem:
            strict = None
            failure = problem
        try:
            made = self._validator.validate_json(text)
        except ValidationError as problem:
            raise Refused(_told(strict, problem)) from None
        except Exception as problem:
            raise Refused([of_exception(problem)]) from None
        if strict is None:
            raise Refused([of_exception(failure)])
        foreign = list(self._foreign(strict))
        if foreign:
            raise Refused(foreign)
        return made

    def _foreign(self, strict: ValidationError) -> Iterator[Fault]:
        """What the lax mode changed in kind, told by what the strict one complained of."""
        errors = strict.errors(include_url=False, include_context=False)
        # Of a union one branch that only read the text is enough.
        fine = {
            (each["loc"][:-1], each["input"])
            for each in errors
            if isinstance(each["input"], str) and not self._changes(each)
        }
        for each in errors:
            value = each["input"]
            if self._changes(each) and not (isinstance(value, str) and (each["loc"][:-1], value) in fine):
                yield Fault(each["loc"], each["msg"], value)

    def _changes(self, error: Any) -> bool:
        value, kind = error["input"], error["type"]
        if isinstance(value, bool):
            return bool(kind.startswith(_NUMERIC + _TEMPORAL))
        if isinstance(value, (int, float)):
            return bool(kind.startswith(_TEMPORAL) or (kind == "string_type" and not self._takes_numbers_as_text()))
        if not isinstance(value, str):
            return False
        if kind.startswith("int"):
            return scalars.to_integer(value) is None
        if kind.startswith("float"):
            return scalars.to_number(value) is None
        if kind.startswith("bool"):
            return scalars.to_boolean(value) is None
        return bool(kind.startswith(_TEMPORAL)) and scalars.to_number(value) is not None

    def _takes_numbers_as_text(self) -> bool:
        if self._numbers_as_text is None:
            self._numbers_as_text = _mentions(self._core, "coerce_numbers_to_str", {})
        return self._numbers_as_text

    def _strict_names(self) -> frozenset[str]:
        """Parameters that their author declared strict: never coerced."""
        if self._exact is None:
            core = self._core
            defined = {each.get("ref"): each for each in core.get("definitions", ())}
            while core.get("type") in ("definitions", "definition-ref"):
                core = core["schema"] if core["type"] == "definitions" else defined[core["schema_ref"]]
            fields = core.get("fields", {})
            whole = core.get("config", {}).get("strict") is True
            self._exact = frozenset(n for n, field in fields.items() if whole or _mentions(field, "strict", defined))
        return self._exact


def _told(strict: ValidationError | None, lax: ValidationError) -> list[Fault]:
    """What is wrong by the lax rules, in the strict ones' plainer words where they name the same places."""
    found = of_pydantic(lax)
    plainer = {fault.path: fault for fault in of_pydantic(strict)} if strict is not None else {}
    return [plainer.get(fault.path, fault) for fault in found]


def _mentions(core: Any, word: str, defined: dict[Any, Any]) -> bool:
    """Whether a core schema sets an option anywhere, what it refers to included."""
    work, seen = [core], set()
    while work:
        node = work.pop()
        if isinstance(node, (list, tuple)):
            work += node
        elif isinstance(node, dict):
            if node.get(word) is True:
                return True
            reference = node.get("schema_ref")
            if reference is not None and reference not in seen:
                seen.add(reference)
                work.append(defined.get(reference))
            # pydantic's own types set it for themselves below these.
            if node.get("type") != "lax-or-strict":
                work += [inner for key, inner in node.items() if key not in ("metadata", "serialization")]
    return False


def _alike(core: Any) -> bool:
    """Whether strict reading of plain data and of its JSON text are provably the same for this core schema."""
    if not isinstance(core, dict):
        return False
    kind = core.get("type")
    if kind == "literal":
        return all(type(each) is str for each in core["expected"])
    if kind == "union":
        return all(_alike(each) for each in core["choices"])
    if kind == "typed-dict":
        return (
            all(map(_alike, core["fields"].values()))
            and core.get("extra_behavior") != "allow"
            and ((core.get("config") or {}).get("extra_fields_behavior") != "allow")
        )
    if kind == "list":
        return _alike(core.get("items_schema"))
    return kind in _ALIKE and (_alike(core["schema"]) if "schema" in core else True)


def _lists_numbers(schema: Any) -> bool:
    """Whether a schema lists numbers or booleans as values, or one as a constant."""
    work = [schema]
    while work:
        node = work.pop()
        if isinstance(node, list):
            work += node
        elif isinstance(node, dict):
            options = node["enum"] if isinstance(node.get("enum"), list) else [node.get("const")]
            if any(isinstance(each, (int, float)) for each in options):
                return True
            work += node.values()
    return False
