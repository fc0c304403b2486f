"""Parameters the runtime fills in."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import pytest
from pydantic import Field, ValidationError

from toolcrib.call import Call, Caller
from toolcrib.define.function import tool_of
from toolcrib.define.injected import IdempotencyKey, Injected
from toolcrib.errors import DefinitionError


class Database:
    pass


def test_injected_parameters_are_absent_from_the_schema_and_mapped_to_their_type() -> None:
    def f(
        n: int,
        db: Injected[Database],
        caller: Injected[Caller],
        maybe: Injected[Caller | None] = None,
        old: Injected[Optional[Call]] = None,  # noqa: UP045
        described: Annotated[Injected[Caller], "who asks"] = None,  # type: ignore[assignment]
        *,
        key: Injected[IdempotencyKey] = IdempotencyKey("none"),  # noqa: B008
    ) -> None: ...

    definition = tool_of(f)
    assert list(definition.parameters["properties"]) == ["n"]
    assert definition.parameters["required"] == ["n"]
    assert definition.injected == {
        "db": Database, "caller": Caller, "maybe": Caller, "old": Call, "described": Caller, "key": IdempotencyKey,
    }  # fmt: skip


def test_a_models_value_for_an_injected_parameter_is_an_unknown_argument() -> None:
    def closed(n: int, caller: Injected[Caller]) -> None: ...
    def open_(n: int, caller: Injected[Caller], **more: Any) -> None: ...

    for function in (closed, open_):
        adapter = tool_of(function).adapter
        assert adapter is not None
        with pytest.raises(ValidationError) as caught:
            adapter().validate_python({"n": 1, "caller": {"user": "root"}})
        assert [(e["loc"], e["type"]) for e in caught.value.errors()] == [(("caller",), "extra_forbidden")]
        assert "caller" not in tool_of(function).parameters["properties"]


def test_only_the_outermost_annotation_injects() -> None:
    def f(n: Annotated[int, "a number"], m: Annotated[Optional[int], Field(ge=1)] = None) -> None: ...  # noqa: UP045

    assert tool_of(f).injected == {}
    assert set(tool_of(f).parameters["properties"]) == {"n", "m"}


@pytest.mark.parametrize("kind", [Caller, Call, IdempotencyKey, Caller | None, list[Caller | int]])
def test_identity_never_comes_from_arguments(kind: Any) -> None:
    def f(n: int, who) -> None: ...  # type: ignore[no-untyped-def]

    f.__annotations__["who"] = kind
    with pytest.raises(DefinitionError, match=r"'who'.*Injected\["):
        tool_of(f).parameters  # noqa: B018


@pytest.mark.parametrize("kind", [Optional[Injected[str]], list[Injected[str]]])  # noqa: UP045
def test_injected_inside_another_type_is_a_mistake_and_told(kind: Any) -> None:
    def f(n: int, who) -> None: ...  # type: ignore[no-untyped-def]

    f.__annotations__["who"] = kind
    with pytest.raises(DefinitionError, match=r"'who'.*whole type"):
        tool_of(f).parameters  # noqa: B018


def test_injected_by_position_reaches_its_place() -> None:
    def f(a: int, caller: Injected[str], b: int = 2, /) -> Any:
        return a, caller, b

    assert tool_of(f).body(a=1, caller="me") == (1, "me", 2)


def test_further_keywords_cannot_be_injected() -> None:
    def f(**more: Injected[Caller]) -> None: ...

    with pytest.raises(DefinitionError, match="more"):
        tool_of(f).injected  # noqa: B018


def test_a_key_is_text() -> None:
    assert IdempotencyKey("c1") == "c1"
