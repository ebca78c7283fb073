"""A whole file: namespaces, classes, variables, type names, includes, and the order in which they are walked."""

from __future__ import annotations

import tree_sitter

from smp.domain.graph import NodeKind
from smp.domain.source import NOTHING, ClassFlag, Damage, Exports, ImportDecl, Op
from smp.languages.cfamily.functions import Functions, is_test_block
from smp.languages.cfamily.syntax import (
    components,
    declared,
    docstring_of,
    line_of,
    one_line,
    text_of,
    words_of,
)
from smp.languages.cfamily.walk import ANY, DECLARATION, ClassDraft, Frame
from smp.languages.summary_builder import SummaryBuilder

_CLASSES = frozenset({"struct_specifier", "class_specifier", "union_specifier"})
_TYPE_ONLY = "type_identifier"
_SHOWN = 200
_DAMAGE_LIMIT = 20


class FileWalk(Functions):
    """Walks a file."""

    def __init__(self, builder: SummaryBuilder, *, cpp: bool) -> None:
        super().__init__(builder, cpp=cpp)
        self.globals: dict[str, int] = {}
        """Variables of the file by name."""
        self.template_names: tuple[str, ...] = ()
        self.handlers = {
            "identifier": self.on_identifier, "field_identifier": self.on_identifier,
            "qualified_identifier": self.on_qualified, "template_function": self.on_template_function,
            "this": self.on_this, "field_expression": self.on_field, "subscript_expression": self.on_subscript,
            "pointer_expression": self.on_pointer, "unary_expression": self.on_unary, "update_expression": self.on_unary,
            "binary_expression": self.on_binary, "assignment_expression": self.on_assignment,
            "conditional_expression": self.on_conditional, "cast_expression": self.on_cast,
            "parenthesized_expression": self.on_transparent, "comma_expression": self.on_transparent,
            "call_expression": self.on_call, "new_expression": self.on_new, "delete_expression": self.on_delete,
            "compound_literal_expression": self.on_compound_literal, "initializer_list": self.on_initializer_list,
            "throw_statement": self.on_throw, "lambda_expression": self.on_lambda, "comment": self.on_comment,
            "compound_statement": self.on_block, "if_statement": self.on_if, "while_statement": self.on_decision,
            "for_statement": self.on_decision, "do_statement": self.on_decision, "case_statement": self.on_decision,
            "catch_clause": self.on_decision, "for_range_loop": self.on_range_for, "return_statement": self.on_return,
            "declaration": self.on_any_declaration, "function_definition": self.on_function,
            "template_declaration": self.on_template, "namespace_definition": self.on_namespace,
            "struct_specifier": self.on_specifier, "class_specifier": self.on_specifier,
            "union_specifier": self.on_specifier, "enum_specifier": self.on_specifier,
            "type_definition": self.on_typedef, "alias_declaration": self.on_alias,
            "using_declaration": self.on_using, "namespace_alias_definition": self.on_namespace_alias,
            "preproc_include": self.on_include, "preproc_function_def": self.on_macro, "preproc_def": self.on_renaming,
            "preproc_call": self.on_nothing, "preproc_ifdef": self.on_conditional_part,
            "preproc_if": self.on_conditional_part, "preproc_elif": self.on_conditional_part,
            "preproc_elifdef": self.on_conditional_part, "type_identifier": self.on_nothing,
            "type_descriptor": self.on_nothing, "sizeof_expression": self.on_sizeof, "ERROR": self.on_error,
            "linkage_specification": self.on_linkage, "field_declaration": self.on_field_declaration,
            "friend_declaration": self.on_friend, "access_specifier": self.on_access,
            "attribute_specifier": self.on_nothing, "decltype": self.on_nothing, "static_assert_declaration": self.on_nothing,
            "requires_clause": self.on_nothing, "goto_statement": self.on_nothing, "labeled_statement": self.on_labeled,
            "parameter_declaration": self.on_condition_declaration, "translation_unit": self.on_unit,
            "declaration_list": self.on_unit, "template_instantiation": self.on_nothing, "gnu_asm_expression": self.on_nothing,
        }  # fmt: skip

    def run(self, root: tree_sitter.Node) -> None:
        """Walks the file, and finishes what the summary needs of the whole."""
        self.eval(root)
        if root.has_error:
            self._note_damage(root)
        for draft in self.drafts:
            self.b.classes[draft.index] = draft.finish()
        self.b.exports = Exports(
            names=tuple((name, self.b.phi(self._settled(ops))) for name, ops in self.exports.items())
        )

    def _settled(self, ops: list[int]) -> list[int]:
        """What a name means in this file: its definitions, or, where it has none, its declarations."""
        defined = [at for at in ops if not self._declares(at)]
        return defined or ops

    def _declares(self, at: int) -> bool:
        op = self.b.ops[at]
        return op[0] == Op.IMPORT and self.b.imports[op[1]].module.startswith(f":{DECLARATION}:")

    def _note_damage(self, root: tree_sitter.Node) -> None:
        stack = [root]
        while stack and len(self.damage) < _DAMAGE_LIMIT:
            node = stack.pop()
            if node.type == "ERROR" or node.is_missing:
                what = f"{node.type!r} is missing" if node.is_missing else "this part does not parse"
                at = node.start_byte
                lost = next(
                    (d.unique for d in reversed(self.definitions) if d.node.start_byte <= at < d.node.end_byte), ""
                )
                self.damage.append(Damage(line=line_of(node), message=what, lost=lost))
            elif node.has_error:
                stack.extend(reversed(node.children))

    # Order -------------------------------------------------------------------------------------------------------------

    def on_unit(self, node: tree_sitter.Node) -> int:
        """Declarations in a row; a test's title is followed by its body."""
        head: tree_sitter.Node | None = None
        for child in node.named_children:
            if head is not None and child.type == "compound_statement":
                self.test_block(head, child)
                head = None
                continue
            head = child if is_test_block(child) else None
            if head is None:
                self.eval(child)
        return NOTHING

    def on_nothing(self, node: tree_sitter.Node) -> int:
        """What says nothing of calls."""
        return NOTHING

    def on_error(self, node: tree_sitter.Node) -> int:
        """What did not parse: definitions in it count, its loose parts do not."""
        for child in node.named_children:
            if child.type in ("function_definition", "class_specifier", "struct_specifier", "namespace_definition", "preproc_include",
                              "template_declaration", "preproc_function_def", "preproc_ifdef", "preproc_if", "compound_statement",
                              "expression_statement", "linkage_specification"):  # fmt: skip
                self.eval(child)
        return NOTHING

    def on_conditional_part(self, node: tree_sitter.Node) -> int:
        """`#if`: every branch counts."""
        skipped = {
            n.id for n in (node.child_by_field_name("condition"), node.child_by_field_name("name")) if n is not None
        }
        for child in node.named_children:
            if child.id not in skipped:
                self.eval(child)
        return NOTHING

    def on_sizeof(self, node: tree_sitter.Node) -> int:
        """`sizeof x` evaluates nothing."""
        return NOTHING

    def on_labeled(self, node: tree_sitter.Node) -> int:
        """`label: statement`."""
        for child in node.named_children[1:]:
            self.eval(child)
        return NOTHING

    def on_linkage(self, node: tree_sitter.Node) -> int:
        """`extern "C" { … }`."""
        return self.eval(node.child_by_field_name("body"))

    def on_include(self, node: tree_sitter.Node) -> int:
        """`#include`."""
        path = node.child_by_field_name("path")
        if path is not None and path.type in ("string_literal", "system_lib_string"):
            self.b.imports.append(ImportDecl(text_of(path), "", line_of(node), self.frame.owner))
        return NOTHING

    def on_function(self, node: tree_sitter.Node) -> int:
        """A function definition."""
        outer = node.parent if node.parent is not None and node.parent.type == "template_declaration" else node
        self.function(node, outer)
        return NOTHING

    # Namespaces and templates --------------------------------------------------------------------------------------------

    def on_namespace(self, node: tree_sitter.Node) -> int:
        """`namespace a::b { … }`; an unnamed one belongs to the file, an inline one's names are also the outer one's."""
        name = node.child_by_field_name("name")
        before = self.space, self.internal
        if name is None:
            self.internal = True
        else:
            if any(child.type == "inline" for child in node.children):
                self._directive("::".join((*self.space, *components(name))), node)
            self.space = (*self.space, *components(name))
        self.eval(node.child_by_field_name("body"))
        self.space, self.internal = before
        return NOTHING

    def _directive(self, target: str, node: tree_sitter.Node, bound: str = "") -> None:
        """What the resolver reads: `using namespace target`, or `namespace bound = target`, in the present scope."""
        kind = "alias" if bound else "using"
        self.b.imports.append(ImportDecl(f":{kind}:{'::'.join(self.space)}|", target, line_of(node), 0, bound=bound))

    def on_using(self, node: tree_sitter.Node) -> int:
        """`using namespace a;`, `using a::b;`."""
        name = node.named_children[-1] if node.named_children else None
        if name is None:
            return NOTHING
        parts = components(name)
        if any(child.type == "namespace" for child in node.children):
            self._directive("::".join(parts), node)
        elif self.locals:
            self.locals[-1][parts[-1]] = self.symbol(ANY, parts, line_of(node))
        elif self.cls is None:
            self.export(
                parts[-1],
                self.symbol(ANY, parts, line_of(node)),
                internal=self.b.path.endswith((".cc", ".cpp", ".cxx")),
            )
        return NOTHING

    def on_namespace_alias(self, node: tree_sitter.Node) -> int:
        """`namespace q = a::b;`."""
        name = node.child_by_field_name("name")
        if name is not None and len(node.named_children) > 1:
            self._directive("::".join(components(node.named_children[-1])), node, text_of(name))
        return NOTHING

    def on_template(self, node: tree_sitter.Node) -> int:
        """`template<…> …`: its parameters are unknown types."""
        names = []
        listed = node.child_by_field_name("parameters")
        for child in listed.named_children if listed is not None else ():
            inner = next((c for c in child.named_children if c.type in ("type_identifier", "identifier")), None)
            found = (
                inner
                if child.type.endswith("type_parameter_declaration")
                else declared(child.child_by_field_name("declarator")).name
            )
            if found is not None:
                names.append(text_of(found))
        self.type_params.append(frozenset(names))
        self.template_names = tuple(names)
        for child in node.named_children:
            if child is not listed and child.type != "template_parameter_list":
                self.eval(child)
        self.type_params.pop()
        self.template_names = ()
        return NOTHING

    # Classes ---------------------------------------------------------------------------------------------------------

    def on_specifier(self, node: tree_sitter.Node) -> int:
        """A class or enum that stands alone."""
        self.specifier(node)
        return NOTHING

    def specifier(self, node: tree_sitter.Node, name: str = "") -> int:
        """A `struct`, `class`, `union` or `enum`: its definition, or the tag it names. name: a typedef's, for unnamed ones."""
        own, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        parts = components(own) if own is not None else []
        if body is None:
            if node.type == "enum_specifier" or not parts:
                return NOTHING
            found = self.local(parts[-1]) if len(parts) == 1 else None
            return found if found not in (None, NOTHING) and found is not None else self.tag(parts, node)
        if not parts and name:
            parts = [name]
        if node.type == "enum_specifier":
            if parts:
                self._enum(node, parts)
            return NOTHING
        return self._class(node, body, parts, own)

    def _outer(self, node: tree_sitter.Node) -> tree_sitter.Node:
        parent = node.parent
        while parent is not None and parent.type in (
            "template_declaration",
            "type_definition",
            "declaration",
            "field_declaration",
        ):
            if (
                parent.type in ("declaration", "field_declaration")
                and parent.child_by_field_name("declarator") is not None
            ):
                break
            node, parent = parent, parent.parent
        return node

    def _enum(self, node: tree_sitter.Node, parts: list[str]) -> None:
        definition = self.define(NodeKind.CLASS, parts, self._outer(node))
        definition.signature = f"enum {'::'.join(parts)}"
        definition.modifiers = ("enum",)
        definition.docstring = docstring_of(definition.node)
        draft = ClassDraft(
            self.b.class_slot(), parts[-1], definition.index, self.frame.owner, flags=int(ClassFlag.ENUM)
        )
        self.drafts.append(draft)
        if not self.locals:
            self.export("::".join(parts), self.class_value(draft), tag=True)
            if not self.cpp and node.parent is not None and node.parent.type == "type_definition":
                self.export("::".join(parts), self.class_value(draft))

    def _class(
        self, node: tree_sitter.Node, body: tree_sitter.Node, parts: list[str], own: tree_sitter.Node | None
    ) -> int:
        index = NOTHING
        before = self.space, self.cls, self.parent, self.locals, self.frame
        params, self.template_names = self.template_names, ()
        if parts:
            definition = self.define(NodeKind.CLASS, parts, self._outer(node))
            index = definition.index
            definition.signature = one_line(
                (node.text or b"")[: body.start_byte - node.start_byte].decode("utf-8", "replace")
            )[:_SHOWN]
            definition.docstring = docstring_of(definition.node)
            definition.modifiers = (node.type.partition("_")[0],)
            definition.exported = not self.internal and (self.cls is None or self.cls.public)
            self.parent = definition.node_id
        draft = ClassDraft(self.b.class_slot(), parts[-1] if parts else "", index, self.frame.owner, type_params=params)
        draft.public = node.type != "class_specifier"
        self.drafts.append(draft)
        value = self.class_value(draft)
        if parts:
            if self.locals:
                self.locals[-1][parts[-1]] = value
            elif own is None or own.type != "template_type":
                # A specialisation is chosen by its arguments, which are not compared: its template stands for all.
                self.export("::".join(parts), value, tag=True)
        for clause in node.named_children:
            if clause.type == "base_class_clause":
                self._bases(clause, draft)
        self.space = (*self.space, *parts)
        self.cls = draft
        self.frame = Frame(index if index != NOTHING else self.frame.owner, NOTHING, value, None)
        order: list[str] = []
        self.field_order[parts[-1] if parts else f"%{draft.index}"] = order
        self.field_order[f"%{draft.index}"] = order
        for child in body.named_children:
            if child.type not in ("comment",):
                self.eval(child)
        self.space, self.cls, self.parent, self.locals, self.frame = before
        return value

    def _bases(self, clause: tree_sitter.Node, draft: ClassDraft) -> None:
        for child in clause.named_children:
            if child.type in ("type_identifier", "qualified_identifier", "template_type"):
                base = self.type_of(child)
                if base != NOTHING:
                    draft.bases.append(base)
                    draft.base_lines.append(line_of(child))

    def on_access(self, node: tree_sitter.Node) -> int:
        """`public:`."""
        if self.cls is not None:
            self.cls.public = text_of(node).startswith("public")
        return NOTHING

    def on_friend(self, node: tree_sitter.Node) -> int:
        """A friend that is defined here is a function of the namespace."""
        for child in node.named_children:
            if child.type == "function_definition":
                before, self.cls = self.cls, None
                space, self.space = self.space, self.space[:-1]
                self.function(child, node)
                self.cls, self.space = before, space
        return NOTHING

    def on_field_declaration(self, node: tree_sitter.Node) -> int:
        """Fields and method prototypes of a class."""
        if self.cls is None:
            return NOTHING
        kind = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        first = declared(declarators[0]) if declarators else None
        if first is not None and first.function is not None:
            self.prototype(
                node, first, node if node.parent is None or node.parent.type != "template_declaration" else node.parent
            )
            return NOTHING
        type_op = self.type_of(kind)
        static = "static" in words_of(node)
        for declarator in declarators:
            found = declared(declarator)
            if found.name is None:
                continue
            name = text_of(found.name)
            order = self.field_order[f"%{self.cls.index}"]
            order.append(name)
            if (found.called is not None or type_op != NOTHING) and not self.cls.bases and not self.cpp:
                # An initialiser in a file that does not see the order of the fields fills them by number.
                made = self.instance(self.class_value(self.cls))
                self.b.op(
                    Op.STORE_ATTR, made, self.b.name(name), self.b.op(Op.ATTR, made, self.b.name(f"#{len(order) - 1}"))
                )
            if found.called is None and type_op != NOTHING:
                self.cls.annotations[name] = type_op
        self._field_value(node, declarators, type_op, static=static)
        return NOTHING

    def _field_value(
        self, node: tree_sitter.Node, declarators: list[tree_sitter.Node], type_op: int, *, static: bool
    ) -> None:
        """`int x = f();` in a class."""
        value_node = node.child_by_field_name("default_value")
        if value_node is None or self.cls is None or not declarators:
            return
        value = self.eval(value_node)
        self.use_expression(value, value_node)
        name = declared(declarators[-1]).name
        if name is not None and value != NOTHING:
            holder = self.class_value(self.cls) if static else self.instance(self.class_value(self.cls))
            self.b.op(Op.STORE_ATTR, holder, self.b.name(text_of(name)), value)

    # Variables and type names ----------------------------------------------------------------------------------------------

    def on_any_declaration(self, node: tree_sitter.Node) -> int:
        """A declaration: local, of a class, or of the file."""
        if self.locals:
            return self.on_declaration(node)
        declarators = node.children_by_field_name("declarator")
        first = declared(declarators[0]) if declarators else None
        outer = node.parent if node.parent is not None and node.parent.type == "template_declaration" else node
        if self.cls is not None:
            if first is not None and first.function is not None and first.name is not None:
                self.prototype(node, first, outer)
            return NOTHING
        kind = node.child_by_field_name("type")
        type_op = self.type_of(kind)
        words = words_of(node)
        for declarator in declarators:
            found = declared(declarator)
            if found.name is None:
                continue
            if found.function is not None and declarator.type != "init_declarator":
                self.prototype(node, found, outer)
            else:
                self._global(node, declarator, kind, type_op, words)
        return NOTHING

    def _global(
        self,
        node: tree_sitter.Node,
        declarator: tree_sitter.Node,
        kind: tree_sitter.Node | None,
        type_op: int,
        words: set[str],
    ) -> None:
        found = declared(declarator)
        assert found.name is not None
        parts = components(found.name)
        value_node = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
        internal = "static" in words
        if found.name.type == "structured_binding_declarator":
            self.eval(value_node)
            return
        if "extern" in words and value_node is None:
            index = self.symbol(DECLARATION, ["", *self.space, *parts], line_of(node))
            self.export("::".join(parts), index)
            return
        definition = self.define(NodeKind.VARIABLE, parts, node)
        definition.signature = one_line(text_of(node)).partition("=")[0].strip().rstrip(";")[:_SHOWN]
        definition.docstring = docstring_of(node)
        definition.modifiers = tuple(sorted(words))
        definition.exported = not (internal or self.internal)
        variable = self.b.variable(parts[-1], definition=definition.index, module=True)
        read = self.b.shared(Op.VAR, variable)
        self.globals[parts[-1]] = variable
        value = self._global_value(value_node, found.pointer, found.array, type_op, kind, node)
        if value != NOTHING:
            self.b.op(Op.STORE, variable, value)
        self.export("::".join(parts), read, internal=internal)

    def _global_value(
        self,
        value_node: tree_sitter.Node | None,
        pointer: bool,
        array: bool,
        type_op: int,
        kind: tree_sitter.Node | None,
        node: tree_sitter.Node,
    ) -> int:
        if value_node is None:
            return self._default(node, pointer or array, type_op) if type_op != NOTHING else NOTHING
        if (
            value_node.type == "initializer_list"
            and type_op != NOTHING
            and not (self.cpp and not array and not self._aggregate(value_node))
        ):
            made = self.instance(type_op)
            self.initialise(value_node, made, type_op)
            if array and self.b.ops[type_op][0] == Op.IMPORT:
                # Of a type that may be that of a function: then the elements are what is called.
                return self.b.phi([made, self.on_elements(value_node)])
            return made
        if (
            value_node.type in ("argument_list", "initializer_list")
            and type_op != NOTHING
            and not pointer
            and not array
        ):
            return self.called(
                type_op, self.arguments(value_node), node, one_line(text_of(kind)) if kind else "", new=True
            )
        value = self.eval(value_node)
        self.use_expression(value, value_node)
        return self.typed(value, type_op)

    def _aggregate(self, node: tree_sitter.Node) -> bool:
        return any(child.type == "initializer_pair" for child in node.named_children)

    def on_elements(self, node: tree_sitter.Node) -> int:
        """A table of functions; without sites, for its names have left already."""
        items: list[int] = []
        for child in node.named_children:
            inner = child.child_by_field_name("value") if child.type == "initializer_pair" else child
            if inner is None or inner.type not in ("identifier", "pointer_expression", "qualified_identifier"):
                return NOTHING
            items += (0, self.eval(inner))
        return self.b.op(Op.SEQ, self.b.name("array"), *items) if items else NOTHING

    def store_global(self, name: str, value: int) -> None:
        """Writes a variable of the file."""
        variable = self.globals.get(name)
        if variable is not None:
            self.b.op(Op.STORE, variable, value)

    def on_condition_declaration(self, node: tree_sitter.Node) -> int:
        """`catch (E& e)`: a local."""
        target = declared(node.child_by_field_name("declarator"))
        type_op = self.type_of(node.child_by_field_name("type"))
        if target.name is not None:
            self.bind(text_of(target.name), self.instance(type_op))
        return NOTHING

    def on_typedef(self, node: tree_sitter.Node) -> int:
        """`typedef … name;`: a name of a class, or of a type that says nothing of calls."""
        kind = node.child_by_field_name("type")
        declarators = node.children_by_field_name("declarator")
        names = [declared(declarator) for declarator in declarators]
        first = next((text_of(d.name) for d in names if d.name is not None and d.called is None), "")
        if kind is not None and kind.type in (*_CLASSES, "enum_specifier"):
            type_op = self.specifier(kind, first)
        else:
            type_op = self.type_of(kind)
        for found in names:
            if found.name is None:
                continue
            target = NOTHING if found.called is not None or found.function is not None else type_op
            alias = self.b.op(Op.ALIAS_TYPE, target) if target != NOTHING else self.no_class()
            if self.locals:
                self.locals[-1][text_of(found.name)] = (
                    target if target != NOTHING and self.b.ops[target][0] == Op.CLASS else NOTHING
                )
            else:
                self.export(text_of(found.name), alias)
                if target != NOTHING and self.b.ops[target][0] == Op.CLASS:
                    self.field_order.setdefault(
                        text_of(found.name), self.field_order.get(f"%{self.b.ops[target][1]}", [])
                    )
                elif target != NOTHING and self.b.ops[target][0] == Op.IMPORT:
                    inner = self.b.imports[self.b.ops[target][1]].name
                    self.field_order.setdefault(text_of(found.name), self.field_order.setdefault(inner, []))
        return NOTHING

    def no_class(self) -> int:
        """The name of a type without members; written like a call (`(uint)(x)`) it is a cast, and calls nothing."""
        return self.b.op(Op.SEQ, self.b.name("type"))

    def on_alias(self, node: tree_sitter.Node) -> int:
        """`using X = T;`."""
        name = node.child_by_field_name("name")
        type_op = self.type_of(node.child_by_field_name("type"))
        if name is not None and not self.locals:
            alias = self.b.op(Op.ALIAS_TYPE, type_op) if type_op != NOTHING else self.no_class()
            self.export(text_of(name), alias)
        return NOTHING
