"""What commands print: JSON on stdout, or text for people; notices on stderr. And how a command ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import typer

from toolcrib.errors import ToolcribError

P = ParamSpec("P")
T = TypeVar("T")

INTERRUPTED = 130


def notice(text: str) -> None:
    """One line on stderr."""
    typer.echo(text, err=True)


def show_json(value: Any) -> None:
    """One JSON value on stdout, flushed."""
    text = json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


@contextmanager
def stdout_kept() -> Iterator[None]:
    """While tools run: what they, or programs they start, print goes to stderr. Our stdout is the result's alone."""
    real, saved = sys.stdout, None
    try:
        saved = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        saved = None
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stdout = real
        if saved is not None:
            os.dup2(saved, 1)
            os.close(saved)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], empty: str) -> None:
    """A table for people; whole values, wrapped, when the terminal is narrow."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    if not rows:
        typer.echo(empty)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_printable(cell)) for cell in row))
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def _printable(text: str) -> str:
    """Control characters made visible: what a model or a tool wrote must not steer the terminal."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def command(function: Callable[P, Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """A command from an async function that gives its exit code. What an operator caused is one line and exit 2."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            code = asyncio.run(_interruptible(function(*args, **kwargs)))
        except ToolcribError as problem:
            notice(f"toolcrib: {problem}")
            raise typer.Exit(2) from None
        except (KeyboardInterrupt, asyncio.CancelledError):
            notice("interrupted; what was begun is in the journal (toolcrib journal)")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        if code is not None:
            raise typer.Exit(code)

    return run


async def _interruptible(work: Coroutine[Any, Any, T]) -> T:
    """Ctrl-C stops in order: nothing more starts, what runs is drained and recorded. Pressed again, it ends at once."""
    task = asyncio.ensure_future(work)
    pressed = 0

    def interrupt() -> None:
        nonlocal pressed
        pressed += 1
        if pressed == 1:
            notice("stopping: waiting for what has begun; press Ctrl-C again to leave it")
            task.cancel()
        else:
            os._exit(INTERRUPTED)

    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
        loop.add_signal_handler(signal.SIGTERM, interrupt)
    except NotImplementedError:  # Windows: the default KeyboardInterrupt has to do
        pass
    return await task


def read_input(file: str) -> bytes:
    """The bytes of a file, or of standard input for "-". Raises SettingsError with one clear line."""
    from toolcrib.errors import SettingsError

    if file == "-":
        if sys.stdin.isatty():
            notice("reading from the terminal; end with Ctrl-D")
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as problem:
        raise SettingsError(f"{file}: {problem.strerror or problem}") from problem
