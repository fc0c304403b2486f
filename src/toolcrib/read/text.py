"""From the text a model wrote to one JSON object, or a refusal that says where and why."""

from __future__ import annotations

import re

from toolcrib.frozen import NotJson, snapshot
from toolcrib.read import strict
from toolcrib.read.strict import BadJson, Parsed

_AROUND = " \t\n\r\f\v\u00a0\ufeff\u200b\u2028\u2029"
_FENCE = re.compile(
    r"(?P<fence>`{3,}|~{3,})[ \t]*(?:json5?|jsonc|python|py|javascript|js|tool_calls?|tool_code)?(?=[\s{\[\"'])"
    r"(?P<body>.*?)\s*(?P=fence)",
    re.DOTALL | re.IGNORECASE,
)


def read_object(text: str) -> Parsed:
    """The object of a text; nothing, whitespace and `null` are no arguments; a text holding the object is opened once.

    Raises BadJson.
    """
    parsed = read_value(text)
    if isinstance(parsed.value, str):
        outer = parsed.mended
        try:
            parsed = read_value(parsed.value)
        except BadJson as problem:
            raise BadJson(None, f"they are a text, and what it holds is no JSON: {problem.reason}") from None
        parsed.mended = [*outer, "the arguments were a text holding JSON; it was decoded", *parsed.mended]
    if parsed.value is None:
        parsed.value = {}
    if not isinstance(parsed.value, dict):
        raise BadJson(None, f"they are {kind_of(parsed.value)}, and must be an object")
    return parsed


def read_value(text: str) -> Parsed:
    """The value of a text, strictly where possible, else by the one reading the tolerant grammar has for it."""
    bare = text.strip(_AROUND)
    if not bare:
        return Parsed(None)
    lead = len(text) - len(text.lstrip(_AROUND))
    try:
        strict.parse(bare)
        return strict.examine(bare)
    except BadJson as problem:
        if problem.position is None:
            raise
    except RecursionError:
        raise BadJson(None, "nested too deep") from None
    fenced = _FENCE.fullmatch(bare)
    body, mended = (bare, []) if fenced is None else (fenced["body"], ["the code fence around it was left out"])
    try:
        from toolcrib.read import tolerant  # only for what is no JSON

        parsed = tolerant.parse(body)
        snapshot(parsed.value)
    except NotJson as problem:
        raise BadJson(None, str(problem)) from None
    except BadJson as problem:
        if problem.position is None:
            raise
        raise BadJson(problem.position + lead + (fenced.start("body") if fenced else 0), problem.reason) from None
    parsed.mended[:0] = mended
    return parsed


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "an array" if isinstance(value, list) else "an object"
