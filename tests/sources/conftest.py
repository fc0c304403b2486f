from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

DEFINED = """
DEFINITION = {{"name": "{name}", "description": "It is {name}.", "parameters": {{"type": "object"}}}}


def execute(args):
    return {gives!r}
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Writes a file below tmp_path and gives its path."""

    def writing(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
        return file

    return writing


@pytest.fixture
def define(write: Callable[[str, str], Path]) -> Callable[..., Path]:
    """Writes a tool file whose one tool returns `gives`."""

    def defining(file: str, name: str, gives: object = 1) -> Path:
        return write(file, DEFINED.format(name=name, gives=gives))

    return defining
