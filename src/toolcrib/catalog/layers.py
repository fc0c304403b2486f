"""Catalog: all tools known, in layers; what a caller sees of it is a view.

Layers go from far to near: global, tenant, user, conversation, agent (see `address.py`). A nearer tool hides every
farther one of its name, in whatever order they were registered. In one layer several sources may have the same name:
a menu tells them apart. Writers take turns; readers never wait for them.
"""

from __future__ import annotations

import functools
import itertools
import logging
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.call import Caller, Tool
from toolcrib.catalog.address import GLOBAL, KINDS, Layer, address, addresses, tenant_of
from toolcrib.catalog.names import Origin
from toolcrib.catalog.restrict import Restriction, restriction
from toolcrib.catalog.view import View
from toolcrib.errors import DefinitionError, SettingsError, UnknownTool

if TYPE_CHECKING:
    from toolcrib.catalog.view import Bent

log = logging.getLogger("toolcrib")

Undo: TypeAlias = Callable[[], None]
Listener: TypeAlias = Callable[[], object]

#: Views kept. Callers without layers of their own share one, so this counts different views, not callers.
_VIEWS = 256
_serials = itertools.count(1)


class _Held:
    """One registration; `group` is the source that `set_source` replaces as a whole."""

    __slots__ = ("group", "tool")

    def __init__(self, tool: Tool, group: str | None = None) -> None:
        self.tool = tool
        self.group = group


_Piece: TypeAlias = _Held | Restriction


class _Content:
    """What one layer holds. Replaced as a whole by every change; the serial tells one state from all others."""

    __slots__ = ("held", "restrictions", "serial")

    def __init__(self, serial: int, held: dict[Origin, _Held], restrictions: tuple[Restriction, ...]) -> None:
        self.serial = serial
        self.held = held
        self.restrictions = restrictions

    @property
    def tools(self) -> list[Tool]:
        return [held.tool for held in self.held.values()]


_EMPTY = _Content(0, {}, ())


class Catalog:
    """One for a crib. Thread-safe; views are immutable and served from a bounded cache.

    version: grows by every change.
    """

    def __init__(self) -> None:
        self.version = 0
        self._layers: dict[Layer, _Content] = {}
        self._listeners: dict[int, Listener] = {}
        #: Held by one change from its check to the last listener; listeners may change the catalog in turn.
        self._writing = threading.RLock()
        self._views: OrderedDict[tuple[int, ...], View] = OrderedDict()
        self._views_lock = threading.Lock()
        #: (version, view) of callers who see the global layer alone.
        self._plain: tuple[int, View] | None = None
        self._bent: Bent = weakref.WeakKeyDictionary()
        _alive.add(self)

    # Changes

    def register(self, tool: Tool, *, layer: Layer = GLOBAL) -> Undo:
        """Adds a tool to a layer. Calling what it returns takes exactly this registration back, once or many times.

        Raises DefinitionError where the layer holds that name of that source. What a listener raises is raised again,
        and the registration has not happened.
        """
        where = address(layer)
        held = _Held(tool)
        with self._writing:
            self._no_duplicate(where, (held,), ())
            self._change(where, (), (held,))
        return functools.partial(self._take_back, where, held)

    def set_source(self, source: str, tools: Iterable[Tool]) -> None:
        """Makes these the tools of a source in the global layer: what it had before goes, all in one change.

        Raises DefinitionError, and changes nothing, for a name twice or one registered otherwise.
        """
        coming = tuple(_Held(tool, source) for tool in tools)
        with self._writing:
            going = tuple(held for held in self._content(GLOBAL).held.values() if held.group == source)
            self._no_duplicate(GLOBAL, coming, going)
            if [held.tool for held in coming] != [held.tool for held in going]:
                self._change(GLOBAL, going, coming)

    def restrict(self, *, allow: Iterable[str] | None = None, deny: Iterable[str] | None = None, layer: Layer) -> Undo:
        """Lets only some of the tools a layer inherits through, to it and to every nearer one; gives the undo.

        Exactly one list, of names or `source/name`s that the layer inherits now. The layer's own tools are exempt.
        Tools registered later pass a deny list and are kept out by an allow list. All restrictions on the way to a
        caller hold together. Raises SettingsError (UnknownTool for a name that is not inherited).
        """
        where = address(layer)
        with self._writing:
            made = restriction(allow, deny, inherited=self._inherited(where), own=self._content(where).tools)
            self._change(where, (), (made,))
        return functools.partial(self._take_back, where, made)

    def drop(self, layer: Layer) -> None:
        """Ends a layer: its tools and restrictions go. For a conversation that is over."""
        where = address(layer)
        with self._writing:
            content = self._content(where)
            pieces: tuple[_Piece, ...] = (*content.held.values(), *content.restrictions)
            if pieces:
                self._replace(where, pieces, ())
                self._tell(tuple(self._listeners.values()))

    def on_change(self, listener: Listener) -> Undo:
        """Calls a function after every change, in the thread that made it; gives the undo.

        What it raises takes the change back and is raised to whoever made it; of an undo or `drop` it is logged. It
        must not wait for another thread that changes the catalog.
        """
        token = next(_serials)
        self._listeners[token] = listener

        def undo() -> None:
            self._listeners.pop(token, None)

        return undo

    def _change(self, layer: Layer, going: Sequence[_Piece], coming: Sequence[_Piece]) -> None:
        self._replace(layer, going, coming)
        told: list[Listener] = []
        try:
            for listener in tuple(self._listeners.values()):
                listener()
                told.append(listener)
        except BaseException:
            self._replace(layer, coming, going)
            self._tell(told)  # they know of a change that is no more
            raise

    def _take_back(self, layer: Layer, piece: _Piece) -> None:
        with self._writing:
            content = self._content(layer)
            if piece in content.restrictions or (
                isinstance(piece, _Held) and content.held.get(_origin(piece.tool)) is piece
            ):
                self._replace(layer, (piece,), ())
                self._tell(tuple(self._listeners.values()))

    def _replace(self, layer: Layer, going: Sequence[_Piece], coming: Sequence[_Piece]) -> None:
        old = self._content(layer)
        held, restrictions = dict(old.held), list(old.restrictions)
        for piece in going:
            if isinstance(piece, Restriction):
                restrictions.remove(piece)
            else:
                del held[_origin(piece.tool)]
                self._bent.pop(piece.tool, None)
        for piece in coming:
            if isinstance(piece, Restriction):
                restrictions.append(piece)
            else:
                held[_origin(piece.tool)] = piece
        if held or restrictions:
            self._layers[layer] = _Content(next(_serials), held, tuple(restrictions))
        else:
            self._layers.pop(layer, None)
        self.version += 1
        with self._views_lock:
            for key in [key for key in self._views if old.serial in key]:
                del self._views[key]

    def _tell(self, listeners: Iterable[Listener]) -> None:
        for listener in listeners:
            try:
                listener()
            except Exception:
                log.exception("a listener failed on a change of the catalog that stands")

    def _no_duplicate(self, layer: Layer, coming: Sequence[_Held], going: Sequence[_Held]) -> None:
        there = dict.fromkeys(self._content(layer).held)
        for held in going:
            del there[_origin(held.tool)]
        for held in coming:
            tool = held.tool
            if _origin(tool) in there:
                raise DefinitionError(
                    f"the {layer[0]} layer already has a tool {tool.name!r} of {tool.source!r}; "
                    "rename one, give it another source, or register it in a nearer layer"
                )
            there[_origin(tool)] = None

    # Views

    def view(self, caller: Caller, names: Iterable[str] | None = None, *, strict: bool = True) -> View:
        """What a caller sees; with names, only those (a name, or `source/name` for one of several).

        Callers who see the same get the same object. Raises UnknownTool for a name that matches nothing; with
        strict=False such names are only listed in the view's `missing`.
        """
        before = self.version  # grows after a change is in place, so a view of today is never kept for tomorrow
        alone = names is None and len(self._layers) == 1 and GLOBAL in self._layers
        if alone and self._plain is not None and self._plain[0] == before:
            return self._plain[1]
        chain = self._chain(caller)
        key = tuple(content.serial for content in chain)
        with self._views_lock:
            view = self._views.get(key)
            if view is not None:
                self._views.move_to_end(key)
        if view is None:
            view = self._keep(key, View(_surface(chain), key, bent=self._bent))
        if names is None:
            if alone and before == self.version:
                self._plain = (before, view)
            return view
        if isinstance(names, str):
            raise SettingsError(f"view= takes a list of names; got the text {names!r}")
        narrowed = view.narrowed(tuple(names))
        if strict and narrowed.missing:
            name = narrowed.missing[0]
            who = f" for user {caller.user!r}" if caller.user else ""
            raise UnknownTool(f"no tool {name!r}{who}; {view.nearest_text(name)} (view=...)")
        return narrowed

    def _keep(self, key: tuple[int, ...], view: View) -> View:
        with self._views_lock:
            kept = self._views.setdefault(key, view)
            while len(self._views) > _VIEWS:
                self._views.popitem(last=False)
        return kept

    def _chain(self, caller: Caller) -> list[_Content]:
        """The contents of the caller's layers, far to near, as they stood together at one moment."""
        way = addresses(caller)
        for _ in range(8):
            version = self.version
            chain = [self._layers[at] for at in way if at in self._layers]
            if version == self.version:
                return chain
        with self._writing:
            return [self._layers[at] for at in way if at in self._layers]

    def _content(self, layer: Layer) -> _Content:
        return self._layers.get(layer, _EMPTY)

    def _inherited(self, layer: Layer) -> list[Tool]:
        """The tools that may reach a layer: what comes through the layers certain to lie before it, and what the
        others that may lie before it (a conversation does not say whose it is) have of their own."""
        tenant, kind = tenant_of(layer), KINDS.index(layer[0])
        certain = [GLOBAL] if kind else []
        if tenant and kind > 1:
            certain.append(("tenant", tenant))
        found = _surface([self._content(at) for at in certain])
        for other, content in self._layers.items():
            possible = layer[0] == "agent" or tenant_of(other) == tenant
            if possible and other not in certain and KINDS.index(other[0]) < kind:
                found += content.tools
        return found


def _origin(tool: Tool) -> Origin:
    return tool.source, tool.name


def _surface(chain: Sequence[_Content]) -> list[Tool]:
    visible: dict[str, list[Tool]] = {}
    for content in chain:
        if content.restrictions:
            visible = {
                name: passed
                for name, tools in visible.items()
                if (passed := [tool for tool in tools if all(rule.admits(tool) for rule in content.restrictions)])
            }
        own: dict[str, list[Tool]] = {}
        for tool in content.tools:
            own.setdefault(tool.name, []).append(tool)
        visible.update(own)
    return [tool for tools in visible.values() for tool in tools]


_alive: weakref.WeakSet[Catalog] = weakref.WeakSet()


def _after_fork() -> None:
    """The thread that held a lock does not exist in the child."""
    for catalog in list(_alive):
        catalog._writing = threading.RLock()
        catalog._views_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
