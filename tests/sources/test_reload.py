from __future__ import annotations

import shutil
import threading

from toolcrib.sources.folder import Folder


def names(source: Folder) -> list[str]:
    return [tool.name for tool in source.tools()]


def test_nothing_changed_is_no_change_and_keeps_every_definition(tmp_path, define):
    define("a_tool.py", "a")
    source = Folder(tmp_path)
    before = source.tools()
    assert source.reload() is False
    assert [*map(id, source.tools())] == [*map(id, before)]


def test_a_reload_before_the_first_use_reads_the_folder(tmp_path, define):
    define("a_tool.py", "a")
    source = Folder(tmp_path)
    assert source.reload() is True
    assert names(source) == ["a"]


def test_new_changed_and_deleted_files_are_seen_and_others_not_imported_again(tmp_path, define):
    define("a_tool.py", "a", 1)
    define("b_tool.py", "b", 1)
    define("c_tool.py", "c", 1)
    source = Folder(tmp_path)
    a, b, _ = source.tools()
    define("b_tool.py", "b", 2)
    (tmp_path / "c_tool.py").unlink()
    define("d_tool.py", "d", 1)
    assert source.reload() is True
    assert names(source) == ["a", "b", "d"]
    assert source.tools()[0] is a
    assert source.tools()[1].body({}) == 2
    assert b.body({}) == 1


def test_a_call_in_flight_keeps_its_definition(tmp_path, write):
    text = """
        import threading
        VALUE = {value}
        begun, go_on = threading.Event(), threading.Event()
        DEFINITION = {{"name": "a"}}
        def execute(args):
            begun.set(); go_on.wait(10)
            return VALUE
        """
    write("a_tool.py", text.format(value=1))
    source = Folder(tmp_path)
    (tool,) = source.tools()
    results = []
    thread = threading.Thread(target=lambda: results.append(tool.body({})))
    thread.start()
    module = tool.body.__globals__
    assert module["begun"].wait(10)
    write("a_tool.py", text.format(value=2))
    assert source.reload() is True
    module["go_on"].set()
    thread.join()
    assert results == [1]
    assert source.tools()[0].body.__globals__["VALUE"] == 2


def test_a_file_that_fails_keeps_its_last_good_tools_until_it_is_mended(tmp_path, define, write):
    define("a_tool.py", "a", 1)
    source = Folder(tmp_path)
    (good,) = source.tools()
    write("a_tool.py", "\nx = (\n")
    assert source.reload() is True
    assert source.tools() == [good]
    (warning,) = source.warnings
    assert "a_tool.py:2: " in str(warning)
    assert "are kept" in str(warning)
    assert source.reload() is False
    define("a_tool.py", "a", 2)
    assert source.reload() is True
    assert source.tools()[0].body({}) == 2
    assert source.warnings == []


def test_a_deleted_file_that_had_failed_takes_its_kept_tools_along(tmp_path, define, write):
    define("a_tool.py", "a", 1)
    source = Folder(tmp_path)
    source.tools()
    file = write("a_tool.py", "x = (\n")
    source.reload()
    file.unlink()
    assert source.reload() is True
    assert source.tools() == []
    assert source.warnings == []


def test_a_file_that_failed_is_tried_again_though_it_did_not_change(tmp_path, write):
    write("a_tool.py", "from .helper import VALUE\nDEFINITION = {'name': 'a'}\ndef execute(args): return VALUE\n")
    source = Folder(tmp_path)
    assert source.tools() == []
    write("helper.py", "VALUE = 7\n")
    assert source.reload() is True
    assert source.tools()[0].body({}) == 7


def test_a_changed_neighbour_reads_the_files_of_the_folder_anew(tmp_path, write):
    for name in "ab":
        write(
            f"{name}_tool.py",
            f"import helper\nDEFINITION = {{'name': '{name}'}}\ndef execute(a): return helper.VALUE\n",
        )
    write("helper.py", "VALUE = 1\n")
    source = Folder(tmp_path)
    before = source.tools()
    for value in (2, 3, 4):
        write("helper.py", f"VALUE = {value}\n")
        assert source.reload() is True
        assert [tool.body({}) for tool in source.tools()] == [value, value]
    assert [tool.body({}) for tool in before] == [1, 1]
    assert source.reload() is False


def test_a_tool_file_that_another_imports_counts_as_its_neighbour(tmp_path, write):
    write("a_tool.py", "VALUE = 1\nDEFINITION = {'name': 'a'}\ndef execute(args): return VALUE\n")
    write("b_tool.py", "from .a_tool import VALUE\nDEFINITION = {'name': 'b'}\ndef execute(args): return VALUE\n")
    source = Folder(tmp_path)
    source.tools()
    write("a_tool.py", "VALUE = 2\nDEFINITION = {'name': 'a'}\ndef execute(args): return VALUE\n")
    assert source.reload() is True
    assert [tool.body({}) for tool in source.tools()] == [2, 2]


def test_a_tool_file_imported_by_another_is_executed_once(tmp_path, write):
    write("a_tool.py", "from .b_tool import SEEN\nDEFINITION = {'name': 'a'}\ndef execute(args): return SEEN\n")
    write("b_tool.py", "SEEN = object()\nDEFINITION = {'name': 'b'}\ndef execute(args): return SEEN\n")
    a, b = Folder(tmp_path).tools()
    assert a.body({}) is b.body({})


def test_a_folder_that_goes_away_keeps_its_tools_with_a_warning(tmp_path, define):
    define("box/a_tool.py", "a")
    source = Folder(tmp_path / "box", name="box")
    before = source.tools()
    shutil.rmtree(tmp_path / "box")
    assert source.reload() is True
    assert source.tools() == before
    assert "are kept" in str(source.warnings[0])
    define("box/b_tool.py", "b")
    assert source.reload() is True
    assert names(source) == ["b"]


def test_readers_see_a_whole_generation_while_others_reload(tmp_path, define):
    for number in range(5):
        define(f"t{number}_tool.py", f"t{number}", 0)
    source = Folder(tmp_path)
    source.tools()
    stop, seen = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            seen.append([tool.body({}) for tool in source.tools()])

    reader = threading.Thread(target=read)
    reader.start()
    for round in range(1, 6):
        for number in range(5):
            define(f"t{number}_tool.py", f"t{number}", round)
        source.reload()
    stop.set()
    reader.join()
    assert all(len(generation) == 5 for generation in seen)
