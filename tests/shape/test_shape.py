"""The shape of the package: its public names, what importing it costs, the order of the stages, the layers."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path

import toolcrib
from toolcrib.runtime import STAGES, Crib

ROOT = Path(__file__).parents[2]


def python(program: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_the_public_names_are_sorted() -> None:
    names = [name for name in toolcrib.__all__ if name != "__version__"]
    assert names == sorted(names)
    assert len(set(toolcrib.__all__)) == len(toolcrib.__all__)


def test_every_public_name_can_be_imported_and_listed() -> None:
    for name in toolcrib.__all__:
        assert getattr(toolcrib, name) is not None
    assert set(toolcrib.__all__) <= set(dir(toolcrib))


def test_every_public_name_is_known_to_type_checkers_from_the_same_module() -> None:
    for name, home in toolcrib._HOMES.items():
        assert getattr(importlib.import_module(home), name) is getattr(toolcrib, name)
    assert set(toolcrib._HOMES) == set(toolcrib.__all__) - {"__version__"}


def test_every_public_class_and_function_says_what_it_is_for() -> None:
    for name in toolcrib.__all__:
        thing = getattr(toolcrib, name)
        if isinstance(thing, type) or callable(thing):
            assert name == "Injected" or thing.__doc__, name


def test_importing_it_loads_nothing_else() -> None:
    program = """
import sys
before = set(sys.modules)
import toolcrib
ours = sorted(name for name in set(sys.modules) - before if name.startswith("toolcrib"))
print(ours, "pydantic" in sys.modules, "pydantic_core" in sys.modules, "asyncio" in sys.modules)
"""
    assert python(program) == "['toolcrib'] False False False\n"


def test_using_it_loads_none_of_the_heavy_libraries() -> None:
    program = """
import sys
from toolcrib import Crib, tool

@tool
def add(a: int, b: int) -> int:
    return a + b

Crib([add], db="off")
heavy = "pydantic jsonschema_rs griffe rich typer openai anthropic google.genai httpx mcp watchfiles".split()
print([name for name in heavy if name in sys.modules])
"""
    assert python(program) == "[]\n"


def test_the_stages_stand_in_their_order() -> None:
    names = ["resolve", "read", "admit", "approve", "start", "run", "answer", "settle", "publish"]
    assert [stage.name for stage in STAGES] == names
    assert [stage.name for stage in Crib().stages] == names


def test_the_parts_a_step_takes_are_the_whole_tuple_in_order() -> None:
    crib = Crib()
    assert (*crib.front, *crib.body, *crib.tail) == crib.stages
    assert [stage.name for stage in crib.body] == ["start", "run", "answer", "settle"]


def test_the_layers_hold() -> None:
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_no_file_outgrows_a_reader() -> None:
    lines = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").count("\n")
        for path in (ROOT / "src").rglob("*.py")
    }
    assert {path: count for path, count in lines.items() if count > 500} == {}
