"""The code blocks of a Markdown file, and scripted providers, which answer with the replies they were given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(file: str, language: str) -> list[str]:
    """The blocks of a language, in their order; `file` is relative to the project."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return [body for found, body in _BLOCK.findall(text) if found == language]


def headings(file: str, level: int) -> list[str]:
    """The headings of a level, in their order."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(rf"^{'#' * level} (.+)$", text, re.MULTILINE)


class Endpoint:
    """One method of a provider's client. requests: what it was called with."""

    def __init__(self, *replies: Any) -> None:
        self._replies = list(replies)
        self.requests: list[dict[str, Any]] = []

    async def __call__(self, **request: Any) -> Any:
        self.requests.append({**request, "messages": list(request.get("messages", []))})
        return self._replies.pop(0)


class Branch:
    """A place for an endpoint below a client: `Branch(chat=Branch(completions=...))`."""

    def __init__(self, **children: Any) -> None:
        self.__dict__.update(children)


def completion(message: dict[str, Any], id: str, reason: str) -> Any:
    """A chat completion as the openai package gives it."""
    from openai.types.chat import ChatCompletion

    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
    return ChatCompletion.model_validate(
        {"id": id, "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}
    )


def chat(*calls: tuple[str, str], said: str) -> tuple[Any, Endpoint]:
    """A client of OpenAI Chat: one reply with these calls (name, arguments), then the text."""
    written = [
        {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    endpoint = Endpoint(
        completion({"content": None, "tool_calls": written}, "chatcmpl-1", "tool_calls"),
        completion({"content": said}, "chatcmpl-2", "stop"),
    )
    return Branch(chat=Branch(completions=Branch(create=endpoint))), endpoint
