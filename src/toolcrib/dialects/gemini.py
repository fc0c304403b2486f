"""The dialect `gemini`: generateContent, of the Gemini API and of Vertex AI."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_core import to_json

from toolcrib.call import Result, Tool, digest
from toolcrib.dialects.arguments import object_of
from toolcrib.dialects.cut import cut_text
from toolcrib.dialects.fault import error_text
from toolcrib.dialects.gemini_stream import GeminiAssembler, camel, fold_calls, has_finished
from toolcrib.dialects.pairing import pair_ids, written_id
from toolcrib.dialects.told import told
from toolcrib.errors import CutReply, ReplyError
from toolcrib.wire import Asked, Assembler, Message, Reply, ToolView

#: What a function response can carry beside its JSON.
_MEDIA = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"})
#: Any of these makes a dict a part.
_PART_KEYS = frozenset(
    {
        "text", "functionCall", "function_call", "inlineData", "inline_data", "fileData", "file_data",
        "executableCode", "executable_code", "codeExecutionResult", "code_execution_result", "toolCall", "tool_call",
        "toolResponse", "tool_response", "thoughtSignature", "thought_signature",
    }
)  # fmt: skip
_RESPONSE_KEYS = frozenset({"candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"})
#: Finish reasons of a reply with nothing wrong.
_FINE = frozenset({"STOP", "MAX_TOKENS"})
#: Integers beyond this lose digits in the doubles of a function response.
_EXACT = 2**53
_STANDARD = str.maketrans("-_", "+/")


class GeminiFormat:
    """How generateContent writes tools, calls and results.

    The echo is camelCase whatever came in, each part as it was, with its signature. Calls carry an id only where the
    provider gave one; without ids the order of the calls decides, and results keep it. Images and documents ride in
    `functionResponse.parts`, which Gemini 3 and newer read and older models refuse.
    `request` is what google-genai's `generate_content` takes: `config`, with its own calling of functions switched off.
    """

    name = "gemini"
    name_pattern = r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"
    name_length = 64

    def view(self, name: str, tool: Tool) -> ToolView:
        """The declaration; `parameters` is there even where the tool takes none: current models accept it empty."""
        from toolcrib.dialects.schemas import gemini

        shown = gemini.view(tool.model_parameters, name=name)
        description = gemini.cut_description(tool.description)
        spec = {"name": name, "description": description, "parameters": shown.parameters}
        return ToolView(spec=spec, restore=shown.restore, warnings=tuple(shown.notes))

    def tools(self, views: Sequence[ToolView]) -> list[dict[str, Any]]:
        return [{"functionDeclarations": [view.spec for view in views]}] if views else []

    def request(self, views: Sequence[ToolView]) -> dict[str, Any]:
        if not views:
            return {}
        return {"config": {"tools": self.tools(views), "automatic_function_calling": {"disable": True}}}

    def reads(self, payload: Any) -> bool:
        if isinstance(payload, list):
            return bool(payload) and all(map(_is_part, payload))
        if not isinstance(payload, dict):
            return False
        if _is_error(payload):
            return True
        if "parts" in payload:
            parts = payload["parts"]
            return payload.get("role", "model") == "model" and isinstance(parts, list) and all(map(_is_part, parts))
        return _is_response(payload)

    def streams(self, event: Any) -> bool:
        return isinstance(event, dict) and (_is_response(event) or _is_error(event))

    def read(self, payload: Any) -> Reply:
        if isinstance(payload, list):
            return _reply({}, {}, payload)
        if not isinstance(payload, dict):
            raise ReplyError(f"this is no Gemini response: a {type(payload).__name__}")
        if "parts" in payload:
            return _reply({}, {}, payload["parts"])
        if "error" in payload:
            raise ReplyError(f"the provider reports an error: {error_text(payload['error'])}")
        return _response(camel(payload))

    def assembler(self) -> Assembler:
        return GeminiAssembler()

    def results(self, reply: Reply, results: Sequence[Result]) -> list[Message]:
        if not reply.calls:
            return []
        pairs = zip(reply.calls, results, strict=True)
        return [{"role": "user", "parts": [{"functionResponse": _answer(asked, result)} for asked, result in pairs]}]


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and "type" not in part and "role" not in part and bool(_PART_KEYS & part.keys())


def _is_response(payload: Mapping[str, Any]) -> bool:
    if "choices" in payload or "type" in payload or not _RESPONSE_KEYS & payload.keys():
        return False
    return isinstance(payload.get("candidates", []), (list, type(None)))


def _is_error(payload: Mapping[str, Any]) -> bool:
    error = payload.get("error")
    return isinstance(error, dict) and isinstance(error.get("status"), str) and isinstance(error.get("code"), int)


def _response(response: Mapping[str, Any]) -> Reply:
    candidates = response.get("candidates")
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        feedback = response.get("promptFeedback")
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if reason and isinstance(feedback, dict):
            said = feedback.get("blockReasonMessage")
            raise ReplyError(f"the provider blocked the prompt: {reason}" + (f": {said}" if said else ""))
        raise CutReply("the response has no candidate: it is not whole")
    candidate = candidates[0]
    if not has_finished(candidate):
        raise CutReply("the response has no finish reason: it is not whole")
    content = candidate.get("content")
    return _reply(response, candidate, content.get("parts", []) if isinstance(content, dict) else [])


def _reply(response: Mapping[str, Any], candidate: Mapping[str, Any], given: Any) -> Reply:
    if not isinstance(given, list) or not all(isinstance(part, dict) for part in given):
        raise ReplyError("this is no Gemini response: its parts are no list of parts")
    parts = fold_calls([_wire(part) for part in given])
    reason = str(candidate.get("finishReason") or "STOP")
    places = [index for index, part in enumerate(parts) if isinstance(part.get("functionCall"), dict)]
    written = [parts[index]["functionCall"].get("id") for index in places]
    response_id = written_id(response.get("responseId"))
    ids = pair_ids(written, salt=response_id or digest(parts))
    cut = {index for index in places if _is_cut(parts, index, reason)}
    asked = [_asked(parts[index]["functionCall"], id_, index in cut) for index, id_ in zip(places, ids, strict=True)]
    minted = dict(zip(places, asked, strict=True))
    echoed = [_echoed(part, minted.get(index)) for index, part in enumerate(parts)]
    echoed = [part for part in echoed if part and part != {"text": ""} and part != {"text": "", "thought": True}]
    return Reply(
        dialect="gemini",
        echo=[{"role": "model", "parts": echoed}] if echoed else [],
        calls=tuple(asked),
        text="".join(str(part["text"]) for part in parts if "text" in part and not part.get("thought")),
        response_id=response_id,
        problem=_problem(candidate, reason, cut),
    )


def _problem(candidate: Mapping[str, Any], reason: str, cut: set[int]) -> str | None:
    if reason not in _FINE:
        said = candidate.get("finishMessage")
        return f"the model stopped with {reason}" + (f": {said}" if said else "")
    return "a call was cut off while it was written and does not run" if cut else None


def _is_cut(parts: Sequence[Mapping[str, Any]], index: int, reason: str) -> bool:
    call = parts[index]["functionCall"]
    if call.get("willContinue") or reason.startswith("MALFORMED"):
        return True
    return reason == "MAX_TOKENS" and index == len(parts) - 1 and not call.get("args")


def _wire(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part as it stands on the wire: camelCase, bytes as standard base64."""
    wired: dict[str, Any] = camel(part)
    if "thoughtSignature" in wired:
        wired["thoughtSignature"] = _base64(wired["thoughtSignature"])
    answer = wired.get("functionResponse")
    within = answer.get("parts") if isinstance(answer, dict) else None
    for holder in [wired, *(within if isinstance(within, list) else ())]:
        blob = holder.get("inlineData") if isinstance(holder, dict) else None
        if isinstance(blob, dict) and "data" in blob:
            blob["data"] = _base64(blob["data"])
    return wired


def wired_content(content: dict[str, Any]) -> dict[str, Any]:
    """A content of a history as it stands on the wire; what has no parts is none and stays as it is."""
    parts = content.get("parts")
    if not isinstance(parts, list):
        return content
    wired: dict[str, Any] = camel({key: value for key, value in content.items() if key != "parts"})
    return wired | {"parts": [_wire(part) if isinstance(part, dict) else part for part in parts]}


def _base64(data: Any) -> Any:
    if isinstance(data, bytes):
        return base64.b64encode(data).decode()
    return data.translate(_STANDARD) if isinstance(data, str) else data


def _asked(call: Mapping[str, Any], id_: str, cut: bool) -> Asked:
    given, name = call.get("args"), call.get("name")
    raw: str | None = None
    if cut:
        raw = cut_text(given if isinstance(given, str) else to_json(given or {}).decode())
    elif isinstance(given, str):
        raw = given if given.strip() else "{}"
    return Asked(
        name=name if isinstance(name, str) else "",
        id=id_,
        provider_call_id=written_id(call.get("id")),
        raw=raw,
        arguments=None if raw is not None else {} if given is None else given,
    )


def _echoed(part: dict[str, Any], asked: Asked | None) -> dict[str, Any]:
    if asked is None:
        return part
    call = {key: value for key, value in part["functionCall"].items() if key not in ("willContinue", "partialArgs")}
    if "args" in call and not isinstance(call["args"], dict):
        call["args"] = (object_of(call["args"]) if isinstance(call["args"], str) else None) or {}
    call.pop("id", None)
    if has_id(asked):
        call = {"id": asked.id} | call
    return part | {"functionCall": call}


def has_id(asked: Asked) -> bool:
    """Whether call and result carry an id: where the provider gave one."""
    return bool(asked.provider_call_id and asked.provider_call_id.strip())


def _answer(asked: Asked, result: Result) -> dict[str, Any]:
    media = [block for block in result.content if _is_media(block)]
    kept = tuple(block for block in result.content if not _is_media(block))
    if media and not any(str(block.get("text", "")).strip() for block in kept if block.get("type") == "text"):
        kept = (*kept, {"type": "text", "text": "(the output is attached)"})
    text = "\n".join(block["text"] for block in told(replace(result, content=kept), prefix=False))
    response = {"result": _structured(result, text)} if result.ok else {"error": text}
    answer: dict[str, Any] = {"name": asked.name, "response": response}
    if has_id(asked):
        answer = {"id": asked.id} | answer
    if media:
        answer["parts"] = [{"inlineData": {"mimeType": block["media_type"], "data": block["data"]}} for block in media]
    return answer


def _is_media(block: Mapping[str, Any]) -> bool:
    return block.get("type") in ("image", "file") and block.get("media_type") in _MEDIA and bool(block.get("data"))


def _structured(result: Result, text: str) -> Any:
    """The value where the text is nothing but its JSON, so that what a reader is shown stays what was rendered."""
    value = result.value
    if not isinstance(value, (dict, list, bool, int, float)) or not _is_exact(value):
        return text
    try:
        return value if to_json(value).decode() == text else text
    except ValueError:
        return text


def _is_exact(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_exact, value.values()))
    if isinstance(value, list):
        return all(map(_is_exact, value))
    return not isinstance(value, int) or abs(value) < _EXACT
