"""`journal` and `recover`: the book, and the end of what a dead process left."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from pydantic_core import from_json

from toolcrib.cli import options
from toolcrib.cli.console import command, notice, show_json, show_table
from toolcrib.errors import SettingsError
from toolcrib.journal.rows import CallRow

journal = typer.Typer(name="journal", help="The book of calls.", invoke_without_command=True, no_args_is_help=False)

State = Annotated[str | None, typer.Option("--state", help="Only calls in this state.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="At most so many, the newest; 0 for all.")]


async def _list(
    db: str | None, user: str | None, conversation: str | None, state: str | None, limit: int, json: bool
) -> int:
    store = await _store(db)
    rows = await store.find(user=user, conversation=conversation, state=state, limit=limit or None, latest=bool(limit))
    await store.aclose()
    if json:
        show_json([brief(row) for row in rows])
        return 0
    lines = [
        (row.id, _time(row.proposed_at) or "", row.tool, row.state, row.code or "", row.user or "", row.conversation)
        for row in rows
    ]
    show_table(("id", "proposed", "tool", "state", "code", "user", "conversation"), lines, "no calls yet")
    return 0


@journal.callback()
@command
async def _default(
    context: typer.Context,
    db: options.Db = None,
    user: options.User = None,
    conversation: options.Conversation = None,
    state: State = None,
    limit: Limit = 0,
    json: options.Json = False,
) -> int | None:
    """The book of calls. Without a command: list."""
    if context.invoked_subcommand is not None:
        return None
    return await _list(db, user, conversation, state, limit, json)


@command
async def list_calls(
    db: options.Db = None,
    user: options.User = None,
    conversation: options.Conversation = None,
    state: State = None,
    limit: Limit = 0,
    json: options.Json = False,
) -> int:
    """List calls, oldest first."""
    return await _list(db, user, conversation, state, limit, json)


@command
async def show(
    id: Annotated[str, typer.Argument(help="The call's id, or any unique beginning of it.")],
    db: options.Db = None,
    json: options.Json = False,
) -> int:
    """Show one call whole."""
    store = await _store(db)
    rows = await store.find(prefix=id)
    await store.aclose()
    exact = [row for row in rows if row.id == id]
    if len(exact or rows) != 1:
        what = "no call" if not rows else f"{len(rows)} calls"
        raise SettingsError(f"{what} with an id that begins with {id!r}; toolcrib journal list shows them")
    row = (exact or rows)[0]
    if json:
        show_json(whole(row))
        return 0
    for name, value in whole(row).items():
        if value not in (None, "", []):
            notice_value = value if isinstance(value, str) else _json(value)
            typer.echo(f"{name:>16}  {notice_value}")
    return 0


@command
async def export(db: options.Db = None, user: options.User = None, conversation: options.Conversation = None) -> int:
    """Print steps, calls and events as JSON lines."""
    store = await _store(db)
    async for record in store.export(user=user, conversation=conversation):
        typer.echo(_json(record))
    await store.aclose()
    return 0


@command
async def erase(
    user: Annotated[str, typer.Option("--user", help="Whose contents go; keys, hashes and states stay.")],
    db: options.Db = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Erase the contents of a user's calls. The book keeps that they happened, and that they were erased."""
    if not yes and not typer.confirm(f"Erase what the calls of {user!r} contain? This cannot be undone.", err=True):
        return 1
    store = await _store(db)
    count = await store.erase(user=user)
    await store.aclose()
    notice(f"erased the contents of {count} calls of {user!r}")
    return 0


journal.command("list")(list_calls)
journal.command("show")(show)
journal.command("export")(export)
journal.command("erase")(erase)


@command
async def recover(db: options.Db = None, json: options.Json = False) -> int:
    """End what dead processes left: what had begun becomes unknown, what had not is skipped. Runs no tool."""
    store = await _store(db)
    rows = await store.recover()
    await store.aclose()
    if json:
        show_json([brief(row) for row in rows])
        return 0
    lines = [(row.id, row.tool, row.state, row.code or "") for row in rows]
    show_table(("id", "tool", "state", "code"), lines, "nothing to recover")
    return 0


def brief(row: CallRow) -> dict[str, Any]:
    """A row as `journal list --json` prints it; times are ISO 8601 in UTC."""
    return {
        "id": row.id,
        "tool": row.tool,
        "source": row.source,
        "state": row.state,
        "code": row.code,
        "tenant": row.tenant,
        "user": row.user,
        "conversation": row.conversation,
        "message": row.message,
        "turn": row.turn,
        "step": row.step,
        "ordinal": row.ordinal,
        "parent": row.parent,
        "provider_call_id": row.provider_call_id,
        "attempts": row.attempts,
        "proposed_at": _time(row.proposed_at),
        "started_at": _time(row.started_at),
        "ended_at": _time(row.ended_at),
        "confirmed_at": _time(row.confirmed_at),
    }


def whole(row: CallRow) -> dict[str, Any]:
    """A row with its contents; the arguments are an object, `raw` is what the model wrote."""
    return brief(row) | {
        "name": row.name,
        "effects": row.effects.split(",") if row.effects else [],
        "raw": row.raw,
        "arguments": _value(row.arguments),
        "notes": _value(row.notes),
        "value": _value(row.value),
        "content": _value(row.content),
        "error": row.error,
        "late_result": _value(row.late_result),
        "owner": row.owner,
        "fence": row.fence,
    }


async def _store(db: str | None) -> Any:
    """The journal the options name, opened without changing a call in it."""
    from pathlib import Path

    from toolcrib.journal.location import default_url, open_store
    from toolcrib.settings import load

    url = db or load().get("db") or default_url(Path.cwd())
    if url == "off":
        raise SettingsError('the journal is off (db="off"); name one with --db')
    store = open_store(url)
    await store.open()
    return store


def _time(at: int | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at / 1_000_000, UTC).isoformat(timespec="microseconds")


def _value(text: str | None) -> Any:
    return None if text is None else from_json(text)


def _json(value: Any) -> str:
    from pydantic_core import to_json

    return to_json(value).decode()
