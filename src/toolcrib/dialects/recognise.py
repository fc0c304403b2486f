"""Which dialect a payload or a stream is written in; what is none is named for what it is."""

from __future__ import annotations

from codecs import BOM_UTF8
from typing import Any

from toolcrib.dialects import FORMATS, format_of
from toolcrib.dialects.events import no_response, strict_json
from toolcrib.dialects.fault import provider_error
from toolcrib.dialects.plain import is_model, plain
from toolcrib.dialects.strangers import stranger, stranger_event
from toolcrib.errors import ReplyError, UnknownFormat
from toolcrib.frozen import NotJson
from toolcrib.wire import Reply


def dialect_of(payload: Any) -> str:
    """The dialect of a plain JSON value: a whole response, an assistant message, its content, or a list of items.

    Raises ReplyError where it is a provider's report of an error, UnknownFormat where it is something else.
    """
    marked = _marked(payload)
    if marked is None:
        _raise_fault(payload)
    for name in (marked,) if marked else FORMATS:
        if format_of(name).reads(payload):
            return name
    raise _unknown(payload)


def dialect_of_stream(event: Any) -> str | None:
    """The dialect of a stream by one of its events, a plain JSON value; None where this event does not tell.

    Raises ReplyError for a provider's report of an error, UnknownFormat for an event of a known other format.
    """
    if not isinstance(event, dict) or event.get("type") == "ping":
        return None
    _raise_fault(event)
    marked = _marked(event)
    for name in (marked,) if marked else FORMATS:
        if format_of(name).streams(event):
            return name
    foreign = stranger_event(event)
    if foreign is not None:
        raise no_response(foreign)
    return None


def read_any(payload: Any, dialect: str | None = None) -> Reply:
    """A model's whole response in any form: an SDK's object, a dict, a list, JSON text, or a recorded stream.

    A recorded stream is a list of its events (SDK objects or dicts), or text or bytes of SSE, JSON lines or a JSON
    array of events. Raises CutReply where it is not whole, ReplyError where it reports an error, UnknownFormat where
    it is no response, or none of the dialect that was named, and for a recording of several responses.
    """
    return only(read_all(payload, dialect))


def only(replies: list[Reply]) -> Reply:
    """The one reply of a recording. Raises ReplyError where there are several."""
    if len(replies) > 1:
        raise ReplyError(f"this recording holds {len(replies)} responses; give them one by one")
    return replies[0]


def read_all(payload: Any, dialect: str | None = None) -> list[Reply]:
    """`read_any` for a recording that may hold several responses in a row; in their order, at least one."""
    if isinstance(payload, (bytes, bytearray, memoryview, str)):
        return _read_text(payload if isinstance(payload, str) else bytes(payload), dialect)
    value = plain_reply(payload)
    events = value if isinstance(value, list) else [value]
    if _is_stream(events, dialect, alone=not isinstance(value, list)):
        return _read_stream(events, dialect)
    return [read_value(value, dialect)]


def plain_reply(payload: Any) -> Any:
    """An SDK's object, a dict or a list as plain JSON data of our own. Raises UnknownFormat for anything else."""
    if not is_model(payload) and not isinstance(payload, (dict, list, tuple)):
        if hasattr(payload, "__aiter__") or hasattr(payload, "__iter__") or hasattr(payload, "__next__"):
            raise no_response(f"a stream or iterator, {type(payload).__name__}; read it with turn.stream")
        raise no_response("nothing" if payload is None else f"an object of type {type(payload).__name__}")
    try:
        return plain(payload)
    except NotJson as problem:
        raise no_response(f"not JSON data: {problem}") from problem


def read_value(value: Any, dialect: str | None) -> Reply:
    """A plain JSON value that is no stream, in the dialect named, else in the one it is recognised by."""
    if dialect is None:
        return format_of(dialect_of(value)).read(value)
    form = format_of(dialect)
    if not form.reads(value):
        _raise_fault(value)
        raise UnknownFormat(f"this is no response of the dialect {dialect!r} ({stranger(value)})")
    return form.read(value)


def _read_text(text: str | bytes, dialect: str | None) -> list[Reply]:
    try:
        value = strict_json(text.removeprefix("\ufeff") if isinstance(text, str) else text.removeprefix(BOM_UTF8))
    except NotJson:
        return _read_stream([text], dialect)
    return read_all(value, dialect) if isinstance(value, (dict, list)) else [read_value(value, dialect)]


def _is_stream(events: list[Any], dialect: str | None, *, alone: bool) -> bool:
    """Whether these are a stream's events. One dict that reads as a whole response is that (Gemini streams those)."""
    marked = dialect or (_marked(events[0]) if events else None)
    forms = [format_of(name) for name in ((marked,) if marked else FORMATS)]
    if alone:
        forms = [form for form in forms if not form.reads(events[0])]
    return any(form.streams(event) for event in events for form in forms)


def _read_stream(items: list[Any], dialect: str | None) -> list[Reply]:
    from toolcrib.dialects.stream import StreamReader

    reader = StreamReader(dialect)
    for item in items:
        reader.feed(item)
    return reader.finish_all()


def _raise_fault(value: Any) -> None:
    fault = provider_error(value)
    if fault is not None:
        raise ReplyError(f"the provider reports an error: {fault}")


def _marked(payload: Any) -> str | None:
    """The dialect by marks that tell it at once, so that the other formats need not be loaded."""
    if not isinstance(payload, dict):
        return None
    if payload.get("object") in ("chat.completion", "chat.completion.chunk"):
        return "openai"
    kind = payload.get("type")
    if payload.get("object") == "response" or (isinstance(kind, str) and kind.startswith("response.")):
        return "openai-responses"
    if kind == "message_start" or (kind == "message" and "stop_reason" in payload):
        return "anthropic"
    return "gemini" if "candidates" in payload else None


def _unknown(payload: Any) -> UnknownFormat:
    what = stranger(payload)
    hint = "; pass dialect=" if what.startswith("a dict with keys") else ""
    return UnknownFormat(f"this is no model response ({what}){hint}")
