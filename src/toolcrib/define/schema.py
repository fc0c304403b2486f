"""From a signature to a pydantic adapter and the JSON Schema a model reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from toolcrib.define.fields import field_of, model_name
from toolcrib.define.signature import OPTIONALLY, REQUIRED, Signature, shown
from toolcrib.define.typeddict import typed_dict
from toolcrib.definition import Schema, canonical
from toolcrib.errors import DefinitionError
from toolcrib.frozen import NotJson, snapshot

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SCHEMAS = (
    "items", "prefixItems", "additionalItems", "contains", "additionalProperties", "propertyNames", "anyOf", "oneOf",
    "allOf", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_FIRST = ("type", "properties", "required", "additionalProperties")


def adapter_of(tool: str, signature: Signature, documented: Mapping[str, str]) -> TypeAdapter[Any]:
    """An adapter from a dict of arguments to a dict of typed values by parameter; absent ones stay absent.

    Raises DefinitionError that names the tool, the parameter and the type pydantic cannot handle.
    """
    import typing_extensions
    from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter

    fields = {p.name: field_of(tool, p, documented.get(p.name)) for p in signature.parameters}
    for name in _refused(signature):
        refusing = Annotated[Any, BeforeValidator(_refuse), Field(alias=name)]
        fields[f"-{name}"] = typing_extensions.NotRequired[refusing]  # a key that no parameter can have
    closed = signature.extra is None
    further = {} if closed else {"extra_items": signature.extra}
    try:
        arguments = typed_dict(f"{tool} arguments", fields, **further)
        if closed:
            arguments.__pydantic_config__ = ConfigDict(extra="forbid")
        return TypeAdapter(arguments)
    except Exception as problem:
        raise _fault(tool, signature, problem) from problem


def _refused(signature: Signature) -> list[str]:
    """Names a callable with **keywords must not be given: what is injected, and parameters that have another name."""
    if signature.extra is None:
        return []
    known = {model_name(p) for p in signature.parameters}
    return sorted((signature.refused | {p.name for p in signature.parameters}) - known)


def _refuse(value: Any) -> NoReturn:
    from pydantic_core import PydanticKnownError

    raise PydanticKnownError("extra_forbidden")


def schema_of(tool: str, signature: Signature, adapter: TypeAdapter[Any]) -> Schema:
    """The JSON Schema of what the adapter takes: no titles, the signature's defaults shown, the root closed."""
    try:
        schema = _generated(adapter)
    except Exception as problem:
        raise _fault(tool, signature, problem) from problem
    _tidy(schema)
    properties = schema.setdefault("properties", {})
    for name in _refused(signature):
        properties.pop(name, None)
    for parameter in signature.parameters:
        _show_default(properties.get(model_name(parameter)), parameter.default)
    return {key: schema[key] for key in _FIRST if key in schema} | {k: v for k, v in schema.items() if k not in _FIRST}


def _generated(adapter: TypeAdapter[Any]) -> Schema:
    from pydantic.json_schema import GenerateJsonSchema

    class Quiet(GenerateJsonSchema):
        ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    return adapter.json_schema(schema_generator=Quiet, mode="validation")


def _tidy(schema: Any) -> None:
    """Drops titles, and orders defaults that were sets: the same definition must give the same bytes everywhere."""
    if isinstance(schema, list):
        for item in schema:
            _tidy(item)
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("title"), str):
        del schema["title"]
    if schema.get("uniqueItems") and isinstance(schema.get("default"), list):
        schema["default"].sort(key=canonical)
    for keyword in _MAPS:
        if isinstance(schema.get(keyword), dict):
            for item in schema[keyword].values():
                _tidy(item)
    for keyword in _SCHEMAS:
        _tidy(schema.get(keyword))


def _show_default(schema: Any, default: Any) -> None:
    """Writes a default into its schema where JSON can hold it; what it cannot hold is left to the function."""
    from pydantic.fields import FieldInfo
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if not isinstance(schema, dict) or default is REQUIRED or default is OPTIONALLY or isinstance(default, FieldInfo):
        return
    try:
        schema["default"] = snapshot(to_jsonable_python(_steady(default)))
    except (PydanticSerializationError, NotJson, ValueError):
        return


def _steady(default: Any) -> Any:
    """The default, with lists for the sets in it: their order differs from process to process."""
    from pydantic_core import SchemaSerializer, core_schema

    if isinstance(default, (str, int, float, bool, NoneType)):
        return default
    plain = SchemaSerializer(core_schema.any_schema()).to_python(default)
    ordered = _ordered(plain)
    return default if ordered == plain else ordered


def _ordered(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(map(_ordered, value), key=repr)
    if type(value) in (list, tuple):
        return [_ordered(item) for item in value]
    return {key: _ordered(item) for key, item in value.items()} if type(value) is dict else value


def _fault(tool: str, signature: Signature, problem: Exception) -> DefinitionError:
    """Finds the parameter that pydantic cannot handle by trying each alone."""
    from pydantic import TypeAdapter

    if isinstance(problem, DefinitionError):
        return problem
    for parameter in signature.parameters:
        try:
            _generated(TypeAdapter(typed_dict("lone", {"it": field_of(tool, parameter, None)})))
        except DefinitionError as found:
            return found
        except Exception as found:
            return DefinitionError(
                f"tool {tool!r}: parameter {parameter.name!r}: no schema for the type {shown(parameter.annotation)} "
                f"({_reason(found)}). Take a type JSON can carry, or give it __get_pydantic_core_schema__"
            )
    return DefinitionError(f"tool {tool!r}: no schema for its parameters ({_reason(problem)})")


def _reason(problem: Exception) -> str:
    """The first sentence of pydantic's text, which goes on with advice on pydantic itself."""
    text = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
    return text.split(". Set `arbitrary_types_allowed", 1)[0].rstrip(".")
