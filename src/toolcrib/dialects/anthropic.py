"""The dialect `anthropic`: the Messages API."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from toolcrib.call import Result, Tool, digest
from toolcrib.dialects.anthropic_stream import EVENTS, AnthropicAssembler
from toolcrib.dialects.arguments import object_of
from toolcrib.dialects.cut import cut_text
from toolcrib.dialects.fault import error_text
from toolcrib.dialects.pairing import pair_ids, written_id
from toolcrib.dialects.told import told
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Asked, Assembler, Message, Reply, ToolView

_IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
#: What an assistant's content may hold beside blocks whose type ends in tool_use or tool_result.
_BLOCKS = frozenset({"text", "thinking", "redacted_thinking", "container_upload", "compaction", "fallback"})
#: Keys that only an assistant message of another dialect has.
_FOREIGN = frozenset({"tool_calls", "function_call", "refusal", "audio", "tool_call_id", "parts"})
#: Stop reasons that may cut a last call short without a trace in it.
_CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
#: Fields that SDKs add to blocks and the API refuses on the way back.
_SDK_ONLY = frozenset({"parsed_output"})


class AnthropicFormat:
    """How the Messages API writes tools, calls and results.

    `tool_use` blocks are calls; every other block (thinking with its signature, server and MCP tool use and their
    results) goes back as it came. Left out of the echo is only what the API refuses there: blank text blocks, and the
    message as a whole where nothing remains (`echo` is then empty).
    """

    name = "anthropic"
    name_pattern = r"[a-zA-Z0-9_-]{1,64}"
    name_length = 64

    def view(self, name: str, tool: Tool) -> ToolView:
        from toolcrib.dialects.schemas import anthropic

        shown = anthropic.view(tool.model_parameters, name=name)
        description = anthropic.cut_description(tool.description)
        spec = {"name": name, "description": description, "input_schema": shown.parameters}
        return ToolView(spec=spec, restore=shown.restore, warnings=tuple(shown.notes))

    def tools(self, views: Sequence[ToolView]) -> list[dict[str, Any]]:
        return [view.spec for view in views]

    def request(self, views: Sequence[ToolView]) -> dict[str, Any]:
        return {"tools": self.tools(views)} if views else {}

    def reads(self, payload: Any) -> bool:
        if isinstance(payload, list):
            return _is_content(payload)
        if not isinstance(payload, dict):
            return False
        if payload.get("type") == "error":
            return isinstance(payload.get("error"), dict)
        if payload.get("role") != "assistant" or _FOREIGN & payload.keys():
            return False
        if "status" in payload or payload.get("type", "message") != "message":
            return False
        content = payload.get("content")
        return content == [] or isinstance(content, str) or _is_content(content)

    def streams(self, event: Any) -> bool:
        if not isinstance(event, dict):
            return False
        kind = event.get("type")
        return (isinstance(kind, str) and kind in EVENTS) or (kind == "error" and isinstance(event.get("error"), dict))

    def read(self, payload: Any) -> Reply:
        message = {"role": "assistant", "content": payload} if isinstance(payload, list) else payload
        if not isinstance(message, dict):
            raise ReplyError(f"this is no Anthropic message: a {type(payload).__name__}")
        if message.get("type") == "error":
            raise ReplyError(f"the provider reports an error: {error_text(message.get('error'))}")
        if message.get("type") == "message" and "stop_reason" in message and message["stop_reason"] is None:
            raise CutReply("the message has no stop reason yet: it is not whole")
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content.strip() else []
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise ReplyError("this is no Anthropic message: its content is no list of blocks")
        return _reply(message, content)

    def assembler(self) -> Assembler:
        return AnthropicAssembler()

    def results(self, reply: Reply, results: Sequence[Result]) -> list[Message]:
        if not reply.calls:
            return []
        families = _toolsets(reply.echo)
        blocks = [_result(asked, result, families) for asked, result in zip(reply.calls, results, strict=True)]
        return [{"role": "user", "content": blocks}]


def _is_content(content: Any) -> bool:
    """Whether this is what an assistant's message holds: blocks, at least one of a type known here."""
    if not isinstance(content, list) or not content:
        return False
    known = False
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str) or kind == "tool_result" or _FOREIGN & block.keys():
            return False
        known = known or kind in _BLOCKS or kind.endswith(("tool_use", "_tool_result"))
    # A Responses item of type message or function_call, or an OpenAI content part, has no such type.
    return known


def _reply(message: Mapping[str, Any], content: list[dict[str, Any]]) -> Reply:
    stop = str(message.get("stop_reason") or "")
    places = [index for index, block in enumerate(content) if block.get("type") == "tool_use"]
    written = [content[index].get("id") for index in places]
    response_id = written_id(message.get("id"))
    ids = pair_ids(written, salt=response_id or digest(content))
    cut = places[-1] if places and stop in _CUT and places[-1] == len(content) - 1 else None
    minted = dict(zip(places, ids, strict=True))
    calls = tuple(_asked(content[index], id_, cut=index == cut) for index, id_ in minted.items())
    blocks = [_echoed(block, minted.get(index)) for index, block in enumerate(content)]
    blocks = [block for block in blocks if not _is_blank(block)]
    problem = None
    if stop == "tool_use" and not calls:
        problem = "the message stopped for tool_use and asks for no call"
    elif cut is not None:
        problem = f"the message was cut by {stop}: its last call may be incomplete and does not run"
    return Reply(
        dialect="anthropic",
        echo=[{"role": "assistant", "content": blocks}] if blocks else [],
        calls=calls,
        text="".join(str(block.get("text", "")) for block in content if block.get("type") == "text"),
        response_id=response_id,
        problem=problem,
    )


def _asked(block: Mapping[str, Any], id_: str, *, cut: bool) -> Asked:
    given, name = block.get("input"), block.get("name")
    raw: str | None = None
    if isinstance(given, str):
        raw = cut_text(given) if cut and object_of(given) is None else given if given.strip() else "{}"
    elif cut:
        # What the provider parsed of a call that was cut off proves nothing: shown as the text that breaks off.
        raw = cut_text(to_json(given or {}).decode())
    return Asked(
        name=name if isinstance(name, str) else "",
        id=id_,
        provider_call_id=written_id(block.get("id")),
        raw=raw,
        arguments=None if raw is not None else {} if given is None else given,
    )


def _echoed(block: dict[str, Any], id_: str | None) -> dict[str, Any]:
    kept = {key: value for key, value in block.items() if key not in _SDK_ONLY and not key.startswith("__")}
    if str(block.get("type", "")).endswith("tool_use"):
        given = kept.get("input")
        if not isinstance(given, dict):
            kept["input"] = (object_of(given) if isinstance(given, str) else None) or {}
        if "caller" in kept and kept["caller"] is None:
            del kept["caller"]
        if id_ is not None:
            kept["id"] = id_
    return kept


def _is_blank(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _toolsets(echo: Sequence[Message]) -> dict[str, Any]:
    """Call id -> the family of a provider-defined toolset, which the result must name again."""
    blocks = [block for message in echo for block in message.get("content", ()) if isinstance(block, dict)]
    return {block["id"]: block["toolset_name"] for block in blocks if block.get("toolset_name") and block.get("id")}


def _result(asked: Asked, result: Result, families: Mapping[str, Any]) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": asked.id, "content": _content(result)}
    if not result.ok:
        block["is_error"] = True
    if asked.id in families:
        block["toolset_name"] = families[asked.id]
    return block


def _content(result: Result) -> str | list[dict[str, Any]]:
    # An error may hold nothing but text: the API refuses anything else beside is_error.
    kept = [block for block in result.content if not _is_blank(block)]
    if not result.ok or all(block.get("type") == "text" for block in kept):
        blocks = told(replace(result, content=tuple(kept)), prefix=False)
        return "\n".join(block["text"] for block in blocks)
    return [_block(result, block) for block in kept]


def _block(result: Result, block: dict[str, Any]) -> dict[str, Any]:
    kind, media, data = block.get("type"), str(block.get("media_type", "")), block.get("data", "")
    if kind == "image" and media in _IMAGES:
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    source = _document(media, data) if kind == "file" else None
    if source is not None:
        shown = {"type": "document", "source": source}
        return shown | {"title": block["name"]} if block.get("name") else shown
    return told(replace(result, content=(block,)), prefix=False)[0]


def _document(media: str, data: Any) -> dict[str, Any] | None:
    if media == "application/pdf":
        return {"type": "base64", "media_type": media, "data": data}
    if media.startswith("text/") or media == "application/json":
        try:
            text = base64.b64decode(data, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return None
        return {"type": "text", "media_type": "text/plain", "data": text} if text.strip() else None
    return None
