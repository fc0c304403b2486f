"""A definition as data, and `execute` beside it: nothing of Toolcrib is imported."""

from typing import Any

DEFINITION = {
    "name": "read_theme",
    "description": "The colours and the font of the app.",
    "parameters": {"type": "object", "properties": {}},
    "read_only": True,
}


def execute(args: dict[str, Any]) -> dict[str, str]:
    return {"ink": "#1c1917", "paper": "#fafaf9", "font": "Inter"}
