"""Why a file did not load, as one line, and the line of the file it happened at."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from toolcrib.errors import ToolcribError

_LONGEST = 300


def reason_of(problem: BaseException, path: str = "", package: str = "") -> str:
    """One line for the operator. `package`: the private name that stands for the file's folder."""
    text = _reason(problem, path, package)
    if package:
        text = text.replace(package + ".", "").replace(package, Path(path).parent.name)
    return one_line(text)


def one_line(text: str) -> str:
    text = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _reason(problem: BaseException, path: str, package: str) -> str:
    if isinstance(problem, SyntaxError):
        elsewhere = bool(path) and problem.filename not in (None, path) and os.path.isfile(str(problem.filename))
        where = f" in {os.path.basename(str(problem.filename))}, line {problem.lineno}" if elsewhere else ""
        return f"syntax error{where}: {problem.msg}"
    if isinstance(problem, ModuleNotFoundError) and problem.name:
        if package and problem.name.startswith(package + "."):
            return f"there is no {problem.name[len(package) + 1 :]!r} beside it to import"
        return f"the package {problem.name.partition('.')[0]!r} it imports is not installed" + _missing_part(problem)
    if isinstance(problem, SystemExit):
        return f"it ends the process when imported (SystemExit: {problem.code}); put that under __name__ == '__main__'"
    if isinstance(problem, OSError) and problem.filename == path and problem.strerror:
        return f"it cannot be read: {problem.strerror}"
    try:
        text = str(problem)
    except Exception:  # an exception class of the tool's author
        text = "(its text cannot be shown)"
    return text if isinstance(problem, ToolcribError) and text else f"{type(problem).__name__}: {text}".rstrip(": ")


def _missing_part(problem: ModuleNotFoundError) -> str:
    name = problem.name or ""
    return f", or is but has no {name!r}" if "." in name else ""


def line_of(problem: BaseException, path: str) -> int | None:
    """The line of that file at which it happened; None where nothing points into it."""
    if isinstance(problem, SyntaxError) and problem.filename == path and problem.lineno:
        return problem.lineno
    line, trace = None, problem.__traceback__
    while isinstance(trace, TracebackType):
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line or _undecodable_line(problem, path) or _definition_line(problem, path)


def _undecodable_line(problem: BaseException, path: str) -> int | None:
    if not isinstance(problem, (SyntaxError, ValueError)):
        return None
    try:
        data = Path(path).read_bytes()
        data.decode("utf-8")
        return data.count(b"\n", 0, data.index(b"\0")) + 1
    except UnicodeDecodeError as fault:
        return data.count(b"\n", 0, fault.start) + 1
    except (OSError, ValueError):
        return None


def _definition_line(problem: BaseException, path: str) -> int | None:
    """Where the definition stands that was found wrong after the file had run: the function it names, or DEFINITION."""
    import ast

    try:
        body = ast.parse(Path(path).read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
    text = str(problem) if isinstance(problem, ToolcribError) else ""
    last = None
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if f"'{node.name}'" in text or f"toolkit {node.name}" in text:
                return node.lineno
            if node.name == "execute":
                last = last or node.lineno
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "DEFINITION" for target in targets):
                last = node.lineno
    return last
