"""Python files imported under private names, with the interpreter's own cached code where that is certainly current."""

from __future__ import annotations

import builtins
import importlib
import itertools
import marshal
import os
import re
import struct
import sys
import time
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

#: What a file was when it was read: modification time in ns, size, inode.
Signature = tuple[int, int, int]

_PREFIX = "_toolcrib_"
#: Cached code records its source's time in whole seconds: a file younger than this may change unseen within its second.
_SETTLED = 2.0

#: The head of a cached file that is checked by time stamp: magic number, flags, modification time, size.
_PLAIN_HEADER = struct.Struct("<4sLLL")
_BLOCK = 1 << 16
_BINARY = getattr(os, "O_BINARY", 0)

_numbers = itertools.count(1)


def signature_of(stat: os.stat_result) -> Signature:
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


class PyFile(SourceFileLoader):
    """Loads one file whose state is known already. `fresh` compiles it anew, whatever is cached.

    cached: where its cached code would be, if the caller has worked that out.
    """

    def __init__(
        self, name: str, path: str, stat: os.stat_result, *, fresh: bool = False, cached: str | None = None
    ) -> None:
        self.name = name
        self.path = path
        self.signature = stat.st_mtime_ns, stat.st_size, stat.st_ino
        self._stats = {"mtime": int(stat.st_mtime) & 0xFFFFFFFF, "size": stat.st_size & 0xFFFFFFFF}
        self._cached = cached
        self._fresh = fresh or time.time() - stat.st_mtime < _SETTLED

    def path_stats(self, path: Any) -> dict[str, int]:
        return self._stats

    def get_code(self, fullname: str) -> CodeType | None:
        if self._fresh:
            return self._compiled()
        return self._cached_code() or super().get_code(fullname)

    def _compiled(self) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)

    def _cached_code(self) -> CodeType | None:
        """The cached code if it is the plain case: by time stamp, of this source at this place. Else None."""
        if self._cached is None:
            return None
        try:
            file = os.open(self._cached, os.O_RDONLY | _BINARY)
        except OSError:
            return None
        try:
            data = os.read(file, _BLOCK)
            if len(data) == _BLOCK:
                data += os.read(file, os.fstat(file).st_size)
        finally:
            os.close(file)
        if data[:16] != _PLAIN_HEADER.pack(MAGIC_NUMBER, 0, self._stats["mtime"], self._stats["size"]):
            return None
        try:
            code = marshal.loads(memoryview(data)[16:])
        except (EOFError, TypeError, ValueError):  # damaged: importlib would give up
            return self._compiled()
        return code if isinstance(code, CodeType) and code.co_filename == self.path else None

    def exec_module(self, module: ModuleType) -> None:
        package = _packages.get(module.__name__.partition(".")[0])
        if package is not None:
            module.__dict__["__builtins__"] = package.builtins
        code = self.get_code(module.__name__)
        assert code is not None
        exec(code, module.__dict__)


class Package:
    """A private package whose one folder is that of the tool files: the root of their relative imports.

    `from . import other` and `from .other import name` reach the neighbours of a tool file. So does a plain
    `import other`, if nothing installed has that name: what is installed always wins, and outside the folder nobody
    sees the neighbours.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = os.path.abspath(folder)
        self.name = f"{_PREFIX}{next(_numbers)}_{_identifier(os.path.basename(self.folder))}"
        self._cached = _cached_place(self.folder)
        #: The neighbours that files of the folder have imported by name.
        self.imported: set[str] = set()
        self.builtins = {**vars(builtins), "__import__": self._import}
        self.module = ModuleType(self.name)
        spec = ModuleSpec(self.name, None, is_package=True)
        spec.submodule_search_locations = [self.folder]
        self.module.__spec__ = spec
        self.module.__path__ = [self.folder]
        self.module.__package__ = self.name
        _packages[self.name] = self
        sys.modules[self.name] = self.module
        if _neighbours not in sys.meta_path:
            sys.meta_path.insert(0, _neighbours)

    def run_init(self, path: str, stat: os.stat_result, *, fresh: bool) -> ModuleType:
        """Executes the folder's `__init__.py` as this package."""
        loader = PyFile(self.name, path, stat, fresh=fresh)
        assert self.module.__spec__ is not None
        self.module.__file__ = path
        self.module.__loader__ = self.module.__spec__.loader = loader
        loader.exec_module(self.module)
        return self.module

    def run(self, stem: str, path: str, stat: os.stat_result, *, fresh: bool) -> tuple[ModuleType, Callable[[], None]]:
        """The module of one file, executed; and the undoing of its registration. What it raises is undone already.

        A file that a neighbour has imported is not executed twice.
        """
        name = f"{self.name}.{_identifier(stem)}"
        before = sys.modules.get(name)

        def undo() -> None:
            if before is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = before

        cached = None if self._cached is None else f"{self._cached[0]}{stem}{self._cached[1]}"
        loader = PyFile(name, path, stat, fresh=fresh, cached=cached)
        if before is not None and getattr(before.__loader__, "signature", None) == loader.signature:
            return before, undo
        module = ModuleType(name)
        module.__file__ = path
        module.__loader__ = loader
        module.__package__ = self.name
        module.__spec__ = ModuleSpec(name, loader, origin=path)
        sys.modules[name] = module
        try:
            loader.exec_module(module)
        except BaseException:
            undo()
            raise
        return module, undo

    def neighbours(self) -> dict[str, Signature]:
        """Path -> state of every file that was imported as a neighbour, at whatever depth."""
        inside = self.name + "."
        loaders = [getattr(module, "__loader__", None) for name, module in _modules() if name.startswith(inside)]
        return {loader.path: loader.signature for loader in loaders if isinstance(loader, PyFile)}

    def drop(self) -> None:
        """Forgets its modules; functions already taken from them keep working."""
        for name, _ in _modules():
            if name == self.name or name.startswith(self.name + "."):
                sys.modules.pop(name, None)
        _packages.pop(self.name, None)

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        if level == 1:
            self.imported.update([name.partition(".")[0]] if name else fromlist)
        try:
            return builtins.__import__(name, globals, locals, fromlist, level)
        except ModuleNotFoundError as problem:
            top = name.partition(".")[0]
            if level or problem.name != top or not self._has(top):
                raise
        self.imported.add(top)
        module = importlib.import_module(f"{self.name}.{name}")
        for item in fromlist or ():
            if hasattr(module, "__path__") and item != "*" and not hasattr(module, item):
                importlib.import_module(f"{self.name}.{name}.{item}")
        return module if fromlist else sys.modules[f"{self.name}.{top}"]

    def _has(self, name: str) -> bool:
        place = os.path.join(self.folder, name)
        return os.path.isfile(place + ".py") or os.path.isfile(os.path.join(place, "__init__.py"))


class _Neighbours:
    """Finds files beside tool files, so that they too are read anew when they change."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(_PREFIX) or path is None:
            return None
        for folder in path:
            place = os.path.join(folder, fullname.rpartition(".")[2])
            for file in (os.path.join(place, "__init__.py"), place + ".py"):
                if os.path.isfile(file):
                    loader = PyFile(fullname, file, os.stat(file))
                    return spec_from_file_location(fullname, file, loader=loader)
        return None


_neighbours = _Neighbours()
_packages: dict[str, Package] = {}


def _cached_place(folder: str) -> tuple[str, str] | None:
    """What stands before and after a stem in the path of its cached code; None where nothing is cached."""
    try:
        head, _, tail = cache_from_source(os.path.join(folder, "STEM.py")).rpartition("STEM")
    except NotImplementedError:
        return None
    return head, tail


def _modules() -> list[tuple[str, ModuleType]]:
    return list(sys.modules.copy().items())


def _identifier(text: str) -> str:
    """Text as part of a module's name; different texts stay different."""
    return text if text.isidentifier() else re.sub(r"\W", lambda found: f"_{ord(found[0]):x}_", text)
