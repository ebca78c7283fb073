"""Type expressions → type ops.

What a value of a type can do is what counts: `readonly`, `Partial<T>` and the like are seen through, mapped types that keep the
members of another too; types that no call leads out of are `NOTHING`.
"""

from __future__ import annotations

from collections.abc import Callable

import tree_sitter

from smp.domain.source import NOTHING, FunctionFlag, Op
from smp.languages.ecmascript.scopes import Binding, Scope
from smp.languages.ecmascript.syntax import key_name, member_path, string_value, text_of
from smp.languages.ecmascript.walk import ClassDraft, WalkState

_PREDEFINED = {"string": "String", "number": "Number", "boolean": "Boolean", "bigint": "BigInt", "symbol": "Symbol"}
_LITERAL_TYPES = {"number": "Number", "true": "Boolean", "false": "Boolean"}
MAX_LITERAL = 100
CALL_MEMBER = "(call)"
"""Name under which a function type keeps its signature; no property can be called so by an identifier."""
NEW_MEMBER = "(new)"
"""Name under which a type keeps what constructing it gives."""
ITEM_MEMBER = "(item)"
"""Name under which a type keeps what any key gives."""
SAME = "(same)"
"""Name of the type that all its arguments are, and nothing where they differ."""
MEMBER = "(member)"
"""Name of the type of a member of another: the type, the member's name; without a name, of an element."""
_MEMBERS = frozenset({"property_signature", "method_signature", "call_signature", "construct_signature"})
_EMPTY = frozenset({"never", "undefined", "null", "void"})
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
            return self.b.shared(Op.TYPE_PARAM, self.b.name(binding.name), self._bound_of(binding))
        draft = self.draft_of.get(binding)
        return self.class_op(draft) if draft is not None else self.load_binding(binding)

    def _bound_of(self, binding: Binding) -> int:
        """The type that a type parameter is bound by; nothing while that is being read (`T extends Node<T>`)."""
        if binding not in self.bounds:
            self.bounds[binding] = NOTHING
            before, self.scope = self.scope, binding.scope
            self.bounds[binding] = self.type_of(self.scopes.bounds.get(binding))
            self.scope = before
        return self.bounds[binding]

    def visible_parameters(self) -> tuple[str, ...]:
        """Type parameters that a type written here may speak of."""
        found: list[str] = []
        scope: Scope | None = self.scope
        while scope is not None:
            found += [name for name, one in scope.types.items() if one.kind == "type_param" and name not in found]
            scope = scope.parent
        return tuple(found)

    def nameless(self, draft: ClassDraft) -> int:
        """A type without a name takes what it says of type parameters around it along, as arguments."""
        draft.type_params = self.visible_parameters()
        base = self.class_op(draft)
        if not draft.type_params:
            return base
        bindings = [self.scope.find_type(name) for name in draft.type_params]
        return self.b.op(Op.APPLY, base, *(self.load_type(b) if b is not None else NOTHING for b in bindings))

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

    def _imported(self, node: tree_sitter.Node) -> int:
        """`import("./x").Name`."""
        path: list[str] = []
        while node.type == "member_expression":
            name, holder = node.child_by_field_name("property"), node.child_by_field_name("object")
            if name is None or holder is None:
                return NOTHING
            path.insert(0, text_of(name))
            node = holder
        callee, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        module = (
            string_value(arguments.named_children[0]) if arguments is not None and arguments.named_children else None
        )
        if callee is None or callee.type != "import" or not module:
            return NOTHING
        value = self.import_type(module, path[0] if path else "", node)
        for name_text in path[1:]:
            value = self.b.op(Op.ATTR, value, self.b.name(name_text))
        return value

    def import_type(self, module: str, name: str, node: tree_sitter.Node) -> int:
        """A type that is taken from a module where it is named; calls say how."""
        raise NotImplementedError

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
        kind = "String" if text is not None else _LITERAL_TYPES.get(inner.type, "")
        text = text if text is not None else text_of(inner)
        if kind and len(text) <= MAX_LITERAL:  # the text tells members of a union apart
            return self.b.op(Op.UNION, self.b.const(kind, text), self.builtin_type(kind))
        return NOTHING

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
        if is_mapped(node):
            return self._mapped(node.named_children[0])
        kinds = {child.type for child in node.named_children if child.type != "comment"}
        if kinds == {"index_signature"}:
            value = self.annotation(node.named_children[0].child_by_field_name("type"))
            return self.b.op(Op.APPLY, self.builtin_type("Record"), self.builtin_type("String"), value)
        if not kinds & _MEMBERS:
            return NOTHING
        draft = self.new_draft("", NOTHING, interface=True)
        self.type_members(node, draft)
        return self.nameless(draft)

    def _mapped(self, signature: tree_sitter.Node) -> int:
        """`{ [K in keyof T]: T[K] }` has the members of T, changed in nothing that counts here; other keys make a record."""
        clause = next(child for child in signature.named_children if child.type == "mapped_type_clause")
        keys, written = clause.child_by_field_name("type"), signature.child_by_field_name("type")
        value = next((c for c in written.named_children if c.type != "comment"), None) if written is not None else None
        if keys is None or value is None:
            return NOTHING
        if keys.type != "index_type_query":
            return self.b.op(Op.APPLY, self.builtin_type("Record"), self.builtin_type("String"), self.type_of(value))
        if value.type == "generic_type":
            name, arguments = value.child_by_field_name("name"), value.child_by_field_name("type_arguments")
            if name is None or arguments is None or text_of(name) not in (*_SEEN_THROUGH, self.alias):
                return NOTHING
            value = next(iter(arguments.named_children), value)
        same = value.type == "lookup_type" and keys.named_children
        return self.type_of(keys.named_children[0]) if same else NOTHING

    def _either(self, node: tree_sitter.Node) -> int:
        """What both branches say, or the one that says anything."""
        branches = [node.child_by_field_name(field) for field in ("consequence", "alternative")]
        kept = [branch for branch in branches if branch is not None and text_of(branch) not in _EMPTY]
        operands = list(dict.fromkeys(self.type_of(branch) for branch in kept))
        if len(operands) == 1:
            return operands[0]
        return (
            self.b.op(Op.APPLY, self.builtin_type(SAME), *operands) if operands and NOTHING not in operands else NOTHING
        )

    def _looked_up(self, node: tree_sitter.Node) -> int:
        """`T["name"]`, `T[number]`: the type of a member or an element."""
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) != 2:
            return NOTHING
        holder, key = self.type_of(parts[0]), parts[1]
        inner = key.named_children[0] if key.type == "literal_type" and key.named_children else key
        text = string_value(inner) or (text_of(inner) if inner.type == "number" else "")
        if text and holder != NOTHING:
            return self.b.op(Op.APPLY, self.builtin_type(MEMBER), holder, self.b.const("String", text))
        if text_of(key) == "number" and holder != NOTHING:
            return self.b.op(Op.APPLY, self.builtin_type(MEMBER), holder)
        return NOTHING

    def _function_type(self, node: tree_sitter.Node) -> int:
        """A function type is an interface whose only member is its signature."""
        draft = self.new_draft("", NOTHING, interface=True)
        draft.members.append(
            (CALL_MEMBER, self.signature(node, draft, int(FunctionFlag.METHOD | FunctionFlag.ABSTRACT)))
        )
        return self.nameless(draft)

    def _constructor_type(self, node: tree_sitter.Node) -> int:
        """`new () => T` is the class of T."""
        made = self.type_of(node.child_by_field_name("type"))
        return self.b.op(Op.APPLY, self.builtin_type("typeof"), made) if made != NOTHING else NOTHING

    def type_members(self, body: tree_sitter.Node, draft: ClassDraft) -> None:
        """Properties and methods of an interface or object type."""
        for member in body.named_children:
            if member.type == "construct_signature":
                made = self.annotation(member.child_by_field_name("type"))
                if made != NOTHING:
                    draft.annotations.setdefault(NEW_MEMBER, made)
            if member.type == "index_signature" and member.child_by_field_name("type") is not None:
                value = self.annotation(member.child_by_field_name("type"))
                if value != NOTHING:
                    draft.annotations.setdefault(ITEM_MEMBER, value)
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


def is_mapped(node: tree_sitter.Node) -> bool:
    """True for `{ [K in …]: … }`."""
    first = node.named_children[0] if node.named_children else None
    return first is not None and any(child.type == "mapped_type_clause" for child in first.named_children)


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
    "constructor_type": TypeWalk._constructor_type,
    "conditional_type": TypeWalk._either,
    "lookup_type": TypeWalk._looked_up,
    "member_expression": TypeWalk._imported,
    "call_expression": TypeWalk._imported,
}
