"""Code objects of a mutant against those in memory: are they the same, and which live functions must change.

Runs inside a box, standard library and pytest only, beside `mutation_runner.py`.
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import gc
import hashlib
import io
import marshal
import os
import shutil
import tempfile
import tokenize
import types
import warnings
from importlib.machinery import SourceFileLoader
from typing import NamedTuple

from _pytest.assertion import rewrite
from _pytest.assertion.rewrite import AssertionRewritingHook as Rewriter
from mutation_forks import GoOn


def compile_quietly(source: bytes, path: str) -> types.CodeType | None:
    """The module's code, or None when it does not compile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compile(source, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def constant_key(value: object) -> object:
    """Tells 1 from True and from 1.0, and 0.0 from -0.0, which compare equal."""
    if isinstance(value, types.CodeType):
        return code_key(value)
    if isinstance(value, tuple):
        return ("tuple", tuple(constant_key(part) for part in value))
    if isinstance(value, frozenset):
        return ("frozenset", tuple(sorted(repr(constant_key(part)) for part in value)))
    return (type(value).__name__, repr(value))


def own_key(code: types.CodeType) -> tuple:
    """All that a code object does by itself; positions in the file are left out, nested code too."""
    constants = tuple(constant_key(value) for value in code.co_consts if not isinstance(value, types.CodeType))
    return (
        code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags,
        code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_name,
        getattr(code, "co_exceptiontable", b""),
    )  # fmt: skip


def nested(code: types.CodeType) -> list[types.CodeType]:
    return [value for value in code.co_consts if isinstance(value, types.CodeType)]


def code_key(code: types.CodeType) -> tuple:
    """Equal for two modules exactly when no run can tell them apart."""
    return (own_key(code), tuple(code_key(value) for value in nested(code)))


def identity(code: types.CodeType) -> tuple:
    """Finds a compiled function again in memory, where its code may come from a cache file."""
    return (getattr(code, "co_qualname", code.co_name), code.co_firstlineno, own_key(code), len(nested(code)))


def live_functions(target: str) -> dict[tuple, list[types.FunctionType]]:
    """Functions in memory whose code comes from a file, by the identity of that code."""
    live: dict[tuple, list[types.FunctionType]] = {}
    matches: dict[str, bool] = {}
    for thing in gc.get_objects():
        if type(thing) is types.FunctionType:
            name = thing.__code__.co_filename
            if name not in matches:
                matches[name] = os.path.realpath(name) == target
            if matches[name]:
                live.setdefault(identity(thing.__code__), []).append(thing)
    return live


class Statement(NamedTuple):
    """A statement of a module, or of classes nested in it: bytes from decorator to end, first line, names of the classes."""

    start: int
    end: int
    line: int
    classes: tuple[str, ...]


class Statements:
    """The statements of a module and its classes, each compiled by itself: a mutant costs what its function costs, not its file.

    What is compiled from a statement alone is what the module's compiler makes of it: names of a module are global in all its
    statements, those of a class are seen by no function in it, `from __future__` travels in the flags, and the module's
    imports are put before it (a call on an imported name compiles otherwise than one on any other). What is not so is compiled
    as the whole around it: mutants across statements, bare expressions (alone, a text would become a docstring), classes with
    type parameters, and files that are not plain UTF-8 with Unix line ends, whose offsets the parser counts otherwise.
    """

    def __init__(self, source: bytes, path: str, original: types.CodeType) -> None:
        self.source, self.path, self.original = source, path, original
        features = (getattr(__future__, name) for name in __future__.all_feature_names)
        self.flags = sum(feature.compiler_flag for feature in features) & original.co_flags
        self.keys: dict[int, tuple] = {}
        self.before: dict[Statement, types.CodeType | None] = {}
        self.found: list[Statement] = []
        if tokenize.detect_encoding(io.BytesIO(source).readline)[0] == "utf-8" and b"\r" not in source:
            tree = ast.parse(source)
            self.imports = list(module_imports(tree))
            self.offsets = [0, *(place + 1 for place, byte in enumerate(source) if byte == 10)]
            self.look_through(tree, ())

    def look_through(self, tree: ast.Module | ast.ClassDef, classes: tuple[str, ...]) -> None:
        for node in tree.body:
            if isinstance(node, ast.Expr):
                continue
            line = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            start = self.offsets[line - 1] + node.col_offset
            self.found.append(Statement(start, self.offsets[node.end_lineno - 1] + node.end_col_offset, line, classes))
            if isinstance(node, ast.ClassDef) and not getattr(node, "type_params", None):
                self.look_through(node, (*classes, node.name))

    def compiled(self, start: int, end: int, text: str) -> tuple[types.CodeType, types.CodeType | None]:
        """(code before, code after) of the statement around a span of bytes; None when it does not compile any more."""
        around = [one for one in self.found if one.start <= start and end <= one.end]
        if around:
            one = min(around, key=lambda one: one.end - one.start)
            if one not in self.before:
                self.before[one] = self.part(one, self.source[one.start : one.end])
            if self.before[one] is not None:
                changed = self.source[one.start : start] + text.encode() + self.source[end : one.end]
                return self.before[one], self.part(one, changed)
        mutated = self.source[:start] + text.encode() + self.source[end:]
        return self.original, compile_quietly(mutated, self.path)

    def part(self, one: Statement, text: bytes) -> types.CodeType | None:
        indent = self.source[self.offsets[one.line - 1] : one.start]
        if indent:  # a condition in the line above makes any indentation right and moves no column
            text = b"if 1:\n" + (b" " if indent.strip() else indent) + text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tree = compile(text, self.path, "exec", self.flags | ast.PyCF_ONLY_AST, dont_inherit=True)
                ast.increment_lineno(tree, one.line - (2 if indent else 1))
                body = tree.body[0].body if indent else tree.body
                for name in reversed(one.classes):
                    around = ast.parse(f"class {name}: pass").body[0]
                    around.body = body
                    body = [around]
                tree.body = [*self.imports, *body]
                return compile(tree, self.path, "exec", self.flags, dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None

    def are_equal(self, before: types.CodeType, after: types.CodeType) -> bool:
        """Whether no run can tell the two apart."""
        if id(before) not in self.keys:
            self.keys[id(before)] = code_key(before)
        return self.keys[id(before)] == code_key(after)


def plan_swaps(old: types.CodeType, new: types.CodeType, live: dict) -> list | None:
    """(function, code) pairs that put a mutant into effect; None when only a fresh import can.

    A function is swapped when its own code or code nested in it changed. Changed module or class bodies have run already,
    and a changed function that nobody holds yet is made by one of those.
    """
    if own_key(old) != own_key(new) or len(nested(old)) != len(nested(new)):
        return None
    identities = [identity(code) for code in nested(old)]
    swaps: list = []
    for before, after in zip(nested(old), nested(new), strict=True):
        if code_key(before) == code_key(after):
            continue
        functions = live.get(identity(before), [])
        if identities.count(identity(before)) > 1:  # two equal lambdas on one line
            return None
        if not functions:
            deeper = plan_swaps(before, after, live)
            if deeper is None:
                return None
            swaps += deeper
            continue
        if before.co_freevars != after.co_freevars:
            return None
        swaps += [(function, after) for function in functions]
        swaps += inner_swaps(before, after, live)
    return swaps


def inner_swaps(old: types.CodeType, new: types.CodeType, live: dict) -> list:
    """Functions that an enclosing one has already made (a decorator's wrapper): they change with it."""
    swaps: list = []
    if len(nested(old)) == len(nested(new)):
        for before, after in zip(nested(old), nested(new), strict=True):
            if code_key(before) != code_key(after) and before.co_freevars == after.co_freevars:
                swaps += [(function, after) for function in live.get(identity(before), [])]
                swaps += inner_swaps(before, after, live)
    return swaps


def module_imports(tree: ast.AST):
    """Import statements that bind names of the module."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if getattr(node, "module", None) != "__future__" and node.names[0].name != "*":
                yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.expr):
            yield from module_imports(node)


class TargetImport:
    """What happens when the target is imported, by Python's own importer or by pytest's.

    Attributes:
        first: Called once, when the import is about to begin.
        code: Run in place of the file's; None for the file's own.
    """

    def __init__(self, target: str) -> None:
        self.target, self.name = target, os.path.basename(target)
        self.first = None
        self.code: types.CodeType | None = None
        for importer, original in ((SourceFileLoader, SourceFileLoader.exec_module), (Rewriter, Rewriter.exec_module)):

            def exec_module(loader, module, original=original):
                is_target = self.is_target(module.__spec__.origin or "")
                if is_target and self.first is not None:
                    first, self.first = self.first, None
                    with contextlib.suppress(GoOn):
                        first()
                if is_target and self.code is not None:
                    exec(self.code, module.__dict__)  # noqa: S102 - the mutant in place of the file, as its loader does
                else:
                    original(loader, module)

            importer.exec_module = exec_module

    def is_target(self, path: str) -> bool:
        return path.endswith(self.name) and os.path.realpath(path) == self.target


class CompiledOnce:
    """Modules that one process compiles are had by all that are forked from the one that entered: no bytecode is written.

    The code lies in a folder by its source, pytest's rewritten tests included. It goes with the one that entered.
    """

    def __enter__(self) -> None:
        self.folder, self.owner = tempfile.mkdtemp(prefix="smp-code-"), os.getpid()
        compiled, rewritten = SourceFileLoader.source_to_code, rewrite._rewrite_test

        def source_to_code(loader, data, path, **options):
            return self.kept(b"plain", path, data, lambda: compiled(loader, data, path, **options))

        def rewrite_test(path, config):
            return os.stat(path), self.kept(b"rewritten", path, path.read_bytes(), lambda: rewritten(path, config)[1])

        SourceFileLoader.source_to_code, rewrite._rewrite_test = source_to_code, rewrite_test

    def __exit__(self, *error: object) -> None:
        if os.getpid() == self.owner:
            shutil.rmtree(self.folder, ignore_errors=True)

    def kept(self, kind: bytes, path: object, data: bytes, compiled) -> types.CodeType:
        name = hashlib.sha256(b"\0".join([kind, os.fsencode(path), data])).hexdigest()
        place = os.path.join(self.folder, name)
        try:
            with open(place, "rb") as file:
                return marshal.load(file)  # noqa: S302 - what a process of this run has just written
        except (OSError, EOFError, ValueError, TypeError):
            code = compiled()
        part = f"{place}.{os.getpid()}"
        with open(part, "wb") as file:
            marshal.dump(code, file)
        os.replace(part, place)
        return code
