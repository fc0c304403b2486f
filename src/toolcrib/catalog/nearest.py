"""The tools whose names come closest to one that does not exist."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

from toolcrib.call import Tool
from toolcrib.catalog.names import prefix

#: Longer inventions are compared by their beginning: the cost of a comparison must not be the model's to choose.
_COMPARED = 100
#: How many of the roughly best are compared letter by letter.
_FINE = 60
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words(text: str) -> list[str]:
    """The words of a name, folded: split on anything that is no letter or digit, and on camelCase."""
    return [word.casefold() for word in _WORD.findall(unicodedata.normalize("NFKC", text))]


class Nearest:
    """The names of one view, prepared for comparison. Built once; `ranked` costs a few milliseconds on 1,000 tools."""

    __slots__ = ("_entries",)

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._entries = [_Entry(tool) for tool in tools]

    def ranked(self, name: str, limit: int) -> list[Tool]:
        """The tools whose names come closest, best first; ties in the order of the view."""
        wanted = words(name[:_COMPARED])
        text = "".join(wanted)
        pairs, spoken = _pairs(text), frozenset(wanted)
        rough = [(entry.rough(pairs, spoken), -place, entry) for place, entry in enumerate(self._entries)]
        rough.sort(reverse=True)
        head = rough[: max(limit, _FINE)]
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(text)
        fine = []
        for score, place, entry in head:
            matcher.set_seq1(entry.text)
            fine.append((score + matcher.ratio(), place, entry))
        fine.sort(reverse=True)
        return [entry.tool for _, _, entry in fine[:limit]]


class _Entry:
    __slots__ = ("pairs", "spoken", "text", "tool")

    def __init__(self, tool: Tool) -> None:
        found = words(tool.name[:_COMPARED])
        self.tool = tool
        self.text = "".join(found)
        self.pairs = _pairs(self.text)
        self.spoken = frozenset(found) | frozenset(words(prefix(tool.source)[:_COMPARED]))

    def rough(self, pairs: frozenset[str], spoken: frozenset[str]) -> float:
        """0 to 2: how many letter pairs and how many words are shared."""
        letters = 2 * len(self.pairs & pairs) / ((len(self.pairs) + len(pairs)) or 1)
        return letters + len(self.spoken & spoken) / (len(spoken) or 1)


def _pairs(text: str) -> frozenset[str]:
    padded = f" {text} " if text else ""
    return frozenset(padded[place : place + 2] for place in range(len(padded) - 1))
