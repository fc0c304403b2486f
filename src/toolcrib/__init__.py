"""Toolcrib: the tool runtime for LLM agents.

Importing it does nothing else: each name loads its module at the first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolcrib.call import (
        Ask as Ask,
    )
    from toolcrib.call import (
        Call as Call,
    )
    from toolcrib.call import (
        Caller as Caller,
    )
    from toolcrib.call import (
        Cancel as Cancel,
    )
    from toolcrib.call import (
        Deny as Deny,
    )
    from toolcrib.call import (
        Event as Event,
    )
    from toolcrib.call import (
        File as File,
    )
    from toolcrib.call import (
        Image as Image,
    )
    from toolcrib.call import (
        Output as Output,
    )
    from toolcrib.call import (
        Result as Result,
    )
    from toolcrib.call import (
        Tool as Tool,
    )
    from toolcrib.define.function import tool as tool
    from toolcrib.define.injected import IdempotencyKey as IdempotencyKey
    from toolcrib.define.injected import Injected as Injected
    from toolcrib.define.toolkit import ConfigField as ConfigField
    from toolcrib.define.toolkit import Toolkit as Toolkit
    from toolcrib.errors import (
        CutReply as CutReply,
    )
    from toolcrib.errors import (
        DefinitionError as DefinitionError,
    )
    from toolcrib.errors import (
        JournalError as JournalError,
    )
    from toolcrib.errors import (
        MissingExtra as MissingExtra,
    )
    from toolcrib.errors import (
        ReplyError as ReplyError,
    )
    from toolcrib.errors import (
        ResultError as ResultError,
    )
    from toolcrib.errors import (
        SettingsError as SettingsError,
    )
    from toolcrib.errors import (
        SourceError as SourceError,
    )
    from toolcrib.errors import (
        ToolcribError as ToolcribError,
    )
    from toolcrib.errors import (
        ToolError as ToolError,
    )
    from toolcrib.errors import (
        UnknownFormat as UnknownFormat,
    )
    from toolcrib.errors import (
        UnknownTool as UnknownTool,
    )
    from toolcrib.messages import Messages as Messages
    from toolcrib.runtime import Crib as Crib
    from toolcrib.runtime import SyncCrib as SyncCrib
    from toolcrib.subcalls import Tools as Tools
    from toolcrib.turn import SyncTurn as SyncTurn
    from toolcrib.turn import Turn as Turn

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
