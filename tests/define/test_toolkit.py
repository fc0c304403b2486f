"""Toolkit classes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from toolcrib.call import Caller, Tool
from toolcrib.define.config import ConfigField
from toolcrib.define.function import tool
from toolcrib.define.injected import Injected
from toolcrib.define.toolkit import Toolkit, tools_of_toolkit
from toolcrib.errors import DefinitionError, ToolError


class WeatherToolkit(Toolkit):
    """The weather."""

    config = (
        ConfigField("unit", choices=("C", "F"), default="C", order=2),
        ConfigField("api_key", secret=True, required=True, help="From the provider's page.", order=1),
        ConfigField("mode", choices=("local", "remote"), default="local", order=3),
        ConfigField("host", required=True, depends_on={"mode": "remote"}, order=4),
        ConfigField("limit", type=float, default=1.5, order=5),
    )
    trust = "external"
    user_bound = True

    @tool(read_only=True)
    async def forecast(self, city: str, days: int = 1) -> str:
        """What comes.

        Args:
            city: Where.
        """
        return self.label(city, days)

    @tool(name="now", trust="internal")
    def current(self, city: str, caller: Injected[Caller]) -> Any:
        return caller, city

    @tool
    @staticmethod
    def units() -> list[str]:
        return ["C", "F"]

    @classmethod
    @tool
    def kind(cls) -> str:
        return cls.__name__

    def label(self, city: str, days: int) -> str:
        return f"{city} {days} {self.settings['unit']}"


def by_name(toolkit: Any) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools_of_toolkit(toolkit)}


async def test_the_decorated_methods_are_its_tools_in_their_order() -> None:
    kit = WeatherToolkit(api_key="k")
    tools = tools_of_toolkit(kit)
    assert [tool.name for tool in tools] == ["forecast", "now", "units", "kind"]
    assert {tool.source for tool in tools} == {"toolkit:weather"}
    assert [tool.trust for tool in tools] == ["external", "internal", "external", "external"]
    forecast, now, units, kind = tools
    assert forecast.read_only
    assert inspect.iscoroutinefunction(forecast.body)
    assert await forecast.body(city="Rome", days=2) == "Rome 2 C"
    assert forecast.parameters["properties"]["city"] == {"type": "string", "description": "Where."}
    assert now.injected == {"caller": Caller}
    assert now.body(city="Oslo", caller="ada") == ("ada", "Oslo")
    assert units.body() == ["C", "F"]
    assert kind.body() == "WeatherToolkit"


async def test_two_instances_have_two_sets_of_tools() -> None:
    first = by_name(WeatherToolkit(api_key="a"))["forecast"]
    second = by_name(WeatherToolkit(api_key="b", unit="F", name="weather_us"))["forecast"]
    assert first is not second
    assert (first.source, second.source) == ("toolkit:weather", "toolkit:weather_us")
    assert await first.body(city="X", days=1) == "X 1 C"
    assert await second.body(city="X", days=1) == "X 1 F"
    assert first.adapter is not None
    assert second.adapter is not None
    assert first.adapter() is second.adapter()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({}, "api_key=..."),
        ({"api_key": ""}, "api_key=..."),
        ({"api_key": "hunter2", "mode": "remote"}, "host=..."),
        ({"api_key": "hunter2", "apikey": "x"}, "did you mean 'api_key'"),
        ({"api_key": 12345}, "api_key must be str, not int"),
        ({"api_key": "hunter2", "unit": "K"}, "unit must be one of 'C', 'F'"),
        ({"api_key": "hunter2", "limit": True}, "limit must be float, not bool"),
    ],
)
def test_wrong_settings_raise_at_construction_and_show_no_secret(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(DefinitionError, match=why) as caught:
        WeatherToolkit(**settings)
    assert "hunter2" not in str(caught.value)
    assert "12345" not in str(caught.value)


def test_settings_are_typed_filled_and_silent_about_secrets() -> None:
    kit = WeatherToolkit(api_key="hunter2", mode="remote", host="h", limit=2)
    assert dict(kit.settings) == {"api_key": "hunter2", "unit": "C", "mode": "remote", "host": "h", "limit": 2}
    for shown in (repr(kit), str(kit), repr(kit.settings), f"{kit.settings}", repr(tools_of_toolkit(kit))):
        assert "hunter2" not in shown
    assert "api_key=***" in repr(kit)


def test_the_form_is_plain_data_in_its_order() -> None:
    form = [field.form() for field in WeatherToolkit.config]
    assert [field["name"] for field in form] == ["api_key", "unit", "mode", "host", "limit"]
    assert form[0] == {
        "name": "api_key", "type": "string", "label": "Api key", "help": "From the provider's page.", "required": True,
        "secret": True, "choices": [], "default": None, "order": 1, "depends_on": {},
    }  # fmt: skip
    assert form[3]["depends_on"] == {"mode": "remote"}


def test_an_unconfigured_class_is_listed_and_answers_with_what_to_set() -> None:
    tools = by_name(WeatherToolkit)
    assert list(tools) == ["forecast", "now", "units", "kind"]
    assert list(tools["forecast"].parameters["properties"]) == ["city", "days"]
    assert tools["now"].injected == {"caller": Caller}
    with pytest.raises(ToolError, match="weather is not configured: set api_key"):
        tools["forecast"].body(city="Rome")


def test_a_class_that_needs_nothing_is_constructed() -> None:
    class Dice(Toolkit):
        @tool
        def roll(self) -> int:
            return 4

    assert by_name(Dice)["roll"].body() == 4
    assert by_name(Dice)["roll"].source == "toolkit:dice"


def test_subclasses_inherit_add_override_and_remove() -> None:
    class First(Toolkit):
        config = (ConfigField("a", default="1"), ConfigField("b"))

        @tool(read_only=True)
        def one(self, x: int) -> str:
            """First one."""
            return "first"

        @tool
        def two(self) -> str:
            return "first"

        @tool
        def three(self) -> str:
            return "first"

    class Second(First):
        config = (ConfigField("c"), ConfigField("a", default="2"))

        def one(self, x: int, y: int = 2) -> str:  # type: ignore[override]
            return "second"

        two = None  # type: ignore[assignment]

        @tool(destructive=True)
        def three(self) -> str:
            return "second"

        @tool
        def four(self) -> str:
            return "second"

    tools = by_name(Second)
    assert list(tools) == ["one", "three", "four"]
    assert tools["one"].read_only
    assert tools["one"].description == "First one."
    assert set(tools["one"].parameters["properties"]) == {"x", "y"}
    assert tools["one"].body(x=1) == "second"
    assert tools["three"].destructive
    assert [field.name for field in Second.config] == ["a", "b", "c"]
    assert dict(Second().settings) == {"a": "2", "b": None, "c": None}
    assert list(by_name(First)) == ["one", "two", "three"]
    assert by_name(First)["one"].body(x=1) == "first"


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("Weather", "weather"), ("WeatherToolkit", "weather"), ("HTTPKit", "http"), ("MyS3Toolkit", "my_s3"),
        ("Toolkit2", "toolkit2"), ("Kit", "kit"),
    ],
)  # fmt: skip
def test_a_toolkit_is_named_after_its_class(class_name: str, name: str) -> None:
    assert type(class_name, (Toolkit,), {}).name == name


def test_internal_is_not_inherited() -> None:
    class Shared(Toolkit):
        internal = True

    class Public(Shared):
        pass

    assert (Shared.internal, Public.internal) == (True, False)


def opening(self: Any) -> None: ...


def define(**body: Any) -> type[Toolkit]:
    return type("Kit", (Toolkit,), body)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"config": (ConfigField("a"), ConfigField("a"))}, "twice"),
        ({"config": (ConfigField("name"),)}, "taken"),
        ({"config": (ConfigField("a", depends_on={"b": 1}),)}, "'b'"),
        ({"config": ConfigField("a")}, "sequence"),
        ({"config": ("a",)}, "sequence"),
        ({"open": tool(opening)}, "own name"),
    ],
)
def test_wrong_classes_raise_where_they_are_written(body: dict[str, Any], why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        define(**body)


@pytest.mark.parametrize(
    ("field", "why"),
    [
        (lambda: ConfigField("a b"), "identifier"),
        (lambda: ConfigField("_a"), "identifier"),
        (lambda: ConfigField("a", type=set), "type"),
        (lambda: ConfigField("a", type=int, default="x"), "must be int"),
        (lambda: ConfigField("a", choices=(1,)), "must be str"),
    ],
)
def test_wrong_fields_raise_where_they_are_written(field: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        field()


def test_toolkits_that_offer_nothing_or_the_same_twice_say_so() -> None:
    class Empty(Toolkit):
        def helper(self) -> None: ...

    class Twice(Toolkit):
        @tool(name="same")
        def one(self) -> None: ...

        @tool(name="same")
        def two(self) -> None: ...

    class Forgetful(Toolkit):
        def __init__(self) -> None:
            pass

        @tool
        def act(self) -> None: ...

    class Demanding(Toolkit):
        def __init__(self, connection: Any) -> None:
            super().__init__()

        @tool
        def act(self) -> None: ...

    for kit, why in ((Empty, "no action"), (Twice, "'same'"), (Forgetful, "super"), (Demanding, "give an instance")):
        with pytest.raises(DefinitionError, match=why):
            tools_of_toolkit(kit)
    for wrong in (Toolkit, 5, "kit", object):
        with pytest.raises(DefinitionError, match="Toolkit"):
            tools_of_toolkit(wrong)  # type: ignore[arg-type]


def test_mutable_defaults_are_not_shared() -> None:
    class Lists(Toolkit):
        config = (ConfigField("hosts", type=list, default=[]),)

        @tool
        def act(self) -> None: ...

    Lists().settings["hosts"].append("a")
    assert Lists().settings["hosts"] == []


async def test_open_and_close_may_be_overridden_and_do_nothing_else() -> None:
    kit = WeatherToolkit(api_key="k")
    await kit.open()
    await kit.close()
