"""Settings of a project: `toolcrib.toml`, or `[tool.toolcrib]` of `pyproject.toml`, sought upward; `TOOLCRIB_*` wins.

Read with the standard library alone, since a `Crib` without `db` looks here too. Paths in a file are relative to it.
An unknown key is an error with its line.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolcrib.errors import SettingsError

#: Key of the table `[crib]` -> the type of its value.
KEYS: dict[str, type] = {
    "tools": list, "db": str, "ask": str, "mask_errors": bool, "max_parallel": int, "threads": int, "user": str,
    "tenant": str, "headless": bool, "allow": list,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project's file and the environment say. `base` is the folder that paths are relative to."""

    values: Mapping[str, Any]
    base: Path
    file: Path | None = None

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key of `[crib]`."""
        return self.values.get(key, default)


def load(start: Path | None = None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that hold in a folder. Raises SettingsError for a file that is wrong, naming file and line."""
    start = (start or Path.cwd()).resolve()
    environment = os.environ if environment is None else environment
    file = _find(start)
    values = {} if file is None else _read(file)
    base = start if file is None else file.parent
    if "db" in values:
        values["db"] = _anchored(values["db"], base)
    if "tools" in values:
        values["tools"] = [_anchored_tool(tool, base) for tool in values["tools"]]
    for key, kind in KEYS.items():
        text = environment.get(f"TOOLCRIB_{key.upper()}")
        if text:
            values[key] = _from_text(f"TOOLCRIB_{key.upper()}", text, kind)
    return Settings(values=values, base=base, file=file)


def _find(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        own = folder / "toolcrib.toml"
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and b"[tool.toolcrib" in project.read_bytes():
            return project
    return None


def _read(file: Path) -> dict[str, Any]:
    text = file.read_text(encoding="utf-8")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise SettingsError(f"{file}: {problem}") from problem
    if file.name == "pyproject.toml":
        document = document.get("tool", {}).get("toolcrib", {})
    for table in document:
        if table != "crib":
            raise SettingsError(f"{file}:{_line(text, table)}: unknown table or key {table!r}{_near(table, ['crib'])}")
    crib = document.get("crib", {})
    if not isinstance(crib, dict):
        raise SettingsError(f"{file}:{_line(text, 'crib')}: crib is a table: [crib]")
    for key, value in crib.items():
        kind = KEYS.get(key)
        if kind is None:
            raise SettingsError(f"{file}:{_line(text, key)}: unknown key {key!r}{_near(key, list(KEYS))}")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            if kind is list and isinstance(value, str):
                crib[key] = [value]
                continue
            raise SettingsError(f"{file}:{_line(text, key)}: {key} is a {kind.__name__}; got {value!r}")
    return dict(crib)


def _line(text: str, key: str) -> int:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().lstrip("[").startswith(key):
            return number
    return 1


def _near(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"


def _from_text(name: str, text: str, kind: type) -> Any:
    if kind is list:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool:
        if text.lower() not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            raise SettingsError(f"{name} is true or false; got {text!r}")
        return text.lower() in ("1", "true", "yes", "on")
    if kind is int:
        try:
            return int(text)
        except ValueError:
            raise SettingsError(f"{name} is a whole number; got {text!r}") from None
    return text


def _anchored(url: str, base: Path) -> str:
    prefix = "sqlite:///"
    if url.startswith(prefix) and not url.startswith(prefix + "/") and len(url) > len(prefix):
        return f"{prefix}/{(base / url[len(prefix) :]).as_posix().lstrip('/')}" if os.name != "nt" else url
    return url


def _anchored_tool(tool: Any, base: Path) -> Any:
    if isinstance(tool, str) and (base / tool).exists():
        return str(base / tool)
    return tool
