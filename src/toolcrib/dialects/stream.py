"""A provider's stream, read as it arrives."""

from __future__ import annotations

from typing import Any

from toolcrib.dialects import format_of
from toolcrib.dialects.events import Event
from toolcrib.dialects.fault import provider_error
from toolcrib.dialects.feed import Feed
from toolcrib.dialects.recognise import dialect_of_stream, only, plain_reply, read_value
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Assembler, Reply


class StreamReader:
    """Takes the items of one stream one by one: an SDK's event objects, dicts, or chunks of its text or bytes.

    The dialect is told by the first event that shows it, unless it is named. Keep-alives and unknown events change
    nothing. `finish` raises CutReply where the stream ended early: then none of its calls may run.

    A recording may hold several responses one after the other; each must be whole before the next begins.
    """

    def __init__(self, dialect: str | None = None) -> None:
        self.dialect = dialect
        self._assembler: Assembler | None = None
        self._feed: Feed | None = None
        self._early: list[Event] = []  # events from before the dialect was known
        self._begun: Event | None = None
        self._whole: list[Reply] = []

    def feed(self, item: Any) -> list[str]:
        """Takes the next item and returns the pieces of the model's text that it brought.

        Raises ReplyError where the provider reports an error, UnknownFormat where this is no stream of a model.
        """
        if item is None:
            return []
        if isinstance(item, (bytes, bytearray, memoryview, str)):
            self._feed = self._feed or Feed()
            events = self._feed.feed(item)
        else:
            value = plain_reply(item)
            events = [event for event in (value if isinstance(value, list) else [value]) if isinstance(event, dict)]
        return [piece for event in events for piece in self._take(event)]

    def finish(self) -> Reply:
        """The reply, once the stream has ended. Raises ReplyError for a recording of several."""
        return only(self.finish_all())

    def finish_all(self) -> list[Reply]:
        """The replies, once the stream has ended: one, or several that were recorded in a row."""
        for event in self._feed.finish() if self._feed is not None else ():
            self._take(event)
        if self._assembler is None:
            return [self._unstreamed()]
        return [*self._whole, self._current()]

    def _current(self) -> Reply:
        assert self._assembler is not None
        return format_of(self.dialect or "").read(self._assembler.whole())

    def _take(self, event: Event) -> list[str]:
        # The OpenAI SDK's stream helpers wrap each chunk and add events of their own.
        if event.get("type") == "chunk" and isinstance(event.get("chunk"), dict):
            event = event["chunk"]
        events = [event]
        if self._begun is not None and _response_of(event) not in (None, _response_of(self._begun)):
            self._whole.append(self._current())
            self._assembler = None
        if _response_of(event) is not None:
            self._begun = event
        if self._assembler is None:
            self._early.append(event)
            if not self._begins(event):
                return []
            events, self._early = self._early, []
            self._assembler = format_of(self.dialect or "").assembler()
        pieces = []
        for each in events:
            self._assembler.feed(each)
            pieces += text_pieces(self.dialect or "", each)
        return pieces

    def _begins(self, event: Event) -> bool:
        """Whether this event shows the stream to be of the dialect: of the named one, or of any."""
        if self.dialect is None:
            self.dialect = dialect_of_stream(event)
            return self.dialect is not None
        if format_of(self.dialect).streams(event):
            return True
        fault = provider_error(event)
        if fault is not None:
            raise ReplyError(f"the provider reports an error: {fault}")
        return False

    def _unstreamed(self) -> Reply:
        """What came was no stream: a whole response sent in its place is read as such."""
        if not self._early:
            raise CutReply("the stream ended before it began: no event came")
        whole: Any = self._early[0] if len(self._early) == 1 else self._early
        return read_value(whole, self.dialect)


def _response_of(event: Event) -> str | None:
    """The id of the response that this event begins; None for an event that begins none."""
    begins = {"message_start": "message", "response.created": "response"}.get(str(event.get("type")))
    id = _dict(event.get(begins)).get("id") if begins else None
    return id if isinstance(id, str) and id else None


def text_pieces(dialect: str, event: Event) -> list[str]:
    """The pieces of the model's own text in one event: not its thinking, its calls or its refusals."""
    kind = event.get("type")
    found: list[Any] = []
    if dialect == "openai":
        choices = [choice for choice in _dicts(event.get("choices")) if choice.get("index") in (0, None)]
        found = [_dict(choice.get("delta")).get("content") for choice in choices]
    elif dialect == "openai-responses" and kind == "response.output_text.delta":
        found = [event.get("delta")]
    elif dialect == "anthropic" and kind == "content_block_delta":
        delta = _dict(event.get("delta"))
        found = [delta.get("text")] if delta.get("type") == "text_delta" else []
    elif dialect == "gemini":
        for candidate in _dicts(event.get("candidates"))[:1]:
            parts = _dicts(_dict(candidate.get("content")).get("parts"))
            found += [part.get("text") for part in parts if not part.get("thought")]
    return [piece for piece in found if isinstance(piece, str) and piece]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
