"""What passes between a provider's wire format and the pipeline: replies in, schemas and results out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolcrib.call import Result, Schema, Tool, digest

Message = dict[str, Any]
#: Gives a model's arguments back their own parameter names and values, after a dialect had to bend them.
Restore = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call as a model wrote it.

    name: the model's name for the tool, untouched. id: the id to pair the result by; the provider's own, or one minted
    where that was blank, absent or already used in this reply (then the echo carries the minted one too).
    provider_call_id: exactly what the provider wrote, None if nothing. raw: the argument text, where the provider
    gives text. arguments: the parsed value, where it gives that instead (raw is then None).
    """

    name: str
    id: str
    provider_call_id: str | None
    raw: str | None = None
    arguments: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A model's whole response, read.

    echo: the assistant's message(s) to append to the history, in the provider's own shape: plain JSON dicts, unset
    fields left out, unknown fields kept. calls: in the model's order, provider-executed ones left out.
    problem: a protocol fault a program should know of (for example: finish reason tool_calls and no call), or None.
    """

    dialect: str
    echo: list[Message]
    calls: tuple[Asked, ...]
    text: str = ""
    response_id: str | None = None
    problem: str | None = None

    @property
    def digest(self) -> str:
        """sha256 of the canonical echo: what tells one reply from another."""
        return digest(self.echo)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView:
    """One tool as a dialect shows it: `spec` goes to the provider as it is; `restore` maps arguments back, if needed.

    Both are functions of the tool and its name in the menu alone: the same input gives the same bytes.
    """

    spec: dict[str, Any]
    restore: Restore | None = None
    warnings: tuple[str, ...] = ()


class Assembler(Protocol):
    """Puts the events of one provider stream together."""

    def feed(self, event: Mapping[str, Any]) -> None:
        """Takes the next event, a plain dict. Raises ReplyError where the provider reports an error in the stream."""

    def whole(self) -> dict[str, Any]:
        """The response as if it had not been streamed. Raises CutReply when the stream has not ended as it must."""


class DialectFormat(Protocol):
    """One provider's way to write tools, calls and results. One instance per dialect, without state."""

    name: str
    #: Pattern that a tool's name must match whole, and its greatest length in characters.
    name_pattern: str
    name_length: int

    def view(self, name: str, tool: Tool) -> ToolView:
        """The tool under that name. Raises DefinitionError when this provider cannot carry it, saying why."""

    def tools(self, views: Sequence[ToolView]) -> list[dict[str, Any]]:
        """The value of the request's `tools` for these tools, in this order; [] for none."""

    def request(self, views: Sequence[ToolView]) -> dict[str, Any]:
        """Keyword arguments for the provider's call; {} when there are no tools."""

    def reads(self, payload: Any) -> bool:
        """Whether a plain JSON value is a response, message, content or item list of this dialect. Never raises."""

    def streams(self, event: Any) -> bool:
        """Whether a plain JSON value is an event of a stream of this dialect. Never raises."""

    def read(self, payload: Any) -> Reply:
        """A payload that `reads`. Raises CutReply where it is not whole, ReplyError where it reports an error."""

    def assembler(self) -> Assembler:
        """For one stream."""

    def results(self, reply: Reply, results: Sequence[Result]) -> list[Message]:
        """The messages that answer `reply.calls`, one result for each and in that order; [] for no calls."""


#: Asked of a history's mender: the true result of a call that has none, or None where nothing is known of it.
Answer = Callable[["Reply", int], Result | None]

__all__ = [
    "Answer", "Asked", "Assembler", "DialectFormat", "Message", "Reply", "Restore", "Schema", "ToolView",
]  # fmt: skip
