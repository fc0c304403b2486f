from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from toolcrib.call import Tool
from toolcrib.define.function import tool
from toolcrib.define.toolkit import Toolkit
from toolcrib.errors import DefinitionError, SettingsError, SourceError
from toolcrib.sources.resolve import sources_of


@tool
def first() -> int:
    return 1


def second(x: int) -> int:
    return x


class Kit(Toolkit):
    @tool
    def third(self) -> int:
        return 3


class Elsewhere:
    name = "elsewhere"
    warnings = ()

    def tools(self) -> list[Tool]:
        return [Tool(name="far", body=lambda args: 1)]

    def reload(self) -> bool:
        return False

    def paths(self) -> list[Path]:
        return []


def names(tools: Any, base: Path | None = None) -> dict[str, list[str]]:
    return {source.name: [tool.name for tool in source.tools()] for source in sources_of(tools, base=base)}


@pytest.mark.parametrize("nothing", [None, [], (), [[], None]])
def test_nothing_is_an_empty_catalog(nothing):
    assert sources_of(nothing) == []


def test_one_thing_needs_no_list():
    assert names(first) == {"functions": ["first"]}
    assert names(Kit) == names(Kit()) == {"functions": ["third"]}


def test_functions_tools_and_toolkits_are_one_source_in_their_order():
    whole = Tool(name="whole", body=lambda args: 1)
    assert names([first, [second, (whole,)], Kit, first]) == {"functions": ["first", "second", "whole", "third"]}


def test_objects_that_are_sources_just_work():
    source = Elsewhere()
    assert sources_of([source, source]) == [source]
    assert names([source, first]) == {"elsewhere": ["far"], "functions": ["first"]}


def test_two_different_tools_of_one_name_raise():
    def other() -> int:
        return 2

    other.__name__ = "first"
    with pytest.raises(DefinitionError, match="'first'"):
        sources_of([first, other])[0].tools()


@pytest.mark.parametrize("wrong", [{}, {"a": first}, 3, 3.5, b"toolbox", {first}, [first, 7], Elsewhere, object()])
def test_what_cannot_be_tools_raises_and_says_what_can(wrong):
    with pytest.raises(SettingsError, match="tools are a function, a Tool"):
        sources_of(wrong)


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_text_raises(empty):
    with pytest.raises(SettingsError, match="empty"):
        sources_of([empty])


def test_a_path_is_relative_to_the_base(tmp_path, define):
    define("box/a_tool.py", "a")
    assert names(["box"], tmp_path) == names(["box/"], tmp_path) == names("./box", tmp_path) == {"box/": ["a"]}
    assert names(tmp_path / "box") == {f"{tmp_path.as_posix()}/box/": ["a"]}


def test_without_a_base_it_is_relative_to_the_working_folder(tmp_path, define, monkeypatch):
    define("box/a_tool.py", "a")
    monkeypatch.chdir(tmp_path)
    assert names("box/a_tool.py") == {"box/a_tool.py": ["a"]}


def test_one_folder_named_twice_counts_once(tmp_path, define):
    define("box/a_tool.py", "a")
    assert list(names(["box", "./box/", tmp_path / "box"], tmp_path)) == ["box/"]


def test_a_path_with_a_colon_is_a_path_if_it_exists(tmp_path, define):
    define("a:b/a_tool.py", "a")
    assert names("a:b", tmp_path) == {"a:b/": ["a"]}


@pytest.mark.parametrize("missing", ["toolbox/", "no_such_thing", "C:\\tools", "a/b.py", "no such", "x\0y", "y" * 5000])
def test_a_missing_path_raises_and_says_what_was_tried(tmp_path, missing):
    with pytest.raises(SourceError, match="no tools at"):
        sources_of([missing], base=tmp_path)


def test_a_name_that_could_be_a_package_says_that_too(tmp_path):
    with pytest.raises(SourceError, match=r"no file or folder .*no_such_thing, no package no_such_thing"):
        sources_of("no_such_thing", base=tmp_path)


def test_a_file_that_is_no_python_raises(tmp_path, write):
    write("tools.txt", "")
    with pytest.raises(SourceError, match=r"a \.py file"):
        sources_of("tools.txt", base=tmp_path)


def test_a_folder_wins_over_a_package_of_its_name(tmp_path, define):
    define("json/a_tool.py", "a")
    assert names("json", tmp_path) == {"json/": ["a"]}


def test_packages_and_objects_are_named_by_their_dotted_names(tmp_path, write, monkeypatch):
    write("acme_resolve/__init__.py", "")
    write("acme_resolve/m.py", "from toolcrib import tool\n@tool\ndef f() -> int: ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert names(["acme_resolve", "acme_resolve.m:f"], tmp_path / "no") == {
        "acme_resolve": ["f"],
        "acme_resolve.m:f": ["f"],
    }
    for name in ("acme_resolve", "acme_resolve.m"):
        del sys.modules[name]


def test_there_are_no_kits_yet():
    with pytest.raises(SettingsError, match="no kit 'time'"):
        sources_of(["kit:time"])


def test_a_plugin_that_nobody_offers_raises():
    with pytest.raises(SourceError, match="plugin:no_such"):
        sources_of("plugin:no_such")
    assert sources_of("plugin:*") == []
