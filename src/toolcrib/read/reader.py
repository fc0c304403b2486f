"""The stage `read`: a model's text, or the object it gave, made into arguments that fit, or a text that says why not.

    text -> one JSON object -> names as the tool has them -> coerced without loss -> validated -> pinned ones on top

What fits as it is takes none of these detours. Every change is a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from toolcrib.errors import DefinitionError
from toolcrib.frozen import NotJson, snapshot, thaw
from toolcrib.read import faults
from toolcrib.read.coerce import Coercion, TooMuch
from toolcrib.read.faults import UNKNOWN, Fault
from toolcrib.read.preview import Preview, cut, secret_names
from toolcrib.read.schema import SchemaTree
from toolcrib.read.strict import SHORT, BadJson, Parsed, repeats_none, survey
from toolcrib.read.text import kind_of, read_object

if TYPE_CHECKING:
    from toolcrib.call import Tool
    from toolcrib.read.python import PythonRoad
    from toolcrib.read.schemaroad import SchemaRoad
    from toolcrib.wire import Restore


class Reading:
    """What came of reading: `arguments` (plain, pinned ones included), or the `problem` for the model.

    values: for a Python tool, the typed value of each given parameter. notes: one sentence for each change.
    """

    __slots__ = ("arguments", "notes", "problem", "values")

    def __init__(
        self,
        arguments: dict[str, Any] | None = None,
        values: dict[str, Any] | None = None,
        notes: tuple[str, ...] = (),
        problem: str | None = None,
    ) -> None:
        self.arguments = arguments
        self.values = values
        self.notes = notes
        self.problem = problem


class Reader:
    """Reads the arguments of one tool; kept with it. Schemas are compiled at the first call.

    Raises DefinitionError, from then on, where the tool's schema or pinned arguments are wrong.
    """

    __slots__ = ("_hidden", "_preview", "_python", "_schema", "_tree", "pinned", "tool")

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.pinned: dict[str, Any] = tool.pinned  # type: ignore[assignment]
        self._hidden = frozenset(tool.pinned)
        self._tree: SchemaTree | None = None
        self._python: PythonRoad | None = None
        self._schema: SchemaRoad | None = None
        self._preview: Preview = Preview()

    def read(self, raw: str | bytes | None, given: Any = None, restore: Restore | None = None) -> Reading:
        """The arguments out of the model's text or, where that is None, out of the object it gave.

        restore: maps the names a dialect showed back to the tool's own.
        """
        if self._tree is None:
            self._compile()
        if raw is None:
            return self._from_object(given, restore)
        try:
            if type(raw) is bytes:
                raw = raw.decode("utf-8")
            tree = from_json(raw, allow_inf_nan=False)
            if type(tree) is dict and type(raw) is str:
                keys, whole_floats, deep = len(tree), False, len(raw) >= SHORT
                for item in tree.values():
                    kind = type(item)
                    if kind is dict or kind is list or kind is float:
                        deep = True
                        break
                if deep:
                    keys, whole_floats = survey(tree)
                if raw.count(":") == keys or repeats_none(raw, keys):
                    reading = self._quick(tree, raw, restore, whole_floats)
                    if reading is not None:
                        return reading
        except Exception:  # no JSON, or no fit: a user's validator may raise anything
            pass
        return self._from_text(raw, restore)

    def values(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Typed values anew from recorded arguments; a plain copy for a tool with a schema.

        Raises DefinitionError where they do not fit the tool: it has changed since.
        """
        if self._tree is None:
            self._compile()
        plain: dict[str, Any] = thaw(arguments)
        if self._python is None:
            return plain
        from toolcrib.read.python import Refused

        try:
            return self._python.values(plain)
        except Refused as refused:
            problem = self._refusal(refused.faults, plain)
            raise DefinitionError(f"recorded arguments no longer fit: {problem}") from None

    def _compile(self) -> None:
        tool = self.tool
        tree = SchemaTree(tool.name, tool.parameters)
        pinned = thaw(self.pinned)
        self._preview = Preview(secret_names(tree.root))
        if tool.adapter is not None:
            from toolcrib.read.python import PythonRoad

            python = PythonRoad(tool, tree)
            if pinned:
                python.check_pinned(pinned, tool.name)
            self._python = python
        else:
            from toolcrib.read.schemaroad import SchemaRoad

            self._schema = SchemaRoad(tool.name, tree, pinned)
        self._tree = tree

    def _quick(
        self, tree: dict[str, Any], text: str | None, restore: Restore | None, whole_floats: bool
    ) -> Reading | None:
        """The reading of arguments that fit exactly; None, or any exception, where they do not."""
        if restore is not None:
            tree, text = restore(tree), None
        if self.pinned:
            if not self._hidden.isdisjoint(tree):
                return None
            tree, text = {**tree, **thaw(self.pinned)}, None
        if self._python is not None:
            values = self._python.quick(tree, text, self._preview)
            return None if values is None else Reading(tree, values)
        assert self._schema is not None
        arguments = self._schema.quick(tree, whole_floats)
        return None if arguments is None else Reading(arguments)

    def _from_text(self, raw: str | bytes, restore: Restore | None) -> Reading:
        text = raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes) else raw
        try:
            parsed = read_object(text)
        except BadJson as bad:
            return self._broken(bad.position, bad.reason, text)
        if parsed.conflicting:
            names = ", ".join(repr(cut(name, 60)) for name in parsed.conflicting[:5])
            return self._broken(None, f"given more than once with different values: {names}", text)
        return self._slowly(parsed, restore)

    def _from_object(self, given: Any, restore: Restore | None) -> Reading:
        if isinstance(given, str):
            return self._from_text(given, restore)
        try:
            tree = {} if given is None else snapshot(given)
        except NotJson as problem:
            return self._broken(None, str(problem), "")
        except Exception as problem:
            return self._broken(None, f"the object could not be read ({type(problem).__name__})", "")
        if not isinstance(tree, dict):
            return self._broken(None, f"they are {kind_of(tree)}, and must be an object", self._preview.value((), tree))
        try:
            reading = self._quick(tree, None, restore, True)
        except Exception:
            reading = None
        return self._slowly(Parsed(tree), restore) if reading is None else reading

    def _slowly(self, parsed: Parsed, restore: Restore | None) -> Reading:
        tree: dict[str, Any] = parsed.value
        notes = [*parsed.mended, *(f"{cut(name, 60)}: given twice with the same value" for name in parsed.repeated)]
        if restore is not None:
            try:
                tree = restore(tree)
            except Exception as problem:
                return self._broken(None, f"the names could not be mapped back ({type(problem).__name__})", "")
        taken = [name for name in tree if name in self._hidden]
        if taken:
            return self._refused([Fault((name,), UNKNOWN) for name in taken], tree)
        assert self._tree is not None
        walk = Coercion(self._tree, self._preview, parsed.rounded, self._hidden)
        try:
            return self._fitted(tree, walk, notes)
        except (RecursionError, TooMuch):
            return self._broken(None, "they are too large, or nested too deep, for this schema", "")

    def _fitted(self, tree: dict[str, Any], walk: Coercion, notes: list[str]) -> Reading:
        pinned = thaw(self.pinned)
        if self._python is not None:
            from toolcrib.read.python import Refused

            try:
                arguments, values, more = self._python.read(tree, pinned, walk)
            except Refused as refused:
                return self._refused(refused.faults, [tree, refused.arguments])
            return Reading(arguments, values, tuple(notes + more))
        assert self._schema is not None
        made = {**walk.arguments(tree), **pinned}
        wrong = [Fault(path, said) for path, said in walk.refused] or self._schema.faults(made)
        if wrong:
            return self._refused(wrong, [tree, made])
        return Reading(self._schema.with_defaults(made), None, tuple(notes + walk.notes))

    def _refusal(self, wrong: list[Fault], arguments: Any) -> str:
        assert self._tree is not None
        return faults.text(self.tool.name, wrong, self._tree, self._preview, arguments, self._hidden)

    def _refused(self, wrong: list[Fault], arguments: Any) -> Reading:
        return Reading(problem=self._refusal(wrong, arguments))

    def _broken(self, position: int | None, reason: str, text: str) -> Reading:
        shown = self.tool.model_parameters
        return Reading(problem=faults.broken(self.tool.name, position, reason, text, self._preview, shown))
