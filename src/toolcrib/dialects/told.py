"""A result's content as a dialect can carry it: nothing empty, nothing silently dropped."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any

from toolcrib.call import Result

_log = logging.getLogger("toolcrib.dialects")
NO_OUTPUT = "(no output)"


def told(result: Result, *, carries: Collection[str] = (), prefix: bool = True) -> list[dict[str, Any]]:
    """The content blocks of a result, at least one, in order.

    carries: the block types beside text that the dialect can send; a block of another type becomes a text that says
    what was left out. prefix: whether a result that is not ok begins with "Error: " (where the wire has no flag).
    """
    blocks = [block if block.get("type") in carries else _text(block) for block in result.content]
    blocks = [block for block in blocks if block.get("type") != "text" or str(block.get("text", "")).strip()]
    if not blocks:
        blocks = [{"type": "text", "text": NO_OUTPUT if result.ok else result.code}]
    if prefix and not result.ok:
        blocks = _marked(blocks)
    return blocks


def told_text(result: Result) -> str:
    """The same as one text, for a wire that carries nothing else."""
    return "\n".join(block["text"] for block in told(result))


def _text(block: dict[str, Any]) -> dict[str, Any]:
    kind = block.get("type")
    if kind == "text":
        return block
    data = block.get("data")
    size = f", {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else ""
    name = f" {block['name']!r}" if block.get("name") else ""
    media = block.get("media_type") or "unknown type"
    _log.warning("a result's %s (%s%s) cannot be sent in this dialect; the model is told so", kind, media, size)
    return {"type": "text", "text": f"[{kind}{name} ({media}{size}) not shown: this connection carries only text here]"}


def _marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = blocks[0]
    if first.get("type") != "text":
        return [{"type": "text", "text": "Error:"}, *blocks]
    if first["text"].lstrip().lower().startswith("error"):
        return blocks
    return [{**first, "text": f"Error: {first['text']}"}, *blocks[1:]]
