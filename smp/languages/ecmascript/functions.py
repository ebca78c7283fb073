"""Functions and classes → their rows of the summary; bodies are queued and walked when the code around them is done."""

from __future__ import annotations

from functools import partial

import tree_sitter

from smp.domain.source import NOTHING, ClassFlag, Function, FunctionFlag, Op, Param
from smp.languages.ecmascript.calls import CallWalk
from smp.languages.ecmascript.jsdoc import NO_TYPES, DocTypes, doc_types, type_node
from smp.languages.ecmascript.scopes import Scope, pattern_names
from smp.languages.ecmascript.signatures import parameter_parts
from smp.languages.ecmascript.syntax import (
    FIELDS,
    body_of,
    fields_of,
    has_token,
    key_name,
    line_of,
    one_line,
    parameters_of,
    text_of,
    unwrap,
)
from smp.languages.ecmascript.walk import ClassDraft, Frame

_PROMISES = frozenset({"Promise", "PromiseLike"})
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})


class FunctionWalk(CallWalk):
    """Rows of functions and classes."""

    typed: bool
    """True for TypeScript, whose comments declare nothing."""
    belongs: dict[int, tuple[ClassDraft, FunctionFlag]]
    """Classes that functions became methods of after they were written (`C.prototype.m = f`)."""
    receivers: dict[int, int]
    """What `this` is, by function, where it is not what the kind of the function says."""

    # Functions -------------------------------------------------------------------------------------------------------

    def function(self, node: tree_sitter.Node, *, method_flags: bool = False) -> int:
        """A function object; its body waits."""
        flags = self._accessor_flags(node) if method_flags else FunctionFlag.NONE
        return self.queue(node, flags=flags)

    def queue(
        self,
        node: tree_sitter.Node,
        *,
        flags: FunctionFlag = FunctionFlag.NONE,
        draft: ClassDraft | None = None,
        cls: ClassDraft | None = None,
    ) -> int:
        """Reserves a function and lets its body wait.

        Args:
            draft: The class whose `super` it may use. cls: the class it is a method of.
        """
        slot = self.b.function_slot()
        definition = self.outline.definition_of(node)
        index = definition.index if definition is not None else NOTHING
        if node.type == "arrow_function":
            flags |= FunctionFlag.ARROW
        if has_token(node, "async"):
            flags |= FunctionFlag.ASYNC
        if node.type.startswith("generator") or (node.type == "method_definition" and has_token(node, "*")):
            flags |= FunctionFlag.GENERATOR
        if index == NOTHING:
            flags |= FunctionFlag.LAMBDA
        enclosing = self.callback_owner if index == NOTHING and self.callback_owner is not None else self.frame.owner
        owner = index if index != NOTHING else enclosing
        frame = Frame(scope=self.scopes.of(node, self.scope), owner=owner, function=slot, draft=draft)
        if cls is None and node.type == "arrow_function":
            frame.this, frame.draft = self.frame.this, self.frame.draft
        else:
            frame.this = self.b.shared(Op.RECEIVER, slot)
        self.waiting.append(partial(self._run, node, slot, frame, flags, cls, index, enclosing))
        return self.b.shared(Op.FUNC, slot)

    def _function_name(self, node: tree_sitter.Node) -> str:
        definition = self.outline.definition_of(node)
        return definition.name if definition is not None else key_name(node.child_by_field_name("name")) or ""

    def receive(self, function_op: int, this: int, *, among: bool = False) -> None:
        """Says what `this` is in a function whose body has not been walked yet.

        Args:
            among: The function has a name, and may be called on other things as well.
        """
        if function_op != NOTHING and self.b.ops[function_op][0] == Op.FUNC:
            slot = self.b.ops[function_op][1]
            if among:
                this = self.b.phi([self.receivers.get(slot, self.b.shared(Op.RECEIVER, slot)), this])
            self.receivers[slot] = this

    def _run(
        self,
        node: tree_sitter.Node,
        slot: int,
        frame: Frame,
        flags: FunctionFlag,
        cls: ClassDraft | None,
        definition: int,
        enclosing: int,
    ) -> None:
        """Walks a function's parameters and body, and fills its row."""
        before = (self.frame, self.scope, self.callback_owner, self.depth)
        self.frame, self.scope, self.callback_owner, self.depth = frame, frame.scope, None, 0
        if slot in self.receivers and not flags & FunctionFlag.ARROW:
            frame.this = self.receivers[slot]
        if slot in self.belongs:
            cls, added = self.belongs[slot]
            flags |= FunctionFlag.METHOD | added
        documented = self._documented(node)
        self.doc_line = 0 if documented is NO_TYPES else line_of(node)
        params = self.parameters(node, slot, documented)
        annotation = self.return_annotation(node, documented, is_async=bool(flags & FunctionFlag.ASYNC))
        frame.returning = annotation if not flags & FunctionFlag.GENERATOR else NOTHING
        self.doc_line = 0
        predicate, asserts = self._predicate(node)
        body = body_of(node)
        if body is not None and body.type == "statement_block":
            self.statements(body)
        elif body is not None:
            frame.returns.append(self.placed_in(self.expr(body), frame.returning))
        self.frame, self.scope, self.callback_owner, self.depth = before
        self.b.functions[slot] = Function(
            name=self._function_name(node),
            definition=definition,
            owner=enclosing,
            cls=cls.index if cls is not None else NOTHING,
            flags=int(flags | asserts),
            params=params,
            predicate=predicate,
            type_params=self.type_parameters(node),
            returns=tuple(value for value in dict.fromkeys(frame.returns) if value != NOTHING),
            yields=tuple(dict.fromkeys(frame.yields)),
            annotation=annotation,
        )

    def statements(self, block: tree_sitter.Node) -> bool:
        """Walks the statements of a block; statements say how."""
        raise NotImplementedError

    def _documented(self, node: tree_sitter.Node) -> DocTypes:
        """Types in the comment before a function that is a definition; TypeScript declares its types in the code."""
        definition = self.outline.definition_of(node)
        return doc_types(definition.span) if definition is not None and not self.typed else NO_TYPES

    def documented_type(self, text: str, line: int = 0) -> int:
        """The type that a comment declares."""
        if not text:
            return NOTHING
        self.doc_line, before = line or self.doc_line, self.doc_line
        found = self.type_of(type_node(text))
        self.doc_line = before
        return found

    def parameters(self, node: tree_sitter.Node, slot: int, documented: DocTypes = NO_TYPES) -> tuple[Param, ...]:
        """Rows of the parameters; their names begin with what is passed, defaults are evaluated inside."""
        found: list[Param] = []
        for parameter in parameters_of(node):
            pattern, default_node, written = parameter_parts(parameter)
            self.decorate(parameter, NOTHING)
            annotation = self.annotation(written)
            if annotation == NOTHING and documented.parameters:
                annotation = self.documented_type(documented.parameters.get(text_of(pattern), ""))
            if pattern.type == "this":
                if annotation != NOTHING:
                    self.frame.this = self.instance(annotation)
                continue
            rest = pattern.type == "rest_pattern"
            inner = next(iter(pattern.named_children), pattern) if rest else pattern
            value = self.b.shared(Op.PARAM, slot, len(found))
            default = self.expr(default_node) if default_node is not None else NOTHING
            self.placed_in(default, annotation)
            found.append(
                Param(one_line(text_of(inner)), "var_positional" if rest else "positional", default, annotation)
            )
            self.assign(inner, value, parameter)
            if parameter.type == "required_parameter" and has_token(parameter, "accessibility_modifier", "readonly"):
                self._parameter_property(inner, value, annotation)
        return tuple(found)

    def _parameter_property(self, name: tree_sitter.Node, value: int, annotation: int) -> None:
        """`constructor(private db: Db)` declares a field and stores into it."""
        if name.type != "identifier":
            return
        draft = self.frame.draft
        if draft is not None and annotation != NOTHING:
            draft.annotations.setdefault(text_of(name), annotation)
        self.b.op(Op.STORE_ATTR, self.frame.this, self.b.name(text_of(name)), value)

    def return_annotation(self, node: tree_sitter.Node, documented: DocTypes = NO_TYPES, *, is_async: bool) -> int:
        """Type of what a call gives; of an asynchronous function what awaiting the call gives."""
        declared = node.child_by_field_name("return_type")
        inner: tree_sitter.Node | None
        if declared is not None and node.type == "function_type":
            inner = declared
        elif declared is not None and declared.type == "type_annotation":
            inner = next((child for child in declared.named_children if child.type != "comment"), None)
        else:
            inner = type_node(documented.returns) if declared is None else None
        if inner is None:
            return NOTHING
        if is_async and inner.type == "generic_type":
            name, arguments = inner.child_by_field_name("name"), inner.child_by_field_name("type_arguments")
            if name is not None and text_of(name) in _PROMISES and arguments is not None and arguments.named_children:
                return self.type_of(arguments.named_children[0])
        return self.type_of(inner)

    def adopt(self, function_op: int, draft: ClassDraft, flags: FunctionFlag = FunctionFlag.NONE) -> None:
        """Makes a function whose body has not been walked yet a method of a class, or an accessor."""
        if function_op != NOTHING and self.b.ops[function_op][0] == Op.FUNC:
            slot = self.b.ops[function_op][1]
            self.belongs[slot] = draft, flags
            self.receivers.pop(slot, None)  # it was written in an object literal

    def signature(self, node: tree_sitter.Node, draft: ClassDraft | None, flags: int) -> int:
        """A function that is declared and not written here: a row without a body."""
        slot = self.b.function_slot()
        definition = self.outline.definition_of(node)
        index = definition.index if definition is not None else NOTHING
        kind = FunctionFlag(flags) | self._accessor_flags(node)
        if has_token(node, "static"):
            kind |= FunctionFlag.CLASS_METHOD
        owner = index if index != NOTHING else self.frame.owner
        frame = Frame(scope=self.scopes.of(node, self.scope), owner=owner, function=slot, draft=draft)
        before = (self.frame, self.scope)
        self.frame, self.scope = frame, frame.scope
        params = self.parameters(node, slot)
        annotation = self.return_annotation(node, is_async=False)
        predicate, asserts = self._predicate(node)
        self.frame, self.scope = before
        self.b.functions[slot] = Function(
            name=self._function_name(node),
            definition=index,
            owner=before[0].owner,
            cls=draft.index if draft is not None else NOTHING,
            flags=int(kind | asserts),
            params=params,
            predicate=predicate,
            type_params=self.type_parameters(node),
            annotation=annotation,
        )
        return self.b.shared(Op.FUNC, slot)

    def _predicate(self, node: tree_sitter.Node) -> tuple[int, FunctionFlag]:
        """The type in a return type `x is T` or `asserts x is T` (the grammars put it under nodes of its own)."""
        inner = node.child_by_field_name("return_type")
        asserts = inner is not None and inner.type == "asserts_annotation"
        while inner is not None and inner.type != "type_predicate":
            inner = next((c for c in inner.named_children if c.type in ("type_predicate", "asserts")), None)
        found = self.type_of(inner.child_by_field_name("type")) if inner is not None else NOTHING
        return found, FunctionFlag.ASSERTS if asserts else FunctionFlag.NONE

    def _accessor_flags(self, node: tree_sitter.Node) -> FunctionFlag:
        if has_token(node, "get"):
            return FunctionFlag.PROPERTY
        return FunctionFlag.SETTER if has_token(node, "set") else FunctionFlag.NONE

    # Classes ---------------------------------------------------------------------------------------------------------

    def class_value(self, node: tree_sitter.Node) -> int:
        """A class object; its draft may have been reserved when its scope was entered."""
        definition = self.outline.definition_of(node)
        scope = self.scopes.of(node, self.scope)
        name_node = node.child_by_field_name("name")
        name = definition.name if definition is not None else key_name(name_node) or ""
        binding = scope.parent.names.get(name) if scope.parent is not None and node.type != "class" else None
        draft = self.draft_of.get(binding) if binding is not None else None
        index = definition.index if definition is not None else NOTHING
        if draft is None or (draft.definition != index and draft.bases):
            draft = self.new_draft(name, index)
            if binding is not None:
                self.draft_of[binding] = draft
        draft.flags &= ~int(ClassFlag.INTERFACE)
        if node.type == "abstract_class_declaration":
            draft.flags |= int(ClassFlag.INTERFACE)
        own = scope.names.get(name_node.text.decode()) if name_node is not None and name_node.text else None
        if own is not None:
            self.fix(own, self.class_op(draft))
        self._fill_class(node, draft, scope)
        value = self.class_op(draft)
        self.decorate(node, value)
        return value

    def _fill_class(self, node: tree_sitter.Node, draft: ClassDraft, scope: Scope) -> None:
        before = self.scope
        self.scope = scope
        draft.type_params = draft.type_params or self.type_parameters(node)
        for child in node.named_children:
            if child.type == "class_heritage":
                self._heritage(child, draft)
        body = body_of(node)
        for member in body.named_children if body is not None else ():
            self._class_member(member, draft)
        self.scope = before

    def type_parameters(self, node: tree_sitter.Node) -> tuple[str, ...]:
        """Names of the type parameters, in order."""
        listed = node.child_by_field_name("type_parameters")
        names = (child.child_by_field_name("name") for child in (listed.named_children if listed is not None else ()))
        return tuple(text_of(name) for name in names if name is not None)

    def _heritage(self, heritage: tree_sitter.Node, draft: ClassDraft) -> None:
        for clause in heritage.named_children:
            if clause.type == "implements_clause":
                for child in clause.named_children:
                    self.inherit(self.type_of(child), child, draft, interface=True)
            elif clause.type == "extends_clause":
                value = clause.child_by_field_name("value")
                if value is not None:
                    self.inherit(self._base(value, clause.child_by_field_name("type_arguments")), value, draft)
            elif clause.type != "comment":  # JavaScript: the expression stands without a clause
                self.inherit(self._base(clause, None), clause, draft)

    def _base(self, value: tree_sitter.Node, arguments: tree_sitter.Node | None) -> int:
        base = self.quiet(value)
        if arguments is None or base == NOTHING:
            return base
        operands = [self.type_of(child) for child in arguments.named_children if child.type != "comment"]
        return self.b.op(Op.APPLY, base, *operands)

    def inherit(self, base: int, node: tree_sitter.Node, draft: ClassDraft, *, interface: bool = False) -> None:
        """Adds a base class or an interface."""
        if interface:
            if base != NOTHING:
                draft.implements.append(base)
                draft.implement_lines.append(line_of(node))
            return
        draft.bases.append(base)
        draft.base_lines.append(line_of(node))

    def _class_member(self, member: tree_sitter.Node, draft: ClassDraft) -> None:
        kind = member.type
        if kind == "method_definition":
            self._method(member, draft)
        elif kind in ("method_signature", "abstract_method_signature"):
            name = key_name(member.child_by_field_name("name")) or ""
            abstract = kind.startswith("abstract")
            flags = FunctionFlag.METHOD | (FunctionFlag.ABSTRACT if abstract else FunctionFlag.OVERLOAD)
            members = draft.static_members if has_token(member, "static") else draft.members
            members.append((name, self.signature(member, draft, int(flags))))
        elif kind in FIELDS:
            self._field(member, draft)
        elif kind == "class_static_block":
            self._initialise(member, draft, static=True)

    def _method(self, member: tree_sitter.Node, draft: ClassDraft) -> None:
        name = key_name(member.child_by_field_name("name"))
        static = has_token(member, "static")
        flags = FunctionFlag.METHOD | self._accessor_flags(member)
        if static:
            flags |= FunctionFlag.CLASS_METHOD
        value = self.queue(member, flags=flags, draft=draft, cls=draft)
        self.decorate(member, value)
        key = member.child_by_field_name("name")
        if key is not None and key.type == "computed_property_name":
            self.parts(key)
        if name:
            (draft.static_members if static else draft.members).append((name, value))

    def _field(self, member: tree_sitter.Node, draft: ClassDraft) -> None:
        """A field: its declared type, and what it begins with; a function in it is a method of the instance."""
        key = member.child_by_field_name("property") or member.child_by_field_name("name")
        name = key_name(key) or ""
        static = has_token(member, "static")
        annotation = self.annotation(member.child_by_field_name("type"))
        if annotation == NOTHING and not self.typed:
            annotation = self.documented_type(doc_types(member).type, line_of(member))
        if annotation != NOTHING and not static:
            draft.annotations.setdefault(name, annotation)
        self.decorate(member, NOTHING)
        value_node = member.child_by_field_name("value")
        if value_node is None:
            if static and annotation != NOTHING:
                draft.static_members.append((name, self.instance(annotation)))
            return
        inner = unwrap(value_node)
        if inner.type in _FUNCTION_VALUES:
            flags = FunctionFlag.METHOD | (FunctionFlag.CLASS_METHOD if static else FunctionFlag.NONE)
            value = self.queue(inner, flags=flags, draft=draft, cls=draft)
            self.placed_in(value, annotation)
            (draft.static_members if static else draft.members).append((name, value))
            return
        value = self.placed_in(self._initialise(value_node, draft, static=static), annotation)
        if static:
            kept = value if value != NOTHING else self.instance(annotation)
            if kept != NOTHING:
                draft.static_members.append((name, kept))
        elif value != NOTHING:
            self.b.op(Op.STORE_ATTR, self.instance(self.class_op(draft)), self.b.name(name), value)

    def _initialise(self, node: tree_sitter.Node, draft: ClassDraft, *, static: bool) -> int:
        """Code in a class body that runs on construction, or, static, when the class is made."""
        before = self.frame
        this = self.class_op(draft) if static else self.instance(self.class_op(draft))
        scope = self.scopes.of(node, self.scope)
        self.frame = Frame(scope=scope.owner, owner=before.owner, function=before.function, this=this, draft=draft)
        value = NOTHING
        if node.type == "class_static_block":
            body = body_of(node)
            if body is not None:
                outer, self.scope = self.scope, self.scopes.of(body, scope)
                self.statements(body)
                self.scope = outer
        else:
            self.frame.values = before.values
            value = self.expr(node)
        self.frame = before
        return value

    # Interfaces, aliases, enums --------------------------------------------------------------------------------------

    def fill_interface(self, node: tree_sitter.Node, draft: ClassDraft) -> None:
        """Members and bases of an interface declaration."""
        before = self.scope
        self.scope = self.scopes.of(node, self.scope)
        draft.type_params = draft.type_params or self.type_parameters(node)
        for clause in node.named_children:
            if clause.type == "extends_type_clause":
                for base in fields_of(clause, "type"):
                    self.inherit(self.type_of(base), base, draft)
        body = body_of(node)
        if body is not None:
            self.type_members(body, draft)
        self.scope = before

    def fill_enum(self, node: tree_sitter.Node, draft: ClassDraft) -> None:
        """An enum's members are values of it; what computes them is code around it."""
        draft.flags |= int(ClassFlag.ENUM)
        body = body_of(node)
        for member in body.named_children if body is not None else ():
            name = key_name(member.child_by_field_name("name") if member.type == "enum_assignment" else member)
            if name and member.type != "comment":
                draft.static_members.append((name, self.instance(self.class_op(draft))))
            value = member.child_by_field_name("value") if member.type == "enum_assignment" else None
            if value is not None:
                self.expr(value)

    def placed_in(self, value: int, type_op: int) -> int:
        """What is written where a type is declared: functions in it may take the types of their parameters from there."""
        if type_op == NOTHING or value == NOTHING or self.b.ops[value][0] not in (Op.FUNC, Op.MAP, Op.SEQ):
            return value
        placed = self.b.op(Op.DECLARED, value, type_op)
        return placed if self.b.ops[value][0] == Op.MAP else value

    def names_in(self, pattern: tree_sitter.Node) -> tuple[str, ...]:
        """Names that a pattern binds."""
        return tuple(text_of(identifier) for identifier in pattern_names(pattern))
