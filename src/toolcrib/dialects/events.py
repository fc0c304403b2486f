"""What one piece of a stream holds: strict JSON values, keep-alives, reports of errors."""

from __future__ import annotations

import re
from typing import Any

from pydantic_core import from_json

from toolcrib.errors import CutReply, ReplyError, UnknownFormat
from toolcrib.frozen import NotJson, snapshot

Event = dict[str, Any]

#: Keep-alives and end marks as gateways write them: ping, OK, [DONE], [HEARTBEAT].
_CHATTER = re.compile(r"\[?[\w .\-]{0,40}\]?")
#: Names of events that matter although a gateway may send them beside the data only.
_TELLING = ("response.", "message_", "content_block_", "error", "ping")


def strict_json(text: str | bytes) -> Any:
    """The value of a JSON text after RFC 8259: no NaN, no comments, nothing left over. Raises NotJson."""
    try:
        return snapshot(from_json(text, allow_inf_nan=False, cache_strings=False))
    except NotJson:
        raise
    except ValueError as problem:
        raise NotJson(str(problem)) from problem


def events_of(data: str, name: str = "") -> list[Event]:
    """The events in the data of one server-sent event called `name`; none in a keep-alive or an end mark."""
    data = data.strip()
    try:
        value = strict_json(data)
    except NotJson as problem:
        if name == "error" and data:
            raise ReplyError(f"the provider reports an error: {data[:200]}") from problem
        if _CHATTER.fullmatch(data):
            return []
        raise CutReply(f"the stream holds an event that is no whole JSON value: {problem}") from problem
    events = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    for event in events:
        if name.startswith(_TELLING) and "type" not in event:
            event["type"] = name
    return events


def no_response(what: str) -> UnknownFormat:
    """The error for an input that is something else, named."""
    return UnknownFormat(f"this is no model response ({what})")
