from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, StrictInt, TypeAdapter
from typing_extensions import TypedDict

from toolcrib.call import Tool
from toolcrib.errors import DefinitionError
from toolcrib.read.reader import Reader

Make = Callable[..., Tool]


class Color(enum.Enum):
    red = "r"
    blue = "b"


@dataclass
class Box:
    width: int
    tags: set[str]


class Aliased(BaseModel):
    user_id: int = Field(alias="userId")
    pin: SecretStr = SecretStr("")


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int


class Node(BaseModel):
    name: str
    children: list[Node] = []


@pytest.mark.parametrize(
    ("annotation", "given", "value"),
    [
        (dt.date, "2024-01-31", dt.date(2024, 1, 31)),
        (dt.date, "2024-01-31T00:00:00", dt.date(2024, 1, 31)),
        (dt.datetime, "2024-01-31T10:30:00", dt.datetime(2024, 1, 31, 10, 30)),
        (dt.datetime, "2024-01-31", dt.datetime(2024, 1, 31)),
        (dt.time, "10:30", dt.time(10, 30)),
        (dt.timedelta, "PT90S", dt.timedelta(seconds=90)),
        (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
        (decimal.Decimal, 2, decimal.Decimal(2)),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (Path, "/tmp/x", Path("/tmp/x")),
        (bytes, "abc", b"abc"),
        (Color, "r", Color.red),
        (set[int], [1, 2, 2], {1, 2}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (dict[int, str], {"1": "a"}, {1: "a"}),
        (Box, {"width": 3, "tags": ["a"]}, Box(3, {"a"})),
        (dt.date | None, None, None),
        (dt.date | int, 5, 5),
    ],
)
def test_a_value_arrives_as_its_annotated_type_and_is_recorded_as_it_was_written(
    python_tool: Make, annotation: Any, given: Any, value: Any
) -> None:
    reader = Reader(python_tool({"value": annotation}))
    reading = reader.read(None, {"value": given})
    assert reading.problem is None
    assert reading.values == {"value": value}
    assert type(reading.values["value"]) is type(value)
    assert reading.arguments == {"value": given}
    assert reading.notes == ()
    assert reader.values(reading.arguments) == reading.values


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (dt.date, 1), (dt.date, True), (dt.date, "1700000000"), (dt.date, "soon"), (dt.datetime, 1700000000),
        (dt.datetime, 1.5), (dt.time, 1), (dt.timedelta, 5), (dt.timedelta, True), (decimal.Decimal, True),
        (decimal.Decimal, "NaN"), (uuid.UUID, "x"), (Color, "red"), (Color, 1), (set[int], "1"), (bytes, 1),
        (tuple[int, str], [1]), (complex, True), (dt.date | None, 0), (dt.date | int, True), (Path, 5),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_refused(python_tool: Make, annotation: Any, given: Any) -> None:
    reading = Reader(python_tool({"value": annotation})).read(None, {"value": given})
    assert reading.arguments is None
    assert reading.problem is not None
    assert "- value" in reading.problem


def test_containers_of_typed_values_are_mended_inside(python_tool: Make) -> None:
    tool = python_tool({"boxes": list[Box], "when": NotRequired[list[dt.date]]})
    reading = Reader(tool).read('{"boxes": "[{\\"width\\": \\"3\\", \\"tags\\": []}]", "when": ["2024-01-31"]}')
    assert reading.arguments == {"boxes": [{"width": 3, "tags": []}], "when": ["2024-01-31"]}
    assert reading.values == {"boxes": [Box(3, set())], "when": [dt.date(2024, 1, 31)]}


def test_recursive_types_are_mended_inside(python_tool: Make) -> None:
    reading = Reader(python_tool({"node": Node})).read('{"node": {"name": "a", "children": "[{\\"name\\": \\"b\\"}]"}}')
    assert reading.values == {"node": Node(name="a", children=[Node(name="b")])}


def test_aliases_are_the_names_a_model_uses(python_tool: Make) -> None:
    reader = Reader(python_tool({"who": Aliased}))
    assert reader.read('{"who": {"userId": "7"}}').arguments == {"who": {"userId": 7}}
    reading = reader.read('{"who": {"user_id": 7, "pin": "1234567"}}')
    assert reading.arguments == {"who": {"userId": 7, "pin": "1234567"}}
    assert reading.values is not None
    assert reading.values["who"].pin.get_secret_value() == "1234567"


def test_what_its_author_declared_strict_is_never_coerced(python_tool: Make) -> None:
    reader = Reader(python_tool({"exact": StrictInt, "loose": int, "model": NotRequired[Strict]}))
    assert reader.read('{"exact": 1, "loose": "2"}').arguments == {"exact": 1, "loose": 2}
    assert reader.read('{"exact": "1", "loose": 2}').arguments is None
    assert reader.read('{"exact": 1, "loose": 2, "model": {"n": "3"}}').arguments is None
    assert Reader(python_tool({"n": int}, strict=True)).read('{"n": "3"}').arguments is None


def test_a_parameter_that_takes_numbers_as_text_by_its_own_setting_does_so(python_tool: Make) -> None:
    reading = Reader(python_tool({"zip": str}, coerce_numbers_to_str=True)).read('{"zip": 411001}')
    assert reading.values == {"zip": "411001"}


def test_a_validator_sees_the_value_as_it_was_written(python_tool: Make) -> None:
    split = BeforeValidator(lambda value: value.split(",") if isinstance(value, str) else value)
    reader = Reader(
        python_tool({"ids": Annotated[list[int], split], "n": NotRequired[Annotated[int, BeforeValidator(str.strip)]]})
    )
    assert reader.read('{"ids": "1,2"}').values == {"ids": [1, 2]}
    assert reader.read('{"ids": [], "n": " 3 "}').values == {"ids": [], "n": 3}
    assert reader.read('{"ids": "1,x"}').arguments is None


@pytest.mark.parametrize("raised", [ValueError, AssertionError, RuntimeError, KeyError, TypeError, ZeroDivisionError])
def test_whatever_a_validator_raises_is_a_text_for_the_model(python_tool: Make, raised: type[Exception]) -> None:
    def refuse(value: str) -> str:
        raise raised("choose a nicer one")

    reading = Reader(python_tool({"name": Annotated[str, AfterValidator(refuse)]})).read('{"name": "x"}')
    assert reading.arguments is None
    assert reading.problem is not None
    assert "choose a nicer one" in reading.problem


def test_an_exception_that_cannot_be_shown_is_contained(python_tool: Make) -> None:
    class Hostile(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    def refuse(value: str) -> str:
        raise Hostile

    assert Reader(python_tool({"name": Annotated[str, AfterValidator(refuse)]})).read('{"name": "x"}').problem


def test_a_missing_or_unknown_argument_is_named(python_tool: Make) -> None:
    reader = Reader(python_tool({"path": str, "content": str, "mode": NotRequired[str]}))
    problem = reader.read('{"path": "a.txt"}').problem
    assert problem is not None
    assert "content: is required and missing" in problem
    problem = reader.read('{"path": "a", "content": "", "colour": 1}').problem
    assert problem is not None
    assert "colour: unknown argument" in problem
    assert "path (required), content (required), mode" in problem


def test_nothing_is_invented_for_what_is_absent(python_tool: Make) -> None:
    reading = Reader(python_tool({"a": int, "b": NotRequired[int]})).read('{"a": 1}')
    assert reading.arguments == {"a": 1}
    assert reading.values == {"a": 1}


def test_pinned_arguments_win_and_are_unknown_to_the_model(python_tool: Make) -> None:
    reader = Reader(python_tool({"key": str, "n": int, "flag": bool}, pinned={"key": "", "flag": False}))
    for raw in ('{"n": 1}', '{"n": "1"}'):
        reading = reader.read(raw)
        assert reading.arguments == {"n": 1, "key": "", "flag": False}
        assert reading.values == {"n": 1, "key": "", "flag": False}
    for raw in ('{"n": 1, "key": ""}', '{"n": 1, "Key": "x"}', '{"n": 1, "flag": true}'):
        problem = reader.read(raw).problem
        assert problem is not None
        assert "unknown argument" in problem
        assert "Parameters: n (required)." in problem


def test_a_pinned_argument_that_does_not_fit_is_the_programmers_fault(python_tool: Make) -> None:
    with pytest.raises(DefinitionError, match=r"'python'.*'key'"):
        Reader(python_tool({"key": str}, pinned={"key": 5})).read("{}")


def test_parameters_that_make_no_schema_are_the_programmers_fault() -> None:
    class Opaque:
        pass

    shape: Any = TypedDict("Shape", {"value": Opaque})  # type: ignore[misc]
    tool = Tool(name="opaque", body=print, adapter=lambda: TypeAdapter(shape), parameters={"type": "object"})
    with pytest.raises(DefinitionError, match="opaque"):
        Reader(tool).read("{}")


def test_recorded_arguments_that_no_longer_fit_raise(python_tool: Make) -> None:
    with pytest.raises(DefinitionError, match="no longer fit"):
        Reader(python_tool({"a": int})).values({"a": "x"})


def test_typed_values_share_nothing_with_the_recorded_arguments(python_tool: Make) -> None:
    reading = Reader(python_tool({"any": Any, "list": list[int], "map": dict[str, Any]})).read(
        '{"any": [1], "list": [1], "map": {"a": [1]}}'
    )
    assert reading.values is not None
    reading.values["any"].append(2)
    reading.values["list"].append(2)
    reading.values["map"]["a"].append(2)
    assert reading.arguments == {"any": [1], "list": [1], "map": {"a": [1]}}
