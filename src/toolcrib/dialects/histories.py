"""How each dialect's history keeps its calls and their results: taken apart for mending, and written again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic_core import to_json

from toolcrib.dialects.arguments import object_of
from toolcrib.wire import Message


@dataclass(slots=True, kw_only=True)
class Slot:
    """One call of an assistant's message. id: as written, "" where nothing; `wire_id` is what goes out."""

    id: str
    name: str
    wire_id: str = ""
    answer: Piece | None = None


@dataclass(slots=True, kw_only=True)
class Spoken:
    """One message of the assistant, or one run of its items, with its calls in order."""

    echo: list[Message]
    calls: list[Slot]


@dataclass(slots=True, kw_only=True)
class Piece:
    """One result. place: the position of the message it came in, -1 where it is new."""

    id: str
    name: str
    payload: dict[str, Any]
    place: int = -1


@dataclass(slots=True, kw_only=True)
class Rest:
    """Anything else. mixed: it stood in one message with results."""

    message: Message
    place: int
    mixed: bool = False


Entry = Spoken | Piece | Rest


class Shape(Protocol):
    """One dialect's way to keep calls and results in a history."""

    #: Whether a result without an id finds its call by the tool's name.
    by_name: bool

    def split(self, messages: Sequence[Message]) -> list[Entry]:
        """The history in order; the results of one message come before what else it holds."""

    def spoken(self, said: Spoken) -> list[Message]:
        """The assistant's message as it goes out: ids from `wire_id`, arguments as the provider takes them."""

    def answers(self, said: Spoken, base: Mapping[str, Any], rest: Message | None) -> list[Message]:
        """The results of all its calls. base: the message they came in; rest: what stood beside them there."""

    def payload(self, answer: Message) -> dict[str, Any]:
        """The one result in a message that a format wrote."""

    def text(self, payload: Mapping[str, Any]) -> str:
        """What a result says, "" where it is no text."""


def text_of(content: Any) -> str:
    """The text of a content: itself, or that of its parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def argument_text(given: Any) -> str:
    """Arguments as a provider wants them in text: null and nothing are {}, a second layer of encoding is taken off."""
    if given is None:
        return "{}"
    if not isinstance(given, str):
        return to_json(given).decode()
    if given.strip() in ("", "null"):
        return "{}"
    return _unwrapped(given) or given


def argument_object(given: Any) -> dict[str, Any]:
    """Arguments where a provider wants an object; {} where they hold none."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, str):
        return {}
    return object_of(_unwrapped(given) or given) or {}


def _unwrapped(text: str) -> str | None:
    """The object's text inside a JSON string; None where it is none."""
    if not text.lstrip().startswith('"'):
        return None
    try:
        inner = json.loads(text)
    except ValueError:
        return None
    return inner if isinstance(inner, str) and object_of(inner) is not None else None


def id_of(value: Any) -> str:
    """An id as written, "" where it is blank or absent."""
    return value.strip() and value if isinstance(value, str) else "" if value is None else str(value)


def name_of(value: Any) -> str:
    """A name as written, "" where there is none."""
    return value if isinstance(value, str) else ""


def shape_of(dialect: str) -> Shape:
    """The shape of a dialect's histories."""
    from toolcrib.dialects.block_histories import BlocksShape
    from toolcrib.dialects.openai_histories import ChatShape, ResponsesShape

    if dialect == "openai":
        return ChatShape()
    if dialect == "openai-responses":
        return ResponsesShape()
    gemini = dialect == "gemini"
    return BlocksShape(
        key="parts" if gemini else "content", assistant="model" if gemini else "assistant", by_name=gemini
    )
