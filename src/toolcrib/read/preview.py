"""How a value, a place and a schema are shown to a model: bounded, and never a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from pydantic_core import to_json

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_SECRET_WORDS = frozenset(
    {
        "password", "passwords", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "secrets", "token",
        "apikey", "credential", "credentials", "authorization", "bearer", "otp", "cvv", "cvc", "privatekey",
        "accesskey", "secretkey", "authtoken", "accesstoken",
    }
)  # fmt: skip
_SECRET_KEYS = frozenset({"api", "private", "access", "signing", "encryption", "auth"})
SECRET = "(not shown: it may be a secret)"


def secret_name(name: str) -> bool:
    """Whether a name says that its value is a secret: password, token, api_key, clientSecret, ..."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if any(word in _SECRET_WORDS for word in words) or "".join(words) in _SECRET_WORDS:
        return True
    return any(one in _SECRET_KEYS and two in ("key", "keys") for one, two in pairwise(words))


def secret_names(schema: Any) -> frozenset[str]:
    """The property names anywhere in a schema that it marks as secret: format password, or writeOnly."""
    found: set[str] = set()
    work: list[Any] = [schema]
    while work:
        node = work.pop()
        if isinstance(node, list):
            work += node
        elif isinstance(node, dict):
            properties = node.get("properties")
            for name, inner in properties.items() if isinstance(properties, dict) else ():
                if _marked(inner):
                    found.add(name)
            work += node.values()
    return frozenset(found)


def _marked(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_marked, schema))
    if not isinstance(schema, dict):
        return False
    if schema.get("format") == "password" or schema.get("writeOnly") is True:
        return True
    return any(_marked(schema.get(word)) for word in ("anyOf", "oneOf", "allOf", "items"))


def place(path: Iterable[str | int]) -> str:
    """`filters[0].count`; "the arguments" for the root."""
    shown = ""
    for step in path:
        shown += f"[{step}]" if isinstance(step, int) else f".{step}" if shown else str(step)
    return printable(cut(shown, 120)) or "the arguments"


def printable(text: str) -> str:
    """A text in one line: what cannot be printed is escaped."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def cut(text: str, most: int) -> str:
    """At most so many characters, an ellipsis for the rest."""
    return text if len(text) <= most else text[: most - 3] + "..."


def schema_text(schema: Any, most: int = 400) -> str:
    """A schema as compact JSON, bounded."""
    return cut(to_json(schema).decode(), most)


class Preview:
    """What may be shown of one tool's arguments."""

    __slots__ = ("marked",)

    def __init__(self, marked: frozenset[str] = frozenset()) -> None:
        self.marked = marked

    def hides(self, path: Iterable[str | int]) -> bool:
        """Whether a place lies in a secret."""
        return any(isinstance(step, str) and (step in self.marked or secret_name(step)) for step in path)

    def text(self, name: str) -> str:
        """A name or short text in quotes."""
        return repr(cut(name, 60))

    def value(self, path: Iterable[str | int], value: Any, most: int = 80) -> str:
        """A value in short, as JSON; secrets in it, or around it, are left out."""
        if self.hides(path):
            return SECRET
        return cut(to_json(self._redacted(value), inf_nan_mode="constants").decode("utf-8", "replace"), most)

    def note(self, path: tuple[str | int, ...], value: Any, made: Any) -> str:
        """The sentence for a value read as another."""
        what = "the text" if isinstance(value, str) else "the number"
        if self.hides(path):
            return f"{place(path)}: {what} was read as the kind of value that is expected"
        shown = repr(cut(value, 60)) if isinstance(value, str) else self.value((), value)
        return f"{place(path)}: {what} {shown} was read as {self.value((), made)}"

    def secrets(self, value: Any) -> set[str]:
        """The texts in a value that must not be shown, wherever they turn up."""
        found: set[str] = set()
        work: list[tuple[Any, bool]] = [(value, False)]
        while work:
            node, hidden = work.pop()
            if isinstance(node, dict):
                work += [(item, hidden or self.hides((name,))) for name, item in node.items()]
            elif isinstance(node, list):
                work += [(item, hidden) for item in node]
            elif hidden and not isinstance(node, bool) and node is not None and len(str(node)) > 3:
                found.add(str(node))
        return found

    def scrubbed(self, text: str, arguments: Any) -> str:
        """A text without the secrets of these arguments."""
        for secret in sorted(self.secrets(arguments), key=len, reverse=True):
            text = text.replace(secret, "***").replace(repr(secret)[1:-1], "***")
        return text

    def may_hold(self, text: str) -> bool:
        """Whether a text that could not be read may hold a secret: the tool takes one, or a word names one."""
        return bool(self.marked) or any(map(secret_name, re.findall(r"[\w-]+", text)))

    def _holds(self, text: str) -> bool:
        """Whether a text names a secret and seems to assign it."""
        if ":" not in text and "=" not in text:
            return False
        return any(name in text for name in self.marked) or any(map(secret_name, re.findall(r"[\w-]+", text)))

    def _redacted(self, value: Any, depth: int = 0) -> Any:
        if depth > 6:
            return "..."
        if isinstance(value, dict):
            return {
                cut(str(name), 40): SECRET if self.hides((name,)) else self._redacted(item, depth + 1)
                for name, item in list(value.items())[:8]
            }
        if isinstance(value, list):
            return [self._redacted(item, depth + 1) for item in value[:8]]
        if isinstance(value, str):
            return SECRET if self._holds(value) else cut(value, 80)
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 200:
            return "a very long integer"
        return value
