"""Tool files: a folder of `*_tool.py`, or one Python file."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISREG
from typing import Any

from toolcrib.call import Tool
from toolcrib.define.toolfile import tools_of_module
from toolcrib.errors import DefinitionError, SourceError
from toolcrib.sources.faults import line_of, one_line, reason_of
from toolcrib.sources.offered import tools_defined_in
from toolcrib.sources.pyfile import Package, Signature, signature_of
from toolcrib.sources.source import Generation, Scanned, SourceWarning

_INIT = "__init__.py"


class _File:
    """What one file gave. origins: what no other file may define too. failed: it is tried again at each reload."""

    __slots__ = ("failed", "origins", "signature", "tools", "warning")

    def __init__(self, signature: Signature | None, tools: list[Tool], identity: str | None) -> None:
        self.signature = signature
        self.tools = tools
        self.origins: dict[tuple[str, str], str] = {(tool.source, tool.name): tool.name for tool in tools}
        if identity is not None:
            self.origins["id", identity] = identity
        self.warning: SourceWarning | None = None
        self.failed = False


class Folder(Scanned):
    """A folder's `*_tool.py`, by name; other files there are only what these import, and hidden ones nothing at all.

    path: the folder, or one `.py` file of any name, which is then the whole source.
    Each file is imported under a private name, so it shadows nothing and two folders never meet; `Package` says how a
    file imports its neighbours. A folder's `__init__.py`, if there is one, is run first and may define tools too.
    A file that fails is a warning. What was defined first, in the order of names, keeps its name: a later file that
    defines it again fails as a whole.

    `reload` imports files that changed or had failed; when a neighbour changed, all of them. A file that fails then
    keeps the tools it had, with a warning; a deleted file's tools go. If the folder itself has gone, all is kept.
    """

    def __init__(self, path: Path | str, *, name: str | None = None) -> None:
        shown = Path(path if name is None else name).as_posix()
        self._path = Path(os.path.abspath(path))
        self._single = not self._path.is_dir()
        super().__init__(shown if self._single or shown.endswith("/") else shown + "/")
        self._folder = os.path.abspath(self._path.parent if self._single else self._path)
        self._package: Package | None = None
        self._retired: Package | None = None
        self._files: dict[str, _File] = {}

    def paths(self) -> list[Path]:
        return [self._path]

    def _scan(self) -> Generation:
        try:
            listing = self._listing()
        except OSError as problem:
            return self._kept(problem)
        package, anew = self._package_now()
        files: dict[str, _File] = {}
        for file, stat in listing.items():
            before = self._files.get(file)
            signature = None if isinstance(stat, OSError) else signature_of(stat)
            if before is not None and not anew and not before.failed and before.signature == signature:
                files[file] = before
            else:
                files[file] = self._read(package, file, stat, signature, before)
        if package is not self._package:
            if self._retired is not None:
                self._retired.drop()
            self._retired, self._package = self._package, package
        self._files = files
        return self._assembled(files)

    def _kept(self, problem: OSError) -> Generation:
        why = problem.strerror or str(problem)
        if self._generation is None:
            raise SourceError(f"{self.name}: {self._path} cannot be read: {why}") from problem
        return self._generation[0], (self._warning(self.name, f"it cannot be read ({why}); its tools are kept"),)

    def _listing(self) -> dict[str, os.stat_result | OSError]:
        """File name -> its state, or why it has none; the order is that of loading."""
        if self._single:
            return {self._path.name: self._path.stat()}
        with os.scandir(self._folder) as entries:
            found = [entry for entry in entries if entry.name == _INIT or _is_tool_file(entry.name)]
        listing: dict[str, os.stat_result | OSError] = {}
        for entry in sorted(found, key=lambda entry: (entry.name != _INIT, entry.name)):
            try:
                listing[entry.name] = entry.stat()
            except OSError as problem:
                if problem.errno != errno.ENOENT or entry.is_symlink():  # else deleted this instant
                    listing[entry.name] = problem
        return listing

    def _package_now(self) -> tuple[Package, bool]:
        """The package to import into, and whether it is a new one: at first, and when a neighbour has changed."""
        package = self._package
        if package is None:
            return Package(Path(self._folder)), True
        unshared = {self._at(file) for file in self._files if file.removesuffix(".py") not in package.imported}
        for path, signature in package.neighbours().items():
            if path not in unshared and _signature_at(path) != signature:
                return Package(Path(self._folder)), True
        init = self._files.get(_INIT)
        if init is not None and init.signature != _signature_at(self._at(_INIT)):
            return Package(Path(self._folder)), True
        return package, False

    def _read(
        self,
        package: Package,
        file: str,
        stat: os.stat_result | OSError,
        signature: Signature | None,
        before: _File | None,
    ) -> _File:
        path = self._at(file)
        try:
            if isinstance(stat, OSError):
                raise stat
            if not S_ISREG(stat.st_mode):
                raise SourceError("it is a folder, not a file" if os.path.isdir(path) else "it is no regular file")
            return _File(signature, *self._imported(package, file, path, stat, fresh=before is not None))
        except (Exception, SystemExit) as problem:
            line = None if problem is stat or isinstance(problem, SourceError) else line_of(problem, path)
            failed = _File(None, [], None) if before is None else before
            kept = "; the tools it had are kept" if failed.tools else ""
            result = _File(signature, failed.tools, None)
            result.origins = failed.origins
            result.warning = self._warning(self._where(file, line), reason_of(problem, path, package.name) + kept)
            result.failed = True
            return result

    def _imported(
        self, package: Package, file: str, path: str, stat: os.stat_result, *, fresh: bool
    ) -> tuple[list[Tool], str | None]:
        """The tools of a file, and the id of its DEFINITION."""
        if file == _INIT and not self._single:
            module = package.run_init(path, stat, fresh=fresh)
            return tools_defined_in(module, self.name), None
        module, undo = package.run(file.removesuffix(".py"), path, stat, fresh=fresh)
        try:
            return tools_of_module(module, source=self.name), _identity(module)
        except BaseException:
            undo()
            raise

    def _assembled(self, files: dict[str, _File]) -> Generation:
        tools: list[Tool] = []
        warnings: list[SourceWarning] = []
        owners: dict[tuple[str, str], str] = {}
        for file, read in files.items():
            if read.warning is not None:
                warnings.append(read.warning)
            if owners.keys().isdisjoint(read.origins):
                owners |= dict.fromkeys(read.origins, file)
                tools += read.tools
            elif read.tools:
                taken = next(origin for origin in read.origins if origin in owners)
                what = "the id" if taken[0] == "id" else "the tool"
                reason = f"{what} {read.origins[taken]!r} is already defined by {owners[taken]}; rename one of them"
                problem = DefinitionError(f"{reason} '{taken[1]}'")
                line = line_of(problem, self._at(file))
                warnings.append(self._warning(self._where(file, line), one_line(reason)))
        return tuple(tools), tuple(warnings)

    def _at(self, file: str) -> str:
        return os.path.join(self._folder, file)

    def _where(self, file: str, line: int | None) -> str:
        place = self.name if self._single else self.name + file
        return one_line(place) + (f":{line}" if line else "")


def _is_tool_file(name: str) -> bool:
    return name.endswith("_tool.py") and not name.startswith(".")


def _signature_at(path: str) -> Signature | None:
    try:
        return signature_of(os.stat(path))
    except OSError:
        return None


def _identity(module: Any) -> str | None:
    definition = getattr(module, "DEFINITION", None)
    return definition.get("id") if isinstance(definition, dict) else None
