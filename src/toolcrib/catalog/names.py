"""A tool's name as a provider allows it.

The rule, in this order, for the tools of one view:

1. A name that only one tool has and that the provider accepts stays as it is, and no other tool can take it.
2. A name that only one tool has is bent: forbidden characters become separators. Foreign letters or too many of them
   leave a readable head and a short hash of the whole name.
3. A name that several tools have is prefixed by where each comes from (`brave_search`) and then treated likewise.
4. What is still taken gets a number.

The outcome depends on the set of tools alone, never on the order in which they came.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from toolcrib.call import Tool
from toolcrib.errors import DefinitionError

#: Where a tool comes from and what it is called there: what permissions and settings are keyed by, never its alias.
Origin = tuple[str, str]

#: A name shorter than this has no room for a hash that tells tools apart.
MIN_LENGTH = 16
_HASH_LENGTHS = (8, 16, 32, 64)
_VERB = re.compile(r"(GET|PUT|POST|DELETE|PATCH|HEAD|OPTIONS|TRACE|QUERY)(?=[\s:/])")
_LAST_PART = re.compile(r"[^/\\:]+")


def aliases(tools: Sequence[Tool], pattern: str, length: int) -> list[str]:
    """One name for each tool, in the order given: unique, matching the pattern whole, at most `length` characters.

    Raises DefinitionError for a pattern or length that no readable name can meet.
    """
    rule = _rule(pattern, length)
    count = Counter(tool.name for tool in tools)
    taken = {name for name, times in count.items() if times == 1 and rule.accepts(name)}
    given = [tool.name if tool.name in taken else "" for tool in tools]
    open_places = [place for place, alias in enumerate(given) if not alias]
    # Sorted, so that the order of registration is not seen; a name of one tool alone goes first.
    open_places.sort(key=lambda place: (count[tools[place].name], tools[place].name, tools[place].source))
    for place in open_places:
        tool = tools[place]
        alone = count[tool.name] == 1
        wanted = tool.name if alone else f"{prefix(tool.source)}_{tool.name}"
        full = tool.name if alone else qualified(tool)
        given[place] = rule.bend(wanted, full, taken)
        taken.add(given[place])
    return given


def qualified(tool: Tool) -> str:
    """`source/name`: what names one tool among several of the same name, in any dialect or none."""
    return f"{tool.source.rstrip('/')}/{tool.name}"


def prefix(source: str) -> str:
    """The last part of a source's name that says anything: `brave` of `kit:brave`, `toolbox` of `/srv/toolbox/`."""
    parts = _LAST_PART.findall(source)
    return parts[-1] if parts else "source"


@functools.lru_cache(maxsize=64)
def _rule(pattern: str, length: int) -> _Rule:
    return _Rule(pattern, length)


class _Rule:
    """What one provider accepts as a name."""

    def __init__(self, pattern: str, length: int) -> None:
        if length < MIN_LENGTH:
            raise DefinitionError(f"names of at most {length} characters are too short; {MIN_LENGTH} are needed")
        self._match = re.compile(pattern).fullmatch
        self._length = length
        self._joiner = next((mark for mark in "_-." if self._allows(mark)), "")
        if not self.accepts(f"tool{self._joiner}0a"):
            raise DefinitionError(f"the pattern {pattern!r} accepts no name such as tool_0a")

    def accepts(self, name: str) -> bool:
        """Whether a name may be sent as it is."""
        return len(name) <= self._length and self._match(name) is not None

    def _allows(self, character: str) -> bool:
        return self._match(f"a{character}a") is not None

    def bend(self, wanted: str, full: str, taken: set[str]) -> str:
        """An acceptable name that is not taken; `full` is what its hash is made of."""
        text, foreign = _to_ascii(wanted)
        head = self._clean(text)
        if head and not self.accepts(head[: self._length]):
            head = f"tool{self._joiner}{head}"  # a leading digit or sign
        if foreign or not self.accepts(head):
            return self._hashed(head, full, taken)
        return head if head not in taken else self._numbered(head, taken)

    def _clean(self, text: str) -> str:
        text = _VERB.sub(lambda verb: verb[0].lower(), text, count=1) if _VERB.match(text) else text
        joiner = self._joiner
        out: list[str] = []
        for character in text:
            if self._allows(character):
                out.append(character)
            elif self._allows(character.lower()):
                out.append(character.lower())
            elif out and out[-1] != joiner:
                out.append(joiner)
        return "".join(out).strip("_-.")

    def _hashed(self, head: str, full: str, taken: set[str]) -> str:
        whole = hashlib.sha256(full.encode("utf-8", "surrogatepass")).hexdigest()
        for size in _HASH_LENGTHS:
            tail = self._joiner + whole[: min(size, self._length - 5)]
            name = (head[: self._length - len(tail)].rstrip("_-.") or "tool") + tail
            if not self.accepts(name):
                name = "tool" + tail
            if name not in taken:
                return name
        return self._numbered(name, taken)

    def _numbered(self, head: str, taken: set[str]) -> str:
        number = 2
        while True:
            tail = f"{self._joiner}{number}"
            name = head[: self._length - len(tail)] + tail
            if name not in taken:
                return name
            number += 1


def _to_ascii(text: str) -> tuple[str, bool]:
    """The text with accents taken off and all else foreign left out, and whether anything was foreign."""
    if text.isascii():
        return text, False
    plain = unicodedata.normalize("NFKD", text)
    return "".join(c if c.isascii() else "" if unicodedata.combining(c) else " " for c in plain), True
