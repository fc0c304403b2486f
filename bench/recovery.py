"""How many bent calls are recovered to what was meant, and whether any runs with other values.

    python bench/recovery.py [bfcl_calls.jsonl] [--dialects] [--show]

Exit 1 where less than 95 % of a mutation is recovered, or anything would run with other values.
"""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bfcl import DEFAULT, MUTATIONS, Case, Tally, valid_cases

from toolcrib.call import DIALECTS, Dialect
from toolcrib.read.reader import Reader

FLOOR = 0.95


def directly(cases: list[Case]) -> dict[str, Tally]:
    """Every mutation of every case, read with the tool's own schema."""
    tallies: dict[str, Tally] = {}
    for case in cases:
        reader = Reader(case.tool)
        for name, mutation in MUTATIONS.items():
            text = mutation(case)
            if text is not None:
                reading = reader.read(text)
                tallies.setdefault(name, Tally()).count(case, text, reading.arguments, reading.problem)
    return tallies


def through_dialects(cases: list[Case]) -> dict[str, Tally]:
    """Every case as a model would write it under each dialect's view of the tool, mapped back and read."""
    from toolcrib.dialects import format_of

    tallies: dict[str, Tally] = {}
    for dialect in DIALECTS:
        tally = tallies.setdefault(f"through {dialect}", Tally())
        for case in cases:
            view = format_of(dialect).view(re.sub(r"\W", "_", case.tool.name)[:64], case.tool)
            text = json.dumps(_as_shown(case, dialect, view.spec))
            reading = Reader(case.tool).read(text, restore=view.restore)
            tally.count(case, text, reading.arguments, reading.problem)
    return tallies


def _as_shown(case: Case, dialect: Dialect, spec: dict[str, Any]) -> dict[str, Any]:
    """The truth under the names the dialect shows, with null wherever the shown schema demands an absent one."""
    function = spec.get("function", spec)
    shown = function.get("parameters", function.get("input_schema", {})) or {}
    names = dict(zip(case.tool.parameters.get("properties", {}), shown.get("properties", {}), strict=True))
    made = {names[name]: item for name, item in case.truth.items()}
    return {**made, **{name: None for name in shown.get("required", []) if name not in made}}


def show(tallies: dict[str, Tally], examples: bool) -> bool:
    """Prints the table; whether all is well."""
    print(f"{'mutation':30} {'cases':>6} {'recovered':>9} {'%':>6} {'refused':>8} {'RUN WITH OTHER VALUES':>22}")
    fine = True
    for name, tally in tallies.items():
        share = tally.recovered / tally.cases if tally.cases else 1.0
        fine = fine and share >= FLOOR and not tally.wrong
        print(f"{name:30} {tally.cases:6} {tally.recovered:9} {share:6.1%} {tally.refused:8} {tally.wrong:22}")
        for example in tally.examples[:5] if examples else ():
            print("   ", example)
    return fine


def main(words: list[str]) -> int:
    """The command."""
    paths = [word for word in words if not word.startswith("--")]
    path = Path(paths[0]) if paths else DEFAULT
    begun = time.perf_counter()
    fitting, others = valid_cases(path)
    ran = [case for case in others if Reader(case.tool).read(json.dumps(case.truth)).arguments is not None]
    coerced = [case for case in ran if Reader(case.tool).read(json.dumps(case.truth)).notes]
    print(f"{len(fitting)} calls fit their own schema; {len(others) - len(ran)} of {len(others)} others are refused")
    if ran:
        print(f"  and {len(coerced)} coerced, with notes: {[case.id for case in coerced][:8]}")
    fine = show(directly(fitting), "--show" in words) and len(ran) == len(coerced)
    if "--dialects" in words:
        fine = show(through_dialects(fitting), "--show" in words) and fine
    print(f"{'fine' if fine else 'NOT fine'}, {time.perf_counter() - begun:.1f} s")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
