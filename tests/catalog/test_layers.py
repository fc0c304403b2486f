from __future__ import annotations

import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.call import Caller, Tool
from toolcrib.catalog.address import layer_of
from toolcrib.catalog.layers import Catalog
from toolcrib.errors import DefinitionError, SettingsError, UnknownTool

ADA = Caller(user="ada", conversation="c1")
BOB = Caller(user="bob", conversation="c2")


def seen(catalog, caller=ADA, names=None):
    return [tool.name for tool in catalog.view(caller, names).tools]


# Layers and shadowing


def test_a_tool_of_a_layer_is_seen_by_the_callers_of_that_layer_alone(make):
    catalog = Catalog()
    catalog.register(make("everyones"))
    catalog.register(make("adas"), layer=("user", "ada"))
    catalog.register(make("of_c2"), layer=("conversation", "c2"))
    assert seen(catalog) == ["adas", "everyones"]
    assert seen(catalog, BOB) == ["everyones", "of_c2"]


@pytest.mark.parametrize("near_first", [True, False])
def test_a_nearer_tool_hides_a_farther_one_whichever_came_first(make, near_first):
    catalog = Catalog()
    far, near = make("search"), make("search", source="own")
    order = [(far, ("global", "")), (near, ("user", "ada"))]
    for tool, layer in reversed(order) if near_first else order:
        catalog.register(tool, layer=layer)
    assert catalog.view(ADA).tools == (near,)
    assert catalog.view(BOB).tools == (far,)


def test_each_kind_of_layer_is_nearer_than_the_one_before(make):
    catalog = Catalog()
    caller = Caller(tenant="acme", user="ada", conversation="c", agent="researcher")
    for kind in ("agent", "global", "conversation", "tenant", "user"):
        layer = ("global", "") if kind == "global" else layer_of(kind, caller)
        catalog.register(make("search", source=kind), layer=layer)
    for kind in ("agent", "conversation", "user", "tenant", "global"):
        (tool,) = catalog.view(caller).tools
        assert tool.source == kind
        catalog.drop(("global", "") if kind == "global" else layer_of(kind, caller))
    assert seen(catalog, caller) == []


def test_a_nearer_tool_hides_all_sources_of_that_name_farther_away(make):
    catalog = Catalog()
    catalog.register(make("search", source="brave"))
    catalog.register(make("search", source="bing"))
    catalog.register(make("search", source="own"), layer=("user", "ada"))
    assert [tool.source for tool in catalog.view(ADA).tools] == ["own"]


def test_users_of_the_same_name_in_two_tenants_are_two_people(make):
    catalog = Catalog()
    catalog.register(make("hers"), layer=("user", "ada", "acme"))
    catalog.register(make("in_c1"), layer=("conversation", "c1", "acme"))
    assert seen(catalog, Caller(tenant="acme", user="ada", conversation="c1")) == ["hers", "in_c1"]
    assert seen(catalog, Caller(tenant="other", user="ada", conversation="c1")) == []
    assert seen(catalog, Caller(user="ada", conversation="c1")) == []


@pytest.mark.parametrize(
    "layer", [("user", ""), ("galaxy", "x"), ("global", "x"), ("agent", "a", "acme"), ("user",), (), ("user", 3)]
)
def test_an_address_that_names_no_layer_is_refused(make, layer):
    with pytest.raises(SettingsError, match="names no layer"):
        Catalog().register(make("t"), layer=layer)


def test_a_caller_without_a_user_has_no_user_layer():
    with pytest.raises(SettingsError, match="no 'user' layer"):
        layer_of("user", Caller())


# Registering and taking back


def test_the_same_name_of_the_same_source_twice_in_a_layer_is_an_error(make):
    catalog = Catalog()
    first = make("search")
    catalog.register(first)
    with pytest.raises(DefinitionError, match="nearer layer"):
        catalog.register(make("search"))
    assert catalog.view(ADA).tools == (first,)


def test_the_same_name_of_two_sources_in_a_layer_is_allowed(make):
    catalog = Catalog()
    catalog.register(make("search", source="brave"))
    catalog.register(make("search", source="bing"))
    assert [tool.source for tool in catalog.view(ADA).tools] == ["bing", "brave"]


def test_taking_back_shows_what_was_hidden_again(make):
    catalog = Catalog()
    far = make("search")
    catalog.register(far)
    undo = catalog.register(make("search"), layer=("user", "ada"))
    undo()
    assert catalog.view(ADA).tools == (far,)


def test_an_undo_takes_back_its_own_registration_and_no_later_one_of_that_name(make):
    catalog = Catalog()
    undo = catalog.register(make("search"))
    undo()
    again = make("search")
    catalog.register(again)
    version = catalog.version
    undo()
    assert catalog.view(ADA).tools == (again,)
    assert catalog.version == version


def test_the_very_same_tool_registered_twice_in_turn_is_two_registrations(make):
    catalog = Catalog()
    tool = make("search")
    first = catalog.register(tool)
    first()
    catalog.register(tool)
    first()
    assert catalog.view(ADA).tools == (tool,)


def test_a_dropped_layer_leaves_nothing_behind(make):
    catalog = Catalog()
    catalog.register(make("everyones"))
    tool = make("passing")
    gone = weakref.ref(tool)
    undo = catalog.register(tool, layer=("conversation", "c1"))
    catalog.restrict(deny=["everyones"], layer=("conversation", "c1"))
    assert seen(catalog) == ["passing"]
    catalog.drop(("conversation", "c1"))
    assert seen(catalog) == ["everyones"]
    undo()
    del tool, undo
    assert gone() is None


def test_dropping_a_layer_that_holds_nothing_changes_nothing():
    catalog = Catalog()
    catalog.drop(("user", "ada"))
    assert catalog.version == 0


# Sources


def test_reloading_a_source_replaces_all_its_tools_at_once(make):
    catalog = Catalog()
    kept = make("kept", source="other")
    catalog.set_source("other", [kept])
    catalog.set_source("toolbox", [make("a", source="toolbox"), make("b", source="toolbox")])
    fresh = make("b", source="toolbox")
    catalog.set_source("toolbox", [fresh, make("c", source="toolbox")])
    assert seen(catalog) == ["b", "c", "kept"]
    assert catalog.view(ADA).find("b") is fresh
    catalog.set_source("toolbox", [])
    assert catalog.view(ADA).tools == (kept,)


def test_a_source_with_one_name_twice_keeps_its_last_good_tools(make):
    catalog = Catalog()
    good = make("a", source="toolbox")
    catalog.set_source("toolbox", [good])
    with pytest.raises(DefinitionError):
        catalog.set_source("toolbox", [make("b", source="toolbox"), make("b", source="toolbox")])
    assert catalog.view(ADA).tools == (good,)


def test_a_source_that_fails_while_it_lists_its_tools_keeps_its_last_good_ones(make):
    catalog = Catalog()
    catalog.set_source("toolbox", [make("a", source="toolbox")])

    def listing():
        yield make("b", source="toolbox")
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError):
        catalog.set_source("toolbox", listing())
    assert seen(catalog) == ["a"]


def test_a_source_cannot_take_a_name_registered_by_hand_under_its_name(make):
    catalog = Catalog()
    catalog.register(make("a", source="toolbox"))
    with pytest.raises(DefinitionError):
        catalog.set_source("toolbox", [make("a", source="toolbox")])


def test_a_reload_without_news_is_no_change(make):
    catalog = Catalog()
    tools = [make("a"), make("b")]
    catalog.set_source("functions", tools)
    before, version = catalog.view(ADA), catalog.version
    catalog.set_source("functions", list(tools))
    assert catalog.view(ADA) is before
    assert catalog.version == version


# Restrictions


def restricted(make, *names):
    catalog = Catalog()
    for name in names or ("a", "b", "c"):
        catalog.register(make(name))
    return catalog


def test_an_allow_list_shows_its_names_alone_and_a_deny_list_all_others(make):
    catalog = restricted(make)
    undo = catalog.restrict(allow=["a"], layer=("user", "ada"))
    assert seen(catalog) == ["a"]
    undo()
    catalog.restrict(deny=["a"], layer=("user", "ada"))
    assert seen(catalog) == ["b", "c"]
    assert seen(catalog, BOB) == ["a", "b", "c"]


def test_several_restrictions_hold_together_and_are_lifted_one_by_one(make):
    catalog = restricted(make)
    lift_allow = catalog.restrict(allow=["a", "b"], layer=("user", "ada"))
    lift_deny = catalog.restrict(deny=["b"], layer=("user", "ada"))
    assert seen(catalog) == ["a"]
    lift_allow()
    assert seen(catalog) == ["a", "c"]
    lift_allow()
    lift_deny()
    assert seen(catalog) == ["a", "b", "c"]


def test_two_equal_restrictions_are_two(make):
    catalog = restricted(make)
    first = catalog.restrict(deny=["a"], layer=("user", "ada"))
    catalog.restrict(deny=["a"], layer=("user", "ada"))
    first()
    assert seen(catalog) == ["b", "c"]


def test_a_layers_own_tools_are_exempt_from_its_restrictions(make):
    catalog = restricted(make)
    catalog.register(make("answer"), layer=("agent", "child"))
    catalog.restrict(allow=["a"], layer=("agent", "child"))
    assert seen(catalog, Caller(agent="child")) == ["a", "answer"]


def test_a_layers_own_tool_of_a_denied_name_stays(make):
    catalog = restricted(make)
    catalog.restrict(deny=["a"], layer=("user", "ada"))
    own = make("a", source="own")
    catalog.register(own, layer=("user", "ada"))
    assert catalog.view(ADA).find("a") is own


def test_a_restriction_of_a_farther_layer_reaches_every_nearer_one(make):
    catalog = restricted(make)
    catalog.restrict(deny=["a"], layer=("tenant", "acme"))
    caller = Caller(tenant="acme", user="ada", conversation="c", agent="child")
    catalog.register(make("own"), layer=("agent", "child"))
    assert seen(catalog, caller) == ["b", "c", "own"]


def test_denying_the_tool_that_hides_another_does_not_bring_the_other_back(make):
    catalog = restricted(make, "a", "z")
    catalog.register(make("a", source="own"), layer=("user", "ada"))
    catalog.restrict(deny=["a"], layer=("conversation", "c1"))
    assert seen(catalog) == ["z"]


def test_a_tool_registered_later_passes_a_deny_list_and_not_an_allow_list(make):
    catalog = restricted(make)
    catalog.restrict(deny=["a"], layer=("user", "ada"))
    catalog.restrict(allow=["a"], layer=("user", "bob"))
    catalog.register(make("later"))
    assert seen(catalog) == ["b", "c", "later"]
    assert seen(catalog, BOB) == ["a"]


def test_a_later_tool_of_another_source_cannot_borrow_an_allowed_or_shed_a_denied_name(make):
    catalog = restricted(make)
    catalog.restrict(allow=["a"], layer=("user", "bob"))
    catalog.restrict(deny=["a"], layer=("user", "ada"))
    catalog.register(make("a", source="stranger"))
    assert [tool.source for tool in catalog.view(BOB).tools] == ["functions"]
    assert seen(catalog) == ["b", "c"]


def test_an_allowed_tool_stays_allowed_when_its_source_is_reloaded(make):
    catalog = Catalog()
    catalog.set_source("toolbox", [make("a", source="toolbox"), make("b", source="toolbox")])
    catalog.restrict(allow=["a"], layer=("user", "ada"))
    catalog.set_source("toolbox", [])
    catalog.set_source("toolbox", [make("a", source="toolbox"), make("b", source="toolbox")])
    assert seen(catalog) == ["a"]


def test_one_of_several_tools_of_a_name_is_restricted_by_its_source(make):
    catalog = Catalog()
    catalog.register(make("search", source="brave"))
    catalog.register(make("search", source="bing"))
    catalog.restrict(deny=["brave/search"], layer=("user", "ada"))
    catalog.restrict(allow=["brave/search"], layer=("user", "bob"))
    assert [tool.source for tool in catalog.view(ADA).tools] == ["bing"]
    assert [tool.source for tool in catalog.view(BOB).tools] == ["brave"]


def test_a_restriction_names_what_the_layer_inherits_now(make):
    catalog = restricted(make, "send_report")
    catalog.register(make("own"), layer=("user", "ada"))
    with pytest.raises(UnknownTool, match="nearest: send_report"):
        catalog.restrict(deny=["send_repot"], layer=("user", "ada"))
    with pytest.raises(SettingsError, match="own tool"):
        catalog.restrict(deny=["own"], layer=("user", "ada"))
    with pytest.raises(UnknownTool):
        catalog.restrict(deny=["own"], layer=("user", "bob"))
    with pytest.raises(SettingsError):
        catalog.restrict(deny=["send_report"], layer=("global", ""))
    assert seen(catalog) == ["own", "send_report"]


def test_what_an_outer_restriction_took_away_is_not_inherited(make):
    catalog = restricted(make)
    catalog.restrict(deny=["a"], layer=("tenant", "acme"))
    with pytest.raises(UnknownTool):
        catalog.restrict(allow=["a"], layer=("user", "ada", "acme"))


def test_a_conversation_inherits_from_the_users_of_its_tenant(make):
    catalog = restricted(make)
    catalog.register(make("hers"), layer=("user", "ada"))
    catalog.restrict(deny=["hers"], layer=("conversation", "c1"))
    assert seen(catalog) == ["a", "b", "c"]
    with pytest.raises(UnknownTool):
        catalog.restrict(deny=["hers"], layer=("conversation", "c1", "acme"))


@pytest.mark.parametrize(
    "lists", [{}, {"allow": []}, {"deny": []}, {"allow": ["a"], "deny": ["b"]}, {"allow": "a"}, {"deny": [3]}]
)
def test_a_restriction_is_one_list_of_at_least_one_name(make, lists):
    catalog = restricted(make)
    with pytest.raises(SettingsError):
        catalog.restrict(**lists, layer=("user", "ada"))


def test_changing_a_list_after_it_was_handed_in_changes_nothing(make):
    catalog = restricted(make)
    names = ["a"]
    catalog.restrict(deny=names, layer=("user", "ada"))
    names.append("b")
    assert seen(catalog) == ["b", "c"]


# Listeners


def test_a_listener_hears_every_change_until_it_is_taken_off(make):
    catalog = Catalog()
    heard = []
    off = catalog.on_change(lambda: heard.append(seen(catalog)))
    undo = catalog.register(make("a"))
    undo()
    off()
    off()
    catalog.register(make("b"))
    assert heard == [["a"], []]


def test_a_listener_that_throws_takes_the_registration_back(make):
    catalog = Catalog()
    first, heard = make("a"), []
    catalog.register(first)
    catalog.on_change(lambda: heard.append(seen(catalog)))

    def angry():
        raise RuntimeError("no")

    off = catalog.on_change(angry)
    changes = [
        lambda: catalog.register(make("b")),
        lambda: catalog.set_source("toolbox", [make("t", source="toolbox")]),
        lambda: catalog.restrict(deny=["a"], layer=("user", "ada")),
    ]
    for change in changes:
        with pytest.raises(RuntimeError):
            change()
        assert catalog.view(ADA).tools == (first,)
    assert heard == [["a", "b"], ["a"], ["a", "t"], ["a"], [], ["a"]]
    off()
    catalog.register(make("b"))
    assert seen(catalog) == ["a", "b"]


def test_an_undo_stands_whatever_a_listener_says(make):
    catalog = Catalog()
    undo = catalog.register(make("a"))

    def angry():
        raise RuntimeError("no")

    catalog.on_change(angry)
    undo()
    assert seen(catalog) == []


def test_a_listener_may_change_the_catalog_in_turn(make):
    catalog = Catalog()

    def also():
        off()
        catalog.register(make("b"))

    off = catalog.on_change(also)
    catalog.register(make("a"))
    assert seen(catalog) == ["a", "b"]


# Views


def test_thousands_of_conversations_without_layers_of_their_own_share_one_view(make):
    catalog = restricted(make)
    first = catalog.view(Caller(user="u0", conversation="k0"))
    assert all(catalog.view(Caller(user=f"u{n}", conversation=f"k{n}")) is first for n in range(3000))


def test_a_change_in_one_conversation_keeps_the_views_of_all_others(make):
    catalog = restricted(make)
    bobs = catalog.view(BOB)
    undo = catalog.register(make("passing"), layer=("conversation", "c1"))
    assert catalog.view(BOB) is bobs
    assert catalog.view(ADA) is not bobs
    undo()
    assert catalog.view(ADA) is bobs


def test_a_view_once_taken_never_changes(make):
    catalog = restricted(make)
    view = catalog.view(ADA)
    catalog.register(make("d"))
    assert [tool.name for tool in view.tools] == ["a", "b", "c"]
    assert seen(catalog) == ["a", "b", "c", "d"]
    assert view.key != catalog.view(ADA).key


def test_names_narrow_a_view_and_the_same_names_give_the_same_view(make):
    catalog = restricted(make)
    view = catalog.view(ADA, ["c", "a"])
    assert [tool.name for tool in view.tools] == ["a", "c"]
    assert catalog.view(BOB, ("a", "c", "a")) is view
    assert seen(catalog, names=[]) == []


def test_a_name_that_matches_nothing_is_an_error_that_says_what_is_near(make):
    catalog = restricted(make, "send_report", "disk_usage")
    with pytest.raises(UnknownTool, match="no tool 'send_repot' for user 'ada'; nearest: send_report"):
        catalog.view(ADA, ["send_repot"])
    lenient = catalog.view(ADA, ["send_repot", "disk_usage"], strict=False)
    assert [tool.name for tool in lenient.tools] == ["disk_usage"]
    assert lenient.missing == ("send_repot",)


def test_a_name_outside_the_callers_view_is_unknown_and_not_hinted_at(make):
    catalog = restricted(make)
    catalog.register(make("secret_tool"), layer=("user", "bob"))
    with pytest.raises(UnknownTool) as caught:
        catalog.view(ADA, ["secret_too"])
    assert "secret_tool" not in str(caught.value)


def test_a_bare_text_as_names_is_an_error_and_no_list_of_letters(make):
    with pytest.raises(SettingsError, match="list of names"):
        restricted(make).view(ADA, "a")


def test_readers_in_other_threads_only_see_whole_reloads():
    catalog = Catalog()
    generations = [
        [Tool(name=f"{letter}{place}", body=print, source="s") for place in range(20)] for letter in ("a", "b")
    ]
    catalog.set_source("s", generations[0])
    broken, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            names = {tool.name[0] for tool in catalog.view(ADA).tools}
            if len(names) != 1 or len(catalog.view(ADA).tools) != 20:
                broken.append(names)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for turn in range(200):
        catalog.set_source("s", generations[(turn + 1) % 2])
    stop.set()
    for reader in readers:
        reader.join()
    assert broken == []


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["s", "t"]), st.sampled_from(["global", "user", "agent"])),
        unique=True,
    ),
    st.randoms(use_true_random=False),
)
def test_what_is_seen_depends_on_what_is_registered_and_not_on_the_order(registrations, random):
    caller = Caller(user="u", agent="x")
    layers = {"global": ("global", ""), "user": ("user", "u"), "agent": ("agent", "x")}

    def outcome(order):
        catalog = Catalog()
        undos = [catalog.register(Tool(name=n, source=s, body=print), layer=layers[kind]) for n, s, kind in order]
        found = [(tool.name, tool.source) for tool in catalog.view(caller).tools]
        random.shuffle(undos)
        for undo in undos:
            undo()
        assert catalog.view(caller).tools == ()
        return found

    shuffled = list(registrations)
    random.shuffle(shuffled)
    assert outcome(registrations) == outcome(shuffled)
