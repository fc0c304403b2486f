"""Whatever a provider's SDK hands out, as plain JSON data of our own."""

from __future__ import annotations

import base64
import sys
from datetime import date, time
from enum import Enum
from typing import Any

from toolcrib.frozen import MAX_DEPTH, MAX_INT_BITS, NotJson


def plain(value: Any) -> Any:
    """A detached plain copy: SDK models (pydantic), dicts, lists and tuples, mixed to any depth.

    Of a model: the fields that were set, unknown ones included, under their names on the wire. Raises NotJson for what
    JSON cannot hold, saying where.
    """
    return _plain(value, "", 0)


def is_model(value: Any) -> bool:
    """Whether this is an object of an SDK built on pydantic."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, pydantic.BaseModel)


def _plain(value: Any, path: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise NotJson(f"{path[:80] or 'value'}: nested more than {MAX_DEPTH} deep")
    if isinstance(value, dict):
        return {
            _key(key, path): _plain(item, f"{path}.{key}" if path else str(key), depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    if is_model(value):
        # Dumped, then walked again: a model's free fields may hold floats and texts that JSON does not allow.
        return _plain(value.model_dump(mode="json", exclude_unset=True, by_alias=True, warnings=False), path, depth)
    return _scalar(value, path)


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return str(_scalar(key, f"{path} (a key)"))
    raise NotJson(f"{path or 'value'}: the key {key!r} is no text")


def _scalar(value: Any, path: str) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise NotJson(f"{path or 'value'}: text with a lone surrogate") from None
        return str(value)
    if isinstance(value, int):
        if value.bit_length() > MAX_INT_BITS:
            raise NotJson(f"{path or 'value'}: an integer of more than {MAX_INT_BITS} bits")
        return int(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise NotJson(f"{path or 'value'}: {value} is no JSON number")
        return float(value)
    if isinstance(value, (bytes, bytearray)):  # as google-genai dumps signatures and pictures in Python's own mode
        return base64.b64encode(value).decode()
    if isinstance(value, (date, time)):
        return value.isoformat()
    raise NotJson(f"{path or 'value'}: {type(value).__name__} is no JSON value")
