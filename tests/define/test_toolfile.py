"""The tools of a module."""

from __future__ import annotations

import inspect
import types
from typing import Any

import pytest

from toolcrib.call import Call, Caller, Tool
from toolcrib.define.injected import IdempotencyKey
from toolcrib.define.toolfile import tools_of_module
from toolcrib.errors import DefinitionError

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def module(source: str, **names: Any) -> types.ModuleType:
    made = types.ModuleType("some_tool")
    vars(made).update(names)
    exec(compile(source, "some_tool.py", "exec"), vars(made))
    return made


def tools(source: str, **names: Any) -> list[Tool]:
    return tools_of_module(module(source, **names), source="toolbox/")


EXECUTE = "\ndef execute(args, **context):\n    return args, context\n"
DEFINITION = "DEFINITION = {'id': 'count', 'name': 'count_words', 'description': 'Counts.', 'parameters': SCHEMA"


def test_definition_and_execute_are_a_schema_tool() -> None:
    (made,) = tools(DEFINITION + ", 'read_only': True, 'timeout': 5}" + EXECUTE, SCHEMA=SCHEMA)
    assert (made.name, made.description, made.source) == ("count_words", "Counts.", "toolbox/")
    assert made.parameters == SCHEMA
    assert (made.read_only, made.timeout, made.adapter) == (True, 5, None)
    assert made.body({"text": "a"}, caller="ada") == ({"text": "a"}, {"caller": "ada"})


def test_name_and_id_stand_in_for_each_other() -> None:
    assert tools("DEFINITION = {'id': 'only'}" + EXECUTE)[0].name == "only"
    assert tools("DEFINITION = {'name': 'only'}" + EXECUTE)[0].name == "only"


def test_without_a_description_executes_docstring_serves_and_without_parameters_none_are_taken() -> None:
    (made,) = tools("DEFINITION = {'name': 'x'}\ndef execute(args):\n    'Does x.'\n")
    assert made.description == "Does x."
    assert made.parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("signature", "injected"),
    [
        ("args", {}),
        ("args, /", {}),
        ("args, caller", {"caller": Caller}),
        (
            "args, *, turn, tools, idempotency_key",
            {"turn": "Turn", "tools": "Tools", "idempotency_key": IdempotencyKey},
        ),
        ("args, call, verbose=False", {"call": Call}),
        (
            "args, **context",
            {"caller": Caller, "call": Call, "turn": "Turn", "tools": "Tools", "idempotency_key": IdempotencyKey},
        ),
        ("args, db: Injected[Db], caller=None", {"db": dict, "caller": Caller}),
        ("args, db: 'Injected[Db]'", {"db": dict}),
    ],
)
def test_execute_is_given_the_context_it_names(signature: str, injected: dict[str, Any]) -> None:
    source = f"from toolcrib.define.injected import Injected\nDb = dict\ndef execute({signature}): pass\n"
    assert tools("DEFINITION = {'name': 'x'}\n" + source)[0].injected == injected


def test_execute_may_be_asynchronous_or_an_object() -> None:
    (made,) = tools("DEFINITION = {'name': 'x'}\nasync def execute(args): pass")
    assert inspect.iscoroutinefunction(made.body)
    (made,) = tools(
        "DEFINITION = {'name': 'x'}\nclass Run:\n    async def __call__(self, args, caller): pass\nexecute = Run()"
    )
    assert inspect.iscoroutinefunction(made.body)
    assert made.injected == {"caller": Caller}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("x = 1", "defines no tool"),
        (EXECUTE, "no DEFINITION"),
        ("DEFINITION = {'name': 'x'}", "no execute"),
        ("DEFINITION = ['x']" + EXECUTE, "a dict; got list"),
        ("DEFINITION = None" + EXECUTE, "a dict; got NoneType"),
        ("DEFINITION = {'description': 'x'}" + EXECUTE, "neither name nor id"),
        ("DEFINITION = {'name': ''}" + EXECUTE, "non-empty"),
        ("DEFINITION = {'name': 'x', 'id': 3}" + EXECUTE, "id is a non-empty text"),
        ("DEFINITION = {'name': 'x', 'parametres': {}}" + EXECUTE, "did you mean 'parameters'"),
        ("DEFINITION = {'name': 'x', 'parameters': 'none'}" + EXECUTE, "JSON Schema; got str"),
        ("DEFINITION = {'name': 'x', 'parameters': {'type': 'array'}}" + EXECUTE, "must describe an object"),
        ("DEFINITION = {'name': 'x', 'parameters': {'type': 'objekt'}}" + EXECUTE, "must describe an object"),
        (
            "DEFINITION = {'name': 'x', 'parameters': {'properties': {'a': {'type': 'strin'}}}}" + EXECUTE,
            "properties.a.type",
        ),
        (
            "DEFINITION = {'name': 'x', 'parameters': {'properties': {}, 'required': ['a']}}" + EXECUTE,
            "no property of its parameters: a",
        ),
        ("DEFINITION = {'name': 'x', 'parameters': {'type': 'object', 'default': {1}}}" + EXECUTE, "set"),
        ("DEFINITION = {'name': 'x', 'retry': 3}" + EXECUTE, "idempotent"),
        ("DEFINITION = {'name': 'x', 'read_only': True, 'destructive': True}" + EXECUTE, "contradict"),
        ("DEFINITION = {'name': 'x'}\nexecute = 5", "execute is no function"),
        ("DEFINITION = {'name': 'x'}\ndef execute(): pass", "takes no arguments"),
        ("DEFINITION = {'name': 'x'}\ndef execute(**context): pass", "must be plain"),
        ("DEFINITION = {'name': 'x'}\ndef execute(*args): pass", "must be plain"),
        ("DEFINITION = {'name': 'x'}\ndef execute(args, *more): pass", "by name"),
        ("DEFINITION = {'name': 'x'}\ndef execute(city, unit): pass", "'unit', which is no context"),
        ("from toolcrib.define.injected import Injected\nDEFINITION = {'name': 'x'}\n"
         "def execute(args, db: 'Injected[Nowhere]'): pass", "Nowhere"),
    ],
)  # fmt: skip
def test_a_wrong_tool_file_says_what_is_wrong(source: str, why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        tools(source)


MIXED = """
from toolcrib.define.function import tool
from toolcrib.define.toolkit import Toolkit
from elsewhere import imported, Imported

@tool(read_only=True)
def second_letter(word: str) -> str:
    return word[1]

alias = second_letter

class Dice(Toolkit):
    @tool
    def roll(self) -> int:
        return 4

class Hidden(Toolkit):
    internal = True

class _Private(Toolkit):
    pass

DEFINITION = {"name": "third"}

def execute(args):
    return 3

def helper(x):
    return x

@tool
def a_letter(word: str) -> str:
    return word[0]
"""


def test_a_module_gives_what_it_defines_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    elsewhere = types.ModuleType("elsewhere")
    exec(
        "from toolcrib.define.function import tool\nfrom toolcrib.define.toolkit import Toolkit\n"
        "@tool\ndef imported(): pass\nclass Imported(Toolkit):\n    @tool\n    def act(self): pass\n",
        vars(elsewhere),
    )
    monkeypatch.setitem(sys.modules, "elsewhere", elsewhere)
    found = tools(MIXED)
    assert [(tool.name, tool.source) for tool in found] == [
        ("second_letter", "toolbox/"), ("roll", "toolkit:dice"), ("third", "toolbox/"), ("a_letter", "toolbox/"),
    ]  # fmt: skip
    assert found[0].parameters["required"] == ["word"]
    assert found[0].body(word="abc") == "b"


def test_two_tools_of_one_name_are_refused() -> None:
    source = "from toolcrib.define.function import tool\n@tool(name='a')\ndef f(): pass\n@tool(name='a')\ndef g(): pass"
    with pytest.raises(DefinitionError, match="two tools called 'a'"):
        tools(source)


def test_definition_may_be_a_tool() -> None:
    (made,) = tools("DEFINITION = given", given=Tool(name="x", body=dict))
    assert (made.name, made.source) == ("x", "toolbox/")


def test_execute_may_itself_be_decorated() -> None:
    (made,) = tools("from toolcrib.define.function import tool\n@tool(name='x')\ndef execute(city: str): pass")
    assert made.name == "x"
