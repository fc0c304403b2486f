"""Real function schemas and calls: a bent call is recovered to what was meant, or refused; never run otherwise."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolcrib.read.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
EXCERPT = ROOT / "tests" / "data" / "bfcl_excerpt.jsonl"
WHOLE = ROOT.parent / "shared" / "data" / "bfcl_calls.jsonl"


def load(name: str) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


bfcl: Any = load("bfcl")


@pytest.fixture(params=[EXCERPT, WHOLE], ids=["excerpt", "whole"], scope="module")
def cases(request: pytest.FixtureRequest) -> Any:
    if not request.param.exists():
        pytest.skip(f"the whole set is not here ({request.param.name} is looked for in ../shared/data)")
    return bfcl.valid_cases(request.param)


@pytest.mark.parametrize("mutation", bfcl.MUTATIONS)
def test_a_bent_call_is_recovered_and_never_runs_with_other_values(cases: Any, mutation: str) -> None:
    tally = bfcl.Tally()
    for case in cases[0]:
        text = bfcl.MUTATIONS[mutation](case)
        if text is not None:
            reading = Reader(case.tool).read(text)
            tally.count(case, text, reading.arguments, reading.problem)
    assert tally.wrong == 0, tally.examples[:3]
    assert tally.recovered >= 0.95 * tally.cases, tally.examples[:3]


def test_a_call_that_fits_is_read_without_a_note(cases: Any) -> None:
    for case in cases[0]:
        reading = Reader(case.tool).read(json.dumps(case.truth))
        assert bfcl.equal(reading.arguments, case.truth, case.tool.parameters)
        assert all("was read as" in note for note in reading.notes)  # 42.0 for an integer alone


def test_a_call_that_does_not_fit_its_own_schema_is_refused_or_mended_with_a_note(cases: Any) -> None:
    for case in cases[1]:
        reading = Reader(case.tool).read(json.dumps(case.truth))
        assert reading.problem or reading.notes
