from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.package import ObjectSource, PackageSource

_numbers = count()


@pytest.fixture
def package(write: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a package on sys.path, its folder still empty but for __init__.py."""
    name = f"acme_{next(_numbers)}"
    write(f"{name}/__init__.py", "")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    for loaded in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[loaded]


KIT = """
from toolcrib import Toolkit, tool

class {name}(Toolkit):
    internal = {internal}

    @tool
    def {action}(self) -> int:
        return 1
"""


def names(source: PackageSource | ObjectSource) -> list[str]:
    return [tool.name for tool in source.tools()]


def test_toolkits_of_all_modules_are_found_where_they_are_defined(package, write):
    write(f"{package}/a.py", KIT.format(name="A", internal=False, action="do_a"))
    write(f"{package}/b.py", f"from {package}.a import A\n" + KIT.format(name="B", internal=False, action="do_b"))
    write(f"{package}/deep/__init__.py", "")
    write(f"{package}/deep/c.py", KIT.format(name="C", internal=False, action="do_c"))
    write(f"{package}/d.py", KIT.format(name="D", internal=True, action="do_d"))
    source = PackageSource(package)
    assert names(source) == ["do_a", "do_b", "do_c"]
    assert source.warnings == []


def test_tool_files_and_decorated_functions_count_and_other_functions_do_not(package, write, define):
    define(f"{package}/a_tool.py", "defined")
    write(
        f"{package}/b.py",
        "from toolcrib import tool\nDEFINITION = 3\ndef plain(): ...\n@tool\ndef made() -> int: ...\n",
    )
    source = PackageSource(package)
    assert names(source) == ["defined", "made"]
    assert {tool.source for tool in source.tools()} == {package}


def test_a_module_that_fails_is_a_warning_and_main_is_not_run(package, write, define):
    write(f"{package}/a.py", "\nraise RuntimeError('no')\n")
    write(f"{package}/__main__.py", "raise SystemExit")
    write(f"{package}/deep/__init__.py", "import no_such_package_here")
    define(f"{package}/z_tool.py", "z")
    source = PackageSource(package)
    assert names(source) == ["z"]
    first, second = map(str, source.warnings)
    assert "a.py:2: RuntimeError: no" in first
    assert "no_such_package_here" in second


def test_a_single_module_is_a_source(package, write):
    write(f"{package}/one.py", "from toolcrib import tool\n@tool\ndef f() -> int: ...\n")
    assert names(PackageSource(f"{package}.one")) == ["f"]


def test_a_package_without_tools_says_so(package):
    source = PackageSource(package)
    assert source.tools() == []
    assert "no toolkit class" in str(source.warnings[0])


def test_a_reload_finds_new_modules_and_keeps_what_was_read(package, define):
    define(f"{package}/a_tool.py", "a")
    source = PackageSource(package)
    (a,) = source.tools()
    assert source.reload() is False
    define(f"{package}/b_tool.py", "b")
    assert source.reload() is True
    assert source.tools()[0] is a
    assert names(source) == ["a", "b"]


OBJECTS = (
    KIT.format(name="Kit", internal=False, action="act")
    + """
from toolcrib import Tool

@tool
def decorated() -> int:
    return 1

def plain(x: int) -> int:
    return x

def now() -> str:
    return "now"

whole = Tool(name="whole", body=lambda args: 1)
kit = Kit()
several = [decorated, whole, (Kit,)]

def make():
    return several

def make_each():
    yield decorated
    yield whole

async def late():
    return several

def wrong():
    return 7

def broken():
    raise RuntimeError("it broke")

class Plain: ...
"""
)


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        ("decorated", ["decorated"]),
        ("plain", ["plain"]),
        ("now", ["now"]),
        ("whole", ["whole"]),
        ("Kit", ["act"]),
        ("kit", ["act"]),
        ("kit.act", ["act"]),
        ("several", ["decorated", "whole", "act"]),
        ("make", ["decorated", "whole", "act"]),
        ("make_each", ["decorated", "whole"]),
    ],
)
def test_an_object_is_a_source_whatever_way_it_offers_tools(package, write, thing, expected):
    write(f"{package}/m.py", OBJECTS)
    assert names(ObjectSource(f"{package}.m:{thing}")) == expected


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        ("nothing", "has no 'nothing'"),
        ("decoratd", "nearest: decorated"),
        ("late", "async"),
        ("wrong", "decorate it with @tool"),
        ("broken", "it broke"),
        ("Plain", "the class Plain"),
    ],
)
def test_an_object_that_offers_no_tools_raises_and_says_why(package, write, thing, reason):
    write(f"{package}/m.py", OBJECTS)
    with pytest.raises(SourceError, match=reason):
        ObjectSource(f"{package}.m:{thing}").tools()


def test_a_missing_module_is_told_from_one_that_misses_something(package, write):
    with pytest.raises(SourceError, match=f"no module '{package}.missing'"):
        ObjectSource(f"{package}.missing:x").tools()
    write(f"{package}/m.py", "import no_such_package_here\n")
    with pytest.raises(SourceError, match="'no_such_package_here' it imports is not installed"):
        ObjectSource(f"{package}.m:x").tools()
