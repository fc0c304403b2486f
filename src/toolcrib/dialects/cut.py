"""Calls that a provider cut off in the middle of writing."""

from __future__ import annotations

#: Finish reasons after which the last call is whole; any other may have struck while it was being written.
WHOLE_REASONS = frozenset({"", "stop", "tool_calls", "function_call", "tool_use", "end_turn", "completed", "eos"})


def cut_text(text: str) -> str:
    """The argument text of a call known to be cut off, such that no reader can take it for whole.

    A text that was cut before its first letter reads as "no arguments", and one cut after its last brace as complete;
    both would run what the model had not finished. What is returned is always an unclosed object.
    """
    opened = text.rstrip("}]\"'` \t\r\n")
    return opened if "{" in opened else "{" + opened
