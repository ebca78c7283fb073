"""Functions and classes: heads are evaluated where they stand, bodies of functions later."""

from __future__ import annotations

from typing import cast

import tree_sitter
from msgspec import structs

from smp.domain.source import NOTHING, ArgKind, ClassFlag, Function, FunctionFlag, Op, SiteKind
from smp.languages.python import grammar as g
from smp.languages.python.parametrize import ParametrizeWalk
from smp.languages.python.scopes import CLASS, FUNCTION, Bindings, Scope
from smp.languages.python.statements import register
from smp.languages.python.walk import ClassDraft

_SILENT = frozenset({"staticmethod", "classmethod", "property", "abstractmethod", "overload", "override", "final"})
"""Decorators that change how a function is bound, or nothing; the name still holds the function."""
_PROPERTY = frozenset({"property", "cached_property", "abstractproperty", "classproperty", "lazy_property"})
_ACCESSORS = {"setter": FunctionFlag.SETTER, "deleter": FunctionFlag.DELETER, "getter": FunctionFlag.PROPERTY}
_INTERFACE_BASES = frozenset({"Protocol", "ABC"})
_ENUM_BASES = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_CREATION = ("__init_subclass__", "__new__", "__init__")
"""What a class statement calls: the first on the class above, the others on the metaclass."""
_RECORD_BASES = frozenset({"NamedTuple", "TypedDict"})


class BodyWalk(ParametrizeWalk):
    """Definitions."""

    def decorated(self, node: tree_sitter.Node) -> bool:
        definition = node.child_by_field_id(g.F_DEFINITION)
        if definition is not None:
            self.statement(definition)
        return False

    def _decorators(self, node: tree_sitter.Node) -> list[tree_sitter.Node]:
        parent = node.parent
        if parent is None or parent.kind_id != g.DECORATED:
            return []
        return [
            child.named_children[0]
            for child in parent.children
            if child.kind_id == g.DECORATOR and child.named_child_count
        ]

    def function(self, node: tree_sitter.Node) -> bool:
        definition = self.definition_at(node)
        body = node.child_by_field_id(g.F_BODY)
        if definition is None or body is None:
            return False
        decorators = self._decorators(node)
        index = self.b.function_slot()
        flags, accessor = self._flags(node, decorators)
        in_class = self.scope.kind == CLASS
        if in_class:
            flags |= FunctionFlag.METHOD
            if definition.name in ("__new__", "__init_subclass__", "__class_getitem__"):
                flags |= FunctionFlag.CLASS_METHOD
        receiver = in_class and not flags & FunctionFlag.STATIC
        values = self.wrapping_values(decorators)
        if values:
            flags |= FunctionFlag.DECORATED
        before_parameters = self.push_type_parameters(node)
        parameters, names = self.parameters(node.child_by_field_id(g.F_PARAMETERS), index, receiver=receiver)
        if receiver and parameters:
            flags |= FunctionFlag.RECEIVER_PARAM
        returns_node = node.child_by_field_id(g.F_RETURN_TYPE)
        annotation = self.annotation(returns_node) if returns_node is not None else NOTHING
        self.pop_type_parameters(before_parameters)
        if definition.index in self.test_definitions:
            flags |= FunctionFlag.TEST
            self.b.tests.append(definition.index)
        fixture = self.fixture_name(decorators, definition.name)
        if fixture is not None:
            flags |= FunctionFlag.FIXTURE
            self.b.own_fixtures.append((fixture, index))
        if flags & (FunctionFlag.TEST | FunctionFlag.FIXTURE):
            skip = int(bool(flags & FunctionFlag.RECEIVER_PARAM))
            parameters = [structs.replace(p, injected=at >= skip and not p.optional) for at, p in enumerate(parameters)]
            parameters = self.parametrized(parameters, values)
        class_index = self.scope.class_index if in_class else NOTHING
        value = self.b.shared(Op.FUNC, index)
        bound = self.wrap(value, values, definition.outer.start_point.row + 1)
        if accessor:
            present = self.scope.lookup(definition.name)
            bound = self.b.phi([bound, present]) if present is not None else bound
        self.write(definition.name, bound, definition=True)
        fixtures = self.used_fixtures(decorators)
        scope_parent = self.scope

        def run() -> None:
            bindings = self.bindings.get(body.start_byte) or Bindings(body.start_byte, body.end_byte)
            bindings.names |= set(names)
            scope = Scope(
                FUNCTION, scope_parent, bindings, owner=definition.index, function=index, class_index=class_index
            )
            scope.layers[0].update(names)
            for name, initial in names.items():
                scope.writes[name] = [(initial, 0)]
            self.enter_scope(scope)
            self.loops = []
            self.block(body)
            generator = FunctionFlag.GENERATOR if scope.yields else FunctionFlag.NONE
            self.b.functions[index] = Function(
                name=definition.name,
                definition=definition.index,
                owner=scope_parent.owner,
                cls=class_index,
                flags=int(flags | generator),
                params=tuple(parameters),
                returns=tuple(scope.returns),
                yields=tuple(scope.yields),
                annotation=annotation,
                fixtures=fixtures,
            )

        self.waiting.append(run)
        return False

    def _flags(self, node: tree_sitter.Node, decorators: list[tree_sitter.Node]) -> tuple[FunctionFlag, bool]:
        flags = FunctionFlag.NONE
        accessor = False
        if node.children[0].type == "async":
            flags |= FunctionFlag.ASYNC
        for decorator in decorators:
            text = self.text(decorator).partition("(")[0].strip()
            last = text.rpartition(".")[2]
            if last == "staticmethod":
                flags |= FunctionFlag.STATIC
            elif last == "classmethod":
                flags |= FunctionFlag.CLASS_METHOD
            elif last in _PROPERTY:
                flags |= FunctionFlag.PROPERTY
            elif last in _ACCESSORS and "." in text:
                flags |= _ACCESSORS[last]
                accessor = True
            elif last == "overload":
                flags |= FunctionFlag.OVERLOAD
            elif last in ("abstractmethod", "abstractproperty"):
                flags |= FunctionFlag.ABSTRACT
        return flags, accessor

    def wrapping_values(self, decorators: list[tree_sitter.Node]) -> list[tuple[int, tree_sitter.Node]]:
        """Values of the decorators that may put something else under the name, in source order."""
        values = []
        for decorator in decorators:
            text = self.text(decorator).partition("(")[0].strip()
            last = text.rpartition(".")[2]
            value = self.quiet(decorator)
            if last in _SILENT or (last in _ACCESSORS and "." in text) or last in _PROPERTY:
                continue
            values.append((value, decorator))
        return values

    def wrap(self, value: int, decorators: list[tuple[int, tree_sitter.Node]], line: int) -> int:
        """What a decorated name holds: the definition, and what the decorators make of it."""
        result = value
        for decorator, node in reversed(decorators):
            if decorator == NOTHING:
                continue
            result = self.b.op(Op.CALL, decorator, int(ArgKind.POSITIONAL), NOTHING, result)
            where = node.start_point.row + 1
            shown = self.text(node)
            self.b.site(SiteKind.DECORATOR, result, owner=self.scope.owner, line=where, text=shown)
            self.b.site(SiteKind.USE, value, owner=self.scope.owner, line=where)
        return value if result == value else self.b.op(Op.DECORATED, value, result)

    def fixture_name(self, decorators: list[tree_sitter.Node], name: str) -> str | None:
        """The name under which tests may ask for a fixture; None for other functions."""
        for decorator in decorators:
            text = self.text(decorator)
            if text.partition("(")[0].rpartition(".")[2] in ("fixture", "yield_fixture"):
                _, found, rest = text.partition("name=")
                quoted = rest.strip()[:1]
                if found and quoted in ("'", '"'):
                    return rest.strip()[1:].partition(quoted)[0]
                return name
        return None

    def used_fixtures(self, decorators: list[tree_sitter.Node]) -> tuple[str, ...]:
        """Names in `@pytest.mark.usefixtures(...)`."""
        found: list[str] = []
        for decorator in decorators:
            callee, holder = decorator.child_by_field_id(g.F_FUNCTION), decorator.child_by_field_id(g.F_ARGUMENTS)
            if callee is not None and holder is not None and self.text(callee).endswith("usefixtures"):
                found += [text for node in holder.named_children if (text := self.constant_text(node))]
        return tuple(found)

    def constant_text(self, node: tree_sitter.Node) -> str | None:
        """The value of a constant text."""
        key = self.constant_key(node)
        return self.b.names[key] if key != NOTHING and node.kind_id == g.STRING else None

    test_definitions: frozenset[int] = frozenset()

    def push_type_parameters(self, node: tree_sitter.Node) -> bool:
        """Names of `def f[T: Base]`: values of their bound."""
        holder = node.child_by_field_id(g.F_TYPE_PARAMETERS)
        if holder is None:
            return False
        self.push()
        for child in holder.named_children:
            names = child.named_children
            inner = names[0] if names else child
            if inner.type == "constrained_type" and inner.named_child_count == 2:
                bound = self.annotation(inner.named_children[1])
                self.scope.layers[-1][self.text(inner.named_children[0])] = bound
            else:
                self.scope.layers[-1][self.text(inner)] = NOTHING
        return True

    def pop_type_parameters(self, pushed: bool) -> None:
        """Ends what `push_type_parameters` began."""
        if pushed:
            self.pop()

    # Classes ---------------------------------------------------------------------------------------------------------

    def class_(self, node: tree_sitter.Node) -> bool:
        definition = self.definition_at(node)
        body = node.child_by_field_id(g.F_BODY)
        if definition is None or body is None:
            return False
        decorators = self._decorators(node)
        values = self.wrapping_values(decorators)
        index = self.b.class_slot()
        draft = ClassDraft(index, definition.name, definition.index, self.scope.owner)
        self.drafts.append(draft)
        pushed = self.push_type_parameters(node)
        self._bases(node, draft)
        if any(
            "dataclass" in self.text(d) or self.text(d).startswith(("attr.", "attrs.", "define")) for d in decorators
        ):
            draft.flags |= ClassFlag.DATA
        bindings = self.bindings.get(body.start_byte) or Bindings(body.start_byte, body.end_byte)
        scope = Scope(CLASS, self.scope, bindings, owner=self.scope.owner, class_index=index)
        before = self.enter_scope(scope)
        loops, self.loops = self.loops, []
        self.block(body)
        self.loops = loops
        self.scope = before
        self.pop_type_parameters(pushed)
        for name in dict.fromkeys(scope.layers[0]):
            draft.members.append((name, scope.layers[0][name]))
        for name, kind in scope.annotations.items():
            draft.annotations.setdefault(name, kind)
        value = self.b.shared(Op.CLASS, index)
        if draft.bases or draft.metaclass != NOTHING:
            line = node.start_point.row + 1
            self.b.site(SiteKind.PROTOCOL, value, owner=self.scope.owner, line=line, names=_CREATION)
        bound = self.wrap(value, values, definition.outer.start_point.row + 1)
        self.write(definition.name, bound, definition=True)
        return False

    def _bases(self, node: tree_sitter.Node, draft: ClassDraft) -> None:
        holder = node.child_by_field_id(g.F_SUPERCLASSES)
        draft.type_params += self.type_parameters(holder)
        self.heading = draft
        for child in holder.named_children if holder is not None else ():
            if child.type == "keyword_argument":
                name, value = child.child_by_field_id(g.F_NAME), child.child_by_field_id(g.F_VALUE)
                if name is not None and value is not None:
                    result = self.quiet(value)
                    if self.text(name) == "metaclass":
                        draft.metaclass = result
                        if self.text(value).rpartition(".")[2] == "ABCMeta":
                            draft.flags |= ClassFlag.INTERFACE
                continue
            if child.type in ("list_splat", "dictionary_splat", "comment"):
                self.visit_children(child)
                continue
            last = self.text(child).partition("[")[0].rpartition(".")[2]
            if last in _INTERFACE_BASES:
                draft.flags |= ClassFlag.INTERFACE
            elif last in _ENUM_BASES:
                draft.flags |= ClassFlag.ENUM
            elif last in _RECORD_BASES:
                draft.flags |= ClassFlag.DATA
            # A subscripted base is a type expression: `Repository[Book]`.
            value_op = self.annotation(child) if child.type == "subscript" else self.quiet(child)
            if value_op != NOTHING:
                draft.bases.append(value_op)
                draft.base_lines.append(child.start_point.row + 1)
        self.heading = None
        parameters = node.child_by_field_id(g.F_TYPE_PARAMETERS)
        for child in parameters.named_children if parameters is not None else ():
            draft.type_params.append(self.text(child).partition(":")[0].strip())

    def type_alias(self, node: tree_sitter.Node) -> bool:
        left, right = node.child_by_field_id(g.F_LEFT), node.child_by_field_id(g.F_RIGHT)
        if left is None or right is None:
            return False
        kind = self.annotation(right)
        name = left
        while name.kind_id != g.IDENTIFIER and name.named_child_count:
            name = name.named_children[0]
        self.write(self.text(name), self.b.op(Op.ALIAS_TYPE, kind) if kind != NOTHING else NOTHING)
        return False


register("decorated_definition", lambda walk, node: cast("BodyWalk", walk).decorated(node))
register("function_definition", lambda walk, node: cast("BodyWalk", walk).function(node))
register("class_definition", lambda walk, node: cast("BodyWalk", walk).class_(node))
register("type_alias_statement", lambda walk, node: cast("BodyWalk", walk).type_alias(node))
