"""JSON values that nobody can change, and plain copies of them.

The domain is that of RFC 8259 as Python holds it: None, bool, int, finite float, str without lone surrogates, list and
dict with str keys. Everything else is refused by name, so that what was checked, shown and recorded is what runs.
"""

from __future__ import annotations

from typing import Any, NoReturn

#: Nesting deeper than this is refused: no honest call needs it, and every reader downstream recurses.
MAX_DEPTH = 200
#: Integers beyond this many bits are refused: they cost quadratic time to print.
MAX_INT_BITS = 4096


class NotJson(ValueError):
    """A value outside the domain: `str()` says where and what."""


def _refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
    raise TypeError("the arguments of a call are frozen; the body gets its own copy")


class FrozenDict(dict[str, Any]):
    """A dict that refuses every change; equal to, and printed as, the plain dict it was made of."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return (FrozenDict, (dict(self),))

    def __deepcopy__(self, memo: Any) -> FrozenDict:
        return self

    def copy(self) -> dict[str, Any]:
        """A plain, shallow, mutable copy; `thaw` gives a deep one."""
        return dict(self)


class FrozenList(list[Any]):
    """A list that refuses every change; equal to the plain list it was made of."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = remove = _refuse
    reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return (FrozenList, (list(self),))

    def __deepcopy__(self, memo: Any) -> FrozenList:
        return self

    def copy(self) -> list[Any]:
        """A plain, shallow, mutable copy; `thaw` gives a deep one."""
        return list(self)


def freeze(value: Any) -> Any:
    """A frozen deep copy of a plain JSON value; the value must already be in the domain (see `snapshot`)."""
    kind = type(value)
    if kind is dict:
        return FrozenDict({key: freeze(item) for key, item in value.items()} if _nested(value.values()) else value)
    if kind is list:
        return FrozenList([freeze(item) for item in value] if _nested(value) else value)
    return value


def thaw(value: Any) -> Any:
    """A plain, deep, mutable copy of a JSON value, frozen or not."""
    if isinstance(value, dict):
        return {key: thaw(item) if isinstance(item, (dict, list)) else item for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) if isinstance(item, (dict, list)) else item for item in value]
    return value


def _nested(items: Any) -> bool:
    for item in items:
        kind = type(item)
        if kind is dict or kind is list:
            return True
    return False


def snapshot(value: Any) -> Any:
    """A plain deep copy of a value a program handed in, read once, without loss; iterative: depth is counted.

    Raises `NotJson` for what JSON cannot hold: other types (bytes, tuples, sets, subclasses with their own access),
    NaN and infinities, keys that are not str, lone surrogates, cycles, nesting beyond MAX_DEPTH, integers beyond
    MAX_INT_BITS. Mappings other than dict are not copied: their reading may have side effects.
    """
    root: list[Any] = [None]
    # (source container, copy, path, depth); each container's slots are read exactly once.
    work: list[tuple[Any, Any, str, int]] = []

    def place(item: Any, path: str, depth: int) -> Any:
        kind = type(item)
        if item is None or kind is bool:
            return item
        if kind is str:
            try:
                item.encode("utf-8")
            except UnicodeEncodeError:
                raise NotJson(f"{path or 'value'}: text with a lone surrogate") from None
            return item
        if kind is int:
            if item.bit_length() > MAX_INT_BITS:
                raise NotJson(f"{path or 'value'}: an integer of more than {MAX_INT_BITS} bits")
            return item
        if kind is float:
            if item != item or item in (float("inf"), float("-inf")):
                raise NotJson(f"{path or 'value'}: {item} is no JSON number")
            return item
        if kind in (dict, FrozenDict, list, FrozenList):
            if depth >= MAX_DEPTH:
                raise NotJson(f"{path[:80] or 'value'}: nested more than {MAX_DEPTH} deep")
            copy: Any = {} if isinstance(item, dict) else []
            work.append((item, copy, path, depth))
            return copy
        raise NotJson(f"{path or 'value'}: {kind.__name__} is no JSON value")

    root[0] = place(value, "", 0)
    while work:
        source, copy, path, depth = work.pop()
        if isinstance(source, dict):
            for key, item in list(source.items()):
                if type(key) is not str:
                    raise NotJson(f"{path or 'value'}: the key {key!r} is no text")
                place(key, f"{path} (a key)", depth)
                copy[key] = place(item, f"{path}.{key}" if path else key, depth + 1)
        else:
            for index, item in enumerate(list(source)):
                copy.append(place(item, f"{path}[{index}]", depth + 1))
    return root[0]
