"""Errors that a provider reports in place of a response, or in the middle of a stream."""

from __future__ import annotations

from typing import Any


def provider_error(value: Any) -> str | None:
    """The provider's own text where a plain value is its report of an error; None where it is not."""
    if isinstance(value, list):
        return provider_error(value[0]) if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    error = value.get("error")
    if isinstance(error, (dict, str)) and error:
        return error_text(error)
    if value.get("type") == "error" or value.get("object") == "error":
        return error_text(value)
    return None


def error_text(error: Any) -> str:
    """A provider's error, a dict or a text, in one line: its kind and its message."""
    if isinstance(error, str):
        return error.strip() or "no reason given"
    if not isinstance(error, dict):
        return "no reason given"
    message = error.get("message") or error.get("detail") or error.get("reason")
    if not isinstance(message, str) or not message.strip():
        message = "no reason given"
    kinds = (error.get("type"), error.get("status"), error.get("code"))
    kind = next((str(k) for k in kinds if isinstance(k, (str, int)) and k and k != "error"), "")
    return f"{kind}: {message.strip()}" if kind else message.strip()
