"""A toy language whose packages are folders and whose methods stand outside their types, in any file of the package.

A file is lines: `import q` (a folder), `type T Base` (bases after the name), `interface I m n`, `impl T I`, and
`func f`, `method T m` whose calls follow in the same line: `f` (a name), `q.f` (of an import), `T#m` (a method of a new T),
`I?m` (of a value declared to be an I).
"""

from __future__ import annotations

from collections.abc import Mapping

from smp.domain.graph import NodeKind
from smp.domain.ids import FilePath
from smp.domain.source import (
    NOTHING,
    Class,
    ClassFlag,
    Exports,
    Extension,
    FileAnalysis,
    FileSummary,
    Function,
    FunctionFlag,
    ImportDecl,
    Op,
    SiteKind,
)
from smp.languages.base import Language, Module, Resolver, Tables
from smp.languages.summary_builder import SummaryBuilder


class FolderResolver(Resolver):
    """A folder is a package; its files see each other."""

    def __init__(self, files: Mapping[FilePath, FileSummary]) -> None:
        self._folders: dict[str, list[FilePath]] = {}
        for path in sorted(files):
            self._folders.setdefault(path.rpartition("/")[0], []).append(path)

    def _package(self, folder: str) -> Module:
        files = tuple(self._folders.get(folder, ()))
        if not files:
            return Module(kind="external", dotted=folder)
        return Module(kind="package", path=FilePath(folder), files=files)

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        return self._package(declaration.module)

    def submodule(self, parent: Module, name: str) -> Module | None:
        return None

    def scope(self, path: FilePath) -> tuple[Module, ...]:
        return (self._package(path.rpartition("/")[0]),)


class PackageLanguage(Language):
    """See the module."""

    name, family, suffixes = "toy", "toy", (".toy",)

    def analyse(self, path: FilePath, content: bytes) -> FileAnalysis:
        return FileAnalysis(path=path, language=self.name, nodes=(), summary=toy_summary(path, content.decode()))

    def wants_config(self, path: FilePath) -> bool:
        return False

    def resolver(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> Resolver:
        return FolderResolver(files)

    def tables(self) -> Tables:
        return Tables(builtins={"print": "builtins.print"})


def toy_summary(path: FilePath, text: str) -> FileSummary:
    """The summary of a file of the toy language."""
    return _Walk(path, text).finish()


class _Walk:
    def __init__(self, path: FilePath, text: str) -> None:
        self.b = SummaryBuilder(path)
        self.bound: dict[str, int] = {}
        self.offered: list[tuple[str, int]] = []
        self.waiting: list[tuple[int, int, int, list[str], int, str]] = []
        lines = [line.split() for line in text.splitlines()]
        for number, words in enumerate(lines, 1):
            if words[:1] == ["import"]:
                name = words[1].rpartition("/")[2]
                self.b.imports.append(ImportDecl(words[1], "", number, 0, bound=name))
                self.bound[name] = self.b.shared(Op.IMPORT, len(self.b.imports) - 1)
            elif words[:1] in (["type"], ["interface"]):
                self._type(words, number)
        for number, words in enumerate(lines, 1):
            if words[:1] in (["func"], ["method"]):
                self._function(words, number)
            elif words[:1] == ["impl"]:
                self.b.extensions.append(
                    Extension(cls=self._name(words[1]), implements=(self._name(words[2]),), lines=(number,))
                )
        for slot, index, line, calls, extension, name in self.waiting:
            for call in calls:
                self._call(call, index, line)
            flags = FunctionFlag.METHOD if extension != NOTHING else FunctionFlag.NONE
            self.b.functions[slot] = Function(
                name=name, definition=index, owner=0, flags=int(flags), extension=extension
            )

    def finish(self) -> FileSummary:
        self.b.exports = Exports(names=tuple(self.offered))
        return self.b.finish()

    def _name(self, text: str) -> int:
        first, _, rest = text.partition(".")
        if rest:
            return self.b.op(Op.ATTR, self._name(first), self.b.name(rest))
        return self.bound.get(first, self.b.shared(Op.UNBOUND, self.b.name(first)))

    def _type(self, words: list[str], number: int) -> None:
        interface = words[0] == "interface"
        slot = self.b.class_slot()
        kind = NodeKind.INTERFACE if interface else NodeKind.CLASS
        index, _ = self.b.define(kind, self.b.unique_qualname(words[1]))
        made = self.b.shared(Op.CLASS, slot)
        members = []
        for method in words[2:] if interface else ():
            function = self.b.function_slot()
            inner, _ = self.b.define(NodeKind.FUNCTION, self.b.unique_qualname(f"{words[1]}.{method}"))
            flags = int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT)
            self.b.functions[function] = Function(name=method, definition=inner, owner=index, cls=slot, flags=flags)
            members.append((method, self.b.shared(Op.FUNC, function)))
        bases = () if interface else tuple(self._name(word) for word in words[2:])
        self.b.classes[slot] = Class(
            name=words[1],
            definition=index,
            owner=0,
            bases=bases,
            base_lines=(number,) * len(bases),
            members=tuple(members),
            flags=int(ClassFlag.INTERFACE) if interface else 0,
        )
        self.bound.setdefault(words[1], made)
        self.offered.append((words[1], made))

    def _function(self, words: list[str], number: int) -> None:
        method = words[0] == "method"
        name = words[2] if method else words[1]
        qualname = f"{words[1]}.{name}" if method else name
        slot = self.b.function_slot()
        index, _ = self.b.define(NodeKind.FUNCTION, self.b.unique_qualname(qualname))
        made = self.b.shared(Op.FUNC, slot)
        extension = NOTHING
        if method:
            extension = len(self.b.extensions)
            self.b.extensions.append(Extension(cls=self._name(words[1]), members=((name, made),)))
        else:
            self.bound.setdefault(name, made)
            self.offered.append((name, made))
        self.waiting.append((slot, index, number, words[3 if method else 2 :], extension, name))

    def _call(self, call: str, owner: int, line: int) -> None:
        if "#" in call:
            cls, _, method = call.partition("#")
            callee = self.b.op(Op.ATTR, self.b.op(Op.NEW, self._name(cls)), self.b.name(method))
        elif "?" in call:
            cls, _, method = call.partition("?")
            callee = self.b.op(Op.ATTR, self.b.op(Op.INSTANCE, self._name(cls)), self.b.name(method))
        else:
            callee = self._name(call)
        made = self.b.op(Op.CALL, callee)
        self.b.site(SiteKind.CALL, made, owner=owner, line=line, text=call)
