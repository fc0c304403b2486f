from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.call import Tool
from toolcrib.catalog.names import aliases
from toolcrib.errors import DefinitionError

OPENAI = (r"[a-zA-Z0-9_-]+", 64)
NO_LEADING_DIGIT = (r"[a-zA-Z_][a-zA-Z0-9_-]*", 64)
GEMINI = (r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}", 64)
LOWER = (r"^[a-z][a-z0-9-]{0,31}$", 32)
RULES = [OPENAI, NO_LEADING_DIGIT, GEMINI, LOWER]


def tool(name: str, source: str = "functions") -> Tool:
    return Tool(name=name, source=source, body=print)


def named(*pairs: tuple[str, str] | str, rule: tuple[str, int] = NO_LEADING_DIGIT) -> list[str]:
    return aliases([tool(pair) if isinstance(pair, str) else tool(*pair) for pair in pairs], *rule)


def test_an_acceptable_name_of_one_tool_stays_as_it_is():
    assert named("read_file", "Read-File", "x", "_private") == ["read_file", "Read-File", "x", "_private"]


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        ("catalog.get-entity-facets", "catalog_get-entity-facets"),
        ("user-profile/update", "user-profile_update"),
        ("GET:/patterns/names", "get_patterns_names"),
        ("GET /patterns/names", "get_patterns_names"),
        ("DELETE /users/{id}/", "delete_users_id"),
        ("math.factorial", "math_factorial"),
        ("a b\tc\n", "a_b_c"),
        ("what?!", "what"),
        ("3d_view", "tool_3d_view"),
        ("-dash", "dash"),
    ],
)
def test_forbidden_characters_become_separators(name, alias):
    assert named(name) == [alias]


def test_a_dialect_that_allows_more_bends_less():
    assert named("math.factorial", "3d", rule=GEMINI) == ["math.factorial", "tool_3d"]
    assert named("3d_view", rule=OPENAI) == ["3d_view"]
    assert named("ReadFile.now", rule=LOWER) == ["readfile-now"]


def test_one_name_of_two_sources_is_prefixed_by_where_each_comes_from():
    assert named(("search", "brave"), ("search", "kit:bing"), ("fetch", "brave")) == [
        "brave_search",
        "bing_search",
        "fetch",
    ]


def test_a_prefix_shows_a_folders_name_and_never_its_path():
    assert named(("run", "/home/ada/secret/toolbox/"), ("run", "functions")) == ["toolbox_run", "functions_run"]


def test_what_is_still_taken_gets_a_number_and_never_the_name_of_another_tool():
    assert named(("search", "brave"), ("search", "bing"), ("brave_search", "functions")) == [
        "brave_search_2",
        "bing_search",
        "brave_search",
    ]
    assert named("a.b", "a_b", "a/b", "a_b_2") == ["a_b_3", "a_b", "a_b_4", "a_b_2"]
    assert named(("run", "x/toolbox"), ("run", "y/toolbox")) == ["toolbox_run", "toolbox_run_2"]


def test_a_bent_name_of_one_tool_goes_before_a_prefixed_one_of_several():
    assert named(("search", "brave"), ("search", "bing"), ("brave.search", "x"))[2] == "brave_search"


def test_too_long_a_name_keeps_a_readable_head_and_a_hash():
    long = "mcp__stata-mcp__stata_run_selection_stream_endpoint_run_selection_stream_get"
    (alias,) = named(long)
    assert re.fullmatch(r"mcp__stata-mcp__stata_run_selection_stream_endpoint_run\w*_[0-9a-f]{8}", alias)
    assert len(alias) <= 64
    first, second = named(long + "1", long + "2")
    assert first != second
    assert named("x" * 64) == ["x" * 64]
    assert len(named("x" * 65)[0]) == 64


def test_two_long_names_of_one_spelling_are_told_apart_by_their_sources():
    first, second = named(("x" * 80, "brave"), ("x" * 80, "bing"))
    assert first.startswith("brave_xxx")
    assert second.startswith("bing_xxx")


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("café", r"cafe_[0-9a-f]{8}"),
        ("読む_file", r"file_[0-9a-f]{8}"),
        ("天気", r"tool_[0-9a-f]{8}"),
        ("🔧", r"tool_[0-9a-f]{8}"),
        ("!!!", r"tool_[0-9a-f]{8}"),
        ("naïve.Größe", r"naive_Gro_e_[0-9a-f]{8}"),
        ("\ud800x", r"x_[0-9a-f]{8}"),
    ],
)
def test_foreign_letters_leave_what_is_readable_and_a_hash(name, pattern):
    (alias,) = named(name)
    assert re.fullmatch(pattern, alias)
    assert named("cafe", name)[1] == alias


def test_names_that_differ_only_in_foreign_letters_stay_apart():
    assert len(set(named("天気", "天", "cafe", "café", "cafè"))) == 5


def test_a_rule_that_no_name_can_meet_is_an_error():
    with pytest.raises(DefinitionError, match="too short"):
        named("x", rule=("[a-z]+", 8))
    with pytest.raises(DefinitionError, match="accepts no name"):
        named("x.y", rule=("[0-9]+", 64))


NAMES = st.one_of(
    st.text(min_size=1, max_size=90).filter(str.strip),
    st.text("ab._-/", min_size=1, max_size=4),
    st.sampled_from(["search", "brave_search", "brave_search_2", "get", "GET:/get", "search_2", "x" * 70]),
)
TOOLS = st.lists(
    st.tuples(NAMES, st.sampled_from(["brave", "bing", "", "/a/brave/", "日本"])), unique=True, max_size=25
)


@given(TOOLS, st.sampled_from(RULES))
def test_aliases_are_unique_and_accepted_and_free_names_are_kept(pairs, rule):
    given_names = named(*pairs, rule=rule)
    pattern, length = rule
    assert len(set(given_names)) == len(pairs)
    assert all(re.fullmatch(pattern, alias) and len(alias) <= length for alias in given_names)
    names = [name for name, _ in pairs]
    for (name, _), alias in zip(pairs, given_names, strict=True):
        if names.count(name) == 1 and re.fullmatch(pattern, name) and len(name) <= length:
            assert alias == name


@given(TOOLS, st.sampled_from(RULES), st.randoms(use_true_random=False))
def test_aliases_do_not_depend_on_the_order_of_the_tools(pairs, rule, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    assert dict(zip(pairs, named(*pairs, rule=rule), strict=True)) == dict(
        zip(shuffled, named(*shuffled, rule=rule), strict=True)
    )


@given(TOOLS, st.sampled_from(RULES))
def test_a_tool_whose_name_touches_no_other_leaves_all_others_as_they_were(pairs, rule):
    more = [*pairs, ("an-entirely-new-name", "elsewhere")]
    assert named(*more, rule=rule)[:-1] == named(*pairs, rule=rule)
