"""Write `smp/client/methods/`: a typed method, blocking and awaited, for each method of the protocol, from the server's structs.

    python infra/client_methods.py [--check]

With `--check` nothing is written and the exit code is 1 when a file is not what the code says.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
import types
import typing
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from smp.rpc.method import RpcMethod
from smp.rpc.methods import METHOD_GROUPS

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "smp" / "client" / "methods"
RUFF = Path(sys.executable).with_name("ruff")
SESSION = "session_id"


class Imports:
    """What a generated module must import."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def name(self, kind: type) -> str:
        """The name of a class, imported."""
        if kind.__module__ != "builtins":
            self._names.setdefault(kind.__module__, set()).add(kind.__name__)
        return kind.__name__

    def text(self) -> str:
        """The import statements."""
        return "\n".join(f"from {module} import {', '.join(sorted(names))}" for module, names in self._names.items())


def type_text(kind: Any, imports: Imports) -> str:
    """A type as it is written."""
    origin = typing.get_origin(kind)
    if kind is type(None) or kind is None:
        return "None"
    if origin in (typing.Union, types.UnionType):
        return " | ".join(type_text(part, imports) for part in typing.get_args(kind))
    if origin is Literal:
        imports.name(_Literal)
        return f"Literal[{', '.join(repr(value) for value in typing.get_args(kind))}]"
    if origin is not None:
        parts = ("..." if part is Ellipsis else type_text(part, imports) for part in typing.get_args(kind))
        return f"{imports.name(origin)}[{', '.join(parts)}]"
    return imports.name(kind)


class _Literal:
    """Stands for `typing.Literal`, which is no class."""


_Literal.__module__, _Literal.__name__ = "typing", "Literal"


def value_text(value: object, imports: Imports) -> str:
    """A default as it is written."""
    if value is UNSET:
        imports.name(_Unset)
        return "UNSET"
    if isinstance(value, Enum):
        return f"{imports.name(type(value))}.{value.name}"
    if isinstance(value, tuple):
        parts = [value_text(part, imports) for part in value]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    return repr(value)


class _Unset:
    """Stands for `msgspec.UNSET`, which is no class."""


_Unset.__module__, _Unset.__name__ = "msgspec", "UNSET"


def python_name(method: str) -> str:
    """`smp/session/open` → `session_open`."""
    return method.removeprefix("smp/").replace("/", "_")


class MethodText:
    """The parts of one method."""

    def __init__(self, method: RpcMethod, imports: Imports) -> None:
        self.name = python_name(method.name)
        self.constant = f"_{self.name.upper()}"
        self._method = method
        self.result = type_text(method.result, imports)
        self._params = imports.name(method.params)
        hints = typing.get_type_hints(method.params)
        self.constants: list[str] = []
        self._arguments: list[str] = []
        self._passed: list[str] = []
        for field in msgspec.structs.fields(method.params):
            shown = type_text(hints[field.name], imports)
            if field.name == SESSION:
                imports.name(UnsetType)
                self._arguments.append(f"{field.name}: str | UnsetType = {value_text(UNSET, imports)}")
                bound = "_session" if field.required else "_session_if_any"
                self._passed.append(f"{field.name}=self.{bound}({field.name})")
                continue
            default = "" if field.required else f" = {self._default(field, imports)}"
            self._arguments.append(f"{field.name}: {shown}{default}")
            self._passed.append(f"{field.name}={field.name}")

    def _default(self, field: msgspec.structs.FieldInfo, imports: Imports) -> str:
        if field.default is not msgspec.NODEFAULT and not isinstance(field.default, Struct):
            return value_text(field.default, imports)
        value = field.default if field.default is not msgspec.NODEFAULT else field.default_factory()
        if isinstance(value, tuple):
            return value_text(value, imports)
        constant = f"{self.constant}_{field.name.upper()}"
        self.constants.append(f"{constant} = {imports.name(type(value))}()")
        return constant

    def decoder(self) -> str:
        """The decoder of its result."""
        return f"{self.constant}: msgspec.json.Decoder[{self.result}] = msgspec.json.Decoder({self.result})"

    def text(self, *, awaited: bool) -> str:
        """The method."""
        head, wait = ("async def", "await ") if awaited else ("def", "")
        arguments = f"*, {', '.join(self._arguments)}" if self._arguments else ""
        call = f"self._call({self._method.name!r}, {self._params}({', '.join(self._passed)}), {self.constant})"
        doc = textwrap.indent('"""' + self._method.doc.strip() + '"""', "    ", lambda line: bool(line.strip()))
        lines = f"{head} {self.name}(self, {arguments}) -> {self.result}:\n{doc}\n    return {wait}{call}"
        return textwrap.indent(lines, "    ")


def group_text(group: ModuleType) -> str:
    """The module of a group, formatted."""
    imports = Imports()
    methods = [MethodText(method, imports) for method in group.METHODS if not (method.internal or method.planned)]
    name = group.__name__.rsplit(".", 1)[-1]
    parts = [
        f'"""Group `{name}`, written by `infra/client_methods.py` from the server\'s structs; do not edit."""',
        "from __future__ import annotations",
        "import msgspec",
        imports.text(),
        "from smp.client.caller import AsyncCaller, Caller",
        *(method.decoder() for method in methods),
        *(constant for method in methods for constant in method.constants),
    ]
    for awaited in (False, True):
        title, base = (
            f"{'Async' if awaited else ''}{name.capitalize()}Methods",
            "AsyncCaller" if awaited else "Caller",
        )
        doc = f'    """Calls of group `{name}`{", awaited" if awaited else ""}."""'
        body = "\n\n".join(method.text(awaited=awaited) for method in methods)
        parts.append(f"class {title}({base}):\n{doc}\n\n{body}")
    return formatted("\n\n".join(parts) + "\n")


def formatted(text: str) -> str:
    """As ruff would have it, imports sorted."""
    for command in (["check", "--select", "I", "--fix", "--quiet"], ["format", "--quiet"]):
        done = subprocess.run(
            [str(RUFF), *command, "--stdin-filename", str(FOLDER / "group.py"), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        text = done.stdout
    return text


def package_text() -> str:
    """`__init__.py`: all groups in one class each."""
    names = [group.__name__.rsplit(".", 1)[-1] for group in METHOD_GROUPS]
    parts = ['"""All calls of the protocol, written by `infra/client_methods.py`; do not edit."""']
    parts.append("from __future__ import annotations")
    for name in names:
        title = name.capitalize()
        parts.append(f"from smp.client.methods.{name} import Async{title}Methods, {title}Methods")
    for awaited, doc in ((False, "Every method of the protocol."), (True, "Every method of the protocol, awaited.")):
        kind = "Async" if awaited else ""
        bases = ", ".join(f"{kind}{name.capitalize()}Methods" for name in names)
        parts.append(f'class {kind}Methods({bases}):\n    """{doc}"""')
    return formatted("\n".join(parts) + "\n")


def main() -> int:
    """Write or check the package."""
    texts = {f"{group.__name__.rsplit('.', 1)[-1]}.py": group_text(group) for group in METHOD_GROUPS}
    texts["__init__.py"] = package_text()
    if "--check" in sys.argv[1:]:
        present = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.py")}
        return 0 if present == texts else 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.py"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
