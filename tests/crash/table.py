"""The crash table: a step of two calls with effects, pulled at each place.

python tests/crash/table.py     prints it; exit 1 where what happens is not what stands here
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import victim
from moments import ended, fork

STEP = "r1= pay:a pay:b"
_OPEN, _BEGUN, _DONE = "proposed", "started", "executed"
_UNKNOWN, _NOT = "outcome_unknown", "not_started"
#: place: what that is; the effects the world saw; what the journal says before anybody opens it again; what the next
#: process tells the model. Only where nothing had been recorded does that process run the calls.
TABLE: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "policy 2": ("while a policy decides", [], [], ["ok", "ok"]),
    "before begin 1": ("before the step is recorded", [], [], ["ok", "ok"]),
    "after begin 1": ("the step is recorded", [], [_BEGUN, _OPEN], [_UNKNOWN, _NOT]),
    "before effect 1": ("in a's body, before its effect", [], [_BEGUN, _OPEN], [_UNKNOWN, _NOT]),
    "after effect 1": ("a's effect has happened", ["a"], [_BEGUN, _OPEN], [_UNKNOWN, _NOT]),
    "before settle 1": ("a's body has ended", ["a"], [_BEGUN, _OPEN], [_UNKNOWN, _NOT]),
    "after settle 1": ("a's outcome is recorded", ["a"], [_DONE, _OPEN], ["ok", _NOT]),
    "before start 1": ("b is about to start", ["a"], [_DONE, _OPEN], ["ok", _NOT]),
    "after start 1": ("b's start is recorded", ["a"], [_DONE, _BEGUN], ["ok", _UNKNOWN]),
    "after effect 2": ("b's effect has happened", ["a", "b"], [_DONE, _BEGUN], ["ok", _UNKNOWN]),
    "after settle 2": ("b's outcome is recorded", ["a", "b"], [_DONE, _DONE], ["ok", "ok"]),
    "after run 1": ("the messages are handed over", ["a", "b"], [_DONE, _DONE], ["ok", "ok"]),
    "after confirm 1": ("the messages are confirmed", ["a", "b"], ["confirmed", "confirmed"], ["ok", "ok"]),
}


def measured(folder: Path, place: str) -> tuple[list[str], list[str], list[str]]:
    """Pulled there, looked at, and run again by another process."""
    path, world = folder / "crib.db", folder / "world"

    def program(place: str) -> None:
        async def work() -> None:
            plug = victim.Plug(place)
            async with victim.crib(f"sqlite:///{path}", world, plug) as made:
                await victim.turn(made, plug, [STEP])

        asyncio.run(work())

    assert ended(fork(lambda: program(place))) < 0, f"{place} was not reached"
    effects = [name for _, name, _ in victim.effects(world)]
    journal = [state for _, _, state, _ in victim.rows(path)]
    assert ended(fork(lambda: program(""))) == 0
    again = [name for _, name, _ in victim.effects(world)][len(effects) :]
    assert again == ([] if journal else ["a", "b"]), f"{place}: {again} ran again"
    return effects, journal, [code for _, _, _, code in victim.rows(path)]


def main() -> int:
    """Prints the table; how many places are not as they should be."""
    wrong = 0
    print(f"| {'killed':30} | {'effects':7} | {'the journal says':20} | {'the model is told':28} |")
    print(f"|{'-' * 32}|{'-' * 9}|{'-' * 22}|{'-' * 30}|")
    for place, (words, *expected) in TABLE.items():
        with tempfile.TemporaryDirectory() as folder:
            found = measured(Path(folder), place)
        effects, journal, told = (", ".join(each) for each in found)
        told += "" if journal else " (run now)"
        print(f"| {words:30} | {effects or 'none':7} | {journal or 'nothing':20} | {told:28} |")
        if list(found) != expected:
            wrong += 1
            print(f"{place}: expected {expected}", file=sys.stderr)
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(), 1))
