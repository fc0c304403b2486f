"""The chunks of one Gemini stream, and function calls that come in pieces, put together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from toolcrib.dialects.fault import error_text
from toolcrib.errors import CutReply, ReplyError

Part = dict[str, Any]
#: Keys whose values are somebody else's data: their inner names stay as they are.
_OPAQUE = frozenset({"args", "response", "partMetadata"})
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\"((?:[^\"\\]|\\.)*)\"\]|\['((?:[^'\\]|\\.)*)'\]")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")


def camel(value: Any) -> Any:
    """Provider data with its field names as on the wire (camelCase), unset fields left out, arguments untouched."""
    if isinstance(value, Mapping):
        named = ((_camel_name(key), item) for key, item in value.items())
        return {
            key: item if key in _OPAQUE else camel(item)
            for key, item in named
            if item is not None or key == "nullValue"
        }
    if isinstance(value, list):
        return [camel(item) for item in value]
    return value


def _camel_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest) if head and rest else name


def fold_calls(parts: Sequence[Part]) -> list[Part]:
    """The parts with every function call in one: pieces (`partialArgs`, `willContinue`) become its `args`.

    A call whose last piece never came, or whose pieces contradict each other, keeps `willContinue: true` beside what it
    had so far. A signature that came with a later piece stays with the call.
    """
    folded: list[Part] = []
    pieces: _Pieces | None = None
    for part in parts:
        call = part.get("functionCall")
        if not isinstance(call, Mapping):
            folded.append(part)
            continue
        if pieces is not None and pieces.continued_by(call):
            pieces.take(part, call)
        elif not (call.get("name") or call.get("args") or call.get("partialArgs") or call.get("willContinue")):
            _keep_signature(folded, part)  # the end of a call that had ended
        elif call.get("willContinue") or call.get("partialArgs"):
            pieces = _Pieces(part, call)
            folded.append(pieces.part)
        else:
            pieces = None
            folded.append(part)
        if pieces is not None and not call.get("willContinue"):
            pieces.close()
            pieces = None
    return folded


def _keep_signature(folded: list[Part], part: Part) -> None:
    signature = part.get("thoughtSignature")
    last = next((item for item in reversed(folded) if "functionCall" in item), None)
    if last is None:
        folded.append(part)
    elif signature and not last.get("thoughtSignature"):
        last["thoughtSignature"] = signature


class _Pieces:
    """One function call in the making. `part` is its place among the parts, and grows."""

    def __init__(self, part: Part, call: Mapping[str, Any]) -> None:
        self._args: dict[str, Any] = {}
        self._unfinished: set[str] = set()
        self._sound = True
        self._call = {key: value for key, value in call.items() if key not in ("partialArgs", "willContinue", "args")}
        self._call |= {"args": self._args, "willContinue": True}
        self.part = part | {"functionCall": self._call}
        self._put(call)

    def continued_by(self, call: Mapping[str, Any]) -> bool:
        name, id_ = call.get("name"), call.get("id")
        if id_ and self._call.get("id"):
            return bool(id_ == self._call["id"])
        return not name or (name == self._call.get("name") and bool(call.get("partialArgs")))

    def take(self, part: Part, call: Mapping[str, Any]) -> None:
        for key, value in part.items():
            if key != "functionCall" and value:
                self.part.setdefault(key, value)
        if call.get("id"):
            self._call.setdefault("id", call["id"])
        if call.get("name"):
            self._call.setdefault("name", call["name"])
        self._put(call)

    def close(self) -> None:
        if self._sound and not self._unfinished:
            self._call.pop("willContinue", None)

    def _put(self, call: Mapping[str, Any]) -> None:
        given = call.get("args")
        if isinstance(given, Mapping) and given:
            self._args.update(given)
        written = call.get("partialArgs")
        if written and not isinstance(written, list):
            self._sound = False
            return
        for piece in written or ():
            if not isinstance(piece, Mapping) or not self._put_piece(piece):
                self._sound = False

    def _put_piece(self, piece: Mapping[str, Any]) -> bool:
        """Whether the piece fits what came before."""
        path = str(piece.get("jsonPath", ""))
        steps = _steps(path)
        if not steps:
            return False
        known = [key for key in _VALUES if key in piece]
        if known and not _assign(self._args, steps, _value(known[0], piece), grows=path in self._unfinished):
            return False
        (self._unfinished.add if piece.get("willContinue") else self._unfinished.discard)(path)
        return True


def _value(kind: str, piece: Mapping[str, Any]) -> Any:
    value = piece[kind]
    if kind == "nullValue":
        return None
    # The wire knows doubles only; SDKs show every one of them as a float.
    whole = kind == "numberValue" and isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _steps(path: str) -> list[str | int]:
    """The names and indexes of a JSON path such as $.a[0]['b c']; [] where it is none, or the root."""
    if not path.startswith("$"):
        return []
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return []
        name, index, double, single = found.groups()
        quoted = double if double is not None else single
        if index is not None:
            steps.append(int(index))
        else:
            steps.append(name if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        at = found.end()
    return steps


def _assign(root: dict[str, Any], steps: Sequence[str | int], value: Any, *, grows: bool) -> bool:
    """Puts a value at its place, making what lies above it; False where something else is in the way."""
    place: Any = root
    for step, following in pairwise(steps):
        if not _fits(place, step):
            return False
        if isinstance(step, str) and step not in place:
            place[step] = [] if isinstance(following, int) else {}
        elif isinstance(step, int) and step == len(place):
            place.append([] if isinstance(following, int) else {})
        place = place[step]
    last = steps[-1]
    if not _fits(place, last):
        return False
    if isinstance(last, int) and last == len(place):
        place.append(value)
        return True
    before = place.get(last) if isinstance(place, dict) else place[last]
    if grows and isinstance(before, str) and isinstance(value, str):
        place[last] = before + value
    elif isinstance(before, (dict, list)):
        return False
    else:
        place[last] = value
    return True


def _fits(place: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(place, dict)
    return isinstance(place, list) and step <= len(place)


class GeminiAssembler:
    """Puts the chunks of one stream together; whole once the first candidate has its finish reason."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._candidate: dict[str, Any] = {}
        self._parts: list[Part] = []

    def feed(self, event: Mapping[str, Any]) -> None:
        if "error" in event and "candidates" not in event:
            raise ReplyError(f"the provider reports an error in the stream: {error_text(event['error'])}")
        chunk = camel(event)
        candidates = chunk.pop("candidates", None)
        self._response |= chunk
        for candidate in candidates if isinstance(candidates, list) else ():
            if isinstance(candidate, dict) and candidate.get("index", 0) == 0:
                content = candidate.pop("content", None)
                self._candidate |= candidate
                parts = content.get("parts") if isinstance(content, dict) else None
                if isinstance(parts, list):
                    self._parts += [part for part in parts if isinstance(part, dict)]

    def whole(self) -> dict[str, Any]:
        if self._response.get("promptFeedback", {}).get("blockReason") and not self._candidate:
            return dict(self._response)
        if not has_finished(self._candidate):
            raise CutReply("the stream ended before a finish reason: none of its calls may run")
        content = {"role": "model", "parts": _joined(fold_calls(self._parts))}
        return self._response | {"candidates": [self._candidate | {"content": content}]}


def has_finished(candidate: Mapping[str, Any]) -> bool:
    """Whether a candidate names the reason why it ended."""
    return candidate.get("finishReason") not in (None, "", "FINISH_REASON_UNSPECIFIED")


def _joined(parts: Sequence[Part]) -> list[Part]:
    """The parts with neighbouring pieces of plain text made one. What bears a signature stays by itself."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else {}
        plain = part.keys() <= {"text", "thought"} and last.keys() <= {"text", "thought"} and "text" in last
        if plain and "text" in part and bool(part.get("thought")) == bool(last.get("thought")):
            joined[-1] = last | {"text": f"{last['text']}{part['text']}"}
        else:
            joined.append(part)
    return joined
