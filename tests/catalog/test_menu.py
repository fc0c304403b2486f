from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from toolcrib.call import Caller, Tool
from toolcrib.catalog.layers import Catalog
from toolcrib.catalog.menu import Menu
from toolcrib.catalog.view import View

DATA = Path(__file__).parents[3] / "shared" / "data"


def test_a_menu_is_built_once_and_then_served(make, fake):
    catalog = Catalog()
    for n in range(50):
        catalog.register(make(f"t{n}"))
    menus = {id(Menu.of(catalog.view(Caller(user=f"u{n}", conversation=f"c{n}")), fake)) for n in range(100)}
    assert len(menus) == 1
    assert fake.viewed == 50


def test_another_format_of_the_same_name_gets_its_own_menu(make, fake):
    view = View([make("a")])
    other = type(fake)()
    assert Menu.of(view, fake) is not Menu.of(view, other)
    assert Menu.of(view, other) is Menu.of(view, other)


def test_a_change_to_one_tool_bends_no_other_anew(make, fake):
    catalog = Catalog()
    for n in range(50):
        catalog.register(make(f"t{n}"))
    Menu.of(catalog.view(Caller()), fake)
    for n in range(10):
        catalog.register(make("passing"), layer=("conversation", f"c{n}"))
        assert len(Menu.of(catalog.view(Caller(conversation=f"c{n}")), fake)) == 51
        assert len(Menu.of(catalog.view(Caller(conversation=f"c{n}"), ["t1", "t2"]), fake)) == 2
    assert fake.viewed == 60


def test_a_reloaded_tool_is_shown_in_its_new_form(make, fake):
    catalog = Catalog()
    catalog.set_source("s", [make("a", source="s")])
    Menu.of(catalog.view(Caller()), fake)
    newer = Tool(name="a", source="s", body=print, parameters={"type": "object", "properties": {"y": {}}})
    catalog.set_source("s", [newer])
    (spec,) = Menu.of(catalog.view(Caller()), fake).specs()
    assert spec["schema"] == newer.parameters


def test_the_specs_stand_under_their_aliases_in_the_order_of_the_view(make, fake):
    menu = Menu.of(View([make("b.b"), make("a")]), fake)
    assert [spec["name"] for spec in menu.specs()] == ["a", "b_b"]
    assert menu.request() == {"tools": menu.specs(), "choice": "auto"}
    assert [(entry.alias, entry.tool.name) for entry in menu] == [("a", "a"), ("b_b", "b.b")]
    assert len(menu) == 2


def test_the_same_tools_give_the_same_bytes_in_whatever_order_they_came(make, fake):
    tools = [make("search", source=source) for source in ("x", "y")] + [make("a.b"), make("a/b"), make("天気")]
    once, again = (json.dumps(Menu(View(order), fake).request()) for order in (tools, tools[::-1]))
    assert once == again


def test_what_a_program_does_to_its_copy_is_not_seen_by_the_next(make, fake):
    menu = Menu.of(View([make("a")]), fake)
    before = json.dumps(menu.request())
    mine = menu.request()
    mine["tools"][0]["schema"]["properties"].clear()
    mine["tools"].append({"name": "injected"})
    menu.specs()[0]["cache_control"] = {"type": "ephemeral"}
    assert json.dumps(menu.request()) == before


def test_a_menu_leaves_the_schema_of_the_tool_alone(make, fake):
    tool = make("a")
    Menu.of(View([tool]), fake).specs()[0]["schema"]["properties"].clear()
    assert tool.parameters["properties"] == {"x": {"type": "integer"}}


def test_no_tools_make_an_empty_request(fake):
    menu = Menu.of(View([]), fake)
    assert menu.request() == {}
    assert menu.specs() == []


def test_a_tool_the_provider_cannot_carry_is_left_out_and_the_others_stay(make, fake, caplog):
    tools = [make("good"), make("bad.one", source="left-out", description="refused")]
    with caplog.at_level(logging.WARNING, logger="toolcrib"):
        menu = Menu.of(View(tools), fake)
        Menu.of(View(tools), fake)
    assert [spec["name"] for spec in menu.specs()] == ["good"]
    assert menu.entry("bad_one") is None
    (warning,) = menu.warnings
    assert "'bad.one'" in warning
    assert "no such schemas" in warning
    assert len(caplog.records) == 1


def test_a_schema_that_fails_at_its_first_use_costs_only_its_own_tool(make, fake):
    def late():
        raise NameError("name 'Report' is not defined")

    broken = Tool(name="broken", body=print, parameters=late)
    menu = Menu.of(View([broken, make("good")]), fake)
    assert [spec["name"] for spec in menu.specs()] == ["good"]
    assert "Report" in menu.warnings[0]


def test_a_fault_that_all_tools_share_is_logged_in_a_few_lines(make, fake, caplog):
    with caplog.at_level(logging.WARNING, logger="toolcrib"):
        menu = Menu.of(View([make(f"r{n}", source="shared-fault", description="refused") for n in range(100)]), fake)
    assert len(menu.warnings) == 100
    assert len(caplog.records) <= 6


def test_what_a_dialect_remarks_on_a_tool_is_kept_with_the_menu(make, fake):
    menu = Menu.of(View([make("a", description="loose")]), fake)
    assert menu.warnings == ("tool 'a' of 'functions': not strict",)
    assert len(menu) == 1


def test_arguments_are_given_back_by_the_alias_that_bent_them(make, fake):
    menu = Menu.of(View([make("a.b", description="bent"), make("c")]), fake)
    restore = menu.restore_of("a_b")
    assert restore is not None
    assert restore({"x": 1}) == {"restored": {"x": 1}}
    assert menu.restore_of("c") is None
    assert menu.restore_of("nothing") is None


def test_an_old_menu_keeps_its_own_names_after_the_catalog_has_changed(make, fake):
    catalog = Catalog()
    catalog.register(make("search", source="brave"))
    old = Menu.of(catalog.view(Caller()), fake)
    catalog.register(make("search", source="bing"))
    new = Menu.of(catalog.view(Caller()), fake)
    assert [spec["name"] for spec in old.specs()] == ["search"]
    assert [spec["name"] for spec in new.specs()] == ["bing_search", "brave_search"]


@pytest.mark.parametrize("dialect", ["openai", "openai-responses", "anthropic", "gemini"])
def test_a_thousand_real_tools_fit_on_one_menu_of_each_provider(dialect):
    path = DATA / "tool_search" / "livemcp.catalog.jsonl"
    if not path.exists():
        pytest.skip(f"the real catalog is not here: {path}")
    from toolcrib import dialects

    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    seen: dict[tuple[str, str], Tool] = {}
    for half in ("a", "b"):
        for row in rows:
            source = f"{row['server']}-{half}"
            tool = Tool(
                name=row["name"],
                source=source,
                description=row["description"],
                parameters=row["parameters"],
                body=print,
            )
            seen[source, tool.name] = tool
    view = View(list(seen.values())[:1000])
    menu = Menu.of(view, dialects.format_of(dialect))
    assert len(menu) >= 990, menu.warnings[:3]
    assert menu.request()
    assert Menu.of(view, dialects.format_of(dialect)) is menu
