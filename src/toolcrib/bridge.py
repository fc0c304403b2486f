"""The synchronous face: one long-lived background loop per process, and methods that run there.

It works from any thread, also inside a running loop and in a notebook, since the coroutine never runs on the caller's
own loop. Context variables of the caller are carried over.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, TypeGuard, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")


class Bridge:
    """A loop in a thread of its own, started at the first use and again in a forked child."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pid = 0

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The running loop."""
        if self._loop is None or self._pid != os.getpid():
            with self._lock:
                if self._loop is None or self._pid != os.getpid():
                    self._loop = self._begin()
                    self._pid = os.getpid()
        return self._loop

    def _begin(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="toolcrib-bridge", daemon=True).start()
        return loop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The coroutine's outcome. An interrupt of the waiting thread cancels it and waits for its orderly end."""
        if threading.current_thread().name == "toolcrib-bridge" and _running_loop() is self._loop:
            coroutine.close()
            raise RuntimeError("crib.sync was used inside a call that the bridge itself runs; await the method instead")
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        context = contextvars.copy_context()
        holder: list[asyncio.Task[T]] = []

        def begin() -> None:
            task = self.loop.create_task(coroutine, context=context)
            holder.append(task)
            task.add_done_callback(lambda done: _pass_on(done, future))

        self.loop.call_soon_threadsafe(begin)
        try:
            return future.result()
        except KeyboardInterrupt:
            self.loop.call_soon_threadsafe(lambda: [task.cancel() for task in holder])
            concurrent.futures.wait([future])
            raise

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Runs a coroutine in the background: for what several loops wait for, or nobody any more."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)


def awaitable(value: Any) -> TypeGuard[Awaitable[Any]]:
    """Whether a value is to be awaited. A tenth of `inspect.isawaitable`, which also looks for old generators."""
    return hasattr(type(value), "__await__")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _pass_on(task: asyncio.Task[T], future: concurrent.futures.Future[T]) -> None:
    if task.cancelled():
        future.cancel()
        future.set_running_or_notify_cancel()
    elif (problem := task.exception()) is not None:
        future.set_exception(problem)
    else:
        future.set_result(task.result())


bridge = Bridge()


class Faced:
    """Something with an asynchronous original behind it."""

    def __init__(self, original: Any) -> None:
        self._original = original


class blocking(Generic[P, T]):  # noqa: N801 - used as a declaration: `call = blocking(Crib.call)`
    """An async method's synchronous twin: same parameters, same types, no await."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: Any) -> blocking[P, T]: ...
    @overload
    def __get__(self, instance: Faced, owner: Any) -> Callable[P, T]: ...
    def __get__(self, instance: Faced | None, owner: Any) -> Any:
        if instance is None:
            return self
        method, original = self._method, instance._original

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return bridge.run(method(original, *args, **kwargs))

        return call


class faced(Generic[P, T]):  # noqa: N801
    """A plain method whose answer gets a synchronous face too."""

    def __init__(self, method: Callable[Concatenate[Any, P], Any], face: Callable[[Any], T]) -> None:
        self._method = method
        self._face = face
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: Any) -> faced[P, T]: ...
    @overload
    def __get__(self, instance: Faced, owner: Any) -> Callable[P, T]: ...
    def __get__(self, instance: Faced | None, owner: Any) -> Any:
        if instance is None:
            return self
        method, face, original = self._method, self._face, instance._original

        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return face(method(original, *args, **kwargs))

        return call


_END = object()


def iterate(iterator: Any) -> Iterator[Any]:
    """A synchronous walk over an async iterator, on the bridge's loop."""

    async def following() -> Any:
        try:
            return await iterator.__anext__()
        except StopAsyncIteration:
            return _END

    while (item := bridge.run(following())) is not _END:
        yield item
