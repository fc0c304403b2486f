"""What a callable offers a model: description, schema, adapter, injected parameters; each read at its first use."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

from toolcrib.call import Schema
from toolcrib.define.callables import underlying

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from toolcrib.define.docstring import Documentation
    from toolcrib.define.signature import Signature

# One lock for all: pydantic is not to build two schemas of the same types at once.
_building = threading.RLock()


class Interface:
    """Made in microseconds; its methods are what a `Tool` takes for description, parameters, injected and adapter.

    All but `description` raise DefinitionError. One interface serves the same method of any number of objects.
    """

    __slots__ = ("_adapter", "_documented", "_signature", "captured", "function", "name")

    def __init__(self, name: str, function: Any, captured: Mapping[str, Any]) -> None:
        self.name = name
        self.function = function
        self.captured = captured
        self._signature: Signature | None = None
        self._documented: Documentation | None = None
        self._adapter: TypeAdapter[Any] | None = None

    def signature(self) -> Signature:
        """The parameters, with their types resolved."""
        if self._signature is None:
            from toolcrib.define.signature import signature_of

            self._signature = signature_of(self.name, self.function, self.captured)
        return self._signature

    def documented(self) -> Documentation:
        """The docstring, taken apart."""
        if self._documented is None:
            from toolcrib.define.docstring import documentation

            self._documented = documentation(docstring_of(self.function))
        return self._documented

    def description(self) -> str:
        """The docstring without its parameters."""
        return self.documented().text

    def injected(self) -> dict[str, Any]:
        """Parameter -> type the runtime fills in."""
        return self.signature().injected

    def adapter(self) -> TypeAdapter[Any]:
        """From a dict of arguments to typed values by parameter."""
        with _building:
            if self._adapter is None:
                from toolcrib.define.schema import adapter_of

                self._adapter = adapter_of(self.name, self.signature(), self.documented().parameters)
            return self._adapter

    def parameters(self) -> Schema:
        """The JSON Schema of the arguments."""
        from toolcrib.define.schema import schema_of

        with _building:
            return schema_of(self.name, self.signature(), self.adapter())


def docstring_of(function: Any) -> str | None:
    """The callable's own docstring, else that of what it wraps, overrides or is an instance of."""
    if isinstance(function, partial):
        return docstring_of(function.func)
    if inspect.isroutine(function) or hasattr(function, "__wrapped__"):
        return _own(function) or _overridden(function) or _own(underlying(function))
    call, owner = underlying(function), type(function)
    described = not (owner.__doc__ or "").startswith(f"{owner.__name__}(")  # a dataclass writes its own
    return (_own(call) if isinstance(call, FunctionType) else None) or (_own(owner) if described else None)


def _own(thing: Any) -> str | None:
    text = thing.__dict__.get("__doc__") if isinstance(thing, type) else getattr(thing, "__doc__", None)
    return inspect.cleandoc(text) if isinstance(text, str) else None


def _overridden(function: Any) -> str | None:
    if not inspect.ismethod(function):
        return None
    owner = function.__self__ if isinstance(function.__self__, type) else type(function.__self__)
    name = function.__name__
    found = (_own(vars(ancestor)[name]) for ancestor in owner.__mro__ if name in vars(ancestor))
    return next((text for text in found if text), None)
