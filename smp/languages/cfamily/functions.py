"""Functions and methods, wherever they stand: in a file, in a class, outside of their class, as tests, as macros."""

from __future__ import annotations

import re

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.domain.source import NOTHING, ArgKind, Extension, Function, FunctionFlag, ImportDecl, Op, Param, SiteKind
from smp.languages.cfamily.mending import quiet
from smp.languages.cfamily.statements import Statements
from smp.languages.cfamily.syntax import Declared, components, declared, docstring_of, one_line, text_of, words_of
from smp.languages.cfamily.walk import DECLARATION, TYPE, Definition, Frame

_TESTS = frozenset(
    {
        "TEST",
        "TEST_F",
        "TEST_P",
        "TYPED_TEST",
        "TYPED_TEST_P",
        "TEST_CASE",
        "BOOST_AUTO_TEST_CASE",
        "BOOST_FIXTURE_TEST_CASE",
    }
)
_FIXTURES = frozenset({"TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"})
_CATCH = frozenset({"TEST_CASE", "SCENARIO", "TEST_CASE_METHOD"})
_SHOWN = 200
_OPENED = re.compile(r"\bnamespace\s+(\w+)\s*\{")
_NAME = re.compile(rb"[A-Za-z_]\w*")


def is_test_block(node: tree_sitter.Node) -> bool:
    """Whether a statement is `TEST_CASE("…")`, whose body is the block behind it."""
    call = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
    callee = call.child_by_field_name("function") if call is not None and call.type == "call_expression" else None
    return callee is not None and text_of(callee) in _CATCH


class Functions(Statements):
    """Definitions of code."""

    def function(self, node: tree_sitter.Node, outer: tree_sitter.Node) -> None:
        """A function definition. outer: what a reader would cut out (with `template<…>` before it)."""
        target = declared(node.child_by_field_name("declarator"))
        if target.name is None or (target.function is None and target.name.type != "operator_cast"):
            self._nameless(node)
            return
        parts = components(target.name)
        if parts[-1] in _TESTS and node.child_by_field_name("type") is None and len(parts) == 1:
            self._test(node, target, parts[-1])
            return
        if not parts[-1] or node.child_by_field_name("body") is None:
            if any(
                child.type in ("default_method_clause", "delete_method_clause", "pure_virtual_clause")
                for child in node.named_children
            ):
                self.prototype(node, target, outer)
            return
        while parts and parts[0] == "":
            parts = parts[1:]
        words = words_of(node)
        definition = self.define(NodeKind.FUNCTION, parts, outer)
        self._describe(definition, node, target, words)
        self._body(node, target, parts, definition, words)

    def _nameless(self, node: tree_sitter.Node) -> None:
        """A function whose head did not parse: what stands in it still counts for the file."""
        self.locals.append({})
        self.eval(node.child_by_field_name("body"))
        self.locals.pop()

    def _describe(self, definition: Definition, node: tree_sitter.Node, target: Declared, words: set[str]) -> None:
        body = node.child_by_field_name("body")
        head = definition.node
        end = body.start_byte if body is not None else head.end_byte
        initialisers = next((c for c in node.named_children if c.type == "field_initializer_list"), None)
        end = min(end, initialisers.start_byte) if initialisers is not None else end
        text = (head.text or b"")[: end - head.start_byte].decode("utf-8", "replace")
        definition.signature = one_line(text).rstrip(";{ ")[: _SHOWN * 2]
        kind = node.child_by_field_name("type")
        definition.return_type = one_line(text_of(kind)) if kind is not None else None
        definition.parameters = self.shown_parameters(target.function)
        definition.docstring = docstring_of(head)
        definition.modifiers = tuple(sorted(words))
        internal = "static" in words and self.cls is None
        definition.exported = not (internal or self.internal) and (self.cls is None or self.cls.public)

    def shown_parameters(self, function: tree_sitter.Node | None) -> tuple[Parameter, ...]:
        """Parameters as written."""
        listed = function.child_by_field_name("parameters") if function is not None else None
        found = []
        for child in listed.named_children if listed is not None else ():
            if child.type == "identifier":
                found.append(Parameter(name=text_of(child)))
            elif child.type.endswith("parameter_declaration"):
                kind, name = child.child_by_field_name("type"), declared(child.child_by_field_name("declarator")).name
                if kind is None or (text_of(child) == "void"):
                    continue
                shown = text_of(name) if name is not None else f"_{len(found)}"
                written = one_line(text_of(child))
                annotation = one_line(written.removesuffix(shown)) if name is not None else written
                optional = child.type == "optional_parameter_declaration"
                found.append(Parameter(name=shown, annotation=annotation or None, required=not optional))
        return tuple(found)

    def _body(
        self, node: tree_sitter.Node, target: Declared, parts: list[str], definition: Definition, words: set[str]
    ) -> None:
        """The function of a definition: its flags, parameters, body, and where it belongs."""
        slot = self.b.function_slot()
        self.b.functions[slot] = Function(name=parts[-1], definition=definition.index, owner=self.frame.owner)
        before = self.frame, self.parent, self.space, self.locals, self.cls
        cls, outside = self.cls, parts[:-1]
        flags = FunctionFlag.NONE
        extension = NOTHING
        owner = self.frame.owner
        static = cls is not None and "static" in words
        if cls is not None:
            flags = FunctionFlag.METHOD | (FunctionFlag.STATIC if static else FunctionFlag.NONE)
        elif outside:
            flags = FunctionFlag.METHOD
            extension = self._extension(outside, parts[-1], slot, node)
        self.frame = Frame(definition.index, slot, NOTHING, definition)
        if cls is not None or outside:
            self.frame.receiver = (
                self.class_value(cls) if static and cls is not None else self.b.shared(Op.RECEIVER, slot)
            )
        self.parent = definition.node_id
        self.space = (*self.space, *outside)
        self.locals, self.cls = [*self.locals, {}] if self.frame.owner and before[3] else [{}], None
        annotation = self._return_type(node, target)
        params = self.parameters(target.function, slot)
        params = self._old_style(node, params)
        if self.cpp and cls is None:
            # Defaults stand in the declaration, which may be anywhere.
            open_ = self.b.op(Op.PHI)
            params = tuple(p if p.default != NOTHING else Param(p.name, p.kind, open_, p.annotation) for p in params)
        for child in node.named_children:
            if child.type == "field_initializer_list":
                self._initialisers(child)
        self.space = (*self.space, parts[-1])
        self.eval(node.child_by_field_name("body"))
        returns = tuple(dict.fromkeys(self.frame.returns))
        self.frame, self.parent, self.space, self.locals, self.cls = before
        self.b.functions[slot] = Function(
            name=parts[-1],
            definition=definition.index,
            owner=owner,
            cls=cls.index if cls is not None else NOTHING,
            flags=int(flags),
            params=params,
            returns=returns,
            annotation=annotation,
            extension=extension,
        )
        self.place(parts, slot, words, internal="static" in words)

    def place(self, parts: list[str], slot: int, words: set[str], *, internal: bool) -> None:
        """Makes a function known: as a member of its class, else by its name in its namespace."""
        value = self.b.shared(Op.FUNC, slot)
        if self.cls is not None and "friend" not in words:
            (self.cls.static_members if "static" in words else self.cls.members).append(
                (self.member(parts[-1], self.cls.name), value)
            )
            return
        self.export("::".join(parts), value, internal=internal)

    def member(self, name: str, cls: str) -> str:
        """The key of a member: constructors and destructors have one for all classes."""
        if name == cls:
            return "%constructor"
        return "%destructor" if name.startswith("~") else name

    def _extension(self, outside: list[str], name: str, slot: int, node: tree_sitter.Node) -> int:
        """`C::m` outside of C."""
        cls = self.symbol(TYPE, outside, node.start_point[0] + 1)
        key = self.member(name, outside[-1])
        self.extensions.append(Extension(cls, ((key, self.b.shared(Op.FUNC, slot)),)))
        return len(self.extensions) - 1

    def _return_type(self, node: tree_sitter.Node, target: Declared) -> int:
        trailing = (
            next((c for c in target.function.named_children if c.type == "trailing_return_type"), None)
            if target.function
            else None
        )
        if trailing is not None and trailing.named_children:
            return self.type_of(trailing.named_children[0])
        kind = node.child_by_field_name("type")
        return self.type_of(kind)

    def _old_style(self, node: tree_sitter.Node, params: tuple[Param, ...]) -> tuple[Param, ...]:
        """`int f(a) struct s *a; {…}`: the types stand behind the names."""
        types: dict[str, int] = {}
        for child in node.named_children:
            if child.type == "declaration":
                type_op = self.type_of(child.child_by_field_name("type"))
                for declarator in child.children_by_field_name("declarator"):
                    name = declared(declarator).name
                    if name is not None:
                        types[text_of(name)] = type_op
        if not types:
            return params
        return tuple(Param(p.name, p.kind, p.default, types.get(p.name, p.annotation)) for p in params)

    def _initialisers(self, node: tree_sitter.Node) -> None:
        """`: Base(x), field(y)`: fields get values, bases and fields are constructed."""
        receiver = self.frame.receiver
        for child in node.named_children:
            if child.type != "field_initializer" or not child.named_children:
                continue
            name = child.named_children[0]
            arguments = self.arguments(child.named_children[-1] if len(child.named_children) > 1 else None)
            parts = components(name)
            single = name.type == "field_identifier" and len(arguments) == 1
            if single and arguments[0] != NOTHING and receiver != NOTHING:
                self.b.op(Op.STORE_ATTR, receiver, self.b.name(parts[-1]), arguments[0])
            base = self.symbol("class", parts, child.start_point[0] + 1)
            if name.type == "field_identifier":
                self._base_call(base, arguments, child)
            else:
                self.called(base, arguments, child, parts[-1], new=True)

    def _base_call(self, base: int, arguments: list[int], node: tree_sitter.Node) -> None:
        """A plain name in front of brackets may be a field or a base; only of a class it runs a constructor."""
        flat = [part for argument in arguments for part in (int(ArgKind.POSITIONAL), NOTHING, argument)]
        value = self.b.op(Op.NEW, base, *flat)
        self.b.site(
            SiteKind.PROTOCOL, value, owner=self.frame.owner, line=node.start_point[0] + 1, names=("%constructor",)
        )

    def prototype(self, node: tree_sitter.Node, target: Declared, outer: tree_sitter.Node) -> None:
        """A declaration without body: in a class a member whose code is elsewhere (a pure virtual one is a definition), else a
        name that the link leads to its definition."""
        assert target.name is not None
        parts = components(target.name)
        words = words_of(node)
        if self.cls is None or "friend" in words or node.type == "friend_declaration":
            if parts[-1] and self.cls is None:
                if self.locals:
                    return
                index = self.symbol(
                    DECLARATION, ["", *self.space, *parts] if not self.internal else parts, node.start_point[0] + 1
                )
                self.export("::".join(parts), index, internal="static" in words)
            return
        deleted = any(c.type == "delete_method_clause" for c in node.named_children)
        if deleted:
            return
        text = (node.text or b"").rstrip(b"; \n\t")
        pure = any(c.type == "pure_virtual_clause" for c in node.named_children) or bool(re.search(rb"=\s*0$", text))
        slot = self.b.function_slot()
        flags = FunctionFlag.METHOD | (FunctionFlag.STATIC if "static" in words else FunctionFlag.NONE)
        index = NOTHING
        if pure:
            definition = self.define(NodeKind.FUNCTION, parts, outer)
            self._describe(definition, node, target, words | {"abstract"})
            index = definition.index
            flags |= FunctionFlag.ABSTRACT
        else:
            flags |= FunctionFlag.OVERLOAD
        locals_, self.locals = self.locals, []
        params = self.parameters(target.function, slot)
        annotation = self._return_type(node, target)
        self.locals = locals_
        self.b.functions[slot] = Function(
            name=parts[-1], definition=index, owner=self.frame.owner, cls=self.cls.index, flags=int(flags),
            params=params, annotation=annotation,
        )  # fmt: skip
        self.place(parts, slot, words, internal=False)

    # Tests -----------------------------------------------------------------------------------------------------------

    def _test(self, node: tree_sitter.Node, target: Declared, macro: str) -> None:
        """`TEST_F(Fixture, Name) {…}`: a method of a class below the fixture."""
        listed = target.function.child_by_field_name("parameters") if target.function is not None else None
        words = [one_line(text_of(child)) for child in listed.named_children] if listed is not None else []
        self._test_node(
            node,
            node.child_by_field_name("body"),
            ".".join(words) or macro,
            words[0] if macro in _FIXTURES and words else "",
        )

    def test_block(self, head: tree_sitter.Node, body: tree_sitter.Node) -> None:
        """`TEST_CASE("title") {…}`."""
        listed = head.named_children[0].child_by_field_name("arguments")
        first = listed.named_children[0] if listed is not None and listed.named_children else None
        title = text_of(first).strip('"') if first is not None else "TEST_CASE"
        self._test_node(head, body, one_line(title)[:_SHOWN], "", end=body)

    def _test_node(
        self,
        head: tree_sitter.Node,
        body: tree_sitter.Node | None,
        title: str,
        fixture: str,
        end: tree_sitter.Node | None = None,
    ) -> None:
        unique = self.b.unique_qualname(title)
        index, node_id = self.b.define(NodeKind.TEST, unique)
        definition = Definition(NodeKind.TEST, unique, unique, index, node_id, self.parent, head)
        definition.exported = False
        definition.docstring = docstring_of(head)
        definition.end = end
        self.definitions.append(definition)
        self.b.tests.append(index)
        slot = self.b.function_slot()
        flags = int(FunctionFlag.TEST)
        extension = NOTHING
        before = self.frame, self.locals, self.parent
        self.frame = Frame(index, slot, NOTHING, definition)
        if fixture:
            self.extensions.append(Extension(self.symbol(TYPE, [fixture], head.start_point[0] + 1)))
            extension = len(self.extensions) - 1
            flags |= int(FunctionFlag.METHOD)
            self.frame.receiver = self.b.shared(Op.RECEIVER, slot)
            self.space = (*self.space, fixture)
        self.locals, self.parent = [{}], node_id
        self.eval(body)
        self.frame, self.locals, self.parent = before
        if fixture:
            self.space = self.space[:-1]
        self.b.functions[slot] = Function(
            name=title, definition=index, owner=self.frame.owner, flags=flags, extension=extension
        )

    # Macros ----------------------------------------------------------------------------------------------------------

    def on_macro(self, node: tree_sitter.Node) -> int:
        """`#define F(x) g(x)`: a function whose text is pasted; the calls in it are its own."""
        name = node.child_by_field_name("name")
        if name is None or (self.locals and self.frame.owner == 0):
            return NOTHING
        before_space, self.space = self.space, ()
        definition = self.define(NodeKind.FUNCTION, [text_of(name)], node)
        definition.modifiers = ("macro",)
        definition.docstring = docstring_of(node)
        listed = node.child_by_field_name("parameters")
        names = [text_of(child) for child in listed.named_children] if listed is not None else []
        definition.signature = f"#define {text_of(name)}({', '.join(names)})"
        definition.parameters = tuple(Parameter(name=n) for n in names if n != "...")
        slot = self.b.function_slot()
        params = tuple(
            Param(n if n != "..." else "...", "positional" if n != "..." else "var_positional") for n in names
        )
        self.b.functions[slot] = Function(name=text_of(name), definition=definition.index, owner=0, params=params)
        value = node.child_by_field_name("value")
        if value is not None:
            self._macro_calls(value, frozenset(names), Frame(definition.index, slot, NOTHING, definition))
        self.exports.setdefault("." + text_of(name), []).append(self.b.shared(Op.FUNC, slot))
        self.space = before_space
        return NOTHING

    def on_renaming(self, node: tree_sitter.Node) -> int:
        """`#define f g`: another name of g."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        text = text_of(value).strip() if value is not None else ""
        if name is not None and _NAME.fullmatch(text.encode()) and text != text_of(name) and text not in _NOT_CALLED:
            index = self.symbol("any", [text], node.start_point[0] + 1, scope=())
            self.exports.setdefault("." + text_of(name), []).append(index)
        for opened in _OPENED.findall(text):
            if opened == "std":
                continue
            self.b.imports.append(
                ImportDecl(":hidden:|", opened, node.start_point[0] + 1, 0, bound=text_of(name) if name else "")
            )
        return NOTHING

    def _macro_calls(self, value: tree_sitter.Node, params: frozenset[str], frame: Frame) -> None:
        """Calls in a macro's text: names in front of brackets that are not its parameters. What is pasted (`##`) has no name yet."""
        text = quiet(value.text or b"")
        before, self.frame = self.frame, frame
        start = value.start_point[0] + 1
        for match in _NAME.finditer(text):
            after = text[match.end() :].lstrip(b" \t\\\n")
            lead = text[: match.start()].rstrip()
            name = match[0].decode()
            if (
                not after.startswith(b"(")
                or name in params
                or name in _NOT_CALLED
                or lead.endswith((b"#", b".", b"->", b"::"))
                or after.startswith(b"##")
            ):
                continue
            line = start + text[: match.start()].count(b"\n")
            target = self.symbol("any", [name], line)
            value_op = self.b.op(Op.CALL, target)
            self.b.site(SiteKind.CALL, value_op, owner=frame.owner, line=line, text=name)
        self.frame = before


_NOT_CALLED = frozenset(
    [
        "if",
        "while",
        "for",
        "switch",
        "return",
        "sizeof",
        "defined",
        "do",
        "else",
        "case",
        "catch",
        "alignof",
        "typeof",
        "__typeof__",
        "decltype",
        "static_cast",
        "reinterpret_cast",
        "const_cast",
        "dynamic_cast",
        "__attribute__",
        "__asm__",
        "asm",
        "int",
        "char",
        "void",
        "long",
        "unsigned",
        "float",
        "double",
        "short",
    ]
)
