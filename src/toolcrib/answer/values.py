"""What a body returned, as plain JSON data and content blocks. Survives whatever it returned.

NaN and infinities become null, bytes base64 with their size, sets sorted lists where they can be; objects that
pydantic knows (models, dataclasses, dates, UUIDs, Decimals) become what it makes of them. Depth and size are bounded.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from typing import Any

from pydantic_core import to_jsonable_python

from toolcrib.frozen import MAX_DEPTH, MAX_INT_BITS


class Unusable(Exception):
    """A value that JSON cannot hold: `str()` says where and what, without printing the value itself."""


_PLAIN = frozenset({str, int, float, bool, type(None)})


def plain(value: Any) -> Any:
    """Plain JSON data, detached from what the body may still change. Raises Unusable."""
    return _plain(value, "", 0, ())


def _plain(value: Any, path: str, depth: int, above: tuple[int, ...]) -> Any:
    kind = type(value)
    if kind is str:
        return _text(value)
    if kind is bool or value is None:
        return value
    if kind is int:
        return value if value.bit_length() <= MAX_INT_BITS else _refuse(path, "an integer too large to print")
    if kind is float:
        return value if math.isfinite(value) else None
    if depth > MAX_DEPTH:
        _refuse(path, f"nested more than {MAX_DEPTH} deep")
    if id(value) in above:
        _refuse(path, "a value that contains itself")
    above = (*above, id(value))
    if isinstance(value, dict):
        return {_key(key, path): _plain(item, f"{path}.{key}", depth + 1, above) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{index}]", depth + 1, above) for index, item in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        items = [_plain(item, f"{path}[]", depth + 1, above) for item in value]
        return sorted(items, key=lambda item: (str(type(item)), str(item)))
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        return {"base64": base64.b64encode(data).decode(), "bytes": len(data)}
    return _other(value, path, depth, above)


def _other(value: Any, path: str, depth: int, above: tuple[int, ...]) -> Any:
    """Objects: fields of dataclasses and pydantic models one by one (their NaN and bytes are ours to treat)."""
    try:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return _plain(fields, path, depth, above)
        dump = getattr(value, "model_dump", None)
        if dump is not None and not isinstance(value, type):
            return _plain(dump(by_alias=True), path, depth, above)
        if hasattr(value, "dtype") and hasattr(value, "tolist"):  # numpy scalars and arrays
            return _plain(value.tolist(), path, depth, above)
        return _plain(to_jsonable_python(value), path, depth, above)
    except Unusable:
        raise
    except Exception:
        return _refuse(path, f"{type(value).__name__} is nothing JSON can hold")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return _text(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, (int, float)):
        return repr(key)
    try:
        return _text(str(to_jsonable_python(key)))
    except Exception:
        return str(_refuse(path, f"a key of type {type(key).__name__}"))


def _text(value: str) -> str:
    """Text that UTF-8 can hold: lone surrogates are replaced, since no provider or database takes them."""
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def _refuse(path: str, what: str) -> Any:
    raise Unusable(f"{path.lstrip('.')[:120] or 'the value'}: {what}")
