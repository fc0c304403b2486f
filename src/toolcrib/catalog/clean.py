"""A tool's name as models garble it: quoted, prefixed, in another case, with a template's control tokens in it."""

from __future__ import annotations

import re
import unicodedata

#: Names beyond this are no garbled ones: nothing is tried on them.
_LONGEST = 1000
#: Control tokens of chat templates, in the usual and the full-width writing.
_TOKEN = re.compile(
    r"<[|｜][^<>|｜]{0,64}[|｜]>|</?(?:s|tool_calls?|function_calls?|function|invoke|end_of_turn|start_of_turn|eos|bos)>"
    r"|\[/?(?:TOOL_CALLS|ARGS|CALL_ID|INST)\]"
)
_RECIPIENT = re.compile(r"(?:^|\s)to=(\S+)")
_PREFIX = re.compile(r"(?:functions?|tools?|default_api|namespace)(?:::|[.:/])\s*(?=\S)", re.IGNORECASE)
_FUNCTION_TAG = re.compile(r"<function=([^<>]+)>?")
_CALL_NUMBER = re.compile(r":\d{1,4}$")
_AROUND = " \t\r\n\v\f\0\ufeff\u200b\u2060\"'`“”‘’"
_SEPARATORS = re.compile(r"[\s_\-.:/\\]+")

#: Who speaks, in a template: never the name of a tool beside a control token.
_ROLES = frozenset({"assistant", "system", "user", "developer"})
#: What follows a control token in a template.
_ASIDES = frozenset({"analysis", "commentary", "final", "json", "code", "text"}) | _ROLES


def readings(written: str) -> list[str]:
    """The names that may be meant exactly, the least changed first. [] where no part of it can be a name."""
    if len(written) > _LONGEST:
        return []
    bare = written.strip(_AROUND)
    tag = _FUNCTION_TAG.fullmatch(bare)
    if tag is not None:
        bare = tag[1].strip(_AROUND)
    if _TOKEN.search(bare):
        meant = _between_tokens(bare)
        if meant is None:
            return []
        bare = meant
    found = [bare]
    if bare.endswith("()"):
        found.append(bare[:-2].rstrip())
    while (prefixed := _PREFIX.match(found[-1])) is not None:
        found.append(found[-1][prefixed.end() :].strip(_AROUND))
    found.append(_CALL_NUMBER.sub("", found[-1]))
    return [name for name in dict.fromkeys(found) if name]


def has_tokens(written: str) -> bool:
    """Whether a template's control tokens leaked into it: then only an exact name counts."""
    return len(written) <= _LONGEST and _TOKEN.search(written) is not None


def key(name: str) -> str:
    """The name without case and separators: `Read-File`, `readFile` and `read_file` have the same one."""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", name).casefold())


def _between_tokens(text: str) -> str | None:
    """The one part of a template's fragment that can be a name; None where there is none, or more than one."""
    recipient = _RECIPIENT.search(_TOKEN.sub(" ", text))
    if recipient is not None:
        return recipient[1].strip(_AROUND)
    first, *rest = (part.strip(_AROUND) for part in _TOKEN.split(text))
    parts = [first] if first and first not in _ROLES else []
    parts += [part for part in rest if part and part not in _ASIDES]
    if len(parts) > 1 and parts[0] in ("function", "tool"):
        parts.pop(0)
    return parts[0] if len(parts) == 1 else None
