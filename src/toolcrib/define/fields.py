"""One parameter as a pydantic field: its description, its default, the name a model knows it by."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

from toolcrib.define.signature import OPTIONALLY, REQUIRED, Parameter
from toolcrib.define.typeddict import RecursiveTypedDict, for_pydantic
from toolcrib.errors import DefinitionError


def field_of(tool: str, parameter: Parameter, documented: str | None) -> Any:
    """The annotation with its description, as NotRequired where the function has a default of its own."""
    import typing_extensions
    from pydantic import Field
    from pydantic.fields import FieldInfo

    try:
        annotation = for_pydantic(parameter.annotation)
    except RecursiveTypedDict as problem:
        raise DefinitionError(f"tool {tool!r}: parameter {parameter.name!r}: {problem}") from problem
    inner, metadata = split(annotation)
    default = parameter.default
    described = own_words(annotation) or documented
    # Later metadata wins, so a Field the author wrote keeps its own description.
    all_metadata = (Field(description=described), *metadata) if described else metadata
    if isinstance(default, FieldInfo):
        return Annotated[(inner, *all_metadata, default)]
    filled_in = any(isinstance(item, FieldInfo) and not item.is_required() for item in metadata)
    if filled_in and default is not REQUIRED and default is not OPTIONALLY:
        all_metadata = (*all_metadata, Field(default=default))
    wrapped = Annotated[(inner, *all_metadata)] if all_metadata else inner
    return wrapped if default is REQUIRED else typing_extensions.NotRequired[wrapped]


def model_name(parameter: Parameter) -> str:
    """What the model calls the parameter: its alias, where a Field gives one."""
    from pydantic import AliasChoices
    from pydantic.fields import FieldInfo

    name = parameter.name
    for item in (*split(parameter.annotation)[1], parameter.default):
        if isinstance(item, FieldInfo):
            alias = item.validation_alias or item.alias
            alias = alias.choices[0] if isinstance(alias, AliasChoices) else alias
            name = alias if isinstance(alias, str) else name
    return name


def split(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type and what `Annotated` says of it."""
    if get_origin(annotation) is Annotated:
        return annotation.__origin__, annotation.__metadata__
    return annotation, ()


def own_words(annotation: Any) -> str | None:
    """The text in `Annotated[T, "text"]` or `Annotated[T, Doc("text")]`, also one step inside a union."""
    inner, metadata = split(annotation)
    for item in metadata:
        said = item if isinstance(item, str) else getattr(item, "documentation", None)
        if isinstance(said, str) and said.strip():
            return said.strip()
    members = [member for member in get_args(inner) if get_origin(member) is Annotated]
    return next((said for said in map(own_words, members) if said), None)
