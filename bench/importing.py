"""What importing costs, beside `from pydantic import TypeAdapter`, each time in a fresh process with cached code.

    python bench/importing.py [--rounds 15] [--check]

Times are medians over shuffled rounds, measured inside the process around the statements alone. Memory is VmRSS of
the whole process after a first tool is built and used. --check exits 1 where a limit is passed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys

FACADE_LIMIT, CORE_LIMIT, MEMORY_LIMIT = 0.1, 2.2, 35.0

#: Loaded only by whoever uses what needs them.
HEAVY = (
    "jsonschema_rs", "mcp", "starlette", "uvicorn", "asyncpg", "sqlalchemy", "griffe", "rich", "typer", "httpx",
    "openai", "anthropic", "google.genai", "watchfiles",
)  # fmt: skip

WAYS = {
    "pydantic": "from pydantic import TypeAdapter",
    "facade": "import toolcrib",
    "core": """
from toolcrib import Crib, tool

@tool(read_only=True)
def add(left: int, right: int = 1) -> int:
    "Add two numbers."
    return left + right

crib = Crib([add], db="off")
""",
    "adapter": """
import asyncio
from pydantic import TypeAdapter
from typing_extensions import NotRequired, TypedDict

TypeAdapter(TypedDict("Arguments", {"left": int, "right": NotRequired[int]}))
""",
    "first": """
from toolcrib import Crib, tool

@tool(read_only=True)
def add(left: int, right: int = 1) -> int:
    "Add two numbers."
    return left + right

with Crib([add], db="off") as crib:
    result = crib.call("add", {"left": 1})
assert result.value == 2, result
""",
}

PROGRAM = """
import json, logging, sys, time, warnings
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
statements = compile(sys.argv[1], "statements", "exec")
begun = time.perf_counter()
exec(statements, {"__name__": "statements"})
took = time.perf_counter() - begun
try:
    with open("/proc/self/status") as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024
except OSError:
    memory = None
print(json.dumps([took, memory, [name for name in sys.argv[2].split() if name in sys.modules]]))
"""


def measured(way: str) -> tuple[float, float | None, list[str]]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", PROGRAM, WAYS[way], " ".join((*HEAVY, "sqlite3"))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{way} failed:\n{done.stderr}")
    took, memory, loaded = json.loads(done.stdout.splitlines()[-1])
    return took, memory, loaded


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--check", action="store_true")
    given = options.parse_args()
    for way in WAYS:
        measured(way)  # writes the cached code
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    memory: dict[str, list[float]] = {way: [] for way in WAYS}
    loaded: dict[str, list[str]] = {}
    for _ in range(given.rounds):
        for way in random.sample(list(WAYS), len(WAYS)):
            took, used, loaded[way] = measured(way)
            times[way].append(took)
            memory[way] += [] if used is None else [used]
    median = {way: statistics.median(taken) for way, taken in times.items()}
    facade, core = median["facade"] / median["pydantic"], median["core"] / median["pydantic"]
    used = statistics.median(memory["first"]) if memory["first"] else None
    heavy = sorted({name for way in ("facade", "core", "first") for name in loaded[way] if name in HEAVY})
    print(f"medians of {given.rounds} shuffled rounds, a fresh process each")
    lines = [
        ("from pydantic import TypeAdapter", f"{median['pydantic'] * 1000:7.1f} ms"),
        ("import toolcrib", f"{median['facade'] * 1000:7.1f} ms   {facade:.3f} of it (at most {FACADE_LIMIT})"),
        (
            "Crib, tool used",
            f"{median['core'] * 1000:7.1f} ms   {core:.2f} of it (at most {CORE_LIMIT}); a tool declared, a Crib made",
        ),
        (
            "and a first tool called",
            f"{median['first'] * 1000:7.1f} ms   {median['first'] / median['pydantic']:.2f} of it",
        ),
        (
            "asyncio and a first adapter, bare",
            f"{median['adapter'] * 1000:7.1f} ms   {median['adapter'] / median['pydantic']:.2f} of it: "
            "what the line above cannot go below",
        ),
        ("memory then", f"{used:7.1f} MB   (at most {MEMORY_LIMIT:g})" if used else "unknown here"),
        ("loaded of what should wait", ", ".join(heavy) or "nothing"),
        ("sqlite3 loaded", "yes" if "sqlite3" in loaded["first"] else "no"),
    ]
    for what, value in lines:
        print(f"{what:<36}{value}")
    over = facade > FACADE_LIMIT or core > CORE_LIMIT or (used or 0) > MEMORY_LIMIT or bool(heavy)
    return int(given.check and over)


if __name__ == "__main__":
    sys.exit(main())
