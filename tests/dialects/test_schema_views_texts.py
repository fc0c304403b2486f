"""Descriptions cut to what a provider takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolcrib.dialects.schemas import anthropic, gemini, openai
from toolcrib.dialects.schemas.texts import cut_description
from toolcrib.dialects.schemas.words import normalise

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"


def test_a_short_description_stays_as_it_is() -> None:
    assert openai.cut_description("x" * 1024) == "x" * 1024


def test_a_long_description_ends_after_a_sentence_and_says_so() -> None:
    text = "This is one sentence of many. " * 200
    cut = openai.cut_description(text)
    assert len(cut) <= 1024
    assert cut.endswith("many. […]")


def test_each_provider_has_its_own_limit() -> None:
    text = "This is one sentence of many. " * 166
    assert len(openai.cut_description(text)) <= 1024
    assert anthropic.cut_description(text) == gemini.cut_description(text) == text


def test_sentences_of_scripts_without_blanks_count() -> None:
    cut = cut_description("これは文です。" * 300, 1024)
    assert cut.endswith("。 […]")


def test_no_character_of_several_code_points_is_torn() -> None:
    for piece in (FAMILY, "e\u0301", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd"):
        for limit in range(40, 52):
            kept = cut_description(piece * 100, limit).removesuffix(" […]")
            assert len(kept) % len(piece) == 0


@given(st.text(max_size=300), st.integers(min_value=0, max_value=320))
def test_the_limit_always_holds_and_cutting_twice_changes_nothing(text: str, limit: int) -> None:
    cut = cut_description(text, limit)
    assert len(cut) <= limit
    assert cut_description(cut, limit) == cut


def test_normalising_changes_types_and_nothing_else() -> None:
    schema = {
        "type": "dict",
        "properties": {"type": {"type": "float", "enum": [{"type": "int"}]}, "x": {"type": ["str", "None"]}},
        "items": [{"type": "bool"}],
        "default": {"type": "tuple"},
        "x-own": {"type": "int"},
    }
    assert normalise(schema) == {
        "type": "object",
        "properties": {"type": {"type": "number", "enum": [{"type": "int"}]}, "x": {"type": ["string", "null"]}},
        "items": [{"type": "boolean"}],
        "default": {"type": "tuple"},
        "x-own": {"type": "int"},
    }
    assert schema["type"] == "dict"
