"""What a turn hands back: the messages to append, and what a program wants to know of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from toolcrib.call import Result


class Messages(list[Any]):
    """A list of plain, JSON-serialisable dicts in the provider's own shape; empty while a call of the step waits.

    done: nothing is left to run: the model has answered. waiting: questions that a person must answer first.
    results: one per call of the step, in the model's order. text: what the model said beside its calls.
    """

    def __init__(
        self,
        messages: Iterable[dict[str, Any]] = (),
        *,
        done: bool = False,
        waiting: Sequence[Any] = (),
        results: Sequence[Result] = (),
        text: str = "",
    ) -> None:
        super().__init__(messages)
        self.done = done
        self.waiting = list(waiting)
        self.results = list(results)
        self.text = text
