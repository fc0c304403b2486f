"""A class that offers several tools, and may need settings, secrets and a user."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, ClassVar, Literal, NoReturn

from toolcrib.call import Tool
from toolcrib.define.callables import is_unbound
from toolcrib.define.config import ConfigField, Settings, checked_form, checked_settings, missing
from toolcrib.define.function import Attached, attached_to, tool_around
from toolcrib.errors import DefinitionError, ToolError

#: Names an action or a config field cannot have: the toolkit's own.
RESERVED = ("config", "settings", "name", "user_bound", "internal", "trust", "open", "close")


class Toolkit:
    """Several actions: the methods decorated with `@tool`, sync or async. All other methods are the author's own.

        class Weather(Toolkit):
            config = (ConfigField("api_key", secret=True, required=True),)

            @tool(read_only=True)
            async def forecast(self, city: str) -> str:
                key = self.settings["api_key"]

    config: the fields to fill in, given at construction by name; a subclass adds to its parents', the same name
        replaces. name: default the class's in snake case, without Toolkit; two instances may be told apart by
        `Weather(name="weather_de", ...)`. user_bound: it acts for one user, who must be known. internal: no discovery
        finds this class (its subclasses are found). trust: of all actions that do not say it themselves.
    An action that is overridden keeps its declared options unless it is decorated anew; `action = None` removes it.
    Constructing raises DefinitionError for settings that are missing, unknown or of a wrong type.
    """

    config: ClassVar[Sequence[ConfigField]] = ()
    name: str = ""
    user_bound: ClassVar[bool] = False
    internal: ClassVar[bool] = True
    trust: ClassVar[Literal["internal", "external"]] = "internal"

    #: What `config` asked for and construction was given.
    settings: Settings

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = vars(cls)
        if "internal" not in own:
            cls.internal = cls.__name__.startswith("_")
        if "name" not in own:
            cls.name = _snake(cls.__name__)
        fields: dict[str, ConfigField] = {}
        for ancestor in reversed(cls.__mro__):
            fields |= {field.name: field for field in _declared(ancestor)}
        cls.config = checked_form(cls.__name__, list(fields.values()), RESERVED)
        for taken in RESERVED:
            if attached_to(own.get(taken)) is not None:
                raise DefinitionError(
                    f"toolkit {cls.__name__}: {taken!r} is the toolkit's own name; call the method otherwise and "
                    f"give @tool(name={taken!r})"
                )

    def __init__(self, *, name: str | None = None, **settings: Any) -> None:
        if name is not None:
            self.name = name
        self.settings = checked_settings(type(self).__name__, type(self).config, settings)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} {self.__dict__.get('settings', 'not configured')!r}>"

    async def open(self) -> None:
        """Called once before the first action; the place to connect."""

    async def close(self) -> None:
        """Called once after the last action."""


def _declared(ancestor: type) -> list[ConfigField]:
    fields = vars(ancestor).get("config", ()) if issubclass(ancestor, Toolkit) else ()
    if isinstance(fields, ConfigField) or not all(isinstance(field, ConfigField) for field in fields):
        raise DefinitionError(f"toolkit {ancestor.__name__}: config is a sequence of ConfigField")
    names = [field.name for field in fields]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise DefinitionError(f"toolkit {ancestor.__name__}: config field {twice!r} is declared twice")
    return list(fields)


def _snake(name: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).strip("_").lower()
    return re.sub(r"_?(?:toolkit|toolset|kit)$", "", words) or words


def is_toolkit_class(thing: Any) -> bool:
    """A subclass of Toolkit, not Toolkit itself."""
    return isinstance(thing, type) and issubclass(thing, Toolkit) and thing is not Toolkit


def tools_of_toolkit(toolkit: Toolkit | type[Toolkit]) -> list[Tool]:
    """The actions of an instance, or of a class, in the order of definition, inherited ones first.

    A class is constructed without settings; where it needs some, its tools are listed and answer with an error that
    says what to set. Two instances have two sets of tools. Raises DefinitionError.
    """
    if isinstance(toolkit, Toolkit):
        return _tools(toolkit, type(toolkit), None)
    if not is_toolkit_class(toolkit):
        raise DefinitionError(f"an instance or a subclass of Toolkit is needed; got {toolkit!r}")
    absent = missing(toolkit.config, {})
    if absent:
        return _tools(toolkit, toolkit, f"{toolkit.name} is not configured: set {', '.join(absent)}")
    try:
        made = toolkit()
    except TypeError as problem:
        raise DefinitionError(f"toolkit {toolkit.__name__} needs arguments ({problem}): give an instance") from problem
    return _tools(made, toolkit, None)


def _tools(toolkit: Toolkit | type[Toolkit], owner: type[Toolkit], refusal: str | None) -> list[Tool]:
    if refusal is None and "settings" not in vars(toolkit):
        raise DefinitionError(f"toolkit {owner.__name__}: its __init__ must call super().__init__(**settings)")
    tools: dict[str, Tool] = {}
    for attribute, attached in _actions(owner).items():
        method = getattr(toolkit, attribute)
        if refusal is not None and is_unbound(method):
            method = MethodType(method, owner)
        fields: dict[str, Any] = {"source": f"toolkit:{toolkit.name}"}
        if refusal is None:
            fields["toolkit"] = toolkit
        if "trust" not in attached.options:
            fields["trust"] = owner.trust
        made = tool_around(method, attached, **fields)
        if made.name in tools:
            raise DefinitionError(f"toolkit {owner.__name__}: two actions are called {made.name!r}")
        tools[made.name] = made if refusal is None else made.replace(body=_refusing(refusal))
    if not tools:
        raise DefinitionError(
            f"toolkit {owner.__name__} has no action: decorate its methods with @tool, or say internal = True"
        )
    return list(tools.values())


def _actions(owner: type[Toolkit]) -> dict[str, Attached]:
    """Attribute -> the definition that holds for it."""
    found: dict[str, Attached] = {}
    for ancestor in reversed(owner.__mro__):
        for attribute, value in vars(ancestor).items():
            attached = attached_to(value)
            if attached is not None:
                found[attribute] = attached
            elif attribute in found and value is None:
                del found[attribute]
            elif attribute in found and not (callable(value) or isinstance(value, (staticmethod, classmethod))):
                raise DefinitionError(f"toolkit {owner.__name__}: {attribute!r} hides an action; None would remove it")
    return found


def _refusing(text: str) -> Callable[..., NoReturn]:
    def not_configured(**_: Any) -> NoReturn:
        raise ToolError(text)

    return not_configured
