"""Toolcrib: the tool runtime for LLM agents.

Importing it does nothing else: each name loads its module at the first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.call import Ask, Call, Caller, Cancel, Deny, Event, File, Image, Output, Result, Tool
    from toolcrib.define.config import ConfigField
    from toolcrib.define.function import tool
    from toolcrib.define.injected import IdempotencyKey, Injected
    from toolcrib.define.toolkit import Toolkit
    from toolcrib.errors import (
        CutReply,
        DefinitionError,
        JournalError,
        MissingExtra,
        ReplyError,
        ResultError,
        SettingsError,
        SourceError,
        ToolcribError,
        ToolError,
        UnknownFormat,
        UnknownTool,
    )
    from toolcrib.messages import Messages
    from toolcrib.runtime import Crib, SyncCrib
    from toolcrib.subcalls import Tools
    from toolcrib.turn import SyncTurn, Turn

__version__ = "0.1.0"

_HOMES = {
    "Ask": "toolcrib.call",
    "Call": "toolcrib.call",
    "Caller": "toolcrib.call",
    "Cancel": "toolcrib.call",
    "ConfigField": "toolcrib.define.config",
    "Crib": "toolcrib.runtime",
    "CutReply": "toolcrib.errors",
    "DefinitionError": "toolcrib.errors",
    "Deny": "toolcrib.call",
    "Event": "toolcrib.call",
    "File": "toolcrib.call",
    "IdempotencyKey": "toolcrib.define.injected",
    "Image": "toolcrib.call",
    "Injected": "toolcrib.define.injected",
    "JournalError": "toolcrib.errors",
    "Messages": "toolcrib.messages",
    "MissingExtra": "toolcrib.errors",
    "Output": "toolcrib.call",
    "ReplyError": "toolcrib.errors",
    "Result": "toolcrib.call",
    "ResultError": "toolcrib.errors",
    "SettingsError": "toolcrib.errors",
    "SourceError": "toolcrib.errors",
    "SyncCrib": "toolcrib.runtime",
    "SyncTurn": "toolcrib.turn",
    "Tool": "toolcrib.call",
    "ToolError": "toolcrib.errors",
    "ToolcribError": "toolcrib.errors",
    "Toolkit": "toolcrib.define.toolkit",
    "Tools": "toolcrib.subcalls",
    "Turn": "toolcrib.turn",
    "UnknownFormat": "toolcrib.errors",
    "UnknownTool": "toolcrib.errors",
    "tool": "toolcrib.define.function",
}

__all__ = [
    "Ask",
    "Call",
    "Caller",
    "Cancel",
    "ConfigField",
    "Crib",
    "CutReply",
    "DefinitionError",
    "Deny",
    "Event",
    "File",
    "IdempotencyKey",
    "Image",
    "Injected",
    "JournalError",
    "Messages",
    "MissingExtra",
    "Output",
    "ReplyError",
    "Result",
    "ResultError",
    "SettingsError",
    "SourceError",
    "SyncCrib",
    "SyncTurn",
    "Tool",
    "ToolError",
    "ToolcribError",
    "Toolkit",
    "Tools",
    "Turn",
    "UnknownFormat",
    "UnknownTool",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolcrib' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
