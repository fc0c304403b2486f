"""What a call costs, beside what it costs elsewhere: all contestants in one run, in shuffled rounds.

    python bench/speed.py [--quick] [--rounds 15] [--only calls step journal] [--folder DIR]

Each peer runs in an environment of its own, made by the first run under bench/.envs. Absolute figures are the
machine's; the ratios are what counts, taken round by round. Exit 1 where a ratio is above (or below) its limit.
--folder: where the journals of the last part are written.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import platform
import random
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from peers.contestant import Contestant, python_of

PEERS = ("pydantic-ai", "openai-agents", "langgraph", "fastmcp")
MEASURE = "pydantic-ai"
#: Seconds that one contestant is run for in one round.
SLICE = 0.05
PARTS = ("calls", "step", "journal")


class Verdicts:
    """The promises, each with what came of it."""

    def __init__(self) -> None:
        self._lines: list[tuple[bool, str]] = []

    def at_most(self, what: str, ratios: Sequence[float], limit: float, aim: str = "") -> None:
        """Judges the median."""
        self._judge(statistics.median(ratios) <= limit, what, ratios, f"at most {limit:g}{aim}")

    def at_least(self, what: str, ratios: Sequence[float], limit: float) -> None:
        """Judges the median."""
        self._judge(statistics.median(ratios) >= limit, what, ratios, f"at least {limit:g}")

    def missing(self, what: str) -> None:
        """What could not be measured fails."""
        self._lines.append((False, what))

    def _judge(self, kept: bool, what: str, ratios: Sequence[float], limit: str) -> None:
        self._lines.append((kept, f"{what:<62} {statistics.median(ratios):5.2f}  ({limit}; {spread(ratios)})"))

    def show(self) -> bool:
        """Prints them; whether all are kept."""
        print()
        for kept, line in self._lines:
            print("PASS" if kept else "FAIL", line)
        return all(kept for kept, _ in self._lines)


def spread(values: Sequence[float]) -> str:
    """The middle half."""
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    digits = 2 if high < 10 else 1 if high < 1000 else 0
    return f"{low:.{digits}f} to {high:.{digits}f}"


def ratios(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Round by round."""
    return [value / other for value, other in zip(values, others, strict=True)]


def row(name: str, values: Sequence[float], unit: str, more: str = "") -> None:
    """One line of a table."""
    print(f"  {name:<30} {statistics.median(values):10.1f} {unit:<8} {spread(values):>18}  {more}")


# One call at a time


def contestants(verdicts: Verdicts) -> list[Contestant]:
    """All that could be started, Toolcrib first."""
    found = []
    for name in ("toolcrib", *PEERS):
        try:
            found.append(Contestant(name, Path(sys.executable) if name == "toolcrib" else python_of(name)))
        except (RuntimeError, OSError, subprocess.CalledProcessError) as problem:
            print(f"{name} could not be started: {problem}", file=sys.stderr)
            if name in ("toolcrib", MEASURE):
                verdicts.missing(f"{name} could not be started")
    return found


def race(runners: Sequence[Contestant], rounds: int) -> dict[tuple[str, str], list[float]]:
    """Microseconds a call, round by round, for each (contestant, case)."""
    sizes: dict[tuple[Contestant, str], int] = {}
    for runner in runners:
        for case in runner.cases:
            runner.run(case, 300)  # warms up
            sizes[runner, case] = max(20, int(100 * SLICE / runner.run(case, 100)))
    times: dict[tuple[str, str], list[float]] = {(runner.name, case): [] for runner, case in sizes}
    for _ in range(rounds):
        for runner, case in random.sample(list(sizes), len(sizes)):
            n = sizes[runner, case]
            times[runner.name, case].append(runner.run(case, n) / n * 1e6)
    return times


def calls(rounds: int, verdicts: Verdicts) -> None:
    """One `add` after the other, journal off."""
    runners = contestants(verdicts)
    try:
        pythons = {runner.python for runner in runners}
        assert len(pythons) <= 1, f"not the same Python everywhere: {pythons}"
        times = race(runners, rounds)
    finally:
        for runner in runners:
            runner.close()
    measure = times.get((MEASURE, "add"))
    print(f"One call of `add`, journal off (medians of {rounds} rounds; the middle half; ratio to {MEASURE})")
    for runner in runners:
        for case in sorted(runner.cases, key=lambda case: statistics.median(times[runner.name, case])):
            values = times[runner.name, case]
            more = "" if measure is None else f"{statistics.median(ratios(values, measure)):6.2f}"
            title = f"{runner.name} {runner.version}" if case == "add" else f"  + {case}"
            if case != "add":
                plain = times[runner.name, "add"]
                costs = [value - other for value, other in zip(values, plain, strict=True)]
                more += f"  {statistics.median(costs):+.1f} us"
            row(title, values, "us", more)
    if measure is None or ("toolcrib", "add") not in times:
        return
    aim = ", aim 0.6"
    verdicts.at_most("add, all stages / pydantic-ai", ratios(times["toolcrib", "add"], measure), 0.8, aim)
    what = "the same, digest, deadline, 2 policies, guards, observers"
    verdicts.at_most(what, ratios(times["toolcrib", "all"], measure), 1.2)


# One step, and the journal


def step(rounds: int, verdicts: Verdicts) -> None:
    """Eight calls of one message."""
    from peers.bare_gather import NAP, measure

    rounds *= 3
    times = asyncio.run(measure(rounds))
    print(f"\nEight calls of one message, {NAP * 1000:g} ms each (medians of {rounds} rounds; ratio to a bare gather)")
    for name, values in times.items():
        bare = times[f"{name.split(',')[0]}, bare"]
        ratio = statistics.median(ratios(values, bare))
        row(name, [value * 1000 for value in values], "ms", f"{ratio:6.2f}")
    verdicts.at_most("8 async calls / bare gather", ratios(times["async"], times["async, bare"]), 1.10)
    verdicts.at_most("8 sync calls / the length of one", [value / NAP for value in times["sync"]], 2.0)


def journal(rounds: int, quick: bool, folder: Path | None, verdicts: Verdicts) -> None:
    """64 callers at once with the journal on, and one alone."""
    from peers.bare_writer import CALLERS, measure

    speeds = measure(rounds, CALLERS * (40 if quick else 100), CALLERS, folder)
    bare, checked, ours = speeds.values()
    print(f"\n{CALLERS} callers of `add`, SQLite journal (medians of {rounds} paired rounds; share of the bare writer)")
    for name, values in speeds.items():
        row(name, values, "calls/s", f"{statistics.median(ratios(values, bare)):6.2f}")
    alone = measure(max(3, rounds // 3), 100 if quick else 300, 1, folder)
    print("\nOne caller alone, SQLite journal")
    for name, values in alone.items():
        row(name, [1e6 / value for value in values], "us")
    verdicts.at_least(f"journal on, {CALLERS} callers / bare writer of the same rows", ratios(ours, bare), 0.6)
    verdicts.at_least("the same / writer, validation and result JSON", ratios(ours, checked), 0.7)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="five rounds")
    options.add_argument("--rounds", type=int, default=None)
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options.add_argument("--folder", type=Path, default=None)
    given = options.parse_args()
    rounds = given.rounds or (5 if given.quick else 15)
    logging.getLogger("toolcrib").setLevel(logging.ERROR)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors{load}\n")
    verdicts = Verdicts()
    if "calls" in given.only:
        calls(rounds, verdicts)
    if "step" in given.only:
        step(rounds, verdicts)
    if "journal" in given.only:
        journal(rounds, given.quick, given.folder, verdicts)
    return 0 if verdicts.show() else 1


if __name__ == "__main__":
    sys.exit(main())
