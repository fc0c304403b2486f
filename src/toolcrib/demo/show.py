"""The demo: each recorded reply goes through `Turn.run`, then the journal is read back from its file."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from toolcrib.call import Call, Event
from toolcrib.journal.location import open_store
from toolcrib.journal.rows import CallRow
from toolcrib.messages import Messages
from toolcrib.runtime import Crib

HERE = Path(__file__).parent
TOOLBOX = HERE / "toolbox"
REPLIES = HERE / "replies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A reply of the folder `replies`, and what to look at."""

    file: str
    origin: str
    look: str


RECORDED = (
    Recorded(
        file="1-openai.json",
        origin="OpenAI Chat, recorded at Groq",
        look="The model left out the location. Nothing runs; it is told how to mend the call.",
    ),
    Recorded(
        file="2-openai-responses.json",
        origin="OpenAI Responses, recorded at OpenAI",
        look="There is no get_weather here. The model is told which tools there are.",
    ),
    Recorded(
        file="3-anthropic.json",
        origin="Anthropic, recorded at Anthropic",
        look="This tool writes a file: its start is in the journal before the file is touched.",
    ),
    Recorded(
        file="4-gemini.jsonl",
        origin="Gemini, a stream recorded at Google",
        look="Four calls at once. They overlap; the results come in the model's order.",
    ),
    Recorded(
        file="5-by-hand.json",
        origin="OpenAI Chat, recorded at Alibaba, its arguments broken by hand",
        look="A fence, single quotes, a comma too many, a number as text: mended, and the model is told.",
    ),
)


async def show() -> int:
    """Prints the demo to stdout; 0. It works in a temporary folder and leaves nothing behind."""
    console = _console()
    console.print(f"Tools from {TOOLBOX}", style="dim", soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="toolcrib-demo-") as folder, contextlib.chdir(folder):
        db = f"sqlite:///{Path(folder, 'crib.db').as_posix()}"
        await _replies(console, db)
        await _journal(console, db)
    console.print()
    console.print("Go on:", Text("toolcrib new greet", style="bold"), "writes a tool of your own to start from.")
    return 0


async def _replies(console: Console, db: str) -> None:
    asked: list[Call] = []

    def proposed(event: Event) -> None:
        if event.name == "proposed":
            asked.append(event.call)

    async with Crib(str(TOOLBOX), db=db, on=proposed) as crib:
        for number, recorded in enumerate(RECORDED, 1):
            turn = crib.turn(user="ada", conversation="demo", message=str(number))
            messages = await turn.run((REPLIES / recorded.file).read_bytes())
            await turn.confirm()
            _reply(console, number, recorded, asked, messages)
            asked.clear()
    console.print()
    _row(console, "on disk", _written())


def _written() -> str:
    """What the tool with an effect left in the working folder."""
    return f"issues.md, {Path('issues.md').read_text(encoding='utf-8').splitlines()[-1]}"


def _reply(console: Console, number: int, recorded: Recorded, asked: Sequence[Call], messages: Messages) -> None:
    console.print()
    console.print(Text(f"{number}  {recorded.origin}", style="bold"), Text(f"  {recorded.file}", style="dim"), sep="")
    console.print(Text(f"   {recorded.look}", style="italic"))
    for call in asked:
        _row(console, "wrote", f"{call.tool}  {call.raw or _json(call.arguments)}")
    for message in messages:
        _row(console, "goes back", _json(_short(message, _room(message))))


def _room(message: dict[str, Any]) -> int:
    """How much of each text is shown: little of the model's own words, most of an answer."""
    return 28 if message.get("role") in ("assistant", "model") or message.get("type") == "function_call" else 400


async def _journal(console: Console, db: str) -> None:
    store = open_store(db)
    rows = await store.find()
    await store.aclose()
    first = min((row.proposed_at for row in rows), default=0)
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("   journal", "state", "code", "started", "ended"):
        table.add_column(name, justify="right" if name in ("started", "ended") else "left")
    for row in rows:
        table.add_row(*(Text(cell) for cell in _cells(row, first)), style=None if row.code == "ok" else "yellow")
    console.print()
    console.print(Text("What happened, read back from the journal", style="bold"), Text("  milliseconds", style="dim"))
    console.print(table)


def _cells(row: CallRow, first: int) -> Iterator[str]:
    yield f"   {row.tool}"
    yield row.state
    yield row.code or ""
    for at in (row.started_at, row.ended_at):
        yield "" if at is None else f"{(at - first) / 1000:.0f}"


def _row(console: Console, name: str, text: str) -> None:
    indent = " " * 14
    wrapped = [line for part in text.splitlines() for line in wrap(part, console.width - len(indent))]
    for number, line in enumerate(wrapped):
        head = Text(f"{name:>12}  ", style="cyan") if number == 0 else indent
        console.print(head, Text(line), sep="", soft_wrap=True)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _short(value: Any, room: int) -> Any:
    if isinstance(value, dict):
        return {key: _short(item, room) for key, item in value.items()}
    if isinstance(value, list):
        return [_short(item, room) for item in value]
    if isinstance(value, str) and len(value) > room:
        return value[:room] + "…"
    return value


def _console() -> Console:
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=110)
