"""Names a model bent: `city=`, `"city"`, `City`, `userId` for user_id."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

_AROUND = " \t\r\n\u00a0\ufeff\u200b\"'`“”‘’=:,;$@"
_SEPARATORS = frozenset(" \t\u00a0_-./:[]()")


def trimmed(name: str) -> str:
    """The name without quotes, blanks and assignment marks around it."""
    return name.strip(_AROUND)


def folded(name: str) -> str:
    """What two spellings of one name have in common: no case, no separators, no width."""
    wide = unicodedata.normalize("NFKC", trimmed(name)).casefold()
    return "".join(letter for letter in wide if letter not in _SEPARATORS)


def meant(name: str, known: Collection[str]) -> str | None:
    """The one known name a bent one stands for; None where none or several fit."""
    plain = trimmed(name)
    if plain in known:
        return plain
    fold = folded(name)
    if not fold:
        return None
    fitting = [each for each in known if folded(each) == fold]
    return fitting[0] if len(fitting) == 1 else None


def renamings(unknown: Iterable[str], given: Collection[str], known: Collection[str]) -> dict[str, str]:
    """Bent name -> known name, where exactly one fits, it is not given as well, and no second name claims it."""
    wanted: dict[str, list[str]] = {}
    for name in unknown:
        target = meant(name, known)
        if target is not None and target not in given:
            wanted.setdefault(target, []).append(name)
    return {names[0]: target for target, names in wanted.items() if len(names) == 1}
