"""Builds a `FileSummary`: interning of names, ops, definitions with unique qualified names."""

from __future__ import annotations

from collections.abc import Sequence

from smp.domain.graph import NodeKind
from smp.domain.ids import FilePath, NodeId, mint_node_id
from smp.domain.source import (
    NOTHING,
    Class,
    Exports,
    Extension,
    FileSummary,
    Function,
    ImportDecl,
    Op,
    Site,
    SiteKind,
    Variable,
    encode_sites,
)

MAX_TEXT = 200
"""Longest callee text that is kept (decisions.md section 5)."""


class SummaryBuilder:
    """Collects the parts of one file's summary; lists are public so that a walk may read what it has written."""

    def __init__(self, path: FilePath) -> None:
        self.path = path
        self.names: list[str] = []
        self._name_index: dict[str, int] = {}
        self.ops: list[tuple[int, ...]] = []
        self._shared: dict[tuple[int, ...], int] = {}
        self.definitions: list[str] = [mint_node_id("file", path)]
        self._used: dict[str, int] = {}
        self.variables: list[Variable] = []
        self.imports: list[ImportDecl] = []
        self.functions: list[Function | None] = []
        self.classes: list[Class | None] = []
        self.sites: list[Site] = []
        self.tests: list[int] = []
        self.hooks: list[tuple[int, int]] = []
        self.own_fixtures: list[tuple[str, int]] = []
        self.exports = Exports()
        self.module_kind = ""
        self.extensions: list[Extension] = []

    def name(self, text: str) -> int:
        """Index of an interned name."""
        index = self._name_index.get(text)
        if index is None:
            index = self._name_index[text] = len(self.names)
            self.names.append(text)
        return index

    def op(self, code: Op, *operands: int) -> int:
        """A new op; its id."""
        self.ops.append((int(code), *operands))
        return len(self.ops) - 1

    def shared(self, code: Op, *operands: int) -> int:
        """As `op`, but equal ops are one (for ops without a place: CONST, UNBOUND, VAR, FUNC, CLASS, IMPORT, PARAM, RECEIVER)."""
        key = (int(code), *operands)
        index = self._shared.get(key)
        if index is None:
            self.ops.append(key)
            index = self._shared[key] = len(self.ops) - 1
        return index

    def const(self, type_name: str, text: str | None = None) -> int:
        """A literal of an external type."""
        return self.shared(Op.CONST, self.name(type_name), NOTHING if text is None else self.name(text))

    def phi(self, values: Sequence[int]) -> int:
        """The join of several values; NOTHING is dropped, one value is itself."""
        distinct = sorted({value for value in values if value != NOTHING})
        if not distinct:
            return NOTHING
        if len(distinct) == 1:
            return distinct[0]
        return self.shared(Op.PHI, *distinct)

    def unique_qualname(self, qualname: str) -> str:
        """`qualname`, or `qualname~2`, `~3` … if definitions of that name came before (whatever their kind)."""
        count = self._used[qualname] = self._used.get(qualname, 0) + 1
        return qualname if count == 1 else f"{qualname}~{count}"

    def define(self, kind: NodeKind, unique: str) -> tuple[int, NodeId]:
        """Index and node id of a definition whose name `unique_qualname` gave."""
        node_id = mint_node_id(kind.value.lower(), self.path, unique)
        self.definitions.append(node_id)
        return len(self.definitions) - 1, node_id

    def function_slot(self) -> int:
        """Reserves an index, so that a function's body may refer to itself; fill `functions[index]` afterwards."""
        self.functions.append(None)
        return len(self.functions) - 1

    def class_slot(self) -> int:
        """Reserves an index; fill `classes[index]` afterwards."""
        self.classes.append(None)
        return len(self.classes) - 1

    def variable(self, name: str, *, definition: int = NOTHING, module: bool = False) -> int:
        """A new variable."""
        self.variables.append(Variable(name, definition, module))
        return len(self.variables) - 1

    def site(
        self,
        kind: SiteKind,
        op: int,
        *,
        owner: int,
        line: int,
        text: str | None = None,
        names: Sequence[str] = (),
        other: int = NOTHING,
    ) -> None:
        """Adds a site; see `Site`."""
        shown = NOTHING if text is None else self.name(text[:MAX_TEXT])
        self.sites.append(Site(int(kind), op, owner, line, shown, tuple(self.name(n) for n in names), other))

    def finish(self) -> FileSummary:
        """The summary; every reserved slot must be filled."""
        functions = tuple(f for f in self.functions if f is not None)
        classes = tuple(c for c in self.classes if c is not None)
        assert len(functions) == len(self.functions)
        assert len(classes) == len(self.classes)
        return FileSummary(
            names=tuple(self.names),
            definitions=tuple(self.definitions),
            ops=tuple(self.ops),
            variables=tuple(self.variables),
            imports=tuple(self.imports),
            functions=functions,
            classes=classes,
            site_rows=encode_sites(self.sites),
            exports=self.exports,
            tests=tuple(self.tests),
            hooks=tuple(self.hooks),
            own_fixtures=tuple(self.own_fixtures),
            module_kind=self.module_kind,
            extensions=tuple(self.extensions),
        )
