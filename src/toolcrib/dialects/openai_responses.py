"""The OpenAI Responses API: items out, items in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcrib.call import Result, Tool, digest
from toolcrib.dialects.cut import cut_text
from toolcrib.dialects.events import no_response
from toolcrib.dialects.fault import error_text, provider_error
from toolcrib.dialects.openai_responses_stream import ResponsesAssembler
from toolcrib.dialects.pairing import pair_ids, written_id
from toolcrib.dialects.told import told
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Asked, Assembler, Message, Reply, ToolView

#: The items that are calls to us -> where their text is, and the type of the answer.
CALLS = {
    "function_call": ("arguments", "function_call_output"),
    "custom_tool_call": ("input", "custom_tool_call_output"),
}
#: Items that ask the program, and not the provider, for something that is no tool of ours.
_CLIENT = frozenset({"local_shell_call", "computer_call", "apply_patch_call", "mcp_approval_request"})
_OTHERS = frozenset({"reasoning", "program", "program_output", "compaction", "mcp_list_tools"})
#: Fields that the API sends and does not take back, or not when they are null.
_SENT_ONLY = frozenset({"parsed_arguments", "created_by"})
_NEVER_NULL = frozenset({"id", "status", "content", "namespace", "name", "async"})


class OpenAIResponsesFormat:
    """All items of the response go back as they came, then one output item for each call."""

    name = "openai-responses"
    name_pattern = r"[a-zA-Z0-9_-]+"
    name_length = 64

    def view(self, name: str, tool: Tool) -> ToolView:
        """The tool under that name; `strict` is always said, since the API's own default differs."""
        from toolcrib.dialects.schemas import openai

        bent = openai.view(tool.model_parameters, name=name)
        spec: dict[str, Any] = {"type": "function", "name": name, "parameters": bent.parameters}
        if tool.description.strip():
            spec["description"] = openai.cut_description(tool.description)
        spec["strict"] = bool(bent.strict)
        return ToolView(spec=spec, restore=bent.restore, warnings=tuple(bent.notes))

    def tools(self, views: Sequence[ToolView]) -> list[dict[str, Any]]:
        """The value of `tools`."""
        return [view.spec for view in views]

    def request(self, views: Sequence[ToolView]) -> dict[str, Any]:
        """`tools`, absent when there are none."""
        return {"tools": self.tools(views)} if views else {}

    def reads(self, payload: Any) -> bool:
        """A response, its list of items, or one item."""
        if isinstance(payload, list):
            return bool(payload) and all(map(_is_item, payload))
        if not isinstance(payload, dict):
            return False
        output = payload.get("output")
        if payload.get("object") == "response":
            return True
        if isinstance(output, list) and "type" not in payload:
            return all(map(_is_item, output)) and (bool(output) or "status" in payload)
        return _is_item(payload)

    def streams(self, event: Any) -> bool:
        """An event of a streamed response."""
        kind = event.get("type") if isinstance(event, dict) else None
        return isinstance(kind, str) and kind.startswith("response.")

    def read(self, payload: Any) -> Reply:
        """A response must have ended; an incomplete one is read, but none of its unfinished calls can run."""
        if isinstance(payload, list):
            return _reply(payload, None, False)
        if not self.reads(payload):
            fault = provider_error(payload)
            raise ReplyError(f"the provider reports an error: {fault}") if fault else no_response("no response")
        if "output" not in payload and payload.get("object") != "response":
            return _reply([payload], None, False)
        status = payload.get("status")
        if status in ("failed", "cancelled") or payload.get("error"):
            why = error_text(payload.get("error"))
            raise ReplyError(f"the provider reports a {status or 'failed'} response: {why}")
        if status in ("queued", "in_progress"):
            raise CutReply(f"the response has not ended (status {status!r})")
        output = payload.get("output")
        items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
        return _reply(items, payload.get("id") or None, status == "incomplete")

    def assembler(self) -> Assembler:
        """For one stream of events."""
        return ResponsesAssembler()

    def results(self, reply: Reply, results: Sequence[Result]) -> list[Message]:
        """One output item for each call, by its call_id."""
        items = {item.get("call_id"): item for item in reply.echo if item.get("type") in CALLS}
        return [
            _output(items.get(asked.id, {}), asked, result) for asked, result in zip(reply.calls, results, strict=True)
        ]


def _is_item(item: Any) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(kind, str) or item.get("role") not in (None, "assistant"):
        return False
    if kind == "message":
        return _is_message(item)
    if kind == "function_call" and "arguments" in item and not isinstance(item["arguments"], str):
        # The Interactions API of Gemini writes its calls so.
        return "call_id" in item
    return kind in _OTHERS or kind.endswith(("_call", "_call_output", "tool_search_output")) or kind in _CLIENT


def _is_message(item: dict[str, Any]) -> bool:
    content = item.get("content")
    if "stop_reason" in item or not isinstance(content, list):
        return False
    return all(isinstance(part, dict) and part.get("type") in ("output_text", "refusal") for part in content) and (
        bool(content) or "status" in item
    )


def _reply(items: list[dict[str, Any]], response_id: str | None, incomplete: bool) -> Reply:
    answered = {item.get("call_id") for item in items if item.get("type") in {answer for _, answer in CALLS.values()}}
    echo = [_echoed(item) for item in items]
    ours = [
        place for place, item in enumerate(items)
        if item.get("type") in CALLS and not (item.get("call_id") and item["call_id"] in answered)
    ]  # fmt: skip
    taken = [item["call_id"] for place, item in enumerate(items) if isinstance(item.get("call_id"), str)
             and place not in ours]  # fmt: skip
    ids = pair_ids([items[place].get("call_id") for place in ours], salt=response_id or digest(items), taken=taken)
    calls = []
    for place, id in zip(ours, ids, strict=True):
        echo[place]["call_id"] = id
        unfinished = incomplete and (place == ours[-1] or items[place].get("status") == "in_progress")
        calls.append(_asked(items[place], id, unfinished))
    _distinct_items(echo)
    return Reply(
        dialect="openai-responses",
        echo=echo,
        calls=tuple(calls),
        text="".join(_texts(items)),
        response_id=response_id,
        problem=_problem(items),
    )


def _echoed(item: dict[str, Any]) -> dict[str, Any]:
    echoed = {
        key: value for key, value in item.items()
        if key not in _SENT_ONLY and not (value is None and key in _NEVER_NULL)
    }  # fmt: skip
    field = CALLS.get(str(item.get("type")), ("", ""))[0]
    if field and not isinstance(echoed.get(field), str):
        from pydantic_core import to_json

        echoed[field] = "{}" if echoed.get(field) is None else to_json(echoed[field]).decode()
    content = echoed.get("content")
    if isinstance(content, list):
        echoed["content"] = [
            {key: value for key, value in part.items() if key != "parsed"} if isinstance(part, dict) else part
            for part in content
        ]
    return echoed


def _distinct_items(echo: list[dict[str, Any]]) -> None:
    """The API refuses two items with one id; that of a call is optional."""
    seen: set[str] = set()
    for item in echo:
        id = item.get("id")
        if id in seen and item.get("type") in CALLS:
            del item["id"]
        elif isinstance(id, str):
            seen.add(id)


def _asked(item: dict[str, Any], id: str, unfinished: bool) -> Asked:
    given = item.get(CALLS[item["type"]][0])
    raw = given if isinstance(given, str) else ("" if given is None else None)
    if item.get("status") == "incomplete":
        raw = cut_text(raw or "")
    elif unfinished and raw is not None and (item["type"] == "custom_tool_call" or not raw.strip()):
        raw = cut_text(raw)
    name = item.get("name")
    return Asked(
        name=name if isinstance(name, str) else "",
        id=id,
        provider_call_id=written_id(item.get("call_id")),
        raw=raw,
        arguments=given if raw is None else None,
    )


def _texts(items: list[dict[str, Any]]) -> list[str]:
    parts = [
        part for item in items if item.get("type") == "message" and isinstance(item.get("content"), list)
        for part in item["content"] if isinstance(part, dict) and part.get("type") == "output_text"
    ]  # fmt: skip
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]


def _problem(items: list[dict[str, Any]]) -> str | None:
    left = sorted({item["type"] for item in items if _for_client(item)})
    if not left:
        return None
    return f"the reply asks the program for what is no tool call; answer it yourself: {', '.join(left)}"


def _for_client(item: dict[str, Any]) -> bool:
    kind, environment = item.get("type"), item.get("environment")
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    if kind == "shell_call":
        return isinstance(environment, dict) and environment.get("type") == "local"
    return kind in _CLIENT


def _output(item: dict[str, Any], asked: Asked, result: Result) -> Message:
    answer = CALLS.get(str(item.get("type")), CALLS["function_call"])[1]
    message: Message = {"type": answer, "call_id": asked.id, "output": _content(result)}
    if isinstance(item.get("caller"), dict):
        # A call made by a hosted program is answered to that program.
        message["caller"] = item["caller"]
    return message


def _content(result: Result) -> str | list[dict[str, Any]]:
    """One text, or a list of parts where there is more than text."""
    blocks = told(result, carries=("image", "file"))
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return [_part(block) for block in blocks]


def _part(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "text":
        return {"type": "input_text", "text": block["text"]}
    url = f"data:{block.get('media_type') or 'application/octet-stream'};base64,{block['data']}"
    if block["type"] == "image":
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": block.get("name") or "file", "file_data": url}
