"""What a docstring says to a model: of the tool, and of each parameter. Google, NumPy and Sphinx styles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from griffe import DocstringSection

Style = Literal["numpy", "sphinx", "google"]

_SECTIONS: tuple[tuple[Style, re.Pattern[str]], ...] = (
    (
        "numpy",
        re.compile(
            r"^(?:Other )?(?:Parameters|Returns|Yields|Raises|Attributes|Examples)[ \t]*\n-{3,}[ \t]*$", re.MULTILINE
        ),
    ),
    (
        "sphinx",
        re.compile(
            r"^:(?:param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|except|exception)\b[^:\n]*:",
            re.MULTILINE,
        ),
    ),
    (
        "google",
        re.compile(
            r"^(?:Args|Arguments|Params|Parameters|(?:Keyword|Other) (?:Args|Arguments|Params|Parameters)"
            r"|Returns|Yields|Raises|Examples?)[ \t]*:[ \t]*\n(?:[ \t]*\n)*[ \t]+(?=\S)",
            re.MULTILINE | re.IGNORECASE,
        ),
    ),
)


#: Stands above a docstring while griffe reads it: cleaning treats a first line apart from all others.
_TOP = "\0"


class Documentation(NamedTuple):
    """text: all but the parameters and exceptions, for the tool's description. parameters: name -> description."""

    text: str
    parameters: dict[str, str]


def documentation(docstring: str | None) -> Documentation:
    """Reads a docstring whose indentation is cleaned. One without sections is taken whole. Never raises."""
    text = (docstring or "").strip()
    style, heading = next((entry for entry in _SECTIONS if entry[1].search(text)), (None, None))
    if style is None or heading is None:
        return Documentation(text, {})
    parts: list[str] = []
    parameters: dict[str, str] = {}
    for section in _parsed(text, style, heading):
        kind = section.kind.value
        if kind in ("parameters", "other parameters"):
            parameters |= {_plain(item.name): _one(item.description) for item in section.value if item.description}
        else:
            parts.append(_rendered(kind, section))
    return Documentation("\n\n".join(part for part in parts if part), parameters)


def _parsed(text: str, style: Style, heading: re.Pattern[str]) -> list[DocstringSection]:
    import griffe

    if style == "google":  # griffe wants a blank line above a section's title and none below it
        text = heading.sub(lambda found: "\n\n" + re.sub(r"[ \t]*\n(?:[ \t]*\n)+", "\n", found.group()), text)
    source = griffe.Docstring(f"{_TOP}\n\n{text}")
    if style == "google":
        return griffe.parse_google(source, warnings=False, returns_named_value=False, returns_multiple_items=False)
    if style == "numpy":
        return griffe.parse_numpy(source, warnings=False)
    return griffe.parse_sphinx(source, warnings=False)


def _rendered(kind: str, section: Any) -> str:
    value = section.value
    if kind == "text":
        return str(value).removeprefix(_TOP).strip()
    if kind in ("returns", "yields"):
        lines = [_one(item.description) for item in value]
        said = "\n".join(line for line in lines if line)
        return f"{kind.capitalize()}: {said}" if said else ""
    if kind == "examples":
        return "Examples:\n" + "\n\n".join(str(example).strip() for _, example in value)
    if kind == "admonition":
        return f"{section.title or value.kind.capitalize()}: {str(value.contents).strip()}"
    return ""


def _plain(name: str) -> str:
    return name.replace("\\", "").lstrip("*")


def _one(description: str) -> str:
    """A wrapped paragraph is one line; lists and blank lines keep their breaks."""
    return re.sub(r"(?<=\S)[ \t]*\n[ \t]*(?![ \t]*(?:[-*+•]|\d+[.)])\s|\s*\n)(?=\S)", " ", description.strip())
