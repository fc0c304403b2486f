"""The providers' dialects: schemas out, calls in, results out. Each is loaded when it is first used."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from toolcrib.errors import SettingsError
from toolcrib.wire import DialectFormat

#: dialect -> (module, class), in the order in which an unknown payload is tried.
FORMATS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "openai": ("toolcrib.dialects.openai_chat", "OpenAIChatFormat"),
        "openai-responses": ("toolcrib.dialects.openai_responses", "OpenAIResponsesFormat"),
        "anthropic": ("toolcrib.dialects.anthropic", "AnthropicFormat"),
        "gemini": ("toolcrib.dialects.gemini", "GeminiFormat"),
    }
)


@functools.cache
def format_of(name: str) -> DialectFormat:
    """The format of a dialect by name. Raises SettingsError for a name that is none."""
    if name not in FORMATS:
        raise SettingsError(f"no dialect {name!r}; there are {', '.join(FORMATS)}")
    module, kind = FORMATS[name]
    return cast(DialectFormat, getattr(importlib.import_module(module), kind)())
