"""A turn's reply as it streams: the provider's text first, then what becomes of each call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from toolcrib.bridge import Faced, bridge, iterate
from toolcrib.call import Call, Event, Result
from toolcrib.messages import Messages

if TYPE_CHECKING:
    from toolcrib.turn import Turn
    from toolcrib.wire import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEvent:
    """name: "text" (a piece of what the model says), "chunk" (one item of the provider's stream, untouched), or the
    state a call has reached; then `call` is there, and `result` once the call has ended."""

    name: str
    text: str = ""
    chunk: Any = None
    call: Call | None = None
    result: Result | None = None


_END = object()


class TurnStream:
    """The events of one reply; an async context manager and iterator. Leaving early aborts, completely."""

    def __init__(self, turn: Turn, source: Any, dialect: Any) -> None:
        self._turn = turn
        self._source = source
        self._dialect = dialect
        self._events: asyncio.Queue[Any] = asyncio.Queue(maxsize=256)
        self._task: asyncio.Task[None] | None = None
        self._ended = False
        #: What `run` returns; there once the iteration has ended.
        self.messages = Messages()

    async def __aenter__(self) -> TurnStream:
        self._task = asyncio.create_task(self._produce())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        task = self._task
        assert task is not None
        task.cancel()
        while not task.done():
            while not self._events.empty():  # nobody reads any more: the producer must not wait for room
                self._events.get_nowait()
            await asyncio.wait((task,), timeout=0.05)

    def __aiter__(self) -> AsyncIterator[StreamEvent]:
        return self

    async def __anext__(self) -> StreamEvent:
        if self._ended:
            raise StopAsyncIteration
        event = await self._events.get()
        if isinstance(event, BaseException):
            self._ended = True
            raise event
        if event is _END:
            self._ended = True
            raise StopAsyncIteration
        assert isinstance(event, StreamEvent)
        return event

    async def _produce(self) -> None:
        try:
            replies = await self._replies()
            turn = self._turn
            forget = turn.observe(self._state)
            try:
                self.messages = await turn.run_replies(replies)
            finally:
                forget()
            await self._events.put(_END)
        except Exception as problem:
            await self._events.put(problem)

    async def _state(self, event: Event) -> None:
        if event.call.turn == self._turn.id:
            await self._events.put(StreamEvent(name=event.name, call=event.call, result=event.result))

    async def _replies(self) -> list[Reply]:
        from toolcrib.dialects.recognise import read_all
        from toolcrib.dialects.stream import StreamReader

        if not hasattr(self._source, "__aiter__") and not _streams(self._source):
            replies = read_all(self._source, self._dialect)
            for reply in replies:
                if reply.text:
                    await self._events.put(StreamEvent(name="text", text=reply.text))
            return replies
        reader = StreamReader(self._dialect)
        async for chunk in _items(self._source):
            await self._events.put(StreamEvent(name="chunk", chunk=chunk))
            for piece in reader.feed(chunk):
                await self._events.put(StreamEvent(name="text", text=piece))
        return reader.finish_all()


def _streams(source: Any) -> bool:
    """Whether a source gives items one by one, as opposed to being a reply (which may be a list, a dict, text)."""
    return hasattr(source, "__next__") or (
        hasattr(source, "__iter__")
        and not isinstance(source, (list, dict, str, bytes))
        and not hasattr(source, "model_dump")
    )


async def _items(source: Any) -> AsyncIterator[Any]:
    if hasattr(source, "__aiter__"):
        async for item in source:
            yield item
        return
    iterator = iter(source)
    while (item := await asyncio.to_thread(next, iterator, _END)) is not _END:
        yield item


class SyncTurnStream(Faced):
    """`TurnStream` without `await`: a context manager and iterator for any thread."""

    def __enter__(self) -> SyncTurnStream:
        bridge.run(self._original.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        bridge.run(self._original.__aexit__(kind, error, trace))

    def __iter__(self) -> Iterator[StreamEvent]:
        return iterate(self._original)

    @property
    def messages(self) -> Messages:
        """What `run` returns; there once the iteration has ended."""
        messages: Messages = self._original.messages
        return messages
