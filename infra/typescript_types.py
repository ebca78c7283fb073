"""Write `clients/typescript/src/protocol.ts`: types of every method's parameters and result, from the server's structs.

    python infra/typescript_types.py [--check]

With `--check` nothing is written and the exit code is 1 when the file is not what the code says.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec import inspect as shapes

from smp.domain.notifications import Notification
from smp.rpc.access import READING
from smp.rpc.method import RpcMethod
from smp.rpc.methods import METHOD_GROUPS

PAGE = Path(__file__).resolve().parent.parent / "clients" / "typescript" / "src" / "protocol.ts"
HEAD = "// Written by infra/typescript_types.py from the server's structs; do not edit.\n"
SIMPLE: dict[type[shapes.Type], str] = {
    shapes.AnyType: "unknown",
    shapes.NoneType: "null",
    shapes.BoolType: "boolean",
    shapes.IntType: "number",
    shapes.FloatType: "number",
    shapes.StrType: "string",
}


class Names:
    """A name for each struct: its class's, led by the module's where two are called alike."""

    def __init__(self, structs: Iterable[type[Struct]]) -> None:
        found = sorted(set(structs), key=lambda kind: (kind.__name__, kind.__module__))
        alike: dict[str, int] = {}
        for kind in found:
            alike[kind.__name__] = alike.get(kind.__name__, 0) + 1
        self.of = {kind: kind.__name__ if alike[kind.__name__] == 1 else _led(kind) for kind in found}


def _led(kind: type[Struct]) -> str:
    module = kind.__module__.rsplit(".", 1)[-1]
    return "".join(part.capitalize() for part in module.split("_")) + kind.__name__


def structs_below(kind: shapes.Type, seen: dict[type[Struct], shapes.StructType]) -> None:
    """Collect all structs that a type is made of."""
    if isinstance(kind, shapes.StructType):
        if kind.cls in seen:
            return
        seen[kind.cls] = kind
    for child in _children(kind):
        structs_below(child, seen)


def _children(kind: shapes.Type) -> Iterator[shapes.Type]:
    if isinstance(kind, shapes.StructType):
        yield from (part.type for part in kind.fields)
    elif isinstance(kind, shapes.UnionType):
        yield from kind.types
    elif isinstance(kind, shapes.DictType):
        yield from (kind.key_type, kind.value_type)
    elif isinstance(kind, shapes.CollectionType):
        yield kind.item_type
    elif isinstance(kind, shapes.TupleType):
        yield from kind.item_types
    elif isinstance(kind, shapes.Metadata):
        yield kind.type


def type_text(kind: shapes.Type, names: Names) -> str:
    """A type in TypeScript.

    Raises:
        TypeError: A kind of type that no protocol struct had so far.
    """
    if type(kind) in SIMPLE:
        return SIMPLE[type(kind)]
    if isinstance(kind, shapes.Metadata):
        return type_text(kind.type, names)
    if isinstance(kind, shapes.StructType):
        return names.of[kind.cls]
    if isinstance(kind, shapes.EnumType):
        return " | ".join(json.dumps(member.value) for member in kind.cls)
    if isinstance(kind, shapes.LiteralType):
        return " | ".join(json.dumps(value) for value in kind.values)
    if isinstance(kind, shapes.UnionType):
        return " | ".join(type_text(part, names) for part in kind.types)
    if isinstance(kind, shapes.DictType):
        return f"Record<string, {type_text(kind.value_type, names)}>"
    if isinstance(kind, shapes.CollectionType):
        return f"readonly ({type_text(kind.item_type, names)})[]"
    if isinstance(kind, shapes.TupleType):
        return f"readonly [{', '.join(type_text(part, names) for part in kind.item_types)}]"
    raise TypeError(f"no TypeScript for {kind}")


def doc_text(text: str, indent: str = "") -> str:
    """A documentation comment."""
    lines = [line.rstrip() for line in inspect.cleandoc(text).replace("*/", "* /").splitlines()]
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    body = "\n".join(f"{indent} * {line}".rstrip() for line in lines)
    return f"{indent}/**\n{body}\n{indent} */\n"


def struct_text(kind: shapes.StructType, names: Names, *, optional_defaults: bool) -> str:
    """An interface.

    Args:
        optional_defaults: Parameters: what has a default may be left out. In a result only what can be unset is missing.
    """
    lines = []
    if kind.tag_field is not None:
        lines.append(f"  readonly {kind.tag_field}: {json.dumps(kind.tag)};")
    for part in kind.fields:
        optional = _can_be_unset(part) or (optional_defaults and not part.required)
        name = part.encode_name if re.fullmatch(r"[A-Za-z_]\w*", part.encode_name) else json.dumps(part.encode_name)
        lines.append(f"  readonly {name}{'?' if optional else ''}: {type_text(part.type, names)};")
    doc = kind.cls.__doc__ or ""
    shown = doc_text(doc) if doc and not doc.startswith(f"{kind.cls.__name__}(") else ""
    return f"{shown}export interface {names.of[kind.cls]} {{\n" + "\n".join(lines) + "\n}\n"


def _can_be_unset(part: shapes.Field) -> bool:
    """msgspec shows a field that may be UNSET as one that is not required and has no default."""
    return not part.required and part.default is msgspec.NODEFAULT and part.default_factory is msgspec.NODEFAULT


def camel(method: str) -> str:
    """`smp/session/open` → `sessionOpen`."""
    first, *rest = re.split(r"[/_]", method.removeprefix("smp/"))
    return first + "".join(part.capitalize() for part in rest)


def methods_text(methods: list[RpcMethod], names: Names) -> str:
    """The table of methods, and a class with one method each."""
    table, calls = [], []
    for method in methods:
        params, result = (type_text(shapes.type_info(kind), names) for kind in (method.params, method.result))
        table.append(f"  {json.dumps(method.name)}: {{ params: {params}; result: {result} }};")
        shape = msgspec.structs.fields(method.params)
        bare = {field.name for field in shape if field.required} <= {"session_id"}
        owned_by_session = any(field.name == "session_id" and field.required for field in shape)
        taken = f"Without<{params}, K>" if owned_by_session else params
        sent = f"params as {params}" if owned_by_session else "params"
        default = " = {}" if bare and not owned_by_session else ""
        calls.append(
            doc_text(method.doc, "  ")
            + f"  {camel(method.name)}(params: {taken}{default}): Promise<{result}> {{\n"
            + f"    return this.call({json.dumps(method.name)}, {sent});\n  }}\n"
        )
    owned = "".join(
        f"  {json.dumps(method.name)},\n" for method in methods if "session_id" in method.params.__struct_fields__
    )
    reading = "".join(f"  {json.dumps(name)},\n" for name in sorted(READING))
    return (
        "/** Parameters and result of each method. */\nexport interface Methods {\n" + "\n".join(table) + "\n}\n\n"
        "/** Methods that change nothing, and may be sent again when a connection breaks. */\n"
        "export const READING: ReadonlySet<string> = new Set<string>([\n" + reading + "]);\n\n"
        "/** Methods that take the id of a session. */\n"
        "export const OF_A_SESSION: ReadonlySet<string> = new Set<string>([\n" + owned + "]);\n\n"
        "type Without<P, K extends PropertyKey> = Omit<P, K> & Partial<Pick<P, K & keyof P>>;\n\n"
        "/** One method a method of the protocol. K: parameters that every call is given anyway. */\n"
        "export abstract class Calls<K extends PropertyKey = never> {\n"
        '  abstract call<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Promise<Methods[M]["result"]>;\n\n'
        + "\n".join(calls)
        + "}\n"
    )


def page_text() -> str:
    """The whole module."""
    methods = [
        m
        for group in METHOD_GROUPS
        for m in cast("tuple[RpcMethod, ...]", group.METHODS)
        if not (m.internal or m.planned)
    ]
    params: dict[type[Struct], shapes.StructType] = {}
    results: dict[type[Struct], shapes.StructType] = {}
    for method in methods:
        structs_below(shapes.type_info(method.params), params)
        structs_below(shapes.type_info(method.result), results)
    structs_below(shapes.type_info(cast("Any", Notification)), results)
    names = Names([*params, *results])
    parts = [HEAD]
    parts += [struct_text(shape, names, optional_defaults=True) for shape in params.values()]
    parts += [
        struct_text(shape, names, optional_defaults=False) for kind, shape in results.items() if kind not in params
    ]
    bodies = type_text(shapes.type_info(cast("Any", Notification)), names)
    parts.append(
        f"/** What the server tells on its own; told apart by `type`. */\nexport type Notification = {bodies};\n"
    )
    parts.append(methods_text(methods, names))
    return "\n".join(parts)


def main() -> int:
    """Write or check the module."""
    text = page_text()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text("utf-8") == text else 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
