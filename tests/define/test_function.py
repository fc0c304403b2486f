"""@tool and Tool.of: what they accept, keep and cost."""

import asyncio
import functools
import inspect
import subprocess
import sys
from typing import Any

import pytest

from toolcrib.call import Tool
from toolcrib.define.function import tool, tool_of
from toolcrib.errors import DefinitionError


def test_a_decorated_function_is_the_same_object_and_still_callable() -> None:
    def double(n: int) -> int:
        return 2 * n

    assert tool(double) is double
    assert tool(read_only=True)(double) is double
    assert double(4) == 8


def test_tool_of_gives_the_attached_definition_every_time() -> None:
    @tool(name="files.list", description="Lists.", read_only=True, timeout=3)
    def list_files(path: str = ".") -> list[str]:
        """Another text."""
        return []

    definition = Tool.of(list_files)
    assert definition is Tool.of(list_files)
    assert (definition.name, definition.description, definition.timeout) == ("files.list", "Lists.", 3)
    assert definition.read_only
    assert not definition.effectful


def test_a_tool_is_its_own_definition() -> None:
    definition = Tool(name="x", body=lambda arguments: 1)
    assert tool_of(definition) is definition


def test_the_definition_hides_from_completion() -> None:
    @tool
    def f() -> None: ...

    assert [name for name in vars(f) if not name.startswith("__")] == []


def test_a_plain_function_becomes_an_effectful_tool_of_its_own_name() -> None:
    def send(to: str) -> None:
        """Sends."""

    definition = tool_of(send)
    assert (definition.name, definition.description, definition.source) == ("send", "Sends.", "functions")
    assert definition.effectful
    assert definition.body is send


async def look_up(key: str, *, depth: int = 1) -> str:
    """Looks up."""
    return f"{key}/{depth}"


class Desk:
    async def __call__(self, n: int) -> int:
        """Adds one, later."""
        return n + 1

    def plain(self, n: int) -> int:
        """Of an object."""
        return n

    @classmethod
    def of_class(cls, n: int) -> str:
        return f"{cls.__name__}{n}"

    @staticmethod
    def static(n: int) -> int:
        return -n


class Counter:
    """Counts."""

    def __call__(self, n: int) -> int:
        return n


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    ("made_of", "name", "arguments", "answer"),
    [
        (look_up, "look_up", {"key": "a"}, "a/1"),
        (functools.partial(look_up, depth=2), "look_up", {"key": "a"}, "a/2"),
        (functools.partial(look_up, "k"), "look_up", {"depth": 3}, "k/3"),
        (wrapped(look_up), "look_up", {"key": "b", "depth": 2}, "b/2"),
        (functools.lru_cache(wrapped(look_up)), "look_up", {"key": "c"}, "c/1"),
        (Desk(), "Desk", {"n": 1}, 2),
        (Desk().plain, "plain", {"n": 1}, 1),
        (Desk.of_class, "of_class", {"n": 1}, "Desk1"),
        (Desk.static, "static", {"n": 1}, -1),
        (Desk.__dict__["static"], "static", {"n": 1}, -1),
        (Counter(), "Counter", {"n": 7}, 7),
    ],
)
async def test_any_callable_with_a_name_can_be_a_tool(
    made_of: Any, name: str, arguments: dict[str, Any], answer: Any
) -> None:
    definition = tool_of(made_of)
    assert definition.name == name
    assert set(definition.parameters["properties"]) >= set(arguments)
    assert "self" not in definition.parameters["properties"]
    assert definition.adapter is not None
    result = definition.body(**definition.adapter().validate_python(arguments))
    assert (await result if inspect.isawaitable(result) else result) == answer


def test_asynchrony_can_be_seen_from_the_body() -> None:
    def positional(n: int, /) -> None: ...
    async def positional_too(n: int, /) -> None: ...

    assert inspect.iscoroutinefunction(tool_of(look_up).body)
    assert inspect.iscoroutinefunction(tool_of(Desk()).body)
    assert inspect.iscoroutinefunction(tool_of(positional_too).body)
    assert not inspect.iscoroutinefunction(tool_of(positional).body)
    assert not inspect.iscoroutinefunction(tool_of(Counter()).body)


def test_what_a_partial_fixes_is_out_of_the_models_reach() -> None:
    def mail(text: str, user: str, **more: str) -> tuple[str, str]:
        return user, text

    definition = tool_of(functools.partial(mail, user="ada"))
    assert list(definition.parameters["properties"]) == ["text"]
    assert definition.adapter is not None
    with pytest.raises(ValueError, match="user"):
        definition.adapter().validate_python({"text": "hi", "user": "eve"})
    assert definition.body(text="hi") == ("ada", "hi")


def test_docstrings_of_objects_wrappers_and_partials_are_found() -> None:
    assert tool_of(Desk()).description == "Adds one, later."
    assert tool_of(Counter()).description == "Counts."
    assert tool_of(wrapped(look_up)).description == "Looks up."
    assert tool_of(functools.partial(look_up, "x")).description == "Looks up."
    assert tool_of(functools.partial(print)).description.startswith("Prints the values")


def test_wrappers_and_partials_of_a_tool_keep_its_declarations() -> None:
    @tool(destructive=True, name="erase")
    def remove(path: str) -> str:
        return path

    for around in (wrapped(remove), functools.partial(remove), functools.lru_cache(remove)):
        definition = tool_of(around)
        assert definition.destructive
        assert definition.name == "erase"
        assert definition.body is around


def test_a_bound_method_of_a_decorated_method_has_its_object() -> None:
    class Shelf:
        def __init__(self, label: str) -> None:
            self.label = label

        @tool(idempotent=True)
        def put(self, item: str) -> str:
            """Puts."""
            return f"{self.label}:{item}"

    left, right = tool_of(Shelf("left").put), tool_of(Shelf("right").put)
    assert left is not right
    assert left.idempotent
    assert right.body(item="a") == "right:a"
    assert left.body(item="a") == "left:a"
    assert left.parameters == right.parameters
    assert left.adapter is not None
    assert right.adapter is not None
    assert left.adapter() is right.adapter()
    with pytest.raises(DefinitionError, match="without its object"):
        tool_of(Shelf.put)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda x: x, "lambda"),
        (functools.partial(lambda x: x), "lambda"),
        (5, "callable"),
        ("name", "callable"),
        (None, "callable"),
        (Desk, "class Desk"),
        (Desk.plain, "self"),
        (Desk.__dict__["of_class"], "classmethod"),
    ],
)
def test_what_can_be_no_tool_is_named(wrong: Any, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        tool_of(wrong)


def act() -> None:
    """For decorators that must refuse it."""


def test_a_lambda_with_a_name_is_a_tool() -> None:
    triple = tool(name="triple")(lambda n: 3 * n)
    assert tool_of(triple).body(n=2) == 6


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"readonly": True}, "did you mean 'read_only'"),
        ({"colour": "red"}, "unknown option 'colour'"),
        ({"read_only": True, "destructive": True}, "contradict"),
        ({"retry": 3}, "read_only=True or idempotent=True"),
        ({"retry": True, "destructive": True}, "retry"),
        ({"retry": 3, "idempotent": True, "runs": "client"}, "client"),
        ({"read_only": "yes"}, "True or False"),
        ({"approval": "always"}, "approval"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"trust": "maybe"}, "trust"),
        ({"runs": "elsewhere"}, "runs"),
        ({"claims": ["db"]}, "claims is a function"),
        ({"reconcile": 1}, "reconcile is a function"),
        ({"parallel": "yes"}, "parallel"),
        ({"description": 3}, "description"),
        ({"output": "text"}, "output"),
        ({"name": " "}, "name"),
    ],
)
@pytest.mark.parametrize("function", [act, Desk.plain], ids=["function", "method"])
def test_wrong_and_contradicting_options_raise_where_the_tool_is_defined(options: Any, why: str, function: Any) -> None:
    with pytest.raises(DefinitionError, match=why):
        tool(**options)(function)


def test_options_given_as_none_are_not_declared() -> None:
    @tool(name=None, timeout=None, read_only=None)  # type: ignore[arg-type]
    def act() -> None: ...

    assert tool_of(act).name == "act"
    assert tool_of(act).timeout is None


def test_retry_that_repeats_nothing_contradicts_nothing() -> None:
    for retry in (0, 1, False):
        tool(retry=retry, name="once")(lambda: None)
    tool(retry=5, idempotent=True, name="often")(lambda: None)


def test_a_class_or_text_cannot_be_decorated() -> None:
    with pytest.raises(DefinitionError, match="by name"):
        tool("look_up")  # type: ignore[call-overload]
    with pytest.raises(DefinitionError, match="class"):
        tool(Desk)
    with pytest.raises(DefinitionError, match="cannot carry"):
        tool(len)


def test_nothing_is_resolved_before_the_schema_is_asked_for() -> None:
    program = """
import sys
from toolcrib.define.function import tool, tool_of

@tool(read_only=True)
def f(a: "NotThereYet", b: int = 1) -> None:
    '''Does.

    Args:
        a: The a.
    '''

t = tool_of(f)
assert tool_of(t) is t
assert "pydantic" not in sys.modules, "pydantic"
assert "griffe" not in sys.modules, "griffe"
NotThereYet = int
assert t.parameters["properties"]["a"] == {"type": "integer", "description": "The a."}
assert t.description == "Does."
assert "pydantic" in sys.modules and "griffe" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_a_plain_docstring_needs_no_parser() -> None:
    program = """
import sys
from toolcrib.define.function import tool_of

def f(a: int) -> None:
    '''Does one thing: carefully.

    And says more of it.
    '''

assert tool_of(f).description == "Does one thing: carefully.\\n\\nAnd says more of it."
assert tool_of(f).parameters["required"] == ["a"]
assert "griffe" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


async def test_schemas_built_in_many_threads_are_one() -> None:
    @tool
    def f(a: int, b: dict[str, list[int]]) -> None: ...

    definition = tool_of(f)
    assert definition.adapter is not None
    adapters = await asyncio.gather(*(asyncio.to_thread(definition.adapter) for _ in range(8)))
    assert len(set(map(id, adapters))) == 1
