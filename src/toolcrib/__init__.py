"""Toolcrib: the tool runtime for LLM agents.

Importing it does nothing else: each name loads its module at the first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.call import (
        Ask as Ask,
        Call as Call,
        Caller as Caller,
        Cancel as Cancel,
        Deny as Deny,
        Event as Event,
        File as File,
        Image as Image,
        Output as Output,
        Result as Result,
        Tool as Tool,
    )
    from toolcrib.define.function import tool as tool
    from toolcrib.define.injected import IdempotencyKey as IdempotencyKey, Injected as Injected
    from toolcrib.define.toolkit import ConfigField as ConfigField, Toolkit as Toolkit
    from toolcrib.errors import (
        CutReply as CutReply,
        DefinitionError as DefinitionError,
        JournalError as JournalError,
        MissingExtra as MissingExtra,
        ReplyError as ReplyError,
        ResultError as ResultError,
        SettingsError as SettingsError,
        SourceError as SourceError,
        ToolError as ToolError,
        ToolcribError as ToolcribError,
        UnknownFormat as UnknownFormat,
        UnknownTool as UnknownTool,
    )
    from toolcrib.messages import Messages as Messages
    from toolcrib.runtime import Crib as Crib, SyncCrib as SyncCrib
    from toolcrib.subcalls import Tools as Tools
    from toolcrib.turn import SyncTurn as SyncTurn, Turn as Turn

__version__ = "0.1.0"

_HOMES = {
    "Ask": "toolcrib.call",
    "Call": "toolcrib.call",
    "Caller": "toolcrib.call",
    "Cancel": "toolcrib.call",
    "ConfigField": "toolcrib.define.toolkit",
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

__all__ = [  # noqa: RUF022 - sorted, and a test says so
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
