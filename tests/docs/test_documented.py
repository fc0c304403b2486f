"""Whatever has a name that people type or read has its place in the documentation."""

from __future__ import annotations

import re
from typing import Any, get_args

import typer.main
from tests_docs import ROOT, headings

from toolcrib import settings
from toolcrib.call import DIALECTS, ENDED, REFUSED, Code, State
from toolcrib.cli.main import app
from toolcrib.runtime import STAGES


def test_every_state_and_every_code_has_a_heading_and_no_other() -> None:
    found = headings("docs/codes.md", 3)
    states, codes = list(get_args(State)), list(get_args(Code))
    assert found[: len(states)] == states
    assert {heading.removesuffix(" (code)") for heading in found[len(states) :]} == set(codes)
    assert len(found) == len(states) + len(codes)


def test_every_code_says_what_it_means_to_a_model_an_operator_and_a_user() -> None:
    text = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    _, *sections = re.split(r"^### ", text[text.index("## Codes") :], flags=re.MULTILINE)
    for section in sections:
        assert re.findall(r"^\* (\w+):", section, re.MULTILINE) == ["Model", "Operator", "User"], section


def test_the_codes_stand_under_the_state_they_belong_to() -> None:
    text = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    refused = text[text.index("## Codes: refused") : text.index("## Codes: never begun")]
    assert set(re.findall(r"^### (\w+)$", refused, re.MULTILINE)) == REFUSED
    assert {"proposed", "awaiting_approval", "started"} == set(get_args(State)) - ENDED


def test_every_command_has_a_heading_and_no_other() -> None:
    assert sorted(headings("docs/cli.md", 2)) == sorted(f"toolcrib {name}" for name in commands())


def test_every_option_is_named_in_the_documentation() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    wanted = {option for command in commands().values() for option in options(command)}
    assert {option for option in wanted if option not in text} == set()


def test_every_setting_has_a_heading_and_its_variable() -> None:
    assert headings("docs/settings.md", 2) == list(settings.KEYS)
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for key in settings.KEYS:
        assert f"`TOOLCRIB_{key.upper()}`" in text


def test_the_architecture_names_the_stages_in_their_order() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = text[text.index("<!-- stages -->") : text.index("<!-- /stages -->")]
    assert re.findall(r"^\d\. `(\w+)`", listed, re.MULTILINE) == [stage.name for stage in STAGES]


def test_the_architecture_names_every_folder_and_module_of_the_house() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    house = text[text.index("## The house") : text.index("## The stages")]
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "src" / "toolcrib").iterdir()
        if path.name[0] not in "._" and path.name != "py.typed"
    }
    assert set(re.findall(r"`([\w.]+/?)`", house)) >= there


def test_the_dialects_are_all_told_of() -> None:
    text = (ROOT / "docs" / "dialects.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in DIALECTS)


def test_the_glossary_is_sorted() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)[1:]
    assert words == sorted(words, key=str.lower)


def commands() -> dict[str, Any]:
    """Whole name -> command, groups included. Typer may bring a click of its own, so nothing is told by class."""
    found: dict[str, Any] = {}

    def walk(group: Any, path: str) -> None:
        for name, command in group.commands.items():
            found[f"{path}{name}"] = command
            if hasattr(command, "commands"):
                walk(command, f"{path}{name} ")

    walk(typer.main.get_command(app), "")
    return found


def options(command: Any) -> list[str]:
    """The long options of a command."""
    shown = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return [option for parameter in shown for option in parameter.opts if option.startswith("--")]
