"""What an import in a Python test brings in: the target's functions, the target module, helpers of the test tree, others."""

from __future__ import annotations

from pathlib import PurePosixPath

from tree_sitter import Node

from smp.domain.assertions import TargetSurface
from smp.domain.ids import FilePath
from smp.languages.python.gate.dataflow import UNKNOWN, Interpreter, Scope, Value, text_of

_SUPPORT_WORDS = ("test", "assert")


def bind_import(run: Interpreter, node: Node, scope: Scope) -> list[Value]:
    """Run an `import` or `from … import` statement."""
    source = text_of(node.child_by_field_name("module_name")) if node.type == "import_from_statement" else ""
    for child in node.children_by_field_name("name"):
        alias = child.child_by_field_name("alias")
        dotted = text_of(child.child_by_field_name("name") if alias is not None else child)
        if source:
            scope.names[text_of(alias) or dotted] = imported(run, source, dotted)
        else:
            bound = text_of(alias) or dotted.partition(".")[0]
            scope.names[bound] = Value(module=True) if leads_to(run.surface, dotted) else UNKNOWN
    if any(child.type == "wildcard_import" for child in node.named_children):
        if leads_to(run.surface, source):
            for name in sorted(run.surface.functions | run.surface.classes):
                scope.names.setdefault(name, Value(refs=frozenset({name})))
        for name, value in run.support.get(source.rpartition(".")[2], {}).items():
            scope.names.setdefault(name, value)
    return []


def imported(run: Interpreter, source: str, name: str) -> Value:
    """The value of `from source import name`."""
    surface = run.surface
    support = run.support.get(source.rpartition(".")[2])
    if support is not None and name in support:
        return support[name]
    if leads_to(surface, source):
        if name in surface.functions or name in surface.classes:
            return Value(refs=frozenset({name}))
        if PurePosixPath(surface.path).stem == name or leads_to(surface, f"{source}.{name}".replace("..", ".")):
            return Value(module=True)
    is_support = any(word in part.lower() for part in source.split(".") for word in _SUPPORT_WORDS)
    return Value(ambient=True, support=is_support)


def leads_to(surface: TargetSurface, dotted: str) -> bool:
    """Whether a module text may name the target's module or a package above it (which may export its names again).

    The folder at which imports begin is not known here, so any tail of the path will do; a relative import of anything
    may lead there.
    """
    parts = [part for part in dotted.split(".") if part]
    if dotted.startswith("."):
        return not parts or parts[-1] in PurePosixPath(surface.path).with_suffix("").parts
    path = list(PurePosixPath(surface.path).with_suffix("").parts)
    if path[-1] == "__init__":
        path.pop()
    return any(path[start : start + len(parts)] == parts for start in range(len(path))) if parts else False


def support_candidates(test_file: FilePath, root: Node) -> tuple[FilePath, ...]:
    """Files that may hold fixtures and helpers of a test: `conftest.py` upwards, and modules it imports from beside it."""
    folder = PurePosixPath(test_file).parent
    found = [parent / "conftest.py" for parent in [folder, *folder.parents]]
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "import_from_statement":
            dotted = text_of(node.child_by_field_name("module_name"))
            parts = [part for part in dotted.split(".") if part]
            for base in [folder, *folder.parents]:
                if parts:
                    found += [base.joinpath(*parts).with_suffix(".py"), base.joinpath(*parts, "__init__.py")]
        elif node.type in {"module", "if_statement", "try_statement", "block"}:
            stack += node.named_children
    paths = dict.fromkeys(FilePath(path.as_posix()) for path in found)
    return tuple(path for path in paths if path != test_file)
