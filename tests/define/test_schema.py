"""Schemas from signatures, and the typed values a body gets."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import subprocess
import sys
import typing
import uuid
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Generic, List, Literal, NamedTuple, NewType, Optional, TypeVar, Union, Unpack  # noqa: UP035

import pytest
import typing_extensions
from pydantic import BaseModel, Field, ValidationError

from toolcrib.define.checks import check
from toolcrib.define.function import tool, tool_of
from toolcrib.errors import DefinitionError

T = TypeVar("T")
UserId = NewType("UserId", int)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Movie(typing.TypedDict, total=False):
    """A film."""

    title: typing.Required[str]
    year: int


class Cinema(typing.TypedDict):
    hall: typing.NotRequired[int]
    showing: list[Movie]


class Loop(typing.TypedDict):
    inner: list[Loop]


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclasses.dataclass
class Node:
    value: int
    children: list[Node] = dataclasses.field(default_factory=list)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    title: str


class Page(BaseModel, Generic[T]):
    items: list[T]


class Opaque:
    pass


def schema(function: Any) -> dict[str, Any]:
    definition = tool_of(function)
    assert check(definition) == []
    return definition.parameters


def values(function: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    definition = tool_of(function)
    assert definition.adapter is not None
    return definition.adapter().validate_python(arguments)  # type: ignore[no-any-return]


def test_required_defaults_and_the_closed_root() -> None:
    def f(a: int, b: str = "x", c: float = 1.5, d: bool = False) -> None: ...

    assert schema(f) == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "string", "default": "x"},
            "c": {"type": "number", "default": 1.5},
            "d": {"type": "boolean", "default": False},
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert values(f, {"a": 1}) == {"a": 1}
    with pytest.raises(ValidationError):
        values(f, {"a": 1, "z": 2})


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def f() -> None: ...

    assert schema(f) == {"type": "object", "properties": {}, "additionalProperties": False}
    assert values(f, {}) == {}


def test_unannotated_parameters_are_anything() -> None:
    def f(a, b=3):  # type: ignore[no-untyped-def]
        return a, b

    assert schema(f)["properties"] == {"a": {}, "b": {"default": 3}}
    assert values(f, {"a": [1, {"x": None}]}) == {"a": [1, {"x": None}]}


def test_optional_is_nullable_and_only_a_default_makes_it_optional() -> None:
    def f(
        a: Optional[str],  # noqa: UP045
        b: str | None = None,
        c: Annotated[Optional[str], "my str"] = None,  # noqa: UP045
        d: str = None,  # type: ignore[assignment]  # noqa: RUF013
    ) -> None: ...

    nullable = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert schema(f)["properties"] == {
        "a": nullable,
        "b": {**nullable, "default": None},
        "c": {**nullable, "description": "my str", "default": None},
        "d": {**nullable, "default": None},
    }
    assert schema(f)["required"] == ["a"]
    assert values(f, {"a": None, "d": None}) == {"a": None, "d": None}


def test_literals_and_enums_keep_their_json_types_and_give_members() -> None:
    def f(
        a: Literal[1, 2],
        b: Literal["x", None],
        c: Level,
        d: Colour = Colour.BLUE,
        e: Literal[1, "one", True] = 1,
    ) -> None: ...

    found = schema(f)
    assert found["properties"]["a"] == {"enum": [1, 2], "type": "integer"}
    assert found["properties"]["b"]["enum"] == ["x", None]
    assert found["properties"]["e"]["enum"] == [1, "one", True]
    assert found["properties"]["d"]["default"] == "blue"
    assert found["$defs"]["Level"] == {"enum": [1, 2], "type": "integer"}
    got = values(f, {"a": 1, "b": None, "c": 2, "d": "red"})
    assert got["c"] is Level.HIGH
    assert got["d"] is Colour.RED


@pytest.mark.parametrize(
    ("annotation", "given", "value"),
    [
        (list[int], [1], [1]),
        (List, [1], [1]),  # noqa: UP006
        (dict[str, int], {"a": 1}, {"a": 1}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2], (1, 2)),
        (set[str], ["a"], {"a"}),
        (frozenset[int], [1], frozenset({1})),
        (Union[int, list[str]], ["a"], ["a"]),  # noqa: UP007
        (int | str, "a", "a"),
        (Node, {"value": 1, "children": [{"value": 2}]}, Node(1, [Node(2)])),
        (Movie, {"title": "M"}, {"title": "M"}),
        (Cinema, {"showing": [{"title": "M", "year": 1931}]}, {"showing": [{"title": "M", "year": 1931}]}),
        (Optional[dict[str, list[Movie]]], {"a": [{"title": "M"}]}, {"a": [{"title": "M"}]}),  # noqa: UP045
        (Annotated[list[Movie], Field(min_length=1)], [{"title": "M"}], [{"title": "M"}]),
        (Point, [1, 2], Point(1, 2)),
        (Cat, {"kind": "cat"}, Cat(kind="cat")),
        (Page[int], {"items": [1]}, Page[int](items=[1])),
        (datetime.date, "2024-02-29", datetime.date(2024, 2, 29)),
        (datetime.datetime, "2024-02-29T10:00:00", datetime.datetime(2024, 2, 29, 10)),
        (datetime.time, "10:30:00", datetime.time(10, 30)),
        (datetime.timedelta, "PT90S", datetime.timedelta(seconds=90)),
        (bytes, "ab", b"ab"),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (pathlib.Path, "/a/b", pathlib.Path("/a/b")),
        (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
        (UserId, 4, 4),
        (Any, {"x": [1]}, {"x": [1]}),
        (object, 3, 3),
        (T, 3, 3),
    ],
)
def test_types_give_a_valid_schema_and_typed_values(annotation: Any, given: Any, value: Any) -> None:
    def f(it) -> None: ...  # type: ignore[no-untyped-def]

    f.__annotations__["it"] = annotation
    assert schema(f)["required"] == ["it"]
    assert values(f, {"it": given}) == {"it": value}


def test_not_everything_unknown_becomes_text() -> None:
    def f(a: dict[str, Any], b: list[Any], c: Any) -> None: ...

    kinds = {name: found.get("type") for name, found in schema(f)["properties"].items()}
    assert kinds == {"a": "object", "b": "array", "c": None}


def test_nested_required_definitions_and_one_of_survive() -> None:
    def f(node: Node, pet: Annotated[Cat | Dog, Field(discriminator="kind")], cinema: Cinema) -> None: ...

    found = schema(f)
    assert found["properties"]["pet"]["oneOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]
    assert found["$defs"]["Node"]["required"] == ["value"]
    assert found["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert found["$defs"]["Movie"]["required"] == ["title"]
    assert found["$defs"]["Movie"]["description"] == "A film."
    assert found["$defs"]["Cinema"]["required"] == ["showing"]
    assert found["required"] == ["node", "pet", "cinema"]


def test_titles_go_but_properties_called_title_stay() -> None:
    def f(title: str, dog: Dog) -> None: ...

    found = schema(f)
    assert found["properties"]["title"] == {"type": "string"}
    assert found["$defs"]["Dog"]["properties"]["title"] == {"type": "string"}
    assert '"title": "' not in json.dumps(found)


def test_a_field_gives_constraints_description_and_alias() -> None:
    def f(
        limit: Annotated[int, Field(ge=1, le=10, description="How many.")] = 5,
        sort: Annotated[str, Field(alias="sort-by")] = "name",
        kind: Annotated[str, Field(validation_alias="type")] = "a",
        top: int = Field(3, ge=0, description="Top."),
        must: int = Field(..., alias="needed"),
    ) -> dict[str, Any]:
        """Lists.

        Args:
            limit: Not this text.
            sort: By what.
        """
        return {"limit": limit, "sort": sort, "kind": kind, "top": top, "must": must}

    found = schema(f)
    assert found["properties"] == {
        "limit": {"type": "integer", "minimum": 1, "maximum": 10, "description": "How many.", "default": 5},
        "sort-by": {"type": "string", "description": "By what.", "default": "name"},
        "type": {"type": "string", "default": "a"},
        "top": {"type": "integer", "minimum": 0, "description": "Top.", "default": 3},
        "needed": {"type": "integer"},
    }
    assert found["required"] == ["needed"]
    got = values(f, {"sort-by": "size", "type": "b", "needed": 1})
    assert tool_of(f).body(**got) == {"limit": 5, "sort": "size", "kind": "b", "top": 3, "must": 1}
    with pytest.raises(ValidationError):
        values(f, {"sort": "size", "needed": 1})


def test_the_functions_own_default_beats_one_in_a_field() -> None:
    def f(a: Annotated[int, Field(default=5)] = 7, b: Annotated[int, Field(default=5)] = Field(6)) -> tuple[int, int]:
        return a, b

    assert tool_of(f).body(**values(f, {})) == (7, 6)
    assert schema(f)["properties"]["a"]["default"] == 7


def test_names_that_libraries_reserve_are_fine() -> None:
    def f(schema: str, json: int, model_dump: int, _x: int, class_: int, copy: int = 0, keys: str = "") -> list[Any]:
        return [schema, json, model_dump, _x, class_, copy, keys]

    given = {"schema": "a", "json": 1, "model_dump": 2, "_x": 3, "class_": 4}
    assert set(schema(f)["properties"]) == {*given, "copy", "keys"}
    assert tool_of(f).body(**values(f, given)) == ["a", 1, 2, 3, 4, 0, ""]


def test_defaults_show_where_json_can_hold_them() -> None:
    def f(
        day: datetime.date = datetime.date(2020, 1, 2),
        where: pathlib.Path = pathlib.Path("/data"),
        amount: decimal.Decimal = decimal.Decimal("1.5"),
        marks: frozenset[str] = frozenset({"c", "a", "b"}),
        node: Node = Node(1),  # noqa: B008
        never: float = float("inf"),
        made: Any = Opaque(),  # noqa: B008
        pair: tuple[int, int] = (1, 2),
    ) -> None: ...

    found = {name: part.get("default", "none") for name, part in schema(f)["properties"].items()}
    assert found == {
        "day": "2020-01-02",
        "where": "/data",
        "amount": "1.5",
        "marks": ["a", "b", "c"],
        "node": {"value": 1, "children": []},
        "never": "none",
        "made": "none",
        "pair": [1, 2],
    }


def test_the_same_definition_has_the_same_bytes_in_every_process() -> None:
    program = """
from pydantic import BaseModel
from toolcrib.define.function import tool_of

class Box(BaseModel):
    marks: set[str] = {"a", "b", "c", "d", "e"}

def f(x: frozenset[str] = frozenset({"p", "q", "r", "s"}), box: Box = Box(), inner: list[set[str]] = [{"u", "v", "w"}]):
    pass

print(tool_of(f).digest)
"""
    digests = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_building_a_schema_warns_about_nothing() -> None:
    class Held(BaseModel):
        thing: Any = object()

    def f(held: Held, **more: int) -> None: ...

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f.__annotations__["held"] = Held
        schema(f)


def test_further_keywords_open_the_root_and_have_their_type() -> None:
    def any_more(a: int, **more: Any) -> dict[str, Any]:
        return more

    def numbers(a: int, **more: int) -> dict[str, int]:
        return more

    def unannotated(**more):  # type: ignore[no-untyped-def]
        return more

    assert schema(any_more)["additionalProperties"] is True
    assert schema(unannotated)["additionalProperties"] is True
    assert schema(numbers)["additionalProperties"] == {"type": "integer"}
    assert tool_of(any_more).body(**values(any_more, {"a": 1, "z": [1]})) == {"z": [1]}
    assert tool_of(numbers).body(**values(numbers, {"a": 1, "z": "3"})) == {"z": 3}
    with pytest.raises(ValidationError):
        values(numbers, {"a": 1, "z": "many"})


def test_further_keywords_cannot_reach_a_parameter_past_its_alias() -> None:
    def f(a: Annotated[int, Field(alias="A", le=3)], **more: Any) -> Any:
        return a, more

    assert set(schema(f)["properties"]) == {"A"}
    assert values(f, {"A": 1, "b": 2}) == {"a": 1, "b": 2}
    with pytest.raises(ValidationError, match="not permitted"):
        values(f, {"A": 1, "a": 99})


def test_further_keywords_of_a_method_cannot_replace_its_object() -> None:
    class Kit:
        def act(self, **more: Any) -> Any:
            return more

    with pytest.raises(ValidationError, match="not permitted"):
        values(Kit().act, {"self": 1})


class Paging(typing.TypedDict, total=False):
    limit: typing.Required[int]
    offset: int


def test_unpacked_keywords_are_parameters() -> None:
    def f(query: str, **paging: Unpack[Paging]) -> Any:
        """Finds.

        Args:
            limit: How many.
        """
        return query, paging

    found = schema(f)
    assert found["properties"]["limit"] == {"type": "integer", "description": "How many."}
    assert found["required"] == ["query", "limit"]
    assert found["additionalProperties"] is False
    assert tool_of(f).body(**values(f, {"query": "a", "limit": "2"})) == ("a", {"limit": 2})


def test_positional_only_parameters_are_given_by_name() -> None:
    def f(a: int, b: int = 5, /, c: int = 6, **more: Any) -> Any:
        return a, b, c, more

    body = tool_of(f).body
    assert body(**values(f, {"a": "1"})) == (1, 5, 6, {})
    assert body(**values(f, {"a": 1, "b": 2, "c": 3, "d": 4})) == (1, 2, 3, {"d": 4})


def test_a_builtin_with_a_signature_works_and_one_without_says_so() -> None:
    import math

    assert tool_of(math.sqrt).body(**values(math.sqrt, {"x": 9})) == 3
    with pytest.raises(DefinitionError, match="no signature"):
        tool_of(max).parameters  # noqa: B018


def test_an_ellipsis_as_default_means_required() -> None:
    def f(p: pathlib.Path = ...) -> None: ...  # type: ignore[assignment]

    assert schema(f)["required"] == ["p"]


def test_local_types_are_found_by_their_text() -> None:
    class Currency(enum.Enum):
        EUR = "EUR"

    class Kit:
        class Mode(enum.Enum):
            FAST = "fast"

        @tool
        def act(self, mode: Mode, currency: Currency) -> None: ...

        def plain(self, mode: Mode) -> None: ...

    @tool(read_only=True)
    def pay(c: Currency, many: list[Currency], d: Optional[Literal["a"]] = None) -> None: ...  # noqa: UP045

    def plain(c: Currency) -> None: ...

    assert schema(pay)["$defs"]["Currency"] == {"enum": ["EUR"], "type": "string"}
    assert values(plain, {"c": "EUR"}) == {"c": Currency.EUR}
    assert values(Kit().act, {"mode": "fast", "currency": "EUR"}) == {"mode": Kit.Mode.FAST, "currency": Currency.EUR}
    assert values(Kit().plain, {"mode": "fast"}) == {"mode": Kit.Mode.FAST}


def test_a_local_type_shadows_the_modules() -> None:
    class Colour(enum.Enum):
        GREEN = "green"

    @tool
    def f(c: Colour) -> None: ...

    assert schema(f)["$defs"]["Colour"]["enum"] == ["green"]


def test_a_closure_brings_its_types() -> None:
    def make(kind: Any) -> Callable[..., Any]:
        def f(it: kind) -> Any:
            return kind, it

        return f

    assert schema(make(Level))["$defs"]["Level"]["enum"] == [1, 2]


def arguments_of(function: Any) -> str:
    with pytest.raises(DefinitionError) as caught:
        tool_of(function).parameters  # noqa: B018
    return str(caught.value)


def test_faults_name_the_tool_the_parameter_and_the_type() -> None:
    def late(ok: int, x: Later) -> None: ...  # type: ignore[name-defined]  # noqa: F821
    def opaque(ok: int, x: list[Opaque]) -> None: ...
    def calling(ok: int, x: Callable[[int], int]) -> None: ...
    def no_type(ok: int, x: 5) -> None: ...  # type: ignore[valid-type]
    def loop(ok: int, x: Loop) -> None: ...
    def many(ok: int, *x: int) -> None: ...

    faults = [(late, "Later"), (opaque, "Opaque"), (calling, "Callable"), (no_type, "5")]
    if sys.version_info < (3, 12):  # from then on pydantic takes a typing.TypedDict as it is
        faults.append((loop, "Loop"))
    for function, kind in faults:
        said = arguments_of(function)
        assert function.__name__ in said
        assert "'x'" in said
        assert kind in said
        assert "pydantic.dev" not in said
    if sys.version_info < (3, 12):
        assert "typing_extensions" in arguments_of(loop)
    assert "*x" in arguments_of(many)
    assert len(check(tool_of(opaque))) == 1


def test_a_typing_extensions_typed_dict_may_hold_itself() -> None:
    def f(tree: Tree) -> None: ...

    assert schema(f)["$defs"]["Tree"]["properties"]["branches"]["items"] == {"$ref": "#/$defs/Tree"}


class Tree(typing_extensions.TypedDict):
    branches: list[Tree]
