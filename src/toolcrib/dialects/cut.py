"""Calls that a provider cut off in the middle of writing."""

from __future__ import annotations

_WHOLE = frozenset(
    {"", "stop", "tool_calls", "tool_call", "function_call", "tool_use", "end_turn", "completed", "eos", "eos_token"}
)


def may_cut(reason: object) -> bool:
    """Whether a finish reason may have struck while the last call was being written: any but the known good ones."""
    return isinstance(reason, str) and reason.strip().lower() not in _WHOLE


def cut_text(text: str) -> str:
    """The argument text of a call known to be cut off, such that no reader can take it for whole.

    A text that was cut before its first letter reads as "no arguments", and one cut after its last brace as complete;
    both would run what the model had not finished. What is returned is always an unclosed object.
    """
    opened = text.rstrip("}]\"'` \t\r\n")
    return opened if "{" in opened else "{" + opened
