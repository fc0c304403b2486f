"""Descriptions from docstrings."""

from __future__ import annotations

import logging
from typing import Annotated

import pytest
from pydantic import Field
from typing_extensions import Doc

from toolcrib.define.docstring import documentation
from toolcrib.define.function import tool_of

GOOGLE = """Moves a file.

It is moved at once.

Args:
    source (str): Where it is: a path
        that exists.
    target: Where it goes.
        - a folder
        - a file
    **rest: What else.

Returns:
    The new path.

Raises:
    OSError: When it fails.
"""
NUMPY = """Moves a file.

It is moved at once.

Parameters
----------
source : str
    Where it is: a path
    that exists.
target : str, optional
    Where it goes.
    - a folder
    - a file
**rest
    What else.

Returns
-------
str
    The new path.

Raises
------
OSError
    When it fails.
"""
SPHINX = """Moves a file.

It is moved at once.

:param source: Where it is: a path
    that exists.
:param str target: Where it goes.
    - a folder
    - a file
:param rest: What else.
:type source: str
:returns: The new path.
:raises OSError: When it fails.
"""


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_three_styles_say_the_same(docstring: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        found = documentation(docstring)
    assert found.text == "Moves a file.\n\nIt is moved at once.\n\nReturns: The new path."
    assert found.parameters == {
        "source": "Where it is: a path that exists.",
        "target": "Where it goes.\n- a folder\n- a file",
        "rest": "What else.",
    }
    assert not caplog.records


@pytest.mark.parametrize(
    ("docstring", "text", "parameters"),
    [
        (None, "", {}),
        ("", "", {}),
        ("One line.", "One line.", {}),
        ("Says: one thing.\n\nReturns: no section.", "Says: one thing.\n\nReturns: no section.", {}),
        ("Do.\nArgs:\n    a: No blank line above.", "Do.", {"a": "No blank line above."}),
        ("Do.\n\nArgs:\n\n    a: One below.", "Do.", {"a": "One below."}),
        ("Args:\n    a: Nothing else.", "", {"a": "Nothing else."}),
        ("Do.\n\nArguments:\n  a: Two spaces.", "Do.", {"a": "Two spaces."}),
        ("Do.\n:param a: Close.", "Do.", {"a": "Close."}),
        (
            "Do.\n\nParameters\n----------\nx, y : int\n    Both.\n\nNotes\n-----\nCare.",
            "Do.\n\nNotes: Care.",
            {"x": "Both.", "y": "Both."},
        ),
        (
            "Do.\n\nArgs:\n    a: A.\n\nExample:\n    f(1)\n\nNote:\n    Care.",
            "Do.\n\nExample: f(1)\n\nNote: Care.",
            {"a": "A."},
        ),
        ("Do.\n\nArgs:\n    nothing to see", "Do.", {}),
        ("Fais.\n\nArgs:\n    année: L'année.", "Fais.", {"année": "L'année."}),
    ],
)
def test_shapes_of_docstrings(docstring: str | None, text: str, parameters: dict[str, str]) -> None:
    assert documentation(docstring) == (text, parameters)


def test_nearer_words_win() -> None:
    def f(
        a: Annotated[int, Field(description="field a")],
        b: Annotated[int, "text b"],
        c: Annotated[int, Doc("doc c")],
        d: int,
        e: Annotated[int, Field(ge=1)],
        g: Annotated[int, "text g"] | None = None,
    ) -> None:
        """Does.

        Args:
            a: docstring a
            b: docstring b
            c: docstring c
            d: docstring d
            e: docstring e
        """

    found = {name: part.get("description") for name, part in tool_of(f).parameters["properties"].items()}
    assert found == {
        "a": "field a", "b": "text b", "c": "doc c", "d": "docstring d", "e": "docstring e", "g": "text g",
    }  # fmt: skip


def test_a_description_given_as_option_keeps_the_parameters_words() -> None:
    from toolcrib.define.function import tool

    @tool(description="Given.")
    def f(a: int) -> None:
        """Written.

        :param a: The a.
        """

    assert tool_of(f).description == "Given."
    assert tool_of(f).parameters["properties"]["a"]["description"] == "The a."
