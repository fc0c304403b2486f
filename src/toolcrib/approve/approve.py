"""The stage `approve`: only for a call that asks. Until a person can be asked, such a call does not run."""

from __future__ import annotations

from toolcrib import words
from toolcrib.call import Code
from toolcrib.flight import Flight


class Approve:
    """Ends a call that asks, unless the caller's turn was given it in advance."""

    name = "approve"
    closing = False

    def __call__(self, flight: Flight) -> None:
        if flight.asks is None:
            return
        assert flight.tool is not None
        if flight.tool.name in flight.caller.preapproved:
            return
        code: Code = "headless_denied" if flight.caller.headless else "approval_unavailable"
        flight.end(code, words.text(code), operator=flight.asks or None)
