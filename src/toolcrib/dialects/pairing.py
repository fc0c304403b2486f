"""Ids that pair a call with its result, where a provider's own are blank, absent or used twice."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
#: Minted ids are this long and alphanumeric: the narrowest form any provider's template demands.
MINTED_LENGTH = 9


def pair_ids(
    written: Sequence[Any], *, salt: str = "", taken: Iterable[str] = (), pattern: str | None = None
) -> list[str]:
    """One id for each call, in order, all different: the echo and the result both carry it.

    written: what the provider wrote, call by call. A text that is not blank, fits `pattern` (where given) and was not
    used before in this reply stays as it is. All others are minted from the position and the salt alone, so that the
    same reply gives the same ids. salt: what tells one reply from another, best its response id, so that the ids of two
    replies in one history differ. taken: further ids of this reply that must not be used again.
    """
    fits = re.compile(pattern or r"(?s).*")
    used = {text for text in map(written_id, written) if text is not None} | set(taken)
    seen: set[str] = set(taken)
    ids: list[str] = []
    for position, item in enumerate(written):
        text = written_id(item)
        if text is None or not text.strip() or text in seen or not fits.fullmatch(text):
            text = _mint(salt, position, used)
            used.add(text)
        seen.add(text)
        ids.append(text)
    return ids


def written_id(item: Any) -> str | None:
    """What a provider wrote as an id: its text, a number as text, None where there is nothing."""
    if isinstance(item, str):
        return item
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    return None


def _mint(salt: str, position: int, used: set[str]) -> str:
    attempt = 0
    while True:
        number = int.from_bytes(hashlib.sha256(f"{salt}\n{position}\n{attempt}".encode()).digest()[:8], "big")
        letters = []
        for _ in range(MINTED_LENGTH - 1):
            number, rest = divmod(number, len(_LETTERS))
            letters.append(_LETTERS[rest])
        minted = "c" + "".join(letters)
        if minted not in used:
            return minted
        attempt += 1
