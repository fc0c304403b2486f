"""`run`, `call`, `tools`, `repair`: what a model asked for, one call, what there is, and a history made whole."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from toolcrib.call import DIALECTS, Result
from toolcrib.cli import options
from toolcrib.cli.console import command, notice, read_input, show_json, show_table, stdout_kept
from toolcrib.errors import ReplyError, SettingsError


@command
async def run(
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A model's response: JSON, JSON lines or SSE.")] = "-",
    tools: options.Tools = None,
    db: options.Db = None,
    dialect: options.Dialect = None,
    user: options.User = None,
    conversation: options.Conversation = None,
    message: options.Message = None,
    headless: options.Headless = False,
    allow: options.Allow = None,
    json: options.Json = False,
) -> int:
    """Run the calls of one model response and print the messages to append, as one JSON array on stdout.

    Everything else goes to stderr. Exit 2: the input is no model response; nothing ran.
    """
    data = read_input(file)
    crib, settings = options.crib_of(tools, db)
    who = options.caller_of(
        settings, user=user, conversation=conversation, message=message, headless=headless, allow=allow
    )
    async with crib:
        _warn_of_sources(crib)
        turn = crib.turn(**who)
        try:
            with stdout_kept():
                messages = await turn.run(data, _dialect(dialect))
        except ReplyError as problem:
            said = str(problem).replace("pass dialect=", "name it with --dialect")
            raise type(problem)(f"{'standard input' if file == '-' else file}: {said}") from problem
        notice(f"conversation {turn.caller.conversation}")
        for result in messages.results:
            notice(_line(result))
        show_json(messages)
        await turn.confirm()
    return 0


@command
async def call(
    name: Annotated[str, typer.Argument(help="The tool's name.")],
    arguments: Annotated[
        str, typer.Argument(metavar="[JSON|-]", help="Its arguments; - reads them from stdin.")
    ] = "{}",
    tools: options.Tools = None,
    db: options.Db = None,
    user: options.User = None,
    conversation: options.Conversation = None,
    message: options.Message = None,
    headless: options.Headless = False,
    allow: options.Allow = None,
    json: options.Json = False,
) -> int:
    """Run one tool through every stage and print its result. Exit 1 when the result is not ok."""
    text = read_input("-").decode("utf-8", "replace") if arguments == "-" else arguments
    crib, settings = options.crib_of(tools, db)
    who = options.caller_of(
        settings, user=user, conversation=conversation, message=message, headless=headless, allow=allow
    )
    async with crib:
        _warn_of_sources(crib)
        with stdout_kept():
            result = await crib.call(name, text, **who)
        if json:
            show_json(shown(result))
        else:
            typer.echo(result.text) if result.ok else notice(_line(result) + "\n" + result.text)
            for block in result.content:
                if block["type"] != "text":
                    notice(f"{block['type']} {block.get('name', '')} {block['media_type']}: --json prints its bytes")
        await crib.book.confirm_call(result.call_id)
    return 0 if result.ok else 1


@command
async def tools(
    tools: options.Tools = None,
    db: options.Db = None,
    dialect: options.Dialect = None,
    available: Annotated[
        bool, typer.Option("--available", help="What installed packages offer, named or not.")
    ] = False,
    user: options.User = None,
    json: options.Json = False,
) -> int:
    """List the tools, or with --dialect exactly what a provider is shown."""
    if available:
        return _available(json)
    crib, settings = options.crib_of(tools, "off" if db is None else db)
    await crib.open_sources()
    _warn_of_sources(crib)
    turn = crib.turn(user=user or settings.get("user") or "local", tenant=settings.get("tenant"))
    wanted = _dialect(dialect)
    if wanted is not None:
        show_json(await turn.tools(wanted))
        return 0
    found = crib.catalog.view(turn.caller, None).tools
    if json:
        show_json(
            [
                {
                    "name": tool.name,
                    "source": tool.source,
                    "description": tool.description,
                    "effects": list(tool.effects),
                    "parameters": tool.model_parameters,
                }
                for tool in found
            ]
        )
        return 0
    rows = [
        (tool.name, ", ".join(tool.effects) or "effectful", tool.source, tool.description.split("\n")[0])
        for tool in found
    ]
    show_table(("tool", "effects", "source", "description"), rows, "no tools; name some with --tools")
    return 0


@command
async def repair(
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A history: a JSON array of messages.")] = "-",
    dialect: options.Dialect = None,
    db: options.Db = None,
    user: options.User = None,
    conversation: options.Conversation = None,
    json: options.Json = False,
) -> int:
    """Mend a history so that any provider accepts it, and print it as one JSON array.

    Missing results get their true state from the journal, results move beside their calls, orphans go.
    """
    from pydantic_core import from_json

    try:
        messages = from_json(read_input(file))
    except ValueError as problem:
        raise ReplyError(f"{file}: this is no JSON: {problem}") from problem
    if isinstance(messages, dict) and isinstance(messages.get("messages"), list):
        messages = messages["messages"]
    if not isinstance(messages, list):
        raise ReplyError(f"{file}: a history is an array of messages; this is a {type(messages).__name__}")
    crib, _ = options.crib_of(None, db)
    narrowed: dict[str, Any] = {"user": user, "conversation": conversation}
    async with crib:
        whose = {key: value for key, value in narrowed.items() if value is not None}
        show_json(await crib.mended(messages, _dialect(dialect), everyone=True, **whose))
    return 0


def shown(result: Result) -> dict[str, Any]:
    """A result as `call --json` prints it."""
    return {
        "ok": result.ok,
        "code": result.code,
        "state": result.state,
        "tool": result.tool,
        "text": result.text,
        "value": result.value,
        "content": list(result.content),
        "notes": list(result.notes),
        "call_id": result.call_id,
    }


def _line(result: Result) -> str:
    return f"{result.tool}: {result.state}, {result.code} ({result.call_id})"


def _dialect(name: str | None) -> Any:
    if name is not None and name not in DIALECTS:
        raise SettingsError(f"no dialect {name!r}; there are {', '.join(DIALECTS)}")
    return name


def _warn_of_sources(crib: Any) -> None:
    for source in crib.sources:
        for warning in source.warnings:
            notice(f"warning: {warning}")


def _available(json: bool) -> int:
    from toolcrib.sources.plugins import available

    found = available()
    if json:
        show_json([{"name": f"plugin:{each.name}", "distribution": each.distribution} for each in found])
    else:
        rows = [(f"plugin:{each.name}", each.distribution) for each in found]
        show_table(
            ("name", "package"), rows, "no installed package offers tools (entry points of group toolcrib.tools)"
        )
    return 0
