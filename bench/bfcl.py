"""The BFCL cases as tools: its schemas mapped to JSON Schema, its ground-truth calls, and ways a model bends a call."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from toolcrib.call import Tool

#: Where the whole set is looked for, relative to the project's root.
DEFAULT = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "bfcl_calls.jsonl"

#: The set's type words in lower case -> JSON Schema's. "any" stands for no restriction.
TYPES = {
    "dict": "object", "hashmap": "object", "object": "object", "map": "object",
    "array": "array", "arraylist": "array", "list": "array", "tuple": "array", "set": "array", "queue": "array",
    "integer": "integer", "int": "integer", "long": "integer", "short": "integer", "byte": "integer",
    "bigint": "integer",
    "number": "number", "float": "number", "double": "number",
    "string": "string", "char": "string",
    "boolean": "boolean", "bool": "boolean",
    "null": "null",
    "any": "any",
}  # fmt: skip


class Case(NamedTuple):
    """One ground-truth call of one case."""

    id: str
    tool: Tool
    truth: dict[str, Any]


def schema_of(node: dict[str, Any]) -> dict[str, Any]:
    """A schema of the set as JSON Schema, without the set's own `default` and `optional`."""
    made = {key: value for key, value in node.items() if key not in ("default", "optional", "type")}
    word = TYPES[node["type"].lower()] if "type" in node else "any"
    if word != "any":
        made["type"] = word
    if isinstance(made.get("properties"), dict):
        made["properties"] = {name: schema_of(inner) for name, inner in made["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = schema_of(made[key])
    return made


def cases(path: Path) -> Iterator[Case]:
    """Every ground-truth call of the set with its tool."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            tools = {tool["name"]: tool for tool in row["tools"]}
            for call in row["sample_calls"]:
                told = tools[call["name"]]
                tool = Tool(
                    name=told["name"], body=lambda arguments: arguments, description=told["description"],
                    parameters=schema_of(told["parameters"]),
                )  # fmt: skip
                yield Case(row["id"], tool, call["arguments"])


def equal(value: Any, truth: Any, schema: Any) -> bool:
    """Whether two JSON values are one; 1 and 1.0 are where the schema says number."""
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict) and isinstance(truth, dict):
        known = schema.get("properties", {})
        return value.keys() == truth.keys() and all(equal(value[key], truth[key], known.get(key)) for key in value)
    if isinstance(value, list) and isinstance(truth, list):
        item = schema.get("items")
        return len(value) == len(truth) and all(equal(a, b, item) for a, b in zip(value, truth, strict=True))
    if schema.get("type") == "number" and type(value) in (int, float) and type(truth) in (int, float):
        return bool(value == truth)
    return type(value) is type(truth) and bool(value == truth)


def numbers_as_text(value: Any, schema: Any) -> Any:
    """Every number, where the schema wants one, written as a text."""
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        inner = schema.get("properties", {})
        return {key: numbers_as_text(item, inner.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [numbers_as_text(item, schema.get("items")) for item in value]
    if type(value) in (int, float) and schema.get("type") in ("integer", "number"):
        return json.dumps(value)
    return value


def _words(name: str) -> list[str]:
    spaced = "".join(f" {c}" if c.isupper() and name[i - 1 : i].islower() else c for i, c in enumerate(name))
    return [word for word in spaced.replace("_", " ").replace("-", " ").split(" ") if word]


def camel(name: str) -> str:
    """`user_id` as userId."""
    words = _words(name)
    return words[0].lower() + "".join(word.capitalize() for word in words[1:]) if words else name


def snake(name: str) -> str:
    """`userId` as user_id."""
    return "_".join(word.lower() for word in _words(name))


def kebab(name: str) -> str:
    """`user_id` as user-id."""
    return snake(name).replace("_", "-")


def _renamed(bend: Callable[[str], str]) -> Callable[[Case], str | None]:
    def mutation(case: Case) -> str | None:
        made = {bend(name): item for name, item in case.truth.items()}
        if len(made) != len(case.truth) or list(made) == list(case.truth):
            return None
        return json.dumps(made)

    return mutation


def _as_text(case: Case) -> str | None:
    made = numbers_as_text(case.truth, case.tool.parameters)
    return json.dumps(made) if made != case.truth else None


def _trailing(case: Case) -> str | None:
    return json.dumps(case.truth)[:-1] + ",}" if case.truth else None


def _nested_text(case: Case) -> str | None:
    nested = {key for key, item in case.truth.items() if isinstance(item, (dict, list))}
    types = {key: inner.get("type") for key, inner in case.tool.parameters.get("properties", {}).items()}
    nested = {key for key in nested if types.get(key) in ("array", "object")}
    if not nested:
        return None
    return json.dumps({key: json.dumps(item) if key in nested else item for key, item in case.truth.items()})


def _nulls(case: Case) -> str | None:
    schema = case.tool.parameters
    absent = [
        name
        for name, inner in schema.get("properties", {}).items()
        if name not in case.truth and name not in schema.get("required", []) and "type" in inner
    ]
    return json.dumps({**case.truth, **dict.fromkeys(absent)}) if absent else None


#: name -> the bent text of a call, or None where the mutation changes nothing.
MUTATIONS: dict[str, Callable[[Case], str | None]] = {
    "as it is": lambda case: json.dumps(case.truth),
    "numbers as strings": _as_text,
    "double encoding": lambda case: json.dumps(json.dumps(case.truth)),
    "double encoding, nested": _nested_text,
    "code fence": lambda case: f"```json\n{json.dumps(case.truth, indent=2)}\n```",
    "trailing comma": _trailing,
    "single quotes, Python": lambda case: repr(case.truth) if case.truth else None,
    "restated object": lambda case: json.dumps(case.truth) * 2,
    "dirty names: city=": _renamed(lambda name: f"{name}="),
    "dirty names: quotes": _renamed(lambda name: f'"{name}"'),
    "names in camelCase": _renamed(camel),
    "names in snake_case": _renamed(snake),
    "names in kebab-case": _renamed(kebab),
    "names in UPPER": _renamed(str.upper),
    "null for absent optionals": _nulls,
}


class Tally:
    """What came of one mutation."""

    __slots__ = ("cases", "examples", "recovered", "refused", "wrong")

    def __init__(self) -> None:
        self.cases = self.recovered = self.refused = self.wrong = 0
        self.examples: list[str] = []

    def count(self, case: Case, text: str, arguments: dict[str, Any] | None, problem: str | None) -> None:
        """Counts one reading against the truth."""
        self.cases += 1
        if arguments is None:
            self.refused += 1
            self.examples.append(f"refused {case.id}: {text[:200]}\n    {(problem or '')[:300]}")
        elif equal(arguments, case.truth, case.tool.parameters):
            self.recovered += 1
        else:
            self.wrong += 1
            self.examples.append(f"WRONG {case.id}: {text[:200]}\n    read as {json.dumps(arguments)[:200]}")


def valid_cases(path: Path) -> tuple[list[Case], list[Case]]:
    """(cases whose truth fits its own schema, those whose truth does not), told by an independent validator."""
    import jsonschema_rs

    fitting: list[Case] = []
    others: list[Case] = []
    for case in cases(path):
        closed = {**case.tool.parameters, "additionalProperties": False}
        (fitting if jsonschema_rs.is_valid(closed, case.truth) else others).append(case)
    return fitting, others
