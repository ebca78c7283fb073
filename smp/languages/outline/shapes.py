"""What the reader must know of each language: which syntax defines something, and where its name stands."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from smp.domain.graph import NodeKind

_C, _I, _F, _V = NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.FUNCTION, NodeKind.VARIABLE


class Form(Struct, frozen=True):
    """One kind of definition.

    Attributes:
        kind: What it becomes.
        path: Steps from the node to its name, each a field or a type of child; nothing: `fixed` is the name.
        fixed: Name of definitions that have none (`init`).
        needs: Type that a descendant two levels down must have (a function that is assigned), else it is no definition.
        only: Pattern of the names that count, as the first letters allowed; empty: all.
    """

    kind: NodeKind
    path: tuple[str, ...] = ("name",)
    fixed: str = ""
    needs: str = ""
    only: str = ""


class Shape(Struct, frozen=True):
    """One language.

    Attributes:
        name: As on nodes. package, function: the grammar's module and the function that gives it.
        forms: Node type → what it defines.
        scopes: Node type → path to a name that qualifies what is inside, without being a node (namespaces, packages).
        bodies: Fields and child types at which a head ends.
    """

    name: str
    package: str
    suffixes: tuple[str, ...]
    forms: Mapping[str, Form]
    function: str = "language"
    scopes: Mapping[str, tuple[str, ...]] = {}
    bodies: tuple[str, ...] = ("body",)


RUBY = Shape(
    name="ruby",
    package="tree_sitter_ruby",
    suffixes=(".rb", ".rake", ".gemspec"),
    forms={
        "class": Form(_C), "module": Form(_C), "method": Form(_F), "singleton_method": Form(_F),
        "assignment": Form(_V, ("left",), only="ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    },
)  # fmt: skip
PHP = Shape(
    name="php",
    package="tree_sitter_php",
    function="language_php",
    suffixes=(".php", ".phtml"),
    forms={
        "class_declaration": Form(_C), "trait_declaration": Form(_C), "enum_declaration": Form(_C),
        "interface_declaration": Form(_I), "method_declaration": Form(_F), "function_definition": Form(_F),
        "const_element": Form(_V, ("name",)), "property_element": Form(_V, ("name",)),
    },
)  # fmt: skip
KOTLIN = Shape(
    name="kotlin",
    package="tree_sitter_kotlin",
    suffixes=(".kt", ".kts"),
    forms={
        "class_declaration": Form(_C), "object_declaration": Form(_C), "function_declaration": Form(_F),
        "secondary_constructor": Form(_F, (), "constructor"),
        "property_declaration": Form(_V, ("variable_declaration", "identifier")), "type_alias": Form(_I, ("type",)),
    },
    bodies=("class_body", "enum_class_body", "function_body"),
)  # fmt: skip
SWIFT = Shape(
    name="swift",
    package="tree_sitter_swift",
    suffixes=(".swift",),
    forms={
        "class_declaration": Form(_C), "protocol_declaration": Form(_I), "function_declaration": Form(_F),
        "protocol_function_declaration": Form(_F), "init_declaration": Form(_F, (), "init"),
        "deinit_declaration": Form(_F, (), "deinit"), "property_declaration": Form(_V), "typealias_declaration": Form(_I),
    },
)  # fmt: skip
SCALA = Shape(
    name="scala",
    package="tree_sitter_scala",
    suffixes=(".scala", ".sc"),
    forms={
        "class_definition": Form(_C), "object_definition": Form(_C), "trait_definition": Form(_I), "enum_definition": Form(_C),
        "function_definition": Form(_F), "function_declaration": Form(_F), "val_definition": Form(_V, ("pattern",)),
        "var_definition": Form(_V, ("pattern",)), "type_definition": Form(_I),
    },
)  # fmt: skip
BASH = Shape(
    name="bash",
    package="tree_sitter_bash",
    suffixes=(".sh", ".bash", ".bats"),
    forms={"function_definition": Form(_F), "variable_assignment": Form(_V)},
)
LUA = Shape(
    name="lua",
    package="tree_sitter_lua",
    suffixes=(".lua",),
    forms={
        "function_declaration": Form(_F),
        "assignment_statement": Form(_F, ("variable_list", "name"), needs="function_definition"),
        "variable_declaration": Form(_V, ("assignment_statement", "variable_list", "name")),
    },
)  # fmt: skip
