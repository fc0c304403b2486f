"""The alphabet: Tool, Call, Caller, Decision, Result and the words for states and codes. Everything else speaks it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from toolcrib.definition import Schema as Schema
from toolcrib.definition import Tool as Tool
from toolcrib.definition import digest as digest
from toolcrib.errors import ResultError

if TYPE_CHECKING:
    pass

Dialect: TypeAlias = Literal["openai", "openai-responses", "anthropic", "gemini"]
DIALECTS: tuple[Dialect, ...] = ("openai", "openai-responses", "anthropic", "gemini")

State: TypeAlias = Literal[
    "proposed", "awaiting_approval", "started", "executed", "confirmed", "failed", "refused", "skipped", "unknown"
]
Code: TypeAlias = Literal[
    "awaiting_approval",
    # executed
    "ok", "tool_error", "invalid_output", "blocked",
    # failed, or unknown where an effect may have happened
    "timeout", "aborted",
    # refused
    "unknown_tool", "folded", "invalid_arguments", "denied", "guarded", "rejected", "approval_cancelled",
    "approval_expired", "approval_unavailable", "headless_denied", "authorization_required", "disabled",
    "quota_exceeded", "loop_detected", "circuit_open",
    # skipped
    "not_started", "aborted_before_start",
    # unknown
    "outcome_unknown",
    # no row
    "journal_unavailable",
]  # fmt: skip

#: States in which a call has ended: nothing but confirmation, a late settle or a person changes it.
ENDED: frozenset[str] = frozenset({"executed", "confirmed", "failed", "refused", "skipped", "unknown"})
REFUSED: frozenset[str] = frozenset(
    {
        "unknown_tool", "folded", "invalid_arguments", "denied", "guarded", "rejected", "approval_cancelled",
        "approval_expired", "approval_unavailable", "headless_denied", "authorization_required", "disabled",
        "quota_exceeded", "loop_detected", "circuit_open",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks. It comes from the program that embeds the runtime, never from a model's arguments."""

    user: str | None = None
    tenant: str | None = None
    conversation: str = ""
    message: str = ""
    agent: str | None = None
    timezone: str | None = None
    platform: str | None = None
    headless: bool = False
    preapproved: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Reasoned:
    reason: str = ""


class Deny(_Reasoned):
    """A policy's refusal: the reason is shown to the model."""

    __slots__ = ()


class Ask(_Reasoned):
    """A policy's demand that a person decides; the reason is shown to that person."""

    __slots__ = ()


class Cancel(_Reasoned):
    """A policy's stop: this call and every later one of the step are not begun."""

    __slots__ = ()


Decision: TypeAlias = Deny | Ask | Cancel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request of a model to run one tool, as policies, guards, observers and bodies see it.

    id is ours and unique; `provider_call_id` is what the provider wrote and proves nothing. `arguments` are frozen;
    None where they could not be read. `raw` is the model's own text (or the JSON of what it gave). `turn`, `step` and
    `ordinal` place it; `parent` is the id of the call whose body made it. `notes` say what was changed in reading.
    """

    id: str
    tool: str
    arguments: Any
    caller: Caller
    raw: str = ""
    turn: str = ""
    step: int = 0
    ordinal: int = 0
    parent: str | None = None
    provider_call_id: str | None = None
    source: str = ""
    effects: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def arguments_digest(self) -> str:
        """sha256 of the canonical arguments: what an approval is bound to."""
        return digest(self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a call; a value, never an exception.

    content: blocks for a model, each a JSON dict: {"type": "text", "text"}, {"type": "image", "data", "media_type"},
        {"type": "file", "data", "media_type", "name"}; data is base64.
    value: what the body returned as plain JSON data, whole at any size; None where it failed.
    notes: what was changed in reading the arguments, and what a reader must know of the outcome.
    """

    code: Code
    state: State
    call_id: str
    tool: str = ""
    content: tuple[dict[str, Any], ...] = ()
    value: Any = None
    notes: tuple[str, ...] = ()
    provider_call_id: str | None = None
    approval_id: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the call ran and succeeded."""
        return self.code == "ok"

    @property
    def text(self) -> str:
        """The text blocks, joined by newlines."""
        return "\n".join(block["text"] for block in self.content if block.get("type") == "text")

    def unwrap(self) -> Any:
        """The value of a call that is ok; raises ResultError of any other."""
        if self.code != "ok":
            raise ResultError(self)
        return self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image as a body returns it. data: the bytes. media_type: for example image/png."""

    data: bytes
    media_type: str = "image/png"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file as a body returns it."""

    data: bytes
    name: str
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Output:
    """A body's answer in parts: the whole value for code and journal, and a short form for the model.

    text: replaces the rendering of the value. content: further blocks: texts, `Image`, `File`.
    """

    value: Any = None
    text: str | None = None
    content: Iterable[Any] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What an observer is told: `name` is the state the call has reached, `result` is there once it has ended."""

    name: str
    call: Call
    result: Result | None = None


def draft(kind: type) -> type:
    """A class with the same slots that may still be written. Filled field by field and then made the frozen class by
    its `__class__`, an instance costs a tenth of what a frozen dataclass's own `__init__` takes; a call makes four.
    """
    slots: tuple[str, ...] = tuple(vars(kind)["__slots__"])
    return type(f"{kind.__name__}Draft", (), {"__slots__": slots, "__module__": __name__})


CallDraft, CallerDraft, EventDraft, ResultDraft = draft(Call), draft(Caller), draft(Event), draft(Result)
