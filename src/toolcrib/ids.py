"""Fresh ids: 80 random bits as twenty hexadecimal digits, safe after a fork and whatever the program seeds."""

from __future__ import annotations

import os
import random

_source = random.Random(os.urandom(32))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _source.seed(os.urandom(32)))

_getrandbits = _source.getrandbits


def fresh() -> str:
    """A new id. Any prefix that is unique among the listed ones names it on the command line."""
    return f"{_getrandbits(80):020x}"
