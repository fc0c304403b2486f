from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

from toolcrib.call import Caller
from toolcrib.catalog.layers import Catalog
from toolcrib.catalog.menu import Menu
from toolcrib.catalog.stage import Resolve
from toolcrib.flight import Flight


def fly(catalog, name, *, view=None, menu=None, tool=None):
    scope = SimpleNamespace(view=view, unknown=Counter())
    flight = Flight("id", name, "{}", None, Caller(user="ada"), scope, "turn")
    flight.menu = menu
    flight.tool = tool
    Resolve(catalog)(flight)
    return flight


def test_a_known_name_goes_on_and_a_garbled_one_with_a_note(make, fake):
    catalog = Catalog()
    tool = make("read.file")
    catalog.register(tool)
    menu = Menu.of(catalog.view(Caller(user="ada")), fake)
    assert fly(catalog, "read_file", menu=menu).tool is tool
    noted = fly(catalog, "functions.read_file", menu=menu)
    assert noted.tool is tool
    assert len(noted.notes) == 1


def test_an_unknown_name_ends_the_call_as_unknown_tool(make):
    catalog = Catalog()
    catalog.register(make("read_file"))
    flight = fly(catalog, "send_email")
    assert flight.code == "unknown_tool"
    assert flight.state == "refused"
    assert "read_file" in flight.result.text


def test_a_tool_the_program_handed_over_itself_is_taken_as_it_is(make):
    tool = make("own")
    assert fly(Catalog(), "own", tool=tool).tool is tool


def test_a_tool_that_left_in_mid_turn_ends_its_own_calls_and_no_others(make):
    catalog = Catalog()
    kept = make("kept")
    catalog.register(kept)
    undo = catalog.register(make("leaving"))
    undo()
    view = ("kept", "leaving")
    assert fly(catalog, "kept", view=view).tool is kept
    assert fly(catalog, "leaving", view=view).code == "unknown_tool"
