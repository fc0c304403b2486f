"""Tool: the immutable definition that all the ways of writing a tool lead to. Part of the alphabet in `call`."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pydantic_core import to_json

from toolcrib.errors import DefinitionError
from toolcrib.frozen import NotJson, freeze, snapshot

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from toolcrib.call import Call

Schema: TypeAlias = dict[str, Any]

_TOOL_SLOTS = (
    "name", "body", "read_only", "idempotent", "destructive", "open_world", "parallel", "claims", "approval", "timeout",
    "retry", "breaker", "trust", "runs", "reconcile", "output", "availability", "source", "pinned", "adapter",
    "toolkit", "_injected", "_description", "_parameters", "_digest", "_async", "_effects", "reader", "__weakref__",
)  # fmt: skip


class Tool:
    """One tool: an immutable definition that all the ways of writing a tool lead to.

    name: any non-empty text, any script, any length; only a menu bends it to what a provider allows.
    description: for the model. May be a function without arguments, called at the first use.
    parameters: a JSON Schema of an object (Draft 4 to 2020-12), or a function without arguments that gives one,
        called at the first use. The root is closed unless the schema says `additionalProperties` itself.
    body: with no `adapter`, a function of one plain dict; with one, a function of the parameters as keywords.
        Sync or async. Injected values come as further keywords.
    read_only, idempotent, destructive: the declared effects. None declared means effectful: never repeated.
    parallel: whether it may overlap others of a step: a bool, or a function of the frozen arguments that must return
        exactly True. Undeclared: read-only tools may.
    timeout: seconds. A sync body past it is left running and its late outcome goes to the journal alone.
    trust: "external" marks results as untrusted. runs: "client" means the caller's own code runs it.
    source: where it comes from, for example "functions" or "toolbox/". With the name it is the tool's origin.
    pinned: arguments fixed by whoever configured the tool; absent from `parameters` as shown to a model; they win.
    injected: keyword of the body -> type the runtime fills in; a mapping, or a function that gives it when first used.
    toolkit: the toolkit it is an action of, opened before the first one is entered.
    adapter: for Python tools, a function that gives the pydantic TypeAdapter of the arguments (called once).

    Raises DefinitionError for what contradicts itself.
    """

    __slots__ = _TOOL_SLOTS

    name: str
    body: Callable[..., Any]
    read_only: bool
    idempotent: bool
    destructive: bool
    open_world: bool
    parallel: bool | Callable[[Any], Any] | None
    claims: Callable[[Any], Any] | None
    approval: str | Callable[[Call], Any] | None
    timeout: float | None
    retry: Any
    breaker: Any
    trust: Literal["internal", "external"]
    runs: Literal["server", "client"]
    reconcile: Callable[..., Any] | None
    output: Schema | None
    availability: Callable[[], Any] | None
    source: str
    pinned: Mapping[str, Any]
    adapter: Callable[[], TypeAdapter[Any]] | None
    toolkit: Any
    #: The compiled reader of its arguments, kept with the tool so that it dies with it. Not part of the definition.
    reader: Any
    _injected: Any
    _description: Any
    _parameters: Any
    _digest: str | None
    _async: bool | None
    _effects: tuple[str, ...] | None

    def __init__(
        self,
        *,
        name: str,
        body: Callable[..., Any],
        description: str | Callable[[], str] = "",
        parameters: Schema | Callable[[], Schema] | None = None,
        read_only: bool = False,
        idempotent: bool = False,
        destructive: bool = False,
        open_world: bool = False,
        parallel: bool | Callable[[Any], Any] | None = None,
        claims: Callable[[Any], Any] | None = None,
        approval: str | Callable[[Call], Any] | None = None,
        timeout: float | None = None,
        retry: Any = None,
        breaker: Any = None,
        trust: Literal["internal", "external"] = "internal",
        runs: Literal["server", "client"] = "server",
        reconcile: Callable[..., Any] | None = None,
        output: Schema | None = None,
        availability: Callable[[], Any] | None = None,
        source: str = "functions",
        pinned: Mapping[str, Any] | None = None,
        injected: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
        adapter: Callable[[], TypeAdapter[Any]] | None = None,
        toolkit: Any = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise DefinitionError(f"a tool needs a name, a non-empty text; got {name!r}")
        if not callable(body):
            raise DefinitionError(f"tool {name!r}: the body must be callable; got {type(body).__name__}")
        if read_only and destructive:
            raise DefinitionError(f"tool {name!r}: read_only and destructive contradict each other")
        if approval is not None and not callable(approval) and approval not in ("never", "ask"):
            raise DefinitionError(f"tool {name!r}: approval is 'never', 'ask' or a function of the call: {approval!r}")
        if timeout is not None and not (isinstance(timeout, (int, float)) and 0 < timeout < float("inf")):
            raise DefinitionError(f"tool {name!r}: timeout is a positive number of seconds; got {timeout!r}")
        if trust not in ("internal", "external"):
            raise DefinitionError(f"tool {name!r}: trust is 'internal' or 'external'; got {trust!r}")
        if runs not in ("server", "client"):
            raise DefinitionError(f"tool {name!r}: runs is 'server' or 'client'; got {runs!r}")
        if parallel is not None and not isinstance(parallel, bool) and not callable(parallel):
            raise DefinitionError(f"tool {name!r}: parallel is a bool or a function of the arguments; got {parallel!r}")
        put = object.__setattr__
        put(self, "name", name)
        put(self, "body", body)
        put(self, "read_only", bool(read_only))
        put(self, "idempotent", bool(idempotent))
        put(self, "destructive", bool(destructive))
        put(self, "open_world", bool(open_world))
        put(self, "parallel", parallel)
        put(self, "claims", claims)
        put(self, "approval", approval)
        put(self, "timeout", timeout)
        put(self, "retry", retry)
        put(self, "breaker", breaker)
        put(self, "trust", trust)
        put(self, "runs", runs)
        put(self, "reconcile", reconcile)
        put(self, "output", output)
        put(self, "availability", availability)
        put(self, "source", source)
        put(self, "pinned", freeze(dict(pinned)) if pinned else {})
        put(self, "_injected", injected if injected is not None else {})
        put(self, "adapter", adapter)
        put(self, "toolkit", toolkit)
        put(self, "_description", description)
        put(self, "_parameters", {"type": "object", "properties": {}} if parameters is None else parameters)
        put(self, "_digest", None)
        put(self, "_async", None)
        put(self, "_effects", None)
        put(self, "reader", None)
        if parameters is not None and not callable(parameters):
            put(self, "_parameters", checked_schema(name, parameters))

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "reader":
            raise AttributeError(f"a Tool is immutable; Tool.replace({name}=...) gives a changed copy")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"<Tool {self.name!r} of {self.source}>"

    @property
    def description(self) -> str:
        """For the model."""
        if callable(self._description):
            object.__setattr__(self, "_description", self._description())
        return cast(str, self._description)

    @property
    def parameters(self) -> Schema:
        """The JSON Schema of the arguments, a plain dict. Treat it as read-only."""
        if callable(self._parameters):
            object.__setattr__(self, "_parameters", checked_schema(self.name, self._parameters()))
        return cast(Schema, self._parameters)

    @property
    def model_parameters(self) -> Schema:
        """The parameters as a model sees them: without the pinned ones."""
        if not self.pinned:
            return self.parameters
        schema = dict(self.parameters)
        schema["properties"] = {k: v for k, v in schema.get("properties", {}).items() if k not in self.pinned}
        if "required" in schema:
            schema["required"] = [k for k in schema["required"] if k not in self.pinned]
        return schema

    @property
    def injected(self) -> Mapping[str, Any]:
        """Keyword of the body -> the type the runtime fills in."""
        if callable(self._injected):
            object.__setattr__(self, "_injected", dict(self._injected()))
        return cast("Mapping[str, Any]", self._injected)

    @property
    def asynchronous(self) -> bool:
        """Whether the body is declared async; a sync body may still return an awaitable, which is awaited."""
        if self._async is None:
            body: Any = self.body
            while isinstance(body, functools.partial):
                body = body.func
            found = inspect.iscoroutinefunction(body) or inspect.iscoroutinefunction(type(body).__call__)
            object.__setattr__(self, "_async", found)
            return found
        return self._async

    @property
    def effectful(self) -> bool:
        """Neither read-only nor idempotent: never retried, never re-run."""
        return not (self.read_only or self.idempotent)

    @property
    def effects(self) -> tuple[str, ...]:
        """The declared effects by name, in a fixed order; empty means effectful."""
        if self._effects is None:
            names = ("read_only", "idempotent", "destructive", "open_world")
            object.__setattr__(self, "_effects", tuple(name for name in names if getattr(self, name)))
        return cast("tuple[str, ...]", self._effects)

    @property
    def digest(self) -> str:
        """sha256 over all an approval is bound to: source, name, description, schemas, effects, trust, runs, pinned."""
        if self._digest is None:
            what = [
                self.source, self.name, self.description, self.parameters, self.output, self.effects, self.trust,
                self.runs, self.pinned,
            ]  # fmt: skip
            object.__setattr__(self, "_digest", digest(what))
        return cast(str, self._digest)

    def replace(self, **changes: Any) -> Tool:
        """A copy with some fields changed, by the names of the constructor."""
        if changes.keys() == {"source"}:  # as frequent as tool files, and nothing in it can contradict
            return self._moved(changes["source"])
        fields: dict[str, Any] = {
            name: getattr(self, name) for name in _TOOL_SLOTS if name[0] != "_" and name != "reader"
        }
        fields["description"] = self._description
        fields["injected"] = self._injected
        fields["parameters"] = self._parameters
        return Tool(**(fields | changes))

    def _moved(self, source: str) -> Tool:
        made, put = object.__new__(Tool), object.__setattr__
        for name in _TOOL_SLOTS:
            if name != "__weakref__":
                put(made, name, getattr(self, name))
        put(made, "source", source)
        put(made, "_digest", None)
        put(made, "reader", None)
        return made

    @classmethod
    def of(cls, function: Any) -> Tool:
        """A function's definition: the one `@tool` attached or, for a plain callable, one made from its signature."""
        from toolcrib.define.function import tool_of  # the one step up from the alphabet: `Tool.of` is a public name

        return tool_of(function)


def checked_schema(name: str, schema: Any) -> Schema:
    """A parameter schema as a detached plain dict. Raises DefinitionError where it is none or JSON cannot hold it."""
    if schema is True:
        schema = {"type": "object"}
    if not isinstance(schema, Mapping):
        raise DefinitionError(f"tool {name!r}: parameters must be a JSON Schema, a dict; got {type(schema).__name__}")
    try:
        plain = cast(Schema, snapshot(dict(schema)))
    except NotJson as problem:
        raise DefinitionError(f"tool {name!r}: parameters are no JSON Schema: {problem}") from problem
    kind = plain.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise DefinitionError(f"tool {name!r}: parameters must describe an object; the root says type {kind!r}")
    return plain


def digest(value: Any) -> str:
    """sha256, hex, of the canonical JSON (sorted keys, no spaces) of a plain value."""
    return hashlib.sha256(canonical(value)).hexdigest()


_SCALARS = frozenset({str, int, float, bool, type(None)})


def canonical(value: Any) -> bytes:
    """Canonical JSON: keys sorted at every level, no spaces, UTF-8."""
    return to_json(_sorted(value))


def _sorted(value: Any) -> Any:
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_sorted(item) for item in value]
    return value
