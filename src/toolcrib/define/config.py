"""What a toolkit asks to be configured with: a small form language, and the values given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.define.options import unknown_names
from toolcrib.errors import DefinitionError

_WORDS: dict[type, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object",
}  # fmt: skip
_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field of a toolkit's form.

    type: str, int, float, bool, list or dict. label, help: for the person who fills it in; the label defaults to the
        name. secret: never shown, exported or printed. choices: the values allowed. order: smaller stands first, equal
        keeps the order of declaration. depends_on: the field counts only while the others named hold these values, for
        example {"mode": "remote"}.
    """

    name: str
    type: type = str
    label: str = ""
    help: str = ""
    required: bool = False
    secret: bool = False
    choices: tuple[Any, ...] = ()
    default: Any = None
    order: int = 0
    depends_on: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name.startswith("_"):
            raise DefinitionError(f"config field {self.name!r}: the name must be an identifier, without _ before it")
        if self.type not in _WORDS:
            raise DefinitionError(f"config field {self.name!r}: the type is one of str, int, float, bool, list, dict")
        for value in (*self.choices, *(() if self.default is None else (self.default,))):
            if problem := self._fault(value):
                raise DefinitionError(f"config field {self.name!r}: a choice or default {problem}")

    def fault(self, value: Any) -> str | None:
        """What is wrong with a value, without the value; None for nothing."""
        return self._fault(value) or (
            f"must be one of {', '.join(map(repr, self.choices))}"
            if self.choices and value not in self.choices
            else None
        )

    def _fault(self, value: Any) -> str | None:
        fits = isinstance(value, self.type) and not (isinstance(value, bool) and self.type is not bool)
        if fits or (self.type is float and type(value) is int):
            return None
        return f"must be {self.type.__name__}, not {type(value).__name__}"

    def counts(self, values: Mapping[str, Any]) -> bool:
        """Whether the field is to be filled in, given the others."""
        return all(values.get(name) == value for name, value in (self.depends_on or {}).items())

    def form(self) -> dict[str, Any]:
        """The field as plain JSON data, for a console or a prompt; a secret's default stays out."""
        return {
            "name": self.name,
            "type": _WORDS[self.type],
            "label": self.label or self.name.replace("_", " ").capitalize(),
            "help": self.help,
            "required": self.required,
            "secret": self.secret,
            "choices": list(self.choices),
            "default": None if self.secret else self.default,
            "order": self.order,
            "depends_on": dict(self.depends_on or {}),
        }


class Settings(Mapping[str, Any]):
    """The values of a configured toolkit: `settings["name"]`, None where nobody filled it in. Secrets never print."""

    __slots__ = ("_secret", "_values")

    def __init__(self, values: Mapping[str, Any], secret: frozenset[str]) -> None:
        self._values = dict(values)
        self._secret = secret

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = (f"{name}={'***' if name in self._secret else repr(value)}" for name, value in self.given())
        return f"Settings({', '.join(shown)})"

    def given(self) -> list[tuple[str, Any]]:
        """The pairs that hold a value."""
        return [(name, value) for name, value in self._values.items() if value is not None]


def checked_form(owner: str, fields: Sequence[ConfigField], reserved: Sequence[str]) -> tuple[ConfigField, ...]:
    """The fields in the order a form shows them. Raises DefinitionError where they contradict each other."""
    names = [field.name for field in fields]
    for field in fields:
        if field.name in reserved:
            raise DefinitionError(f"toolkit {owner}: config field {field.name!r}: the name is taken; give it another")
        for other in field.depends_on or {}:
            if other not in names or other == field.name:
                raise DefinitionError(
                    f"toolkit {owner}: config field {field.name!r} depends on {other!r}, no other field"
                )
    return tuple(sorted(fields, key=lambda field: field.order))


def missing(fields: Sequence[ConfigField], given: Mapping[str, Any]) -> list[str]:
    """The required fields that have no value, in the form's order."""
    values = _with_defaults(fields, given)
    return [f.name for f in fields if f.required and f.counts(values) and values[f.name] in (None, "")]


def checked_settings(owner: str, fields: Sequence[ConfigField], given: Mapping[str, Any]) -> Settings:
    """The values with defaults filled in. Raises DefinitionError; its text never holds a secret's value."""
    names = [field.name for field in fields]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise DefinitionError(f"toolkit {owner}: {unknown_names('setting', unknown, names)}")
    for field in fields:
        value = given.get(field.name)
        problem = None if value is None else field.fault(value)
        if problem is not None:
            raise DefinitionError(f"toolkit {owner}: {field.name} {problem}")
    absent = missing(fields, given)
    if absent:
        raise DefinitionError(f"toolkit {owner} is not configured: give {', '.join(f'{name}=...' for name in absent)}")
    return Settings(_with_defaults(fields, given), frozenset(field.name for field in fields if field.secret))


def _with_defaults(fields: Sequence[ConfigField], given: Mapping[str, Any]) -> dict[str, Any]:
    values = {field.name: given.get(field.name) for field in fields}
    return {field.name: _fresh(field.default) if values[field.name] is None else values[field.name] for field in fields}


def _fresh(default: Any) -> Any:
    return default.copy() if isinstance(default, (list, dict)) else default
