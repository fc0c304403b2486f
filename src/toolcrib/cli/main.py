"""The command line. Each command is a thin edge on the public API."""

from __future__ import annotations

from typing import Annotated

import typer

from toolcrib import __version__
from toolcrib.cli import options
from toolcrib.cli.calls import call, repair, run, tools
from toolcrib.cli.journal import journal, recover
from toolcrib.cli.project import demo, doctor, new

app = typer.Typer(
    name="toolcrib",
    help="The tool runtime for LLM agents: every call is checked, run safely, and written down.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"toolcrib {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The tool runtime for LLM agents: every call is checked, run safely, and written down."""


for _command in (run, call, tools, recover, repair, new, doctor, demo):
    app.command()(_command)
app.add_typer(journal)

__all__ = ["app", "options"]
