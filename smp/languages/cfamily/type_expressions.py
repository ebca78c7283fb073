"""Type expressions: what a declaration says that a value is."""

from __future__ import annotations

import tree_sitter

from smp.domain.source import NOTHING, Op
from smp.languages.cfamily.syntax import components, line_of, template_arguments, text_of
from smp.languages.cfamily.walk import TAG, TYPE, ClassDraft, WalkState

_SCALARS = frozenset(
    [
        "size_t",
        "ssize_t",
        "ptrdiff_t",
        "intptr_t",
        "uintptr_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "intmax_t",
        "uintmax_t",
        "off_t",
        "time_t",
        "clock_t",
        "pid_t",
        "uid_t",
        "gid_t",
        "mode_t",
        "wchar_t",
        "wint_t",
        "va_list",
        "bool",
        "_Bool",
        "char8_t",
        "char16_t",
        "char32_t",
        "byte",
        "uint",
        "ulong",
        "ushort",
        "uchar",
        "u8",
        "u16",
        "u32",
        "u64",
        "s8",
        "s16",
        "s32",
        "s64",
        "BOOL",
        "DWORD",
        "WORD",
        "BYTE",
        "UINT",
        "INT",
        "LONG",
        "ULONG",
        "FILE",
        "string",
        "string_view",
        "nullptr_t",
    ]
)
"""Names of types whose values lead to no call; `std::string` among them."""
_FIRST_ONLY = frozenset(
    {"unique_ptr", "shared_ptr", "weak_ptr", "optional", "vector", "list", "deque", "set", "unordered_set"}
)
"""Templates of which only the first argument matters: the others say how, not what."""
_PLAIN = frozenset(
    {"primitive_type", "sized_type_specifier", "placeholder_type_specifier", "decltype", "auto", "type_qualifier"}
)


class TypeExpressions(WalkState):
    """Type nodes → type ops; NOTHING for what says nothing."""

    def specifier(self, node: tree_sitter.Node, name: str = "") -> int:
        """A `struct`, `class`, `union` or `enum` in a type: its definition, or the tag it names."""
        raise NotImplementedError

    def type_of(self, node: tree_sitter.Node | None) -> int:
        """The type op of a type node."""
        if node is None or node.type in _PLAIN:
            return NOTHING
        kind = node.type
        if kind == "type_identifier" or kind == "identifier":
            return self._named([text_of(node)], node)
        if kind in ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier"):
            return self.specifier(node)
        if kind == "type_descriptor":
            if any(c.type in ("abstract_function_declarator",) for c in node.named_children):
                return NOTHING
            return self.type_of(node.child_by_field_name("type"))
        if kind in ("template_type", "qualified_identifier", "dependent_type", "template_function"):
            parts = components(node)
            base = self._named(parts, node)
            listed = template_arguments(node)
            if listed is None:
                return base
            last = parts[-1]
            given = listed.named_children[:1] if last in _FIRST_ONLY else listed.named_children
            arguments = [self.type_of(child) for child in given]
            if base == NOTHING or last == "function":
                return NOTHING
            return self.b.op(Op.APPLY, base, *arguments) if any(a != NOTHING for a in arguments) else base
        return NOTHING

    def _named(self, parts: list[str], node: tree_sitter.Node) -> int:
        name = parts[-1]
        if name in _SCALARS or not name:
            return NOTHING
        if len(parts) == 1:
            if self.is_type_param(name):
                return self.b.shared(Op.UNBOUND, self.b.name(name))
            found = self.local(name)
            if found is not None and self.b.ops[found][0] == Op.CLASS if found not in (None, NOTHING) else False:
                return found if found is not None else NOTHING
        elif self.is_type_param(parts[0]):
            return NOTHING
        value = self.symbol(TYPE, parts, line_of(node))
        self.refer(value, node)
        return value

    def scalar(self, name: str, pointed: bool) -> int:
        """The type of a parameter that is no class, to tell overloads apart."""
        words = [word for word in name.split() if word not in ("signed", "unsigned", "const")]
        plain = " ".join(words) or "int"
        shown = {"long long": "long", "long int": "long", "short int": "short", "long double": "double"}.get(
            plain, plain
        )
        return self.b.shared(Op.UNBOUND, self.b.name(f"{shown}*" if pointed else shown))

    def tag(self, parts: list[str], node: tree_sitter.Node) -> int:
        """`struct name`."""
        value = self.symbol(TAG, parts, line_of(node))
        self.refer(value, node)
        return value

    def instance(self, type_op: int) -> int:
        """A value of a type."""
        return self.b.op(Op.INSTANCE, type_op) if type_op != NOTHING else NOTHING

    def typed(self, value: int, type_op: int) -> int:
        """The value of a variable of a declared type."""
        if type_op == NOTHING:
            return value
        return self.instance(type_op) if value == NOTHING else self.b.op(Op.DECLARED, value, type_op)

    def class_value(self, draft: ClassDraft) -> int:
        """The class object."""
        return self.b.shared(Op.CLASS, draft.index)
