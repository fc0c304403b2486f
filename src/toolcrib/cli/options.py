"""The options that commands share, and the Crib they describe together with the project's settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from toolcrib.errors import SettingsError
from toolcrib.runtime import Crib
from toolcrib.settings import Settings, load

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        help="A folder or file of tools, plugin:NAME or package.module:object. Repeatable.",
        rich_help_panel="Tools and journal",
    ),
]
Db = Annotated[
    str | None,
    typer.Option("--db", help="The journal, as a URL: sqlite:///crib.db.", rich_help_panel="Tools and journal"),
]
User = Annotated[str | None, typer.Option("--user", help="Who asks.", rich_help_panel="Caller")]
Conversation = Annotated[
    str | None, typer.Option("--conversation", help="The conversation's name.", rich_help_panel="Caller")
]
Message = Annotated[
    str | None,
    typer.Option(
        "--message", help="The user message this answers; given again, the turn continues.", rich_help_panel="Caller"
    ),
]
Headless = Annotated[bool, typer.Option("--headless", help="No person is there to ask.", rich_help_panel="Caller")]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", help="A tool that needs no person this time. Repeatable.", rich_help_panel="Caller"),
]
Json = Annotated[bool, typer.Option("--json", help="JSON instead of text for people.")]
Dialect = Annotated[
    str | None,
    typer.Option("--dialect", help="openai, openai-responses, anthropic or gemini; found by itself when absent."),
]


def crib_of(tools: list[str] | None, db: str | None) -> tuple[Crib, Settings]:
    """The Crib that options and settings name; options win. A path on the command line is relative to the folder
    one stands in, a path of the settings file to that file."""
    settings = load()
    named: list[Any] = list(tools) if tools else list(settings.get("tools", ()))
    for tool in named:
        if not str(tool).strip():
            raise SettingsError("--tools is empty; name a folder, a file, plugin:NAME or package.module:object")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # for package.module:object; last, so that it shadows nothing installed
    crib = Crib(
        named,
        db=db if db is not None else settings.get("db"),
        ask=settings.get("ask", "destructive"),
        mask_errors=settings.get("mask_errors", False),
        max_parallel=settings.get("max_parallel", 10),
        threads=settings.get("threads", 32),
        base=Path.cwd(),
    )
    return crib, settings


def caller_of(
    settings: Settings,
    *,
    user: str | None,
    conversation: str | None,
    message: str | None,
    headless: bool,
    allow: list[str] | None,
) -> dict[str, Any]:
    """The keywords of `Crib.turn` that options and settings give; the user is `local` where nobody says."""
    caller: dict[str, Any] = {
        "user": user or settings.get("user") or "local",
        "tenant": settings.get("tenant"),
        "headless": headless or settings.get("headless", False),
        "preapproved": tuple(allow or settings.get("allow", ())),
        "platform": "cli",
    }
    if conversation is not None:
        caller["conversation"] = conversation
    if message is not None:
        caller["message"] = message
    return caller
