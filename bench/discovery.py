"""What discovering 1,000 tool files costs, beside importing the same files the ordinary way.

    python bench/discovery.py [--files 1000] [--rounds 9] [--check]

Both ways run in this process, in turn, on the same files with their cached code in place: half `DEFINITION` and
`execute`, half `@tool`. Importing is `importlib.import_module` with the folder first on `sys.path`. The ratio is of
medians; --check exits 1 above 0.8.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 0.8

DEFINED = '''"""Tool {n}."""

DEFINITION = {{
    "id": "tool_{n}",
    "name": "tool_{n}",
    "description": "Look up record {n} and return what it holds.",
    "parameters": {{
        "type": "object",
        "properties": {{
            "key": {{"type": "string", "description": "The record's key."}},
            "limit": {{"type": "integer", "minimum": 1, "default": 10}},
        }},
        "required": ["key"],
    }},
}}


def execute(args, **context):
    return {{"key": args["key"], "limit": args.get("limit", 10), "n": {n}}}
'''
DECORATED = '''"""Tool {n}."""

from __future__ import annotations

from toolcrib import tool


@tool(read_only=True)
def tool_{n}(key: str, limit: int = 10) -> dict:
    """Look up record {n} and return what it holds.

    Args:
        key: The record's key.
        limit: At most so many.
    """
    return {{"key": key, "limit": limit, "n": {n}}}
'''


def write(folder: Path, count: int) -> list[str]:
    stems = []
    settled = time.time() - 60
    for n in range(count):
        stems.append(f"bench_{n:04}_tool")
        file = folder / f"{stems[-1]}.py"
        file.write_text((DECORATED if n % 2 else DEFINED).format(n=n), encoding="utf-8")
        os.utime(file, (settled, settled))
    return stems


def importing(folder: Path, stems: list[str]) -> float:
    gc.collect()
    sys.path_importer_cache.pop(str(folder), None)
    begun = time.perf_counter()
    sys.path.insert(0, str(folder))
    for stem in stems:
        importlib.import_module(stem)
    sys.path.remove(str(folder))
    took = time.perf_counter() - begun
    for stem in stems:
        del sys.modules[stem]
    return took


def discovering(folder: Path, stems: list[str]) -> float:
    from toolcrib.sources.folder import Folder

    before = set(sys.modules)
    gc.collect()
    begun = time.perf_counter()
    source = Folder(folder)
    tools = source.tools()
    took = time.perf_counter() - begun
    assert len(tools) == len(stems), source.warnings
    for name in set(sys.modules) - before:
        del sys.modules[name]
    return took


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--files", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    if sys.dont_write_bytecode:  # cached code must be written: begin again without the setting
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return subprocess.run([sys.executable, *sys.argv], env=clean, check=False).returncode
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        stems = write(folder, given.files)
        ways = [importing, discovering]
        for way in ways:
            way(folder, stems)
        times: dict[str, list[float]] = {way.__name__: [] for way in ways}
        for _ in range(given.rounds):
            random.shuffle(ways)
            for way in ways:
                times[way.__name__].append(way(folder, stems))
    plain, ours = (statistics.median(times[name]) for name in ("importing", "discovering"))
    print(f"{given.files} tool files, medians of {given.rounds} rounds in turn, cached code in place")
    print(f"importing them    {plain * 1000:8.1f} ms   importlib.import_module, the folder first on sys.path")
    print(f"discovering them  {ours * 1000:8.1f} ms   scanned, imported, every tool built")
    print(f"ratio             {ours / plain:8.2f}      (at most {LIMIT})")
    print(f"beyond importing  {(ours - plain) * 1000:8.1f} ms")
    return int(given.check and ours / plain > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
