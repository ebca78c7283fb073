"""Modules of a file and paths through them: what `a::b::C` means, as ops.

A module that is written in place is a class whose static members are its items, so that other files reach into it as they
reach into a type. Names do not go from a module into those within it, except by `use`.
"""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, ImportDecl, Op
from smp.languages.blocks import BlockWalk, Local
from smp.languages.declared import line_of, text_of

_ROOTS = frozenset({"crate", "self", "super"})
_STD = frozenset({"std", "core", "alloc", "parking_lot", "tokio", "hashbrown", "indexmap", "once_cell", "futures"})
"""Crates whose types of a known name are what std has under it."""
KNOWN = frozenset(
    [
        "String",
        "Vec",
        "VecDeque",
        "HashMap",
        "HashSet",
        "BTreeMap",
        "BTreeSet",
        "BinaryHeap",
        "LinkedList",
        "Option",
        "Result",
        "Box",
        "Rc",
        "Arc",
        "Weak",
        "Cell",
        "RefCell",
        "Mutex",
        "RwLock",
        "OnceCell",
        "OnceLock",
        "Cow",
        "Pin",
        "Ref",
        "RefMut",
        "MutexGuard",
        "RwLockReadGuard",
        "RwLockWriteGuard",
        "LazyLock",
        "Peekable",
        "IndexMap",
        "Clone",
        "Copy",
        "Debug",
        "Display",
        "Default",
        "PartialEq",
        "Eq",
        "PartialOrd",
        "Ord",
        "Hash",
        "Drop",
        "Deref",
        "DerefMut",
        "From",
        "Into",
        "TryFrom",
        "TryInto",
        "AsRef",
        "AsMut",
        "Error",
        "FromStr",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Index",
        "IndexMut",
        "Neg",
        "Not",
        "Future",
        "Any",
        "Borrow",
        "FromIterator",
        "Iterator",
        "IntoIterator",
    ]
)
"""Types and traits whose methods are known (`smp.languages.rust.tables`)."""


class ModuleScope:
    """The file itself, or a module in it."""

    __slots__ = ("globs", "inner", "names", "op", "parent", "prefix", "slot")

    def __init__(self, parent: ModuleScope | None, prefix: str) -> None:
        self.parent = parent
        self.prefix = prefix
        self.names: dict[str, Local | int] = {}
        self.globs: list[ModuleScope] = []
        self.inner: dict[str, ModuleScope] = {}
        self.slot = NOTHING
        self.op = NOTHING

    def find(self, name: str, depth: int = 0) -> Local | int | None:
        """A name of the module, its own or through a glob of a module of this file."""
        known = self.names.get(name)
        if known is not None or depth > len(self.globs) + 8:
            return known
        for other in self.globs:
            known = other.find(name, depth + 8)
            if known is not None:
                return known
        return None


class PathWalk(BlockWalk):
    """Paths."""

    module: ModuleScope
    self_type: int = NOTHING
    """What `Self` stands for."""
    associated: dict[str, int]
    """Associated types of the present impl block."""

    def find(self, name: str) -> Local | int | None:
        known = super().find(name)
        return known if known is not None else self.module.find(name)

    def root_import(self, module: str) -> int:
        """The module at the root of a path."""
        known = self.roots.get(module)
        if known is None:
            self.b.imports.append(ImportDecl(module, "", 0, 0, silent=True))
            known = self.roots[module] = self.b.shared(Op.IMPORT, len(self.b.imports) - 1)
        return known

    roots: dict[str, int]

    def module_op(self, scope: ModuleScope) -> int:
        """The value of a module of this file."""
        return scope.op if scope.op != NOTHING else self.root_import("self")

    def path_op(self, parts: list[str]) -> int:
        """What a path means; its first part is looked up where it is written."""
        if not parts:
            return NOTHING
        if parts[0] in _STD and self.find(parts[0]) is None:
            at = next((n for n, part in enumerate(parts) if part in KNOWN), 0)
            parts = parts[at:]
        scope: ModuleScope | None = None
        position = 0
        if parts[0] in _ROOTS:
            scope, value, position = self._root(parts)
        elif parts[0] == "Self":
            value, position = self.bare(self.self_type), 1
        else:
            value, position = self.load(parts[0]), 1
            scope = self.module.inner.get(parts[0]) if not isinstance(self.find(parts[0]), Local) else None
        for part in parts[position:]:
            known = scope.find(part) if scope is not None else None
            scope = scope.inner.get(part) if scope is not None else None
            value = known if isinstance(known, int) else self.attribute(value, part)
        return value

    def bare(self, type_op: int) -> int:
        """A type without its arguments, whose items a path names."""
        while type_op != NOTHING and self.b.ops[type_op][0] == Op.APPLY:
            type_op = self.b.ops[type_op][1]
        return type_op

    def _root(self, parts: list[str]) -> tuple[ModuleScope | None, int, int]:
        """The module that `crate`, `self` or `super::super` leads to."""
        if parts[0] == "crate":
            return None, self.root_import("crate"), 1
        scope: ModuleScope | None = self.module
        position = 1 if parts[0] == "self" else 0
        above = 0
        while position < len(parts) and parts[position] == "super":
            if scope is not None:
                scope = scope.parent
            if scope is None:
                above += 1
            position += 1
        if scope is not None:
            return scope, self.module_op(scope), position
        return None, self.root_import("::".join(["super"] * above)), position

    def path_parts(self, node: tree_sitter.Node) -> list[str] | None:
        """The names of a path; None where it begins with a type that is no name."""
        kind = node.type
        if kind in ("identifier", "type_identifier", "self", "super", "crate", "metavariable", "primitive_type"):
            return [text_of(node)]
        if kind in ("scoped_identifier", "scoped_type_identifier"):
            path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
            before = self.path_parts(path) if path is not None else []
            return [*before, text_of(name)] if before is not None and name is not None else None
        if kind in ("generic_type", "generic_type_with_turbofish"):
            inner = node.child_by_field_name("type")
            return self.path_parts(inner) if inner is not None else None
        return None

    # Imports ---------------------------------------------------------------------------------------------------------

    def uses_of(self, node: tree_sitter.Node, before: list[str]) -> list[tuple[list[str], str, int]]:
        """(path, bound name or `*`, line) of a use tree."""
        kind = node.type
        if kind == "use_list":
            return [use for child in node.named_children for use in self.uses_of(child, before)]
        if kind == "scoped_use_list":
            path, listed = node.child_by_field_name("path"), node.child_by_field_name("list")
            parts = self.path_parts(path) if path is not None else []
            return self.uses_of(listed, [*before, *(parts or [])]) if listed is not None else []
        if kind == "use_as_clause":
            path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
            parts = self.path_parts(path) if path is not None else None
            if parts is None or alias is None:
                return []
            parts = [*before, *parts]
            return [(parts[:-1] if parts[-1] == "self" and before else parts, text_of(alias), line_of(node))]
        if kind == "use_wildcard":
            inner = next((c for c in node.named_children if c.type != "comment"), None)
            parts = self.path_parts(inner) if inner is not None else []
            return [([*before, *(parts or [])], "*", line_of(node))]
        named = self.path_parts(node)
        if named is None:
            return []
        if named == ["self"] and before:
            return [(before, before[-1], line_of(node))]
        return [([*before, *named], named[-1], line_of(node))]

    def bind_use(self, parts: list[str], name: str, line: int) -> None:
        """One name, or all, that a `use` brings in."""
        if name == "*":
            scope = self._local_module(parts)
            if scope is not None:
                self.module.globs.append(scope)
                return
            value = self.path_op(parts) if parts[0] in self.module.names else NOTHING
            if value != NOTHING and self.b.ops[value][0] == Op.CLASS:  # variants of an enum of this file
                for variant, op in self.variants.get(self.b.ops[value][1], {}).items():
                    self.module.names.setdefault(variant, op)
                return
            self.b.imports.append(ImportDecl("::".join(parts), "*", line, self.frame.owner))
            self.stars.append(self.path_op(parts))
            return
        if self._local_module(parts[:-1]) is None or len(parts) == 1:
            self.b.imports.append(
                ImportDecl(
                    "::".join(parts[:-1]) or parts[0], parts[-1] if len(parts) > 1 else "", line, self.frame.owner
                )
            )
        value = self.path_op(parts)
        if name != "_" and value != NOTHING:
            target = self.scopes[-1] if len(self.scopes) > 1 else self.module.names
            if parts != [name]:
                target[name] = value

    stars: list[int]
    """Ops of the modules and types whose names all come in."""
    variants: dict[int, dict[str, int]]

    def _local_module(self, parts: list[str]) -> ModuleScope | None:
        """The module of this file that a path names."""
        scope: ModuleScope | None = self.module
        for position, part in enumerate(parts):
            if scope is None:
                return None
            if part == "self" and position == 0:
                continue
            scope = scope.parent if part == "super" else scope.inner.get(part)
        return scope if parts else None
