from __future__ import annotations

import os
import pickle
import sys
import threading
from pathlib import Path

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.folder import Folder


def names(source: Folder) -> list[str]:
    return [tool.name for tool in source.tools()]


def only_warning(source: Folder) -> str:
    source.tools()
    (warning,) = source.warnings
    text = str(warning)
    assert "\n" not in text
    return text


def test_files_are_read_in_the_order_of_their_names(tmp_path, define):
    define("b_tool.py", "first")
    define("a_tool.py", "second")
    assert names(Folder(tmp_path)) == ["second", "first"]


def test_tools_say_which_folder_they_are_of(tmp_path, define):
    define("box/a_tool.py", "a")
    (tool,) = Folder(tmp_path / "box", name="box").tools()
    assert tool.source == "box/"
    assert Folder(tmp_path / "box", name="./box/").name == "box/"


def test_other_files_hidden_files_and_subfolders_are_no_tools(tmp_path, define, write):
    define("a_tool.py", "a")
    write("helper.py", "raise RuntimeError")
    write("._a_tool.py", "\0")
    define("below/b_tool.py", "b")
    write("notes_tool.txt", "")
    source = Folder(tmp_path)
    assert names(source) == ["a"]
    assert source.warnings == []


def test_scanning_happens_at_the_first_use_and_once(tmp_path, write):
    write("a_tool.py", "from toolcrib import tool\n@tool\ndef a() -> int: return 1\n")
    source = Folder(tmp_path)
    write("b_tool.py", "from toolcrib import tool\n@tool\ndef b() -> int: return 1\n")
    first = source.tools()
    write("c_tool.py", "from toolcrib import tool\n@tool\ndef c() -> int: return 1\n")
    assert [tool.name for tool in first] == ["a", "b"]
    assert source.tools() == first


def test_many_threads_scan_once(tmp_path, write):
    write("a_tool.py", "import time; time.sleep(0.02)\nfrom toolcrib import tool\n@tool\ndef a() -> int: return 1\n")
    source, found = Folder(tmp_path), []
    threads = [threading.Thread(target=lambda: found.append(source.tools()[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("x = 1\ny = (\n", 2, "never closed"),
        ("def f():\nreturn 1\n", 2, "syntax error"),
        ("import os\nimport no_such_package_here.part\n", 2, "no_such_package_here"),
        ("from json import no_such_name\n", 1, "no_such_name"),
        ("\n\n1 / 0\n", 3, "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("\nraise SystemExit\n", 2, "ends the process"),
        ("def execute(args): return 1\n", 1, "DEFINITION"),
        ("# nothing\nDEFINITION = {'name': 'x', 'description': 'x'}\n", 2, "execute"),
        ("DEFINITION = 3\ndef execute(args): return 1\n", 1, "DEFINITION"),
        ("#\nDEFINITION = {'id': 'x', 'parameters': {'type': 'strig'}}\ndef execute(args): return 1\n", 2, "strig"),
        (
            "DEFINITION = {'id': 'x', 'parameters': {'type': 'object', 'properties': {'a': {'type': 'text'}}}}\n"
            "def execute(args): return 1\n",
            1,
            "text",
        ),
        (
            "DEFINITION = {'id': 'x', 'parameters': {'type': 'object', 'properties': {'a': {'pattern': '('}}}}\n"
            "def execute(args): return 1\n",
            1,
            "properties.a.pattern",
        ),
        ("from toolcrib import tool\n@tool(nonsense=1)\ndef f() -> int: return 1\n", 2, "nonsense"),
        ("from . import no_neighbour\n", 1, "no_neighbour"),
        ("from .no_neighbour import x\n", 1, "'no_neighbour' beside it"),
        ("class E(Exception):\n    def __str__(self): raise E\nraise E\n", 3, "E"),
    ],
)
def test_a_file_that_fails_is_one_warning_with_its_line_and_the_rest_load(tmp_path, define, write, text, line, reason):
    define("a_tool.py", "a")
    write("box_tool.py", text)
    define("c_tool.py", "c")
    source = Folder(tmp_path, name="toolbox")
    warning = only_warning(source)
    assert names(source) == ["a", "c"]
    assert warning.startswith(f"toolbox/box_tool.py:{line}: ")
    assert reason in warning
    assert "_toolcrib_" not in warning


def test_an_empty_file_is_a_warning(tmp_path, write):
    write("a_tool.py", "")
    assert "defines no tool" in only_warning(Folder(tmp_path))


def test_a_file_that_is_not_utf8_is_a_warning_with_the_line(tmp_path):
    (tmp_path / "a_tool.py").write_bytes(b"#\n#\nx = '\xe9'\n")
    assert "a_tool.py:3: " in only_warning(Folder(tmp_path))


def test_a_file_that_declares_its_encoding_is_read_in_it(tmp_path):
    text = "# -*- coding: latin-1 -*-\nDEFINITION = {'name': 'caf\xe9'}\ndef execute(args): return 1\n"
    (tmp_path / "a_tool.py").write_bytes(text.encode("latin-1"))
    assert names(Folder(tmp_path)) == ["café"]


def test_a_binary_file_is_a_warning(tmp_path):
    (tmp_path / "a_tool.py").write_bytes(b"\0\1\2" * 100)
    assert "null" in only_warning(Folder(tmp_path))


def test_a_folder_named_like_a_tool_file_is_a_warning(tmp_path):
    (tmp_path / "a_tool.py").mkdir()
    assert "is a folder" in only_warning(Folder(tmp_path))


def test_links_that_lead_nowhere_are_warnings(tmp_path):
    (tmp_path / "a_tool.py").symlink_to("a_tool.py")
    (tmp_path / "b_tool.py").symlink_to("missing.py")
    source = Folder(tmp_path)
    assert source.tools() == []
    assert [warning.where.rpartition("/")[2] for warning in source.warnings] == ["a_tool.py", "b_tool.py"]


def test_a_pipe_named_like_a_tool_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "a_tool.py")
    assert "no regular file" in only_warning(Folder(tmp_path))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_a_warning(tmp_path, define):
    define("a_tool.py", "a").chmod(0)
    assert "cannot be read" in only_warning(Folder(tmp_path))


def test_an_interrupt_while_a_file_is_imported_goes_through(tmp_path, write, define):
    file = write("a_tool.py", "raise KeyboardInterrupt\n")
    source = Folder(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        source.tools()
    file.unlink()
    define("b_tool.py", "b")
    assert names(source) == ["b"]


def test_a_name_defined_twice_stays_with_the_first_file(tmp_path, define):
    define("a_tool.py", "same", 1)
    define("b_tool.py", "same", 2)
    source = Folder(tmp_path)
    (tool,) = source.tools()
    assert tool.body({}) == 1
    assert "'same' is already defined by a_tool.py" in only_warning(source)
    assert "b_tool.py:2: " in only_warning(source)


def test_an_id_defined_twice_stays_with_the_first_file(tmp_path, write):
    for name in "ab":
        write(f"{name}_tool.py", f"DEFINITION = {{'id': 'same', 'name': '{name}'}}\ndef execute(args): return 1\n")
    source = Folder(tmp_path)
    assert names(source) == ["a"]
    assert "the id 'same'" in only_warning(source)


def test_two_folders_may_hold_files_of_one_name(tmp_path, define):
    define("x/a_tool.py", "a", "x")
    define("y/a_tool.py", "a", "y")
    assert [Folder(tmp_path / folder).tools()[0].body({}) for folder in "xy"] == ["x", "y"]


def test_a_tool_file_shadows_no_module(tmp_path, define):
    define("weather_tool.py", "a")
    define("json_tool.py", "b")
    path = list(sys.path)
    Folder(tmp_path).tools()
    assert "weather_tool" not in sys.modules
    assert sys.path == path
    with pytest.raises(ModuleNotFoundError):
        __import__("weather_tool")


def test_a_file_name_need_not_be_an_identifier(tmp_path, define):
    for number, name in enumerate(["my-first_tool.py", "my.second_tool.py", "3_tool.py", "über uns_tool.py"]):
        define(name, f"tool{number}")
    source = Folder(tmp_path)
    assert len(source.tools()) == 4
    assert source.warnings == []


@pytest.mark.parametrize(
    "line", ["from . import helper", "from .helper import VALUE", "import helper", "from helper import VALUE"]
)
def test_a_tool_file_imports_its_neighbours(tmp_path, write, line):
    write("helper.py", "import deeper\nVALUE = deeper.VALUE\n")
    write("deeper.py", "VALUE = 7\n")
    value = "VALUE" if "VALUE" in line else "helper.VALUE"
    write("a_tool.py", f"{line}\nDEFINITION = {{'name': 'a'}}\ndef execute(args): return {value}\n")
    source = Folder(tmp_path)
    assert source.tools()[0].body({}) == 7
    assert "helper" not in sys.modules


def test_a_neighbour_is_found_when_it_is_imported_inside_a_call(tmp_path, write):
    write("lib/part.py", "VALUE = 7\n")
    write("lib/__init__.py", "")
    write(
        "a_tool.py", "DEFINITION = {'name': 'a'}\ndef execute(args):\n    from lib import part\n    return part.VALUE\n"
    )
    assert Folder(tmp_path).tools()[0].body({}) == 7


def test_what_is_installed_wins_over_a_neighbour_of_that_name(tmp_path, write):
    write("json.py", "VALUE = 7\n")
    write(
        "a_tool.py",
        """
        import json
        from . import json as own
        DEFINITION = {"name": "a"}
        def execute(args): return json.dumps(own.VALUE)
        """,
    )
    assert Folder(tmp_path).tools()[0].body({}) == "7"


def test_neighbours_of_one_name_in_two_folders_do_not_meet(tmp_path, write):
    for folder in "xy":
        write(f"{folder}/helper.py", f"VALUE = '{folder}'\n")
        write(f"{folder}/a_tool.py", "import helper\nDEFINITION = {'name': 'a'}\ndef execute(a): return helper.VALUE\n")
    assert [Folder(tmp_path / folder).tools()[0].body({}) for folder in "xy"] == ["x", "y"]


def test_a_fault_in_a_neighbour_is_told_with_its_place(tmp_path, write):
    write("helper.py", "\n\nx = (\n")
    write("a_tool.py", "\nimport helper\n")
    warning = only_warning(Folder(tmp_path))
    assert "a_tool.py:2: " in warning
    assert "helper.py, line 3" in warning


def test_the_init_file_of_a_folder_is_run_first(tmp_path, write):
    write("__init__.py", "SHARED = 7\nfrom toolcrib import tool\n@tool\ndef of_init() -> int: return SHARED\n")
    write("a_tool.py", "from . import SHARED\nDEFINITION = {'name': 'a'}\ndef execute(args): return SHARED\n")
    source = Folder(tmp_path)
    assert names(source) == ["of_init", "a"]
    assert source.warnings == []


def test_types_of_a_tool_file_resolve_late_and_pickle(tmp_path, write):
    write(
        "a_tool.py",
        """
        from __future__ import annotations
        from dataclasses import dataclass
        from pydantic import BaseModel
        from toolcrib import tool

        class Parent(BaseModel):
            child: Child | None = None

        @dataclass
        class Point:
            x: int
            near: list[Point] | None = None

        class Child(BaseModel):
            name: str

        @tool
        def a(parent: Parent, point: Point) -> str:
            return "yes"
        """,
    )
    source = Folder(tmp_path)
    (tool,) = source.tools()
    assert set(tool.parameters["properties"]) == {"parent", "point"}
    point = tool.body.__globals__["Point"](1)
    assert pickle.loads(pickle.dumps(point)) == point


def test_one_file_of_any_name_is_a_source(tmp_path, write):
    file = write(
        "weather.py", "from toolcrib import tool\n@tool\ndef a() -> int: return 1\n@tool\ndef b() -> int: return 1\n"
    )
    write("other_tool.py", "raise RuntimeError")
    source = Folder(file, name="weather.py")
    assert names(source) == ["a", "b"]
    assert source.name == "weather.py"
    assert source.warnings == []


def test_a_folder_that_went_away_before_the_first_use_raises(tmp_path):
    source = Folder(tmp_path / "gone")
    with pytest.raises(SourceError, match="gone"):
        source.tools()


def test_a_file_that_asks_for_the_tools_of_its_own_source_is_a_warning(tmp_path, write):
    write("a_tool.py", "import sys\nsys.own_source.tools()\n")
    sys.own_source = source = Folder(tmp_path)  # type: ignore[attr-defined]
    try:
        assert "while it is being read" in only_warning(source)
    finally:
        del sys.own_source  # type: ignore[attr-defined]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_during_a_scan_scans_for_itself(tmp_path, write):
    write(
        "a_tool.py",
        """
        import sys
        sys.in_scan.set(); sys.go_on.wait(10)
        DEFINITION = {"name": "a"}
        def execute(args): return 1
        """,
    )
    sys.in_scan, sys.go_on = threading.Event(), threading.Event()  # type: ignore[attr-defined]
    source = Folder(tmp_path)
    thread = threading.Thread(target=source.tools)
    thread.start()
    try:
        assert sys.in_scan.wait(10)  # type: ignore[attr-defined]
        child = os.fork()
        if child == 0:
            sys.go_on = threading.Event()  # type: ignore[attr-defined]
            sys.go_on.set()  # type: ignore[attr-defined]
            os._exit(0 if names(source) == ["a"] else 1)
        sys.go_on.set()  # type: ignore[attr-defined]
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        sys.go_on.set()  # type: ignore[attr-defined]
        thread.join()
        del sys.in_scan, sys.go_on  # type: ignore[attr-defined]


def settle(file: Path) -> None:
    """Makes a file old enough for its cached code to be trusted."""
    old = file.stat().st_mtime - 60
    os.utime(file, (old, old))


def test_cached_code_is_written_and_used(tmp_path, define, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = define("a_tool.py", "a", 1)
    settle(file)
    assert Folder(tmp_path).tools()[0].body({}) == 1
    (cached,) = (tmp_path / "__pycache__").iterdir()
    before = cached.stat().st_mtime_ns
    assert Folder(tmp_path).tools()[0].body({}) == 1
    assert cached.stat().st_mtime_ns == before


@pytest.mark.parametrize("damage", [b"", b"\0" * 40, None])
def test_damaged_cached_code_is_not_believed(tmp_path, define, monkeypatch, damage):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    settle(define("a_tool.py", "a", 1))
    Folder(tmp_path).tools()
    (cached,) = (tmp_path / "__pycache__").iterdir()
    cached.write_bytes(cached.read_bytes()[:16] + b"\xff" if damage is None else damage)
    assert names(Folder(tmp_path)) == ["a"]


def test_a_folder_that_was_moved_runs_under_its_new_path(tmp_path, define, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    settle(define("x/a_tool.py", "a", 1))
    Folder(tmp_path / "x").tools()
    (tmp_path / "x").rename(tmp_path / "y")
    (tool,) = Folder(tmp_path / "y").tools()
    assert tool.body.__code__.co_filename == str(tmp_path / "y" / "a_tool.py")


def test_a_change_within_one_second_is_seen_though_size_and_time_agree(tmp_path, define, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for gives in (1, 2, 3):
        define("a_tool.py", "a", gives)
        assert Folder(tmp_path).tools()[0].body({}) == gives
