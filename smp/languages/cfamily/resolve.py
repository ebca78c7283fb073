"""Stratum 0 of C and C++: which file an `#include` means, and what a name means where it stands.

A file sees the names of what it includes, directly or not. The walk leaves each open name as a symbol `:mode:scope|qualifier`
(`smp.languages.cfamily.walk`), and this module looks it up as the language does: from the innermost scope outwards, among the
files that are seen. What is found as a declaration leads to the definition by the rules of linkage: an external name has one
definition in a program. A tree may hold several programs, so where several files define it, the one beside the caller or
beside the header is taken if it is the only one there; otherwise nothing is (the call is unresolved, with candidates).

Exported names carry marks: `.f` has internal linkage (`static`, macros, unnamed namespaces) and is seen by inclusion only;
`#s` is a tag of C.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from smp.domain.ids import FilePath
from smp.domain.source import NOTHING, FileSummary, ImportDecl, Op
from smp.languages.base import Module, Resolver
from smp.languages.cfamily.grammar import HEADER_SUFFIXES
from smp.languages.cfamily.includes import IncludePaths
from smp.languages.cfamily.walk import CLASS_ONLY, DECLARATION, FREE, TAG, TYPE

_RENAMED = "renamed"
"""Mode of the second name of `#define f g`: further renamings of it are not followed."""
_MISSING = Module(kind="missing")
MAX_BASES = 16
"""Depth of a hierarchy that is searched for a member."""
_MAX_INCLUDERS = 400
"""Includers of a header whose view counts for it; more are not asked."""


class NameResolver(Resolver):
    """Includes and names over one state of the repository."""

    def __init__(self, files: Mapping[FilePath, FileSummary], configs: Mapping[FilePath, bytes]) -> None:
        self._files = files
        self._includes = IncludePaths(frozenset(files), configs)
        self._offers: dict[str, dict[FilePath, int]] = {}
        """Exported name → files that export it, with the op."""
        self._direct: dict[FilePath, tuple[FilePath, ...]] = {}
        self._outside: set[FilePath] = set()
        """Files that include something that is not in the project."""
        self._includers: dict[FilePath, list[FilePath]] = {}
        self._closures: dict[FilePath, frozenset[FilePath]] = {}
        self._views: dict[FilePath, frozenset[FilePath]] = {}
        self._directives: dict[FilePath, list[tuple[str, str, str]]] = {}
        self._namespaces: set[str] = set()
        self._hidden: set[str] = set()
        """Namespaces that macros open: what is in them reads as if it were outside."""
        self._found: dict[tuple[FilePath, str, str], Module] = {}
        self._members: dict[tuple[FilePath, str], frozenset[str]] = {}
        for path in sorted(files):
            self._read(path, files[path])

    def _read(self, path: FilePath, summary: FileSummary) -> None:
        for name, at in summary.exports.names:
            self._offers.setdefault(name, {})[path] = at
            parts = name.lstrip(".#").split("::")
            for end in range(1, len(parts)):
                self._namespaces.add("::".join(parts[:end]))
        direct: list[FilePath] = []
        for declaration in summary.imports:
            text = declaration.module
            if text.startswith(":hidden:"):
                self._hidden.add(declaration.name)
            elif text.startswith((":using:", ":alias:")):
                kind, scope = text[1:].rstrip("|").split(":", 1)
                self._directives.setdefault(path, []).append((kind, scope, f"{declaration.bound}={declaration.name}"))
            elif not text.startswith(":"):
                found = self._includes.find(path, text)
                if found is None:
                    self._outside.add(path)
                elif found not in direct and found != path:
                    direct.append(found)
                    self._includers.setdefault(found, []).append(path)
        self._direct[path] = tuple(direct)

    # The contract ------------------------------------------------------------------------------------------------------

    def module(self, importer: FilePath, declaration: ImportDecl) -> Module:
        text = declaration.module
        if not text.startswith(":"):
            found = self._includes.find(importer, text)
            return Module(kind="file", path=found) if found is not None else Module(kind="external", dotted=text[1:-1])
        key = (importer, text, declaration.name)
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = self._symbol(importer, text, declaration.name)
        return known

    def submodule(self, parent: Module, name: str) -> Module | None:
        return None

    # Names -----------------------------------------------------------------------------------------------------------

    def _symbol(self, importer: FilePath, text: str, name: str) -> Module:
        mode, _, rest = text[1:].partition(":")
        scope, _, qualifier = rest.partition("|")
        if mode in ("using", "alias", "hidden"):
            return _MISSING
        if mode == DECLARATION:
            full = "::".join(part for part in (qualifier, name) if part)
            return self._defined(importer, full, []) or _MISSING
        around = scope.split("::") if scope else []
        if mode == FREE and self._is_member(importer, around, name):
            return _MISSING
        around = [part for part in around if part not in self._hidden] if self._hidden else around
        found = self._look_up(importer, around, qualifier, name, mode)
        if found is not None:
            return found
        return self._unknown(importer, around, qualifier, name, mode)

    def _names_class(self, importer: FilePath, around: list[str], qualifier: str) -> bool:
        outer, _, last = qualifier.rpartition("::")
        return self._look_up(importer, around, outer, last, CLASS_ONLY) is not None

    def _unknown(self, importer: FilePath, around: list[str], qualifier: str, name: str, mode: str) -> Module:
        """Outside of the project, or a mistake: nobody but the project's own names can be mistaken for one of these."""
        if mode == CLASS_ONLY:
            return _MISSING
        full = "::".join(part for part in (qualifier, name) if part)
        known = full in self._offers or f"#{full}" in self._offers
        if known and mode in (TYPE, TAG):
            only = [*self._offers.get(full, {}), *self._offers.get(f"#{full}", {})]
            return (
                Module(kind="symbols", symbols=((only[0], full if full in self._offers else f"#{full}"),))
                if len(only) == 1
                else _MISSING
            )
        first = qualifier.partition("::")[0]
        if first == "std":
            return Module(kind="symbols", dotted=full)
        if first in self._namespaces | self._hidden or (qualifier and self._names_class(importer, around, qualifier)):
            return _MISSING
        if known and not self._sees_outside(importer):
            return _MISSING
        if mode not in (TYPE, TAG) and not self._sees_outside(importer):
            return _MISSING
        return Module(kind="symbols", dotted=full)

    def _sees_outside(self, importer: FilePath) -> bool:
        return not self._outside.isdisjoint(self._view(importer))

    def _look_up(self, importer: FilePath, around: list[str], qualifier: str, name: str, mode: str) -> Module | None:
        view = self._view(importer)
        for depth in range(len(around), -1, -1):
            scope = "::".join(around[:depth])
            for holder in self._holders(view, scope, qualifier):
                full = f"{holder}::{name}" if holder else name
                found = self._visible(importer, view, full, mode)
                if found is not None:
                    return found
        return None

    def _holders(self, view: frozenset[FilePath], scope: str, qualifier: str) -> list[str]:
        """Scopes that a name with this qualifier may be in, seen from one scope: that scope, and what it uses."""
        first, _, more = qualifier.partition("::")
        used: dict[str, list[str]] = {}
        for path in sorted(self._directives.keys() & view) if self._directives else ():
            for kind, where, what in self._directives[path]:
                bound, _, target = what.partition("=")
                if kind == "using":
                    inner = f"{where}::{target}" if where else target
                    used.setdefault(where, []).append(inner if inner in self._namespaces else target)
                elif bound == first and where == scope:
                    return ["::".join(part for part in (target, more) if part)]
        found = _with_used([scope], used)
        if qualifier:
            qualifiers = [qualifier, more] if first in self._hidden else [qualifier]
            named = ["::".join(part for part in (holder, q) if part) for q in qualifiers for holder in found]
            found = _with_used(named, used)
        return found

    def _visible(self, importer: FilePath, view: frozenset[FilePath], full: str, mode: str) -> Module | None:
        names = (f"#{full}", full, f".{full}") if mode == TAG else (full, f".{full}", f"#{full}")
        symbols: list[tuple[FilePath, str]] = []
        declaring: list[FilePath] = []
        renaming: list[tuple[FilePath, int]] = []
        wants_class = mode in (TYPE, TAG, CLASS_ONLY)
        for mark in names:
            offers = self._offers.get(mark)
            if not offers or (mark.startswith("#") and not wants_class):
                continue
            seen = [path for path in offers if path in view]
            if importer in seen and not self._is_declaration(importer, offers[importer]):
                seen = [importer]
            for path in seen:
                if self._is_declaration(path, offers[path]):
                    declaring.append(path)
                elif mark.startswith(".") and self._is_renaming(path, offers[path]):
                    renaming.append((path, offers[path]))
                elif not wants_class or self._is_type(path, offers[path]):
                    symbols.append((path, mark))
            if symbols and wants_class:
                break
        if symbols and not declaring:
            return Module(kind="symbols", symbols=tuple(sorted(set(symbols))))
        if wants_class:
            return None if not symbols else Module(kind="symbols", symbols=tuple(sorted(set(symbols))))
        if symbols and any(path == importer for path, _ in symbols):
            return Module(kind="symbols", symbols=tuple(sorted(set(symbols))))
        if declaring:
            defined = self._defined(importer, full, declaring)
            if defined is not None:
                merged = (*symbols, *defined.symbols)
                return Module(
                    kind="symbols", symbols=tuple(sorted(set(merged))), dotted="" if merged else defined.dotted
                )
            return Module(kind="symbols", symbols=tuple(sorted(set(symbols)))) if symbols else _MISSING
        for path, at in renaming if mode != _RENAMED else ():
            target = self._files[path].imports[self._files[path].ops[at][1]]
            scope, _, inner = target.module.split(":", 2)[2].partition("|")
            found = self._look_up(path, scope.split("::") if scope else [], inner, target.name, _RENAMED)
            if found is not None and found.symbols:
                return found
        return None

    def _defined(self, importer: FilePath, full: str, declaring: list[FilePath]) -> Module | None:
        """The definition of a name with external linkage; None where several are, and none is certain."""
        offers = self._offers.get(full, {})
        defining = [path for path, at in sorted(offers.items()) if not self._is_declaration(path, at)]
        if not defining:
            return Module(kind="symbols", dotted=full)
        if len(defining) > 1:
            for folders in ({posixpath.dirname(importer)}, {posixpath.dirname(path) for path in declaring}):
                near = [path for path in defining if posixpath.dirname(path) in folders]
                if len(near) == 1:
                    defining = near
                    break
            else:
                if not self._overloads(defining, full):
                    return None
        return Module(kind="symbols", symbols=tuple((path, full) for path in defining))

    def _overloads(self, defining: list[FilePath], full: str) -> bool:
        """Whether the definitions differ in their number of parameters: then they are one name's overloads."""
        counts: list[int] = []
        for path in defining:
            summary = self._files[path]
            functions = [
                summary.ops[at][1]
                for at in self._parts(summary, self._offers[full][path])
                if summary.ops[at][0] == Op.FUNC
            ]
            counts += [len(summary.functions[index].params) for index in functions]
        return len(counts) == len(set(counts))

    # What an export is -----------------------------------------------------------------------------------------------------

    def _parts(self, summary: FileSummary, at: int) -> tuple[int, ...]:
        return summary.ops[at][1:] if at != NOTHING and summary.ops[at][0] == Op.PHI else (at,)

    def _is_declaration(self, path: FilePath, at: int) -> bool:
        """Whether all that a file has of a name are declarations."""
        summary = self._files[path]
        for part in self._parts(summary, at):
            op = summary.ops[part] if part != NOTHING else (0,)
            if op[0] != Op.IMPORT or not summary.imports[op[1]].module.startswith(f":{DECLARATION}:"):
                return False
        return True

    def _is_renaming(self, path: FilePath, at: int) -> bool:
        """`#define f g`: counts where nothing else has the name, for such lines mostly stand under conditions."""
        op = self._files[path].ops[at] if at != NOTHING else (0,)
        return op[0] == Op.IMPORT

    def _is_type(self, path: FilePath, at: int) -> bool:
        summary = self._files[path]
        return any(
            part != NOTHING and summary.ops[part][0] in (Op.CLASS, Op.ALIAS_TYPE, Op.IMPORT, Op.SEQ)
            for part in self._parts(summary, at)
        )

    # Members ---------------------------------------------------------------------------------------------------------

    def _is_member(self, importer: FilePath, around: list[str], name: str) -> bool:
        """Whether a class around has a member of the name, itself or by its bases."""
        for depth in range(len(around), 0, -1):
            if name in self._member_names(importer, "::".join(around[:depth]), 0):
                return True
        return False

    def _member_names(self, importer: FilePath, full: str, depth: int) -> frozenset[str]:
        key = (importer, full)
        known = self._members.get(key)
        if known is not None:
            return known
        if depth > MAX_BASES:
            return frozenset()
        self._members[key] = frozenset()  # a class that is its own base ends here
        found: set[str] = set()
        view = self._view(importer)
        for mark in (full, f".{full}", f"#{full}"):
            for path, at in self._offers.get(mark, {}).items():
                if path not in view:
                    continue
                summary = self._files[path]
                for part in self._parts(summary, at):
                    if part != NOTHING and summary.ops[part][0] == Op.CLASS:
                        found |= self._names_of(path, summary, summary.ops[part][1], depth)
        self._members[key] = frozenset(found)
        return self._members[key]

    def _names_of(self, path: FilePath, summary: FileSummary, index: int, depth: int) -> set[str]:
        cls = summary.classes[index]
        found = {name for name, _ in (*cls.members, *cls.static_members, *cls.annotations)}
        for base in cls.bases:
            op = summary.ops[base] if base != NOTHING else (0,)
            while op[0] == Op.APPLY:
                op = summary.ops[op[1]]
            if op[0] == Op.IMPORT:
                module = self.module(path, summary.imports[op[1]])
                for file, name in module.symbols:
                    found |= self._member_names(file, name.lstrip(".#"), depth + 1)
        return found

    # What a file sees ------------------------------------------------------------------------------------------------------

    def _closure(self, path: FilePath) -> frozenset[FilePath]:
        known = self._closures.get(path)
        if known is None:
            seen = {path}
            stack = [path]
            while stack:
                for found in self._direct.get(stack.pop(), ()):
                    if found not in seen:
                        seen.add(found)
                        stack.append(found)
            known = self._closures[path] = frozenset(seen)
        return known

    def _view(self, path: FilePath) -> frozenset[FilePath]:
        """Files whose names one sees: what it includes; a header also sees what those that include it do."""
        known = self._views.get(path)
        if known is None:
            seen = set(self._closure(path))
            if posixpath.splitext(path)[1] in HEADER_SUFFIXES or self._includers.get(path):
                for includer in self._all_includers(path):
                    seen |= self._closure(includer)
            known = self._views[path] = frozenset(seen)
        return known

    def _all_includers(self, path: FilePath) -> Iterable[FilePath]:
        seen = {path}
        stack = [path]
        while stack and len(seen) <= _MAX_INCLUDERS:
            for found in self._includers.get(stack.pop(), ()):
                if found not in seen:
                    seen.add(found)
                    stack.append(found)
        return sorted(seen - {path})


def _with_used(holders: list[str], used: Mapping[str, list[str]]) -> list[str]:
    """Scopes, and those whose names they use, directly or not."""
    found = list(dict.fromkeys(holders))
    for holder in found:
        found += [target for target in used.get(holder, ()) if target not in found]
    return found
