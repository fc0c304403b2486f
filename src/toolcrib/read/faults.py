"""What was wrong with the arguments, as a model is told: the place, what was expected, the schema of that part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from toolcrib.read.preview import Preview, cut, place, printable, schema_text
from toolcrib.read.schema import SchemaTree
from toolcrib.read.text import kind_of

if TYPE_CHECKING:
    from pydantic_core import ValidationError

Path = tuple[str | int, ...]
#: Faults told at once, and characters of the whole text.
MOST = 8
LONGEST = 4000
#: What is said of a name the tool does not have.
UNKNOWN = "unknown argument"
_NOTHING: Any = object()
_UNKNOWN_KINDS = ("additionalProperties", "unevaluatedProperties", "falseSchema")


class Fault:
    """One thing that is wrong at one place. value: what was given there, if it may help."""

    __slots__ = ("path", "said", "value")

    path: Path

    def __init__(self, path: Iterable[str | int], said: str, value: Any = _NOTHING) -> None:
        self.path = tuple(path)
        self.said = said
        self.value = value


def text(
    name: str, faults: list[Fault], tree: SchemaTree, preview: Preview, arguments: Any, hidden: frozenset[str]
) -> str:
    """The whole text for the model; the secrets of `arguments` do not leak, the `hidden` parameters are not named."""
    lines = [f"The arguments of {name} are not valid, so it did not run."]
    for fault in faults[:MOST]:
        line = f"- {place(fault.path)}: {fault.said}"
        if fault.value is not _NOTHING:
            line += f"; got {preview.value(fault.path, fault.value)}"
        schema = tree.at(fault.path) if fault.said != UNKNOWN else None
        if isinstance(schema, dict):
            line += f". Its schema: {schema_text(schema)}"
        lines.append(line)
    if len(faults) > MOST:
        lines.append(f"- and {len(faults) - MOST} more")
    if any(len(fault.path) <= 1 for fault in faults):
        lines.append(f"Parameters: {parameters(tree, hidden)}.")
    lines.append("Mend the arguments and call again.")
    return cut(preview.scrubbed("\n".join(lines), arguments), LONGEST)


def parameters(tree: SchemaTree, hidden: frozenset[str]) -> str:
    """The names a model may give, in the order they are declared, the required ones marked; bounded."""
    required = tree.required(tree.root, "")
    names = [name for name in tree.known(tree.root, "") if name not in hidden]
    shown = [f"{name} (required)" if name in required else name for name in names]
    return cut(", ".join(shown), 600) or "none"


def broken(name: str, position: int | None, reason: str, raw: str, preview: Preview, shown: Any) -> str:
    """The text for arguments that are no JSON object: where, around what, and what is expected instead."""
    why = reason if position is None else f"they are not valid JSON: {reason} at character {position}"
    text = f"The arguments of {name} could not be read, so it did not run: {why}."
    if raw:
        if preview.may_hold(raw):
            text += " What was given is not shown, as it may hold a secret."
        else:
            at = len(raw) if position is None else min(position, len(raw))
            start = max(0, at - 60) if position is not None else 0
            piece = raw[start : start + 80]
            piece = f"{'...' if start else ''}{piece}{'...' if start + 80 < len(raw) else ''}"
            text += f" Given{' around there' if start else ''}: {printable(piece)}"
    return f"{text}\nGive one whole JSON object that fits this schema: {schema_text(shown, 1200)}"


def of_schema(errors: Iterable[Any]) -> list[Fault]:
    """Faults out of what a JSON Schema validator says. None of its texts is used that quotes the value."""
    found: list[Fault] = []
    for error in errors:
        _of_error(error, found, 0)
        if len(found) > 3 * MOST:
            break
    return found


def _of_error(error: Any, found: list[Fault], depth: int) -> None:
    path: Path = tuple(error.instance_path)
    kind, details = error.kind.name, error.kind
    if kind == "required":
        found.append(Fault((*path, details.property), "is required and missing"))
    elif kind in _UNKNOWN_KINDS and getattr(details, "unexpected", None):
        found += [Fault((*path, name), UNKNOWN) for name in details.unexpected]
    elif kind == "type":
        wanted = " or ".join(map(str, details.types))
        found.append(Fault(path, f"expected {wanted}, not {kind_of(error.instance)}", error.instance))
    elif kind == "enum":
        found.append(Fault(path, f"expected one of {schema_text(details.options, 300)}", error.instance))
    elif kind == "const":
        found.append(Fault(path, f"expected {schema_text(details.expected_value, 300)}", error.instance))
    elif kind in ("anyOf", "oneOf") and depth < 4:
        near = [each for each in getattr(details, "context", ()) if not _of_another_kind(each, path)]
        if len(near) == 1:
            for inner in near[0]:
                _of_error(inner, found, depth + 1)
        else:
            found.append(Fault(path, "fits none, or more than one, of the forms its schema allows", error.instance))
    else:
        found.append(Fault(path, cut(str(error.message), 300), error.instance))


def _of_another_kind(errors: list[Any], path: Path) -> bool:
    return any(error.kind.name == "type" and tuple(error.instance_path) == path for error in errors)


def of_pydantic(error: ValidationError) -> list[Fault]:
    """Faults out of what pydantic says."""
    found: list[Fault] = []
    for each in error.errors(include_url=False, include_context=False):
        if each["type"] == "missing":
            found.append(Fault(each["loc"], "is required and missing"))
        elif each["type"] == "extra_forbidden":
            found.append(Fault(each["loc"], UNKNOWN))
        else:
            found.append(Fault(each["loc"], cut(each["msg"], 300), each["input"]))
    return found


def of_exception(problem: Exception) -> Fault:
    """A check of the tool's own that raised something else than it should."""
    try:
        said = str(problem)
    except Exception:
        said = ""
    return Fault((), cut(f"a check of this tool failed: {type(problem).__name__}: {said}", 300))
