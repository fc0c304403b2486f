"""What a model is told for each way a call can end: how to mend the call, never a path, a rule or a secret."""

from __future__ import annotations

from toolcrib.call import Code

_TEXTS: dict[str, str] = {
    "timeout": "The tool took too long.",
    "aborted": "The call was aborted while it ran.",
    "aborted_before_start": "The call was not begun: the turn was stopped before it. Nothing happened.",
    "not_started": "The call was not begun: the process ended before it. Nothing happened; call again if still needed.",
    "outcome_unknown": (
        "The outcome of this call is not known: it was begun and the process ended before it was recorded. "
        "Its effect may or may not have happened. Do not repeat it blindly: verify first, or ask."
    ),
    "denied": "The call was refused by policy.",
    "guarded": "The call was refused.",
    "approval_unavailable": "This call needs a person's approval, and nobody can be asked here. It did not run.",
    "headless_denied": "This call needs a person's approval, and this run has no person. It did not run.",
    "quota_exceeded": "This turn has used up its number of steps. No further call runs in it.",
    "journal_unavailable": "The call could not be recorded, so it did not run. Nothing happened; try again later.",
    "invalid_output": "The tool ran, but its answer could not be used. Its effect may have happened.",
}
_MAY_HAVE_HAPPENED = " Its effect may have happened: verify before repeating it."
_NOTHING_LOST = " It may be repeated."


def text(code: Code, reason: str = "", *, may_repeat: bool | None = None) -> str:
    """The text for a code; a reason of a policy, guard or tool follows it. may_repeat: of a body that was entered."""
    words = _TEXTS.get(code, "")
    if reason:
        words = f"{words} {reason}".strip() if code != "tool_error" else reason
    if may_repeat is not None:
        words += _NOTHING_LOST if may_repeat else _MAY_HAVE_HAPPENED
    return words
