"""Type expressions → type ops.

What a value of a type can do is what counts: `readonly`, `Partial<T>` and the like are seen through; types that no call leads
out of (literals, conditional and mapped types) are `NOTHING`.
"""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, FunctionFlag, Op
from smp.languages.ecmascript.scopes import Binding
from smp.languages.ecmascript.syntax import key_name, member_path, string_value, text_of
from smp.languages.ecmascript.walk import ClassDraft, WalkState

_PREDEFINED = {"string": "String", "number": "Number", "boolean": "Boolean", "bigint": "BigInt", "symbol": "Symbol"}
MAX_LITERAL = 100
CALL_MEMBER = "(call)"
"""Name under which a function type keeps its signature; no property can be called so by an identifier."""
_SEEN_THROUGH = frozenset(
    {"Partial", "Readonly", "Required", "NonNullable", "NoInfer", "Pick", "Omit", "Extract", "Exclude"}
)


class TypeWalk(WalkState):
    """Types of annotations."""

    def annotation(self, node: tree_sitter.Node | None) -> int:
        """The type behind a colon; NOTHING without one."""
        if node is None:
            return NOTHING
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        return self.type_of(inner)

    def type_of(self, node: tree_sitter.Node | None) -> int:
        """The type that an expression denotes; NOTHING for types that lead nowhere."""
        if node is None or self.too_deep(node):
            return NOTHING
        self.depth += 1
        try:
            handler = _TYPES.get(node.type)
            return handler(self, node) if handler is not None else NOTHING
        finally:
            self.depth -= 1

    def instance(self, type_op: int) -> int:
        """A value declared to be of a type."""
        return self.b.op(Op.INSTANCE, type_op) if type_op != NOTHING else NOTHING

    def builtin_type(self, name: str) -> int:
        """A type of the language itself."""
        return self.b.shared(Op.UNBOUND, self.b.name(name))

    def _name(self, node: tree_sitter.Node) -> int:
        name = text_of(node)
        binding = self.scope.find_type(name)
        value = self.load_type(binding) if binding is not None else self.builtin_type(name)
        self.refer(value, node)
        return value

    def load_type(self, binding: Binding) -> int:
        """What a name means in a type: a class stands for itself even where decorators replaced it."""
        if binding.kind == "type_param":
            return self.builtin_type(binding.name)
        draft = self.draft_of.get(binding)
        return self.class_op(draft) if draft is not None else self.load_binding(binding)

    def _qualified(self, node: tree_sitter.Node) -> int:
        parts = node.named_children
        if len(parts) != 2:
            return NOTHING
        holder = self._qualified(parts[0]) if parts[0].type == "nested_identifier" else self._holder(parts[0])
        if holder == NOTHING:
            return NOTHING
        value = self.b.op(Op.ATTR, holder, self.b.name(text_of(parts[1])))
        self.refer(value, node)
        return value

    def _holder(self, node: tree_sitter.Node) -> int:
        binding = self.scope.find_type(text_of(node)) or self.scope.find(text_of(node))
        return self.load_type(binding) if binding is not None else self.builtin_type(text_of(node))

    def _generic(self, node: tree_sitter.Node) -> int:
        name, arguments = node.child_by_field_name("name"), node.child_by_field_name("type_arguments")
        if name is None or arguments is None:
            return NOTHING
        given = [child for child in arguments.named_children if child.type != "comment"]
        plain = text_of(name)
        if plain in _SEEN_THROUGH and self.scope.find_type(plain) is None:
            return self.type_of(given[0]) if given else NOTHING
        if plain == "InstanceType" and given and given[0].type == "type_query":
            return self._queried(given[0])
        base = self.type_of(name)
        operands = [self.type_of(argument) for argument in given]
        return self.b.op(Op.APPLY, base, *operands) if base != NOTHING else NOTHING

    def _predefined(self, node: tree_sitter.Node) -> int:
        name = _PREDEFINED.get(text_of(node))
        return self.builtin_type(name) if name is not None else NOTHING

    def _union(self, node: tree_sitter.Node) -> int:
        parts: list[tree_sitter.Node] = []
        stack = [node]
        while stack:  # left-nested in the grammar, so that a long union would be deep
            current = stack.pop()
            if current.type == node.type:
                stack.extend(reversed(current.named_children))
            elif current.type != "comment":
                parts.append(current)
        operands = [operand for operand in (self.type_of(part) for part in parts) if operand != NOTHING]
        if len(operands) <= 1:
            return operands[0] if operands else NOTHING
        return self.b.op(Op.UNION, *operands)

    def _array(self, node: tree_sitter.Node) -> int:
        element = self.type_of(node.named_children[0]) if node.named_children else NOTHING
        return self.b.op(Op.APPLY, self.builtin_type("Array"), element)

    def _tuple(self, node: tree_sitter.Node) -> int:
        operands = [self.type_of(_tuple_part(child)) for child in node.named_children if child.type != "comment"]
        return self.b.op(Op.APPLY, self.builtin_type("Tuple"), *operands)

    def _inner(self, node: tree_sitter.Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        return self.type_of(parts[-1]) if parts else NOTHING

    def _literal(self, node: tree_sitter.Node) -> int:
        inner = next(iter(node.named_children), None)
        if inner is None:
            return NOTHING
        text = string_value(inner)
        if text is not None and len(text) <= MAX_LITERAL:  # the text tells members of a union apart
            return self.b.op(Op.UNION, self.b.const("String", text), self.builtin_type("String"))
        return self.builtin_type("Number") if inner.type == "number" else NOTHING

    def _string(self, node: tree_sitter.Node) -> int:
        return self.builtin_type("String")

    def _this(self, node: tree_sitter.Node) -> int:
        return self.b.shared(Op.UNBOUND, self.b.name("this"))

    def _query(self, node: tree_sitter.Node) -> int:
        """`typeof C` is the class itself; of other values the type is what they hold."""
        value = self._queried(node)
        return self.b.op(Op.APPLY, self.builtin_type("typeof"), value) if value != NOTHING else NOTHING

    def _queried(self, node: tree_sitter.Node) -> int:
        target = node.named_children[0] if node.named_children else None
        path = member_path(target) if target is not None and target.type != "import" else None
        if path is None or path[0] == "this":
            return NOTHING
        value = self.load(path[0])
        for name in path[1:]:
            value = self.b.op(Op.ATTR, value, self.b.name(name)) if value != NOTHING else NOTHING
        return value

    def _object(self, node: tree_sitter.Node) -> int:
        """An object type written in place: an interface without a name."""
        if not any(
            child.type in ("property_signature", "method_signature", "call_signature") for child in node.named_children
        ):
            return NOTHING
        draft = self.new_draft("", NOTHING, interface=True)
        self.type_members(node, draft)
        return self.class_op(draft)

    def _function_type(self, node: tree_sitter.Node) -> int:
        """A function type is an interface whose only member is its signature."""
        draft = self.new_draft("", NOTHING, interface=True)
        draft.members.append(
            (CALL_MEMBER, self.signature(node, draft, int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT)))
        )
        return self.class_op(draft)

    def type_members(self, body: tree_sitter.Node, draft: ClassDraft) -> None:
        """Properties and methods of an interface or object type."""
        for member in body.named_children:
            if member.type == "call_signature":
                signature = self.signature(member, draft, int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT))
                draft.members.append((CALL_MEMBER, signature))
            name = key_name(member.child_by_field_name("name"))
            if not name:
                continue
            if member.type == "property_signature":
                type_op = self.annotation(member.child_by_field_name("type"))
                if type_op != NOTHING:
                    draft.annotations.setdefault(name, type_op)
            elif member.type == "method_signature":
                draft.members.append(
                    (name, self.signature(member, draft, int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT)))
                )

    def signature(self, node: tree_sitter.Node, draft: ClassDraft | None, flags: int) -> int:
        """A function that is declared and not written here; classes say how."""
        raise NotImplementedError


def _tuple_part(node: tree_sitter.Node) -> tree_sitter.Node:
    if node.type in ("required_parameter", "optional_parameter"):
        annotation = node.child_by_field_name("type")
        if annotation is not None and annotation.named_children:
            return annotation.named_children[0]
    return node


_TYPES: dict[str, Callable[[TypeWalk, tree_sitter.Node], int]] = {
    "type_identifier": TypeWalk._name,
    "identifier": TypeWalk._name,
    "nested_type_identifier": TypeWalk._qualified,
    "nested_identifier": TypeWalk._qualified,
    "generic_type": TypeWalk._generic,
    "predefined_type": TypeWalk._predefined,
    "union_type": TypeWalk._union,
    "intersection_type": TypeWalk._union,
    "array_type": TypeWalk._array,
    "tuple_type": TypeWalk._tuple,
    "readonly_type": TypeWalk._inner,
    "parenthesized_type": TypeWalk._inner,
    "optional_type": TypeWalk._inner,
    "rest_type": TypeWalk._inner,
    "type_annotation": TypeWalk._inner,
    "literal_type": TypeWalk._literal,
    "template_literal_type": TypeWalk._string,
    "this_type": TypeWalk._this,
    "type_query": TypeWalk._query,
    "object_type": TypeWalk._object,
    "function_type": TypeWalk._function_type,
}
