"""Scopes and bindings of a file: what each name means where, with hoisting, in one pass over the tree.

`var` belongs to the function, everything else to the block; functions, classes and variables are known in the whole of
their scope, for code that runs later may use them before their line. Types live in a name space of their own, except
that a class, an enum and an import may be both. The pass also finds which variables a function writes that does not
own them: of those, a reader can only know the values of any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from smp.languages.ecmascript.syntax import (
    CLASSES,
    FUNCTIONS,
    SIGNATURES,
    fields_of,
    member_path,
    parameters_of,
    text_of,
)

_BLOCKS = frozenset(
    {"statement_block", "for_statement", "for_in_statement", "switch_body", "catch_clause", "class_static_block"}
)
_GENERIC_HEADS = frozenset(
    {"interface_declaration", "type_alias_declaration", "function_type", "constructor_type", "call_signature"}
)
_FUNCTION_LIKE = FUNCTIONS | SIGNATURES
_TYPE_BINDINGS = {"interface_declaration": "interface", "type_alias_declaration": "alias"}


@dataclass(eq=False, slots=True)
class Binding:
    """One name in one scope.

    Attributes:
        kind: `var`, `let`, `const`, `function`, `class`, `enum`, `namespace`, `import`, `param`, `interface`, `alias`, `type_param`.
        foreign_write: True if a function writes it that does not own it.
        writes: Number of writes beyond the declaration.
        variable: Index of the variable in the summary, once it has one.
    """

    name: str
    kind: str
    scope: Scope
    foreign_write: bool = False
    writes: int = 0
    variable: int = -1


@dataclass(eq=False, slots=True)
class Scope:
    """Names of a block, function, class or file. `owner` is the scope of the function (or file) that runs it."""

    parent: Scope | None
    owner: Scope = field(init=False)
    is_function: bool = False
    names: dict[str, Binding] = field(default_factory=dict)
    types: dict[str, Binding] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.owner = self if self.is_function or self.parent is None else self.parent.owner

    def find(self, name: str) -> Binding | None:
        """What a value name means here."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def find_type(self, name: str) -> Binding | None:
        """What a type name means here: in each scope a type of that name, else a class, enum, namespace or import."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.types.get(name) or scope.names.get(name)
            if found is not None and (found.kind not in ("var", "let", "const", "function", "param")):
                return found
            scope = scope.parent
        return None


class Scopes:
    """All scopes of a file, by the tree node that opens them."""

    def __init__(self, root: Node) -> None:
        self.file = Scope(None, is_function=True)
        self._by_node: dict[int, Scope] = {root.id: self.file}
        self._writes: list[tuple[Scope, str, int]] = []
        self._makers: list[tuple[Scope, str]] = []
        self.bounds: dict[Binding, Node] = {}
        """Type parameters → the type that is written as their bound, else as their default."""
        self._walk(root)
        self.makers = frozenset(b for b in (scope.find(name) for scope, name in self._makers) if b is not None)
        """Functions that make objects as classes do: something is put on their `prototype`."""
        for scope, name, _ in self._writes:
            binding = scope.find(name)
            if binding is not None:
                binding.writes += 1
                if binding.scope.owner is not scope.owner:
                    binding.foreign_write = True

    def of(self, node: Node, default: Scope) -> Scope:
        """The scope a node opens; `default` if it opens none."""
        return self._by_node.get(node.id, default)

    def written_between(self, start: int, end: int) -> set[str]:
        """Names written by assignment inside a byte range (for loops, whose body may run before its first line)."""
        return {name for _, name, offset in self._writes if start <= offset < end}

    def _walk(self, root: Node) -> None:
        stack: list[tuple[Node, Scope]] = [(child, self.file) for child in reversed(root.named_children)]
        while stack:
            node, scope = stack.pop()
            kind = node.type
            if kind in _FUNCTION_LIKE:
                scope = self._open_function(node, scope)
            elif kind in CLASSES:
                scope = self._open_class(node, scope)
            elif kind in _GENERIC_HEADS:
                scope = self._open_generic(node, scope)
            elif kind in ("internal_module", "module"):
                scope = self._open_namespace(node, scope)
            elif kind in _BLOCKS and node.id not in self._by_node:
                scope = self._open(node, scope, is_function=kind == "class_static_block")
                self._declare_block_head(node, scope)
            elif kind in ("variable_declaration", "lexical_declaration"):
                self._declare_variables(node, scope)
            elif kind == "import_statement":
                self._declare_imports(node, scope)
            elif kind == "enum_declaration":
                self._declare_named(node, scope, "enum")
            elif kind in ("assignment_expression", "augmented_assignment_expression"):
                self._note_writes(node.child_by_field_name("left"), scope)
                self._note_maker(node.child_by_field_name("left"), scope)
                self._note_constructor(node.child_by_field_name("left"), scope)
            elif kind == "call_expression":
                self._note_maker(prototype_argument(node), scope)
            elif kind == "update_expression":
                self._note_writes(node.child_by_field_name("argument"), scope)
            if node.named_child_count:
                stack.extend([(child, scope) for child in reversed(node.named_children)])

    def _open(self, node: Node, parent: Scope, *, is_function: bool = False) -> Scope:
        scope = self._by_node[node.id] = Scope(parent, is_function=is_function)
        return scope

    def _open_function(self, node: Node, outer: Scope) -> Scope:
        name = node.child_by_field_name("name")
        declared = node.type.endswith("_declaration") or node.type == "function_signature"
        if declared and name is not None:
            _declare(outer, text_of(name), "function")
        scope = self._open(node, outer, is_function=True)
        if node.type in ("function_expression", "generator_function") and name is not None:
            _declare(scope, text_of(name), "function")
        self._declare_type_parameters(node, scope)
        for parameter in parameters_of(node):
            for identifier in pattern_names(parameter):
                _declare(scope, text_of(identifier), "param")
        body = node.child_by_field_name("body")
        if body is not None and body.type == "statement_block":
            self._by_node[body.id] = scope
        return scope

    def _open_class(self, node: Node, outer: Scope) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None and node.type != "class":
            _declare(outer, text_of(name), "class")
        scope = self._open(node, outer)
        if name is not None and node.type == "class":
            _declare(scope, text_of(name), "class")
        self._declare_type_parameters(node, scope)
        return scope

    def _open_generic(self, node: Node, outer: Scope) -> Scope:
        name = node.child_by_field_name("name")
        kind = _TYPE_BINDINGS.get(node.type)
        if kind is not None and name is not None:
            outer.types.setdefault(text_of(name), Binding(text_of(name), kind, outer))
        scope = self._open(node, outer)
        self._declare_type_parameters(node, scope)
        return scope

    def _open_namespace(self, node: Node, outer: Scope) -> Scope:
        name = node.child_by_field_name("name")
        if name is not None and name.type in ("identifier", "nested_identifier"):
            _declare(outer, text_of(name).split(".")[0].strip(), "namespace")
        scope = self._open(node, outer, is_function=True)
        body = node.child_by_field_name("body")
        if body is not None:
            self._by_node[body.id] = scope
        return scope

    def _declare_type_parameters(self, node: Node, scope: Scope) -> None:
        listed = node.child_by_field_name("type_parameters")
        for parameter in listed.named_children if listed is not None else ():
            name = parameter.child_by_field_name("name")
            if name is not None:
                binding = scope.types[text_of(name)] = Binding(text_of(name), "type_param", scope)
                bound = parameter.child_by_field_name("constraint") or parameter.child_by_field_name("value")
                if bound is not None and bound.named_children:
                    self.bounds[binding] = bound.named_children[-1]

    def _declare_block_head(self, node: Node, scope: Scope) -> None:
        if node.type == "for_in_statement":
            left, kind = node.child_by_field_name("left"), node.child_by_field_name("kind")
            if left is not None and kind is not None:
                target = scope.owner if kind.type == "var" else scope
                for identifier in pattern_names(left):
                    _declare(target, text_of(identifier), kind.type)
            else:
                self._note_writes(left, scope)
        elif node.type == "catch_clause":
            parameter = node.child_by_field_name("parameter")
            for identifier in pattern_names(parameter) if parameter is not None else ():
                _declare(scope, text_of(identifier), "let")

    def _declare_variables(self, node: Node, scope: Scope) -> None:
        kind = node.children[0].type if node.children and node.children[0].type in ("var", "let", "const") else "let"
        target = scope.owner if node.type == "variable_declaration" else scope
        for declarator in node.named_children:
            name = declarator.child_by_field_name("name") if declarator.type == "variable_declarator" else None
            for identifier in pattern_names(name) if name is not None else ():
                _declare(target, text_of(identifier), "var" if node.type == "variable_declaration" else kind)

    def _declare_named(self, node: Node, scope: Scope, kind: str) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            _declare(scope, text_of(name), kind)

    def _declare_imports(self, node: Node, scope: Scope) -> None:
        for clause in node.named_children:
            if clause.type == "import_require_clause":
                name = next((child for child in clause.named_children if child.type == "identifier"), None)
                if name is not None:
                    _declare(scope, text_of(name), "import")
            elif clause.type == "import_clause":
                for identifier in _clause_names(clause):
                    _declare(scope, text_of(identifier), "import")

    def _note_maker(self, target: Node | None, scope: Scope) -> None:
        path = member_path(target) if target is not None and target.type == "member_expression" else None
        if path is not None and len(path) in (2, 3) and path[1] == "prototype":
            self._makers.append((scope, path[0]))

    def _note_constructor(self, target: Node | None, scope: Scope) -> None:
        """`this.x = …` in a function whose name begins with a capital letter: it is called with `new`."""
        holder = (
            target.child_by_field_name("object") if target is not None and target.type == "member_expression" else None
        )
        above = target.parent if holder is not None and holder.type == "this" and target is not None else None
        while above is not None and (above.type not in _FUNCTION_LIKE or above.type == "arrow_function"):
            above = above.parent if above.type not in CLASSES else None
        name = above.child_by_field_name("name") if above is not None and above.type == "function_declaration" else None
        if name is not None and text_of(name)[:1].isupper():
            self._makers.append((scope, text_of(name)))

    def _note_writes(self, target: Node | None, scope: Scope) -> None:
        for identifier in pattern_names(target) if target is not None else ():
            self._writes.append((scope, text_of(identifier), identifier.start_byte))


_PROTOTYPE_CALLS = frozenset({"assign", "defineProperty", "defineProperties", "setPrototypeOf"})


def prototype_argument(call: Node) -> Node | None:
    """`F.prototype` in `Object.assign(F.prototype, …)`, `Object.setPrototypeOf(F.prototype, …)` and the like."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if callee is None or arguments is None or callee.type != "member_expression" or not arguments.named_children:
        return None
    path, first = member_path(callee), arguments.named_children[0]
    if path is None or path[0] not in ("Object", "Reflect") or path[-1] not in _PROTOTYPE_CALLS:
        return None
    target = member_path(first) if first.type == "member_expression" else None
    return first if target is not None and target[-1] == "prototype" else None


def _declare(scope: Scope, name: str, kind: str) -> None:
    """A second declaration of a name is the same variable; a function or class says more of it than a `var`."""
    known = scope.names.get(name)
    if known is None:
        scope.names[name] = Binding(name, kind, scope)
        return
    known.writes += 1
    if known.kind in ("var", "namespace", "enum") and kind in ("function", "class"):
        known.kind = kind


def _clause_names(clause: Node) -> Iterator[Node]:
    for child in clause.named_children:
        if child.type == "identifier":
            yield child
        elif child.type == "namespace_import":
            yield from (inner for inner in child.named_children if inner.type == "identifier")
        elif child.type == "named_imports":
            for specifier in child.named_children:
                name = specifier.child_by_field_name("alias") or specifier.child_by_field_name("name")
                if name is not None:
                    yield name


def pattern_names(pattern: Node) -> Iterator[Node]:
    """The identifiers that a binding pattern, an assignment target or a parameter binds, left to right."""
    kind = pattern.type
    if kind in ("identifier", "shorthand_property_identifier_pattern"):
        yield pattern
    elif kind in ("required_parameter", "optional_parameter"):
        inner = pattern.child_by_field_name("pattern")
        if inner is not None:
            yield from pattern_names(inner)
    elif kind in ("assignment_pattern", "object_assignment_pattern"):
        left = pattern.child_by_field_name("left")
        if left is not None:
            yield from pattern_names(left)
    elif kind == "pair_pattern":
        for value in fields_of(pattern, "value"):
            yield from pattern_names(value)
    elif kind in ("object_pattern", "array_pattern", "rest_pattern", "parenthesized_expression", "non_null_expression"):
        for child in pattern.named_children:
            yield from pattern_names(child)
