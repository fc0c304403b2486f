"""Installed code as a source: a package or module by its dotted name, or one object of a module."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import ModuleType

from toolcrib.call import Tool
from toolcrib.define.toolfile import tools_of_module
from toolcrib.errors import SourceError
from toolcrib.sources.faults import line_of, reason_of
from toolcrib.sources.offered import tools_defined_in, tools_made_by, twin
from toolcrib.sources.source import Generation, Scanned, SourceWarning


class PackageSource(Scanned):
    """All modules of a package, or one module: its toolkit classes and decorated functions, and its tool files.

    What a module merely imports and toolkits marked `internal` do not count. `DEFINITION` counts in modules whose name
    ends in `_tool`. A module that fails is a warning. Modules keep their own names and are shared with the program, so
    `reload` never executes one twice: it finds new modules, and tries again those that had failed.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._read: dict[str, list[Tool]] = {}

    def paths(self) -> list[Path]:
        module = importlib.import_module(self.name)
        folders = list(getattr(module, "__path__", ()))
        return [Path(place) for place in folders or [module.__file__] if place]

    def _scan(self) -> Generation:
        importlib.invalidate_caches()
        root = module_named(self.name, self.name)
        tools: list[Tool] = []
        warnings: list[SourceWarning] = []
        for name in chain([self.name], _submodules(root, warnings, self)):
            try:
                if name not in self._read:
                    self._read[name] = self._tools_of(importlib.import_module(name))
                found = self._read[name]
                again = twin([*tools, *found])
                if again is not None:
                    raise SourceError(f"the tool {again.name!r} is already defined in this package; rename one of them")
                tools += found
            except (Exception, SystemExit) as problem:
                warnings.append(self._fault(name, problem))
        if not tools and not warnings:
            warnings.append(self._warning(self.name, "it has no toolkit class, no @tool function and no *_tool module"))
        return tuple(tools), tuple(warnings)

    def _tools_of(self, module: ModuleType) -> list[Tool]:
        if module.__name__.endswith("_tool"):
            return tools_of_module(module, source=self.name)
        return tools_defined_in(module, self.name)

    def _fault(self, name: str, problem: BaseException) -> SourceWarning:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            spec = None
        path = spec.origin if spec is not None and spec.has_location and spec.origin else ""
        line = line_of(problem, path) if path else None
        return self._warning((path or name) + (f":{line}" if line else ""), reason_of(problem, path))


class ObjectSource(Scanned):
    """`package.module:object`: a tool function, a `Tool`, a toolkit, a list of them, or a function without arguments
    that gives them. Asking for its tools raises SourceError where it does not load. `reload` does nothing.
    """

    def reload(self) -> bool:
        return False

    def _scan(self) -> Generation:
        module_name, _, path = self.name.partition(":")
        thing = module_named(module_name, self.name)
        for part in path.split("."):
            try:
                thing = getattr(thing, part)
            except AttributeError:
                near = difflib.get_close_matches(part, [name for name in dir(thing) if name[0] != "_"], 3)
                hint = f"; nearest: {', '.join(near)}" if near else ""
                raise SourceError(f"{self.name}: {module_name} has no {part!r}{hint}") from None
        try:
            tools = tools_made_by(thing, self.name)
        except Exception as problem:
            raise SourceError(f"{self.name}: {reason_of(problem)}") from problem
        again = twin(tools)
        if again is not None:
            raise SourceError(f"{self.name}: two different tools are called {again.name!r}; rename one of them")
        return tuple(tools), ()


def module_named(name: str, source: str) -> ModuleType:
    """The imported module. Raises SourceError that tells a missing module from one that fails."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        missing = problem.name or ""
        if name == missing or name.startswith(missing + "."):
            raise SourceError(f"{source}: there is no module {missing!r} to import") from problem
        raise SourceError(f"{source}: {reason_of(problem)}") from problem
    except (Exception, SystemExit) as problem:
        file = getattr(problem, "filename", None) or _last_file(problem)
        raise SourceError(f"{source}: {reason_of(problem)}{f' ({file})' if file else ''}") from problem


def _last_file(problem: BaseException) -> str:
    trace, last = problem.__traceback__, ""
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith("<frozen"):
            last = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return last


def _submodules(package: ModuleType, warnings: list[SourceWarning], source: PackageSource) -> Iterator[str]:
    """The names of all modules below, sorted; packages are imported to look into them, a failing one is a warning."""
    for found in sorted(pkgutil.iter_modules(getattr(package, "__path__", ()), package.__name__ + "."), key=_by_name):
        if found.name.endswith(".__main__"):  # importing it would run the program
            continue
        if not found.ispkg:
            yield found.name
            continue
        try:
            inner = importlib.import_module(found.name)
        except (Exception, SystemExit) as problem:
            warnings.append(source._fault(found.name, problem))
            continue
        yield found.name
        yield from _submodules(inner, warnings, source)


def _by_name(found: pkgutil.ModuleInfo) -> str:
    return found.name
