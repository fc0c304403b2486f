"""The events of a streamed response, put together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcrib.dialects.fault import error_text, provider_error
from toolcrib.errors import CutReply, ReplyError

_ENDS = {"response.completed": "completed", "response.incomplete": "incomplete"}
_FIELDS = {"response.function_call_arguments": "arguments", "response.custom_tool_call_input": "input"}
_CALL_FIELD = {"function_call": "arguments", "custom_tool_call": "input"}


class ResponsesAssembler:
    """Whole once the event has come that ends a response; what that event carries counts before what came earlier."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._done: set[int] = set()
        self._ended: dict[str, Any] | None = None

    def feed(self, event: Mapping[str, Any]) -> None:
        """Takes an event; unknown ones change nothing."""
        kind = event.get("type")
        if not isinstance(kind, str):
            kind = ""
        if kind == "response.failed":
            self._fail(_dict(event.get("response")).get("error"))
        if kind == "error" or not kind.startswith("response."):
            fault = provider_error(dict(event))
            if fault is not None:
                self._fail(fault)
            return
        if kind in ("response.created", "response.in_progress", "response.queued"):
            self._begin(_dict(event.get("response")))
        elif kind.startswith("response.output_item."):
            self._item(kind.rpartition(".")[2], event)
        elif kind in _ENDS:
            self._ended = dict(_dict(event.get("response")))
            if self._ended.get("status") in (None, "in_progress", "queued"):
                self._ended["status"] = _ENDS[kind]
        elif kind in ("response.cancelled", "response.canceled"):
            self._fail("the response was cancelled")
        else:
            self._piece(kind, event)

    def whole(self) -> dict[str, Any]:
        """The response, with its items as far as they are known."""
        if self._ended is None:
            raise CutReply("the stream ended before its response was completed")
        items = [self._closed(key, self._ended["status"]) for key in sorted(self._items)]
        output = self._ended.get("output")
        output = [self._filled(item, items) for item in output] if isinstance(output, list) and output else items
        return {"object": "response", **self._head, **self._ended, "output": output}

    def _fail(self, error: Any) -> None:
        raise ReplyError(f"the provider reports an error in the stream: {error_text(error)}")

    def _begin(self, response: dict[str, Any]) -> None:
        known, new = self._head.get("id"), response.get("id")
        if self._ended is not None or (known and new and known != new):
            raise ReplyError("the stream holds more than one response; give them one by one")
        self._head.update(response)

    def _item(self, what: str, event: Mapping[str, Any]) -> None:
        item = event.get("item")
        if not isinstance(item, dict):
            return
        key = self._key(event, item.get("id"))
        if what == "done":
            self._items[key] = self._filled(item, [self._items.get(key, {})])
            self._done.add(key)
        elif what == "added" and key not in self._items:
            self._items[key] = dict(item)

    def _piece(self, kind: str, event: Mapping[str, Any]) -> None:
        name, _, what = kind.rpartition(".")
        key = self._key(event, event.get("item_id"))
        item = self._items.get(key)
        if item is None or key in self._done:
            return
        field = _FIELDS.get(name)
        if field is not None:
            self._argument(key, field, what, event)
        elif name == "response.output_text" and what in ("delta", "done"):
            _add_text(item, event, event.get("delta") if what == "delta" else event.get("text"), what)

    def _argument(self, key: int, field: str, what: str, event: Mapping[str, Any]) -> None:
        item = self._items[key]
        text = event.get("delta") if what == "delta" else event.get(field)
        if not isinstance(text, str):
            return
        known = item.get(field)
        item[field] = (known if isinstance(known, str) else "") + text if what == "delta" else text
        if what == "done":
            item["status"] = "completed"

    def _key(self, event: Mapping[str, Any], id: Any) -> int:
        """The place of an item: its index in the output; where a provider leaves that out, its id; else the last."""
        index = event.get("output_index")
        if isinstance(index, int):
            return index
        call_id = _dict(event.get("item")).get("call_id")
        same = [
            key for key, item in self._items.items()
            if (id and item.get("id") == id) or (call_id and item.get("call_id") == call_id)
        ]  # fmt: skip
        known = same[-1] if same else None
        if known is not None:
            return known
        if isinstance(event.get("item"), dict):
            return max(self._items, default=-1) + 1
        return next(reversed(self._items), 0)

    def _closed(self, key: int, status: str) -> dict[str, Any]:
        """An item as it stands at the end: a call that was never finished shares the fate of its response."""
        item = self._items[key]
        if key in self._done or item.get("type") not in _CALL_FIELD or item.get("status") == "completed":
            return item
        return {**item, "status": status}

    @staticmethod
    def _filled(item: Any, known: list[dict[str, Any]]) -> Any:
        """A call whose arguments a provider leaves out where it repeats the item, with those it gave before."""
        field = _CALL_FIELD.get(str(_dict(item).get("type")))
        if field is None or item.get(field):
            return item
        for other in known:
            same = other.get("type") == item["type"] and other.get("call_id") == item.get("call_id")
            if same and other.get(field):
                return {**item, field: other[field]}
        return item


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _add_text(item: dict[str, Any], event: Mapping[str, Any], text: Any, what: str) -> None:
    """A message's text, for providers that never say the whole item."""
    place = event.get("content_index")
    place = place if isinstance(place, int) else 0
    content = item.setdefault("content", [])
    if not isinstance(text, str) or not isinstance(content, list) or not 0 <= place <= len(content):
        return
    if place == len(content):
        content.append({"type": "output_text", "text": "", "annotations": []})
    part = content[place]
    part["text"] = part.get("text", "") + text if what == "delta" else text
