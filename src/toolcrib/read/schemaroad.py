"""Arguments of a tool that has a JSON Schema: valid as they are, or coerced; declared defaults for what is absent."""

from __future__ import annotations

from typing import Any

from toolcrib.errors import DefinitionError
from toolcrib.frozen import thaw
from toolcrib.read.faults import UNKNOWN, Fault, of_schema
from toolcrib.read.schema import SchemaTree


class SchemaRoad:
    """Reads the arguments of one tool with a schema. Built at its first call.

    Raises DefinitionError where the schema does not compile or a pinned argument does not fit it.
    """

    __slots__ = ("_closed", "_defaults", "_integers", "_is_valid", "_tree")

    def __init__(self, name: str, tree: SchemaTree, pinned: dict[str, Any]) -> None:
        self._tree = tree
        self._is_valid = tree.validator.is_valid
        self._closed = tree.closed_names
        self._integers = _speaks_of_integers(tree.root)
        self._defaults = {key: value for key, value in tree.defaults().items() if key not in pinned}
        for fault in self.faults(pinned) if pinned else ():
            if fault.path and fault.path[0] in pinned:
                raise DefinitionError(f"tool {name!r}: pinned {fault.path[0]!r}: {fault.said}")

    def quick(self, arguments: dict[str, Any], whole_floats: bool) -> dict[str, Any] | None:
        """The arguments, defaults added, where they are valid as they are; None where they need a closer look."""
        if (whole_floats and self._integers) or not self._valid(arguments):
            return None
        return self.with_defaults(arguments) if self._defaults else arguments

    def with_defaults(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Valid arguments with the declared defaults of absent parameters, as far as they stay valid."""
        absent = {key: thaw(value) for key, value in self._defaults.items() if key not in arguments}
        if not absent:
            return arguments
        made = {**arguments, **absent}
        if self._valid(made):
            return made
        for key, value in absent.items():
            if self._valid({**arguments, key: value}):
                arguments = {**arguments, key: value}
        return arguments

    def faults(self, arguments: dict[str, Any]) -> list[Fault]:
        """What is wrong with the arguments; empty where they are valid."""
        unknown = () if self._closed is None else (name for name in arguments if name not in self._closed)
        found = [Fault((name,), UNKNOWN) for name in unknown]
        if not self._is_valid(arguments):
            found += of_schema(self._tree.validator.iter_errors(arguments))
        return found

    def _valid(self, arguments: dict[str, Any]) -> bool:
        return self._is_valid(arguments) and (self._closed is None or self._closed.issuperset(arguments))


def _speaks_of_integers(schema: Any) -> bool:
    """Whether a whole float may have to become an int somewhere: an integer type, or a listed int."""
    work = [schema]
    while work:
        node = work.pop()
        if isinstance(node, list):
            work += node
        elif isinstance(node, dict):
            declared = node.get("type")
            if declared == "integer" or (isinstance(declared, list) and "integer" in declared):
                return True
            options = node["enum"] if isinstance(node.get("enum"), list) else [node.get("const")]
            if any(type(each) is int for each in options):
                return True
            work += node.values()
    return False
