from __future__ import annotations

from toolcrib.catalog.view import View


def test_the_same_tools_are_always_in_the_same_order(make):
    tools = [make("b"), make("a", source="z"), make("a", source="y")]
    assert View(tools).tools == View(reversed(tools)).tools == (tools[2], tools[1], tools[0])


def test_a_tool_is_found_by_its_exact_name(make):
    tool = make("read.file ", source="toolbox/")
    view = View([tool])
    assert view.find("read.file ") is tool
    assert view.find("read.file") is None
    assert view.find("Read.file ") is None
    assert view.find("") is None


def test_one_of_several_tools_of_a_name_is_found_with_its_source_in_front(make):
    brave, bing = make("search", source="brave"), make("search", source="kits/bing/")
    view = View([brave, bing])
    assert view.find("search") is None
    assert view.named("search") == (brave, bing)
    assert view.find("brave/search") is brave
    assert view.find("kits/bing/search") is bing
    assert view.find("brave_search") is None


def test_a_name_wins_over_a_source_and_a_name(make):
    exact, other = make("brave/search", source="x"), make("search", source="brave")
    assert View([exact, other]).find("brave/search") is exact


def test_a_view_less_some_tools_is_kept_and_is_itself_when_nothing_goes(make):
    a, b = make("a"), make("b", availability=lambda: True)
    view = View([a, b])
    assert view.without([]) is view
    assert view.without([make("stranger")]) is view
    assert view.without([b]).tools == (a,)
    assert view.without([b]) is view.without(iter([b]))
    assert view.probed == (b,)


def test_many_different_narrowings_of_one_view_do_not_pile_up(make):
    view = View([make(f"t{n}") for n in range(200)])
    for n in range(200):
        assert [tool.name for tool in view.narrowed([f"t{n}"]).tools] == [f"t{n}"]
    assert len(view._narrowed) <= 64


def test_the_nearest_names_are_told_best_first(make):
    view = View([make(name) for name in ("send_report", "read_file", "list_files", "disk_usage")])
    assert [tool.name for tool in view.nearest("send_repot", 1)] == ["send_report"]
    assert view.nearest_text("file_list").startswith("nearest: list_files, ")
    assert View([]).nearest_text("x") == "there are no tools"


def test_the_nearest_of_one_name_in_two_sources_are_told_with_their_sources(make):
    view = View([make("search", source="brave"), make("search", source="bing")])
    assert view.nearest_text("serch") == "nearest: bing/search, brave/search"
