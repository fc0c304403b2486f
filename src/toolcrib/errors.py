"""What raises, in one tree.

    ToolcribError
    +-- DefinitionError       a tool, toolkit or tool file is wrong; says which and how to mend it
    +-- SourceError           a source named by the operator is missing or cannot be loaded
    +-- SettingsError         a setting, option or name given by the operator is wrong
    |   +-- MissingExtra      a part is not installed; names the extra that brings it
    |   +-- UnknownTool       an operator or program named a tool that is not there (a model gets a result instead)
    +-- ReplyError            the input is no model response, or not a whole one
    |   +-- UnknownFormat     named for what it is
    |   +-- CutReply          a stream or a document ended before it was whole
    +-- JournalError          the book cannot be opened, read or written
    +-- ResultError           Result.unwrap() of a result that is not ok

    ToolError                 raised by a tool's body: an expected failure, its text is for the model

What a model, a user or an upstream can cause is never raised across the runtime: it is a `Result` with a code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolcrib.call import Result


class ToolcribError(Exception):
    """Whatever a programmer or an operator caused. The text says what to do."""


class DefinitionError(ToolcribError):
    """A tool, toolkit or tool file is wrong: raised where it is defined, or at first use when types resolve late."""


class SourceError(ToolcribError):
    """A source of tools is missing or does not load."""


class SettingsError(ToolcribError):
    """A setting, option or name is wrong."""


class MissingExtra(SettingsError):
    """A part that is not installed: `pip install 'toolcrib[EXTRA]'` brings it."""

    def __init__(self, needed_by: str, extra: str) -> None:
        super().__init__(f"{needed_by} needs pip install 'toolcrib[{extra}]'")
        self.extra = extra


class UnknownTool(SettingsError):
    """A program or operator named a tool that is not there."""


class ReplyError(ToolcribError):
    """The input is no model response that can be run."""


class UnknownFormat(ReplyError):
    """The input is something else: the text names what it is."""


class CutReply(ReplyError):
    """A stream or document that ended before it was whole. None of its calls may run."""


class JournalError(ToolcribError):
    """The journal cannot be opened, read or written."""


class ResultError(ToolcribError):
    """`Result.unwrap()` of a call that is not ok. `.result` is the whole result."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"{result.code}: {result.text}")
        self.result = result


class ToolError(Exception):
    """Raise it in a tool's body for an expected failure: its text is shown to the model as it is."""
