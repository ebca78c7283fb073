"""A Go file from its top: imports, definitions in source order, their types and signatures, and only then what runs."""

from __future__ import annotations

import re

import tree_sitter

from smp.domain.graph import NodeKind, Parameter
from smp.domain.ids import FilePath
from smp.domain.source import (
    NOTHING,
    Class,
    ClassFlag,
    Exports,
    Extension,
    Function,
    FunctionFlag,
    ImportDecl,
    Op,
    Param,
)
from smp.languages.blocks import MAX_BYTES
from smp.languages.declared import Definition, Survey, documentation, line_of, one_line, text_of
from smp.languages.go.expressions import unwrapped
from smp.languages.go.statements import StatementWalk, specs
from smp.languages.go.types import CALL_MEMBER, base_name

_TESTS = re.compile(r"(Test|Benchmark|Fuzz|Example)($|[^a-z])")
_VERSION = re.compile(r"v[0-9]+$")
_DECISIONS = frozenset(
    {"if_statement", "for_statement", "expression_case", "type_case", "communication_case", "&&", "||"}
)
_COMMENTS = frozenset({"comment"})
_GATHERED = {"selector_expression": "operand", "qualified_type": "package"}
_BODIES = frozenset({"struct_type", "interface_type"})


class FileWalk(StatementWalk):
    """One file."""

    def __init__(self, path: FilePath, root: tree_sitter.Node) -> None:
        super().__init__(path, "go")
        self.root = root
        self.survey = Survey(root, _DECISIONS, _COMMENTS, _GATHERED)
        self.imports: dict[str, int] = {}
        self.places: dict[int, int] = {}
        self.module_variables: dict[str, int] = {}
        self.module_stores: list[tuple[int, int]] = []
        self.documented: list[int] = []
        self.offered: dict[str, int] = {}
        self.types: list[tuple[tree_sitter.Node, int, int]] = []
        self.functions: list[tuple[tree_sitter.Node, int, int]] = []
        self.variables: list[tree_sitter.Node] = []
        self.extended: dict[str, list[tuple[str, int]]] = {}
        self.order: list[str] = []

    def walk(self, size: int) -> None:
        """Everything."""
        children = [child for child in self.root.named_children if child.type != "comment"]
        for child in children:
            if child.type == "import_declaration":
                self._import(child)
        self._name_leftovers()
        for child in children:
            self._outline(child)
        for node, index, slot in self.types:
            self._fill_type(node, index, slot)
        extensions = {name: self._extend(name) for name in self.order}
        for spec in self.variables:
            self._promise(spec)
        if size <= MAX_BYTES:
            self._run(extensions)
        else:
            self._declare_only(extensions)
        for variable, value in self.module_stores:
            self.b.op(Op.STORE, variable, value)
        self.finish_frame(self.frame)
        stars = tuple(n for n, declared in enumerate(self.b.imports) if declared.name == "*")
        self.b.exports = Exports(names=tuple(self.offered.items()), stars=stars)

    def _run(self, extensions: dict[str, int]) -> None:
        for spec in self.variables:
            self._initialise(spec)
        for node, index, slot in self.functions:
            test = index in self.b.tests
            receiver = node.child_by_field_name("receiver")
            if receiver is None:
                self.run_body(node, slot, index, FunctionFlag.TEST if test else FunctionFlag.NONE, 0)
            else:
                flags = FunctionFlag.METHOD | FunctionFlag.RECEIVER_PARAM
                extension = extensions.get(_receiver_type(receiver), NOTHING)  # a receiver may be empty while one types
                self.run_body(node, slot, index, flags, 0, extension=extension)

    def _declare_only(self, extensions: dict[str, int]) -> None:
        """Rows without bodies, for files that are too large."""
        for node, index, slot in self.functions:
            receiver, name = node.child_by_field_name("receiver"), node.child_by_field_name("name")
            extension = extensions.get(_receiver_type(receiver), NOTHING) if receiver is not None else NOTHING
            flags = FunctionFlag.METHOD if receiver is not None else FunctionFlag.NONE
            self.b.functions[slot] = Function(
                text_of(name) if name is not None else "", index, 0, flags=int(flags), extension=extension
            )

    # Imports ---------------------------------------------------------------------------------------------------------

    def _import(self, node: tree_sitter.Node) -> None:
        listed = [c for c in node.named_children if c.type == "import_spec_list"]
        entries = [c for part in listed for c in part.named_children] if listed else node.named_children
        for spec in entries:
            path, name = spec.child_by_field_name("path"), spec.child_by_field_name("name")
            if spec.type != "import_spec" or path is None:
                continue
            module = text_of(path).strip('"`')
            alias = text_of(name) if name is not None else ""
            bound = alias if alias not in ("", ".", "_") else "" if alias else _guesses(module)[0]
            index = len(self.b.imports)
            self.b.imports.append(ImportDecl(module, "*" if alias == "." else "", line_of(spec), 0, bound=bound))
            self.b.shared(Op.IMPORT, index)
            if bound:
                self.imports[bound] = index
            if bound and not alias:
                for guess in _guesses(module)[1:]:
                    self.imports.setdefault(guess, index)

    def _name_leftovers(self) -> None:
        """An import whose names nobody uses goes by one that nothing else explains: an unused import does not compile."""
        used = self.survey.gathered
        idle = [
            index
            for index, declared in enumerate(self.b.imports)
            if declared.bound and not any(i == index and name in used for name, i in self.imports.items())
        ]
        for index in idle:
            module = self.b.imports[index].module
            fitting = sorted(n for n in used - self.imports.keys() if len(n) > 1 and n.lower() in module.lower())
            if fitting:
                self.imports[max(fitting, key=len)] = index

    # Definitions -----------------------------------------------------------------------------------------------------

    def _outline(self, node: tree_sitter.Node) -> None:
        if node.type in ("function_declaration", "method_declaration"):
            self._outline_function(node)
        elif node.type == "type_declaration":
            for spec in specs(node):
                self._outline_type(spec, node, 0)
        elif node.type in ("var_declaration", "const_declaration"):
            for spec in specs(node):
                self._outline_variables(spec, node)
        elif node.type == "ERROR":
            for child in node.named_children:
                self._outline(child)

    def _outline_function(self, node: tree_sitter.Node) -> None:
        name_node, receiver = node.child_by_field_name("name"), node.child_by_field_name("receiver")
        if name_node is None:
            return
        name = text_of(name_node)
        owner_type = _receiver_type(receiver) if receiver is not None else ""
        test = (
            receiver is None
            and self.path.endswith("_test.go")
            and _TESTS.match(name) is not None
            and name != "TestMain"
        )
        parent = self._type_index(owner_type) if owner_type else 0
        doc, offsets = documentation(node, _is_documentation)
        self.documented += offsets
        body = node.child_by_field_name("body")
        parameters = _parameters(node)
        result = node.child_by_field_name("result")
        index = self.definitions.define(
            Definition(
                kind=NodeKind.TEST if test else NodeKind.FUNCTION,
                name=name,
                span=node,
                first=node,
                parent=parent,
                signature=one_line(_before(node, body)),
                parameters=parameters,
                returns=one_line(text_of(result)) if result is not None else None,
                exported=name[:1].isupper() and not test,
                docstring=doc,
                runs=True,
            ),
            prefix=owner_type,
        )
        slot = self.b.function_slot()
        made = self.b.shared(Op.FUNC, slot)
        self.functions.append((node, index, slot))
        if test:
            self.b.tests.append(index)
        if owner_type:
            if owner_type not in self.extended:
                self.order.append(owner_type)
            self.extended.setdefault(owner_type, []).append((name, made))
        elif name not in ("init", "_"):
            self.scopes[0].setdefault(name, made)
            self.offered.setdefault(name, made)

    def _type_index(self, name: str) -> int:
        """The definition of a type of this file; 0 for one of another file."""
        known = self.scopes[0].get(name)
        return (
            next((index for node, index, slot in self.types if known == self._class(slot)), 0)
            if known is not None
            else 0
        )

    def _class(self, slot: int) -> int:
        return self.b.shared(Op.CLASS, slot) if slot != NOTHING else NOTHING

    def _outline_type(self, spec: tree_sitter.Node, declaration: tree_sitter.Node, parent: int) -> None:
        name_node, type_node = spec.child_by_field_name("name"), spec.child_by_field_name("type")
        if name_node is None or type_node is None:
            return
        name = text_of(name_node)
        span = declaration if sum(1 for _ in specs(declaration)) == 1 else spec
        interface = type_node.type == "interface_type"
        doc, offsets = documentation(span, _is_documentation)
        self.documented += offsets
        head = "type " + one_line(_before(spec, type_node if type_node.type in _BODIES else None))
        index = self.definitions.define(
            Definition(
                kind=NodeKind.INTERFACE if interface else NodeKind.CLASS,
                name=name,
                span=span,
                first=span,
                parent=parent,
                signature=head + (f" {type_node.type.removesuffix('_type')}" if type_node.type in _BODIES else ""),
                exported=name[:1].isupper() and not parent,
                docstring=doc,
            )
        )
        slot = NOTHING
        if spec.type != "type_alias":
            slot = self.b.class_slot()
            self.bind(name, self._class(slot))
            if not parent:
                self.offered.setdefault(name, self._class(slot))
        self.types.append((spec, index, slot))
        for method in type_node.named_children if interface else ():
            if method.type == "method_elem":
                self._outline_signature(method, index)
        if slot == NOTHING:
            variable = self.b.variable(name, definition=index, module=not parent)
            self.bind(name, self.b.shared(Op.VAR, variable))
            if not parent:
                self.offered.setdefault(name, self.b.shared(Op.VAR, variable))

    def _outline_signature(self, node: tree_sitter.Node, parent: int) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            return
        doc, offsets = documentation(node, _is_documentation)
        self.documented += offsets
        result = node.child_by_field_name("result")
        self.places[node.start_byte] = self.definitions.define(
            Definition(
                kind=NodeKind.FUNCTION,
                name=text_of(name),
                span=node,
                first=node,
                parent=parent,
                signature=one_line(text_of(node)),
                parameters=_parameters(node),
                returns=one_line(text_of(result)) if result is not None else None,
                exported=text_of(name)[:1].isupper(),
                modifiers=("abstract",),
                docstring=doc,
            )
        )

    def _outline_variables(self, spec: tree_sitter.Node, declaration: tree_sitter.Node) -> None:
        span = declaration if sum(1 for _ in specs(declaration)) == 1 else spec
        doc, offsets = documentation(span, _is_documentation)
        self.documented += offsets
        value = spec.child_by_field_name("value")
        values = [c for c in value.named_children if c.type != "comment"] if value is not None else []
        constant = spec.type == "const_spec"
        type_node = spec.child_by_field_name("type")
        for position, name_node in enumerate(spec.children_by_field_name("name")):
            name = text_of(name_node)
            if name_node.type != "identifier" or name == "_":
                continue
            own = values[position] if position < len(values) else None
            function = own if own is not None and own.type == "func_literal" else None
            shown = f"{name} {one_line(text_of(type_node))}" if type_node is not None else name
            index = self.definitions.define(
                Definition(
                    kind=NodeKind.FUNCTION if function is not None else NodeKind.VARIABLE,
                    name=name,
                    span=span,
                    first=span,
                    signature=("const " if constant else "var ") + shown,
                    parameters=_parameters(function) if function is not None else (),
                    exported=name[:1].isupper(),
                    modifiers=("const",) if constant else (),
                    docstring=doc,
                    runs=function is not None,
                )
            )
            if function is not None:
                self.places[function.start_byte] = index
            elif own is not None:
                self._outline_fields(own, index)
            variable = self.b.variable(name, definition=index, module=True)
            self.module_variables[name] = variable
            self.scopes[0].setdefault(name, self.b.shared(Op.VAR, variable))
            self.offered.setdefault(name, self.b.shared(Op.VAR, variable))
        self.variables.append(spec)

    def _outline_fields(self, value: tree_sitter.Node, parent: int) -> None:
        """Function literals that fields of a variable's literal are set to go by the names of both."""
        if value.type == "unary_expression":
            inner = value.child_by_field_name("operand")
            value = inner if inner is not None else value
        body = value.child_by_field_name("body") if value.type == "composite_literal" else None
        for entry in body.named_children if body is not None else ():
            key, given = entry.child_by_field_name("key"), entry.child_by_field_name("value")
            literal = given.named_children[0] if given is not None and given.named_children else None
            if key is None or literal is None or literal.type != "func_literal":
                continue
            name = one_line(text_of(key)).strip('"`')
            self.places[literal.start_byte] = self.definitions.define(
                Definition(
                    kind=NodeKind.FUNCTION,
                    name=name,
                    span=entry,
                    first=entry,
                    parent=parent,
                    signature=f"{name}: {one_line(_before(literal, literal.child_by_field_name('body')))}",
                    parameters=_parameters(literal),
                    runs=True,
                )
            )

    # Types -----------------------------------------------------------------------------------------------------------

    def local_types(self, node: tree_sitter.Node) -> None:
        known = len(self.types)
        for spec in specs(node):
            self._outline_type(spec, node, self.frame.owner)
        for spec, index, slot in self.types[known:]:
            self._fill_type(spec, index, slot)
        del self.types[known:]

    def _fill_type(self, spec: tree_sitter.Node, index: int, slot: int) -> None:
        name_node, node = spec.child_by_field_name("name"), spec.child_by_field_name("type")
        assert name_node is not None
        assert node is not None
        name, owner = text_of(name_node), self.frame.owner
        before, self.frame.owner = owner, index
        self.enter()
        parameters = self._bind_parameters(spec)
        if slot == NOTHING:
            type_op = self.type_of(node)
            variable = self.find(name)
            if type_op != NOTHING and isinstance(variable, int):
                self.b.op(Op.STORE, self.b.ops[variable][1], self.b.op(Op.ALIAS_TYPE, type_op))
        else:
            made = self._type_body(node, name, index, slot, before)
            self.b.classes[slot] = Class(
                name=made.name,
                definition=made.definition,
                owner=made.owner,
                bases=made.bases,
                base_lines=made.base_lines,
                members=made.members,
                annotations=made.annotations,
                flags=made.flags,
                type_params=parameters,
            )
        self.leave()
        self.frame.owner = before

    def _bind_parameters(self, spec: tree_sitter.Node) -> tuple[str, ...]:
        """Type parameters go by their position, for each method names them as it likes."""
        listed = spec.child_by_field_name("type_parameters")
        entries = listed.named_children if listed is not None else []
        named = [(name, child) for child in entries for name in child.children_by_field_name("name")]
        names = [name for name, _ in named]
        for position, name in enumerate(names):
            self.bind(text_of(name), self.unbound(f"'{position}"))
        for position, (name, child) in enumerate(named):
            bound = self.type_of(child.child_by_field_name("type"))
            if bound != NOTHING:  # what is given for it, and in any case what its bound says
                self.bind(text_of(name), self.b.op(Op.UNION, self.unbound(f"'{position}"), bound))
        return tuple(f"'{position}" for position in range(len(names)))

    def _type_body(self, node: tree_sitter.Node, name: str, index: int, slot: int, owner: int) -> Class:
        if node.type == "struct_type":
            fields, bases, lines = self.fields(node)
            return Class(name, index, owner, bases=bases, base_lines=lines, annotations=fields)
        if node.type == "interface_type":
            bases, lines = self.embedded(node)
            members = tuple(self.signatures(node, slot, index, self.places))
            flags = int(ClassFlag.INTERFACE)
            return Class(name, index, owner, bases=bases, base_lines=lines, members=members, flags=flags)
        if node.type == "function_type":
            return Class(name, index, owner, members=((CALL_MEMBER, self.signature(node, slot, NOTHING, "")),))
        element = {"map_type": "value", "channel_type": "value"}.get(node.type, "element")
        inner = (
            self.type_of(node.child_by_field_name(element)) if node.type.endswith(("map_type", "_type")) else NOTHING
        )
        if inner == NOTHING:
            self.type_of(node)
            return Class(name, index, owner)
        reads = ["__getitem__"] if node.type == "map_type" else ["__getitem__", "__next__"]
        return Class(name, index, owner, members=tuple((read, self._reader(read, inner, slot)) for read in reads))

    def _reader(self, name: str, element: int, cls: int) -> int:
        """What subscripting or a loop gives of a type that is a list, map or channel."""
        slot = self.b.function_slot()
        flags = int(FunctionFlag.METHOD)
        self.b.functions[slot] = Function(name, NOTHING, self.frame.owner, cls=cls, flags=flags, annotation=element)
        return self.b.shared(Op.FUNC, slot)

    # Methods and promises ----------------------------------------------------------------------------------------------

    def _extend(self, name: str) -> int:
        """The extension of a type by the methods of this file."""
        self.b.extensions.append(Extension(cls=self.load(name), members=tuple(self.extended[name])))
        return len(self.b.extensions) - 1

    def _promise(self, spec: tree_sitter.Node) -> None:
        """`var _ I = (*T)(nil)` says that T implements I."""
        names = spec.children_by_field_name("name")
        type_node, value = spec.child_by_field_name("type"), spec.child_by_field_name("value")
        if type_node is None or value is None or [text_of(name) for name in names] != ["_"] or not value.named_children:
            return
        made = _made_type(value.named_children[0])
        if made is None:
            return
        cls, interface = self.type_of(made), self.type_of(type_node)
        if cls != NOTHING and interface != NOTHING:
            self.b.extensions.append(Extension(cls=cls, implements=(interface,), lines=(line_of(spec),)))

    def receiver(self, node: tree_sitter.Node | None, slot: int) -> list[Param]:
        if node is None:
            return []
        declaration = next((c for c in node.named_children if c.type == "parameter_declaration"), None)
        type_node = declaration.child_by_field_name("type") if declaration is not None else None
        if declaration is None or type_node is None:
            return []
        for position, argument in enumerate(_receiver_arguments(type_node)):
            self.bind(argument, self.unbound(f"'{position}"))
        name = declaration.child_by_field_name("name")
        self.frame.receiver = self.b.shared(Op.RECEIVER, slot)
        if name is not None and text_of(name) != "_":
            self.declare(text_of(name), self.frame.receiver)
        return [Param(text_of(name) if name is not None else "_")]

    # Variables -------------------------------------------------------------------------------------------------------

    def _initialise(self, spec: tree_sitter.Node) -> None:
        type_op = self.type_of(spec.child_by_field_name("type"))
        names = spec.children_by_field_name("name")
        names = [n for n in names if n.type in ("identifier", "blank_identifier")]
        values = self.spread(self.listed(spec.child_by_field_name("value")), len(names)) or [NOTHING] * len(names)
        for name, value in zip(names, values, strict=False):
            held = self.declared(value, type_op)
            variable = self.module_variables.get(text_of(name))
            if variable is not None and held != NOTHING:
                self.module_stores.append((variable, held))


def _guesses(module: str) -> list[str]:
    """Names by which a package may go, likeliest first: conventions of the last parts of its path."""
    parts = module.split("/")
    last = parts[-1]
    if _VERSION.match(last) and len(parts) > 1:
        last = parts[-2]
    last = re.sub(r"\.v[0-9]+$", "", last)
    plain = last.removeprefix("go-").removesuffix("-go").removesuffix(".go")
    return list(dict.fromkeys([last.replace("-", "_"), plain, plain.rpartition("-")[2], last.replace("-", "")]))


def _receiver_type(node: tree_sitter.Node) -> str:
    """Name of the type in a method's receiver."""
    declaration = next((c for c in node.named_children if c.type == "parameter_declaration"), None)
    type_node = declaration.child_by_field_name("type") if declaration is not None else None
    while type_node is not None and type_node.type == "parenthesized_type":
        type_node = type_node.named_children[0]
    return base_name(type_node) if type_node is not None else ""


def _receiver_arguments(node: tree_sitter.Node) -> list[str]:
    while node.type in ("pointer_type", "parenthesized_type") and node.named_children:
        node = node.named_children[0]
    arguments = node.child_by_field_name("type_arguments") if node.type == "generic_type" else None
    return [text_of(child) for child in (arguments.named_children if arguments is not None else ())]


def _made_type(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The type of the value that a promise is made with."""
    if node.type == "unary_expression":
        operand = node.child_by_field_name("operand")
        return _made_type(operand) if operand is not None else None
    if node.type == "composite_literal":
        return node.child_by_field_name("type")
    if node.type == "call_expression":
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is not None and text_of(function) == "new" and arguments is not None and arguments.named_children:
            return arguments.named_children[0]
        inner = unwrapped(function) if function is not None else None
        if inner is not None and inner.type == "unary_expression" and text_of(arguments or inner) == "(nil)":
            return inner.child_by_field_name("operand")
    return None


def _parameters(node: tree_sitter.Node) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    for field in ("receiver", "parameters"):
        listed = node.child_by_field_name(field)
        for child in listed.named_children if listed is not None else ():
            type_node = child.child_by_field_name("type")
            variadic = child.type == "variadic_parameter_declaration"
            if type_node is None or not child.type.endswith("parameter_declaration"):
                continue
            names = [text_of(n) for n in child.children_by_field_name("name")] or ["_"]
            found += [
                Parameter(
                    name=name,
                    kind="var_positional" if variadic else "positional_only",
                    annotation=one_line(text_of(type_node)),
                    required=not variadic,
                    receiver=field == "receiver",
                )
                for name in names
            ]
    return tuple(found)


def _before(node: tree_sitter.Node, body: tree_sitter.Node | None) -> str:
    """The text of a node up to its body."""
    raw = node.text or b""
    return (
        raw[: body.start_byte - node.start_byte if body is not None else len(raw)]
        .decode("utf-8", errors="replace")
        .strip()
    )


def _is_documentation(text: str) -> bool:
    return not text.startswith(("//go:", "// +build", "//nolint"))
