"""`new`, `doctor`, `demo`: a tool file to start from, what is wrong here, and everything once."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated

import typer

from toolcrib import __version__
from toolcrib.call import DIALECTS
from toolcrib.cli import options
from toolcrib.cli.console import command, notice, show_json
from toolcrib.errors import SettingsError, ToolcribError

_TEMPLATE = '''"""A tool for Toolcrib. Try it: toolcrib call {name} '{{"text": "hello"}}' --tools {folder}"""

from toolcrib import tool


@tool(read_only=True)
def {name}(text: str, times: int = 1) -> str:
    """Repeat a text.

    Args:
        text: What to repeat.
        times: How often.
    """
    return text * times
'''


@command
async def new(
    name: Annotated[str, typer.Argument(help="The tool's name, a Python identifier.")],
    folder: Annotated[Path, typer.Option("--folder", help="Where tool files live.")] = Path("toolbox"),
) -> int:
    """Write a tool file to start from: FOLDER/NAME_tool.py. Never overwrites one."""
    import keyword

    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise SettingsError(f"{name!r} cannot name a Python function; use letters, digits and underscores")
    file = folder / f"{name.removesuffix('_tool')}_tool.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as out:
            out.write(_TEMPLATE.format(name=name, folder=folder))
    except FileExistsError:
        raise SettingsError(f"{file} exists already; nothing was written") from None
    except OSError as problem:
        raise SettingsError(f"{file}: {problem.strerror or problem}") from problem
    typer.echo(str(file))
    notice(f'try it: toolcrib call {name} \'{{"text": "hello"}}\' --tools {folder}')
    return 0


@command
async def doctor(tools: options.Tools = None, db: options.Db = None, json: options.Json = False) -> int:
    """Say what is wrong here and how to mend it. Changes nothing. Exit 1 when something is."""
    findings = [finding async for finding in _findings(tools, db)]
    wrong = any(not fine for fine, _, _ in findings)
    if json:
        show_json([{"ok": fine, "subject": subject, "text": text} for fine, subject, text in findings])
        return int(wrong)
    for fine, subject, text in findings:
        typer.echo(f"{'ok   ' if fine else 'wrong'}  {subject}: {text}")
    return int(wrong)


async def _findings(tools: list[str] | None, db: str | None) -> AsyncIterator[tuple[bool, str, str]]:
    yield True, "toolcrib", f"{__version__}, Python {platform.python_version()}, {sys.platform}"
    try:
        crib, settings = options.crib_of(tools, db)
        yield True, "settings", str(settings.file or "no toolcrib.toml or [tool.toolcrib]; defaults hold")
        await crib.open_sources()
    except ToolcribError as problem:
        yield False, "settings", str(problem)
        return
    for source in crib.sources:
        found = source.tools()
        yield True, f"source {source.name}", f"{len(found)} tools"
        for warning in source.warnings:
            yield False, f"source {source.name}", str(warning)
    if not crib.sources:
        yield True, "sources", "none named; --tools or [crib] tools names some"
    from toolcrib.define.checks import check

    turn = crib.turn(user="local")
    for tool in crib.catalog.view(turn.caller, None).tools:
        try:
            for problem_text in check(tool):
                yield False, f"tool {tool.name}", problem_text
        except ToolcribError as problem:
            yield False, f"tool {tool.name}", str(problem)
    for dialect in DIALECTS:
        for warning in (turn.menu(dialect)).warnings:
            yield False, f"dialect {dialect}", str(warning)
    for finding in _journal(db, settings.get("db")):
        yield finding


def _journal(db: str | None, configured: str | None) -> Iterator[tuple[bool, str, str]]:
    from toolcrib.journal.examine import examine
    from toolcrib.journal.location import default_path, url_of

    url = db or configured or url_of(default_path(Path.cwd()))
    for fine, text in examine(url):
        yield fine, "journal", text


@command
async def demo() -> int:
    """Run real tools on four recorded provider responses, then show the journal. No key, no network."""
    from toolcrib.demo.show import show

    return await show()
