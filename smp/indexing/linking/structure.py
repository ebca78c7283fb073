"""Edges that need no flow: imports, inheritance, and tests from what calls were found."""

from __future__ import annotations

from smp.domain.graph import Edge, EdgeKind
from smp.domain.ids import FilePath, NodeId
from smp.domain.source import ImportDecl, Op
from smp.indexing.linking import bits
from smp.indexing.linking.program import Program
from smp.indexing.linking.rules import Rules
from smp.indexing.linking.units import Unit
from smp.indexing.linking.values import MODULE, ClassRef, FuncRef

MAX_HOOK_DEPTH = 8


def import_edges(program: Program, unit: Unit) -> list[Edge]:
    """IMPORTS: to the file of the module that a statement names; to the submodule where the name is one."""
    gathered: dict[str, list[ImportDecl]] = {}
    for index, declaration in enumerate(unit.summary.imports):
        if declaration.silent:
            continue
        for path in imported_files(program, unit, index):
            if path != unit.path:
                gathered.setdefault(path, []).append(declaration)
    source = NodeId(unit.summary.definitions[0])
    edges = []
    for path, declarations in gathered.items():
        lines = tuple(sorted({declaration.line for declaration in declarations}))
        target = program.by_path[path].summary.definitions[0]
        edges.append(
            Edge(
                kind=EdgeKind.IMPORTS,
                source=source,
                target=NodeId(target),
                line=lines[0],
                lines=lines,
                import_source=FilePath(path),
                items=tuple(sorted({d.name for d in declarations if d.name})),
                type_only=all(declaration.type_only for declaration in declarations),
            )
        )
    return edges


def imported_files(program: Program, unit: Unit, index: int) -> tuple[str, ...]:
    """The file that an import statement names; of a package the files whose names are used, or all if none is."""
    module = program.import_module(unit, index)
    value = program.module_value(module) if module.kind == "package" else None
    if value is None:
        path = imported_file(program, unit, index)
        return (path,) if path is not None else ()
    summary = unit.summary
    name = summary.imports[index].name
    if name == "*":
        used = [op[1] for op in summary.ops if op[0] == Op.UNBOUND]
    else:
        held = {at for at, op in enumerate(summary.ops) if op[0] == Op.IMPORT and op[1] == index}
        used = [op[2] for op in summary.ops if op[0] == Op.ATTR and op[1] in held]
    names = [name] if name and name != "*" else [summary.names[at] for at in dict.fromkeys(used)]
    found = sorted({path for each in names for path in program.offering(value, each)})
    return tuple(found) or module.files


def imported_file(program: Program, unit: Unit, index: int) -> str | None:
    """The file that an import statement names; None outside the project."""
    declaration = unit.summary.imports[index]
    module = program.import_module(unit, index)
    if module.kind not in ("file", "namespace"):
        return None
    if declaration.name and declaration.name != "*":
        value = program.module_value(module)
        assert value is not None
        exported = program.export(module.path, declaration.name) if module.kind == "file" else None
        if exported is None or not (exported.labels or exported.leaves):
            inner = program.submodule(module, declaration.name)
            if inner is not None and inner.kind == "file":
                return inner.path
        elif len(exported.labels) == 1:
            # `from pkg import sub` where the package itself imports `sub` names the submodule as well.
            only = next(iter(exported.labels))
            if only.kind == MODULE and not only.below:
                inner = program.submodule(module, declaration.name)
                if inner is not None and inner.path == only.name:
                    return inner.path
    return module.path if module.kind == "file" else None


def hierarchy_edges(program: Program, unit: Unit) -> list[Edge]:
    """INHERITS from class to class, IMPLEMENTS from class to interface."""
    lines: dict[tuple[EdgeKind, str, str], set[int]] = {}
    for ref in unit.classes:
        own_interface = ref.node_id.startswith("interface:")
        heads = [(at, False) for at in ref.decl.bases] + [(at, True) for at in ref.decl.implements]
        for position, (at, declared) in enumerate(heads):
            line = ref.decl.base_lines[position] if position < len(ref.decl.base_lines) else 0
            for base in program.base_values(unit, at):
                if not isinstance(base, ClassRef) or base is ref or not base.node_id or not ref.node_id:
                    continue
                if base.decl.flags & ref.decl.flags & bits.C_PARTIAL and base.decl.name == ref.decl.name:
                    continue  # another part of the same class
                implements = declared or (base.node_id.startswith("interface:") and not own_interface)
                kind = EdgeKind.IMPLEMENTS if implements else EdgeKind.INHERITS
                lines.setdefault((kind, ref.node_id, base.node_id), set()).add(line)
    edges = [
        Edge(kind=kind, source=NodeId(source), target=NodeId(target), line=min(found), lines=tuple(sorted(found)))
        for (kind, source, target), found in lines.items()
    ]
    return edges + _promise_edges(program, unit, frozenset(lines))


def _promise_edges(program: Program, unit: Unit, known: frozenset[tuple[EdgeKind, str, str]]) -> list[Edge]:
    """IMPLEMENTS by code outside the class; the line is that code's, whose file is named where it is another."""
    made: dict[tuple[str, str], Edge] = {}
    for ref in unit.classes:
        for index, at, line in ref.promises:
            source = program.units[index]
            for base in program.base_values(source, at):
                if not isinstance(base, ClassRef) or base is ref or not base.node_id or not ref.node_id:
                    continue
                key = (ref.node_id, base.node_id)
                if key not in made and (EdgeKind.IMPLEMENTS, *key) not in known:
                    made[key] = Edge(
                        kind=EdgeKind.IMPLEMENTS,
                        source=NodeId(ref.node_id),
                        target=NodeId(base.node_id),
                        line=line,
                        lines=(line,),
                        import_source=source.path if source is not unit else None,
                    )
    return list(made.values())


class TestEdges:
    """TESTS: from a test to what it calls, what its fixtures call, and what runs before and after it."""

    def __init__(self, program: Program, flow: Rules, calls: dict[str, list[tuple[str, int]]]) -> None:
        self.test_files: frozenset[str] = frozenset()
        self.program = program
        self.flow = flow
        self.calls = calls

    def of(self, unit: Unit) -> list[Edge]:
        """Edges of the tests of a file."""
        wanted = set(unit.summary.tests)
        if not wanted:
            return []
        hooks: dict[int, list[str]] = {}
        for test, hook in unit.summary.hooks:
            hooks.setdefault(test, []).append(unit.summary.definitions[hook])
        edges: list[Edge] = []
        by_definition = {ref.decl.definition: ref for ref in unit.functions}
        for test in sorted(wanted):
            source = unit.summary.definitions[test]
            ref = by_definition.get(test)
            reached: dict[str, set[int]] = {}
            for target, line in self._calls_of(source):
                reached.setdefault(target, set()).add(line)
            through = list(hooks.get(test, ()))
            if ref is not None:
                through += [f.node_id for f in self._around(unit, ref) if f.node_id is not None]
            for helper in dict.fromkeys(through):
                for target, _ in self._calls_of(helper):
                    reached.setdefault(target, set())
            for target, lines in reached.items():
                if target.startswith("test:") or target == source:
                    continue
                ordered = tuple(sorted(lines))
                edges.append(
                    Edge(
                        kind=EdgeKind.TESTS,
                        source=NodeId(source),
                        target=NodeId(target),
                        line=ordered[0] if ordered else 0,
                        lines=ordered,
                    )
                )
        return edges

    def _calls_of(self, source: str) -> list[tuple[str, int]]:
        self.program.read(("calls", source))
        return self.calls.get(source, [])

    def _around(self, unit: Unit, ref: FuncRef) -> list[FuncRef]:
        """Fixtures, theirs, and setup methods that run with a test."""
        found: list[FuncRef] = []
        if ref.cls is not None:
            for name in self.flow.tables.test_hooks:
                hook = self.flow.lookup.find(ref.cls, name)
                # What a framework that lies in the project does around every test is not what the test is about.
                found += [f for f in hook.functions if self.program.units[f.unit].path in self.test_files]
        self._fixtures(unit, ref, found, 0)
        return found

    def _fixtures(self, unit: Unit, ref: FuncRef, found: list[FuncRef], depth: int) -> None:
        if depth > MAX_HOOK_DEPTH:
            return
        asked = [p.name for p in ref.decl.params if p.injected] + list(ref.decl.fixtures)
        for name in asked:
            for fixture in self.flow.fixtures(unit.path, name, ref):
                if fixture not in found:
                    found.append(fixture)
                    self._fixtures(self.program.units[fixture.unit], fixture, found, depth + 1)
