"""Edits of a source tree as people and tools make them, drawn from a seed.

An edit is what it writes: new bytes by path, None for a file that goes. It is drawn from the present tree, which is
text by path, so that the same tree and seed give the same edit, and a failing one can be written down.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

Tree = dict[str, bytes]
"""Content by path."""


class Edit(Struct, frozen=True, kw_only=True):
    """kind: how it was made, for messages. writes: new content; None deletes."""

    kind: str
    writes: dict[str, bytes | None]


class Dialect(Struct, frozen=True, kw_only=True):
    """How a language writes what the edits need.

    Attributes:
        suffixes: Of its files.
        function, klass, method: Patterns whose group 1 is the name, group `rest` of a class its bases.
    """

    suffixes: tuple[str, ...]
    function: re.Pattern[str]
    klass: re.Pattern[str]
    method: re.Pattern[str]


PYTHON = Dialect(
    suffixes=(".py",),
    function=re.compile(r"(?m)^def (\w+)\("),
    klass=re.compile(r"(?m)^class (\w+)(?:\((?P<rest>[^()\n]*)\))?:"),
    method=re.compile(r"(?m)^    def (\w+)\(self"),
)
TYPESCRIPT = Dialect(
    suffixes=(".ts", ".tsx"),
    function=re.compile(r"(?m)^export function (\w+)[(<]"),
    klass=re.compile(r"(?m)^export (?:abstract )?class (\w+)(?:<[^{\n]*>)?(?P<rest> extends [\w.]+)?"),
    method=re.compile(r"(?m)^  (?:protected |private |static )?(\w+)\([^)\n]*\)[^;\n]*\{$"),
)


class Editor:
    """Draws edits of one tree.

    Args:
        tree: Source files by path; kept in step by `draw`.
    """

    def __init__(self, tree: Mapping[str, bytes], rng: random.Random) -> None:
        self.tree: Tree = dict(tree)
        self._rng = rng
        self._gone: Tree = {}
        self._whole: Tree = {}
        """Content of files from before they were broken."""
        self._serial = 0
        self._kinds: tuple[Callable[[], Edit | None], ...] = (
            self._rename_file, self._move_file, self._delete_file, self._create_again, self._copy_file, self._case_only,
            self._swap_files, self._move_folder, self._change_base, self._new_override, self._new_function,
            self._call_more, self._rename_definition, self._drop_definition, self._new_export, self._name_list,
            self._star_import, self._break, self._mend, self._line_ends, self._encoding, self._several,
        )  # fmt: skip

    def draw(self) -> Edit:
        """The next edit, already made in `tree`."""
        while True:
            edit = self._rng.choice(self._kinds)()
            if edit is not None and any(self.tree.get(path) != body for path, body in edit.writes.items()):
                self.make(edit)
                return edit

    def make(self, edit: Edit) -> None:
        """Follow an edit that was made by other means."""
        for path, body in edit.writes.items():
            if body is None:
                self._gone[path] = self.tree.pop(path, b"")
            else:
                self.tree[path] = body

    # which file, and its text

    def _path(self, *, python_only: bool = False) -> str:
        suffixes = PYTHON.suffixes if python_only else (*PYTHON.suffixes, *TYPESCRIPT.suffixes)
        return self._rng.choice(sorted(path for path in self.tree if path.endswith(suffixes)))

    def _text(self, path: str) -> str:
        return self.tree[path].decode("utf-8", "surrogateescape").replace("\r\n", "\n")

    def _written(self, kind: str, path: str, text: str) -> Edit:
        return Edit(kind=kind, writes={path: text.encode("utf-8", "surrogateescape")})

    @staticmethod
    def _dialect(path: str) -> Dialect:
        return PYTHON if path.endswith(PYTHON.suffixes) else TYPESCRIPT

    def _fresh(self, stem: str) -> str:
        self._serial += 1
        return f"{stem}_{self._serial}"

    def _definitions(self, path: str) -> list[str]:
        dialect, text = self._dialect(path), self._text(path)
        return [found[1] for pattern in (dialect.function, dialect.klass) for found in pattern.finditer(text)]

    def _other(self, path: str) -> tuple[str, str] | None:
        """A file of the same language, and a definition in it."""
        suffixes = self._dialect(path).suffixes
        others = sorted(other for other in self.tree if other.endswith(suffixes) and other != path)
        for _ in range(8):
            if others and (names := self._definitions(other := self._rng.choice(others))):
                return other, self._rng.choice(names)
        return None

    def _import_of(self, path: str, other: str, name: str) -> str:
        """A statement in `path` that imports a name of `other`; `*` imports all."""
        here, there = PurePosixPath(path), PurePosixPath(other)
        common = 0
        while common < min(len(here.parts), len(there.parts)) - 1 and here.parts[common] == there.parts[common]:
            common += 1
        up, down = len(here.parts) - 1 - common, there.with_suffix("").parts[common:]
        if self._dialect(path) is PYTHON:
            steps = [step for step in down if step != "__init__"]
            return f"from {'.' * (up + 1)}{'.'.join(steps)} import {name}\n"
        way = ("../" * up or "./") + "/".join(down)
        return f"export * from '{way}';\n" if name == "*" else f"import {{ {name} }} from '{way}';\n"

    # whole files

    def _rename_file(self) -> Edit | None:
        path = self._path()
        at = PurePosixPath(path)
        target = str(at.with_name(self._fresh(at.stem.strip("_") or "init") + at.suffix))
        return Edit(kind="rename", writes={path: None, target: self.tree[path]})

    def _move_file(self) -> Edit | None:
        path = self._path()
        folder = PurePosixPath(self._path()).parent
        target = str(folder / PurePosixPath(path).name)
        return None if target in self.tree else Edit(kind="move", writes={path: None, target: self.tree[path]})

    def _delete_file(self) -> Edit | None:
        return Edit(kind="delete", writes={self._path(): None}) if len(self.tree) > 4 else None

    def _create_again(self) -> Edit | None:
        back = sorted(self._gone.keys() - self.tree.keys())
        if not back or self._blocked(path := self._rng.choice(back)):
            return None
        return Edit(kind="re-create", writes={path: self._gone[path]})

    def _blocked(self, path: str) -> bool:
        """Whether a folder of that path is a file now, or the path a folder."""
        above = {str(parent) for parent in PurePosixPath(path).parents}
        return bool(above & self.tree.keys()) or any(other.startswith(path + "/") for other in self.tree)

    def _copy_file(self) -> Edit | None:
        path = self._path()
        at = PurePosixPath(path)
        return Edit(kind="copy", writes={str(at.with_name(self._fresh("copied") + at.suffix)): self.tree[path]})

    def _case_only(self) -> Edit | None:
        path = self._path()
        at = PurePosixPath(path)
        target = str(at.with_name(at.stem.swapcase() + at.suffix))
        if target in self.tree or at.stem == "__init__":
            return None
        return Edit(kind="case-only rename", writes={path: None, target: self.tree[path]})

    def _swap_files(self) -> Edit | None:
        one, two = self._path(), self._path()
        if self._dialect(one) is not self._dialect(two):
            return None
        return Edit(kind="swap", writes={one: self.tree[two], two: self.tree[one]})

    def _move_folder(self) -> Edit | None:
        folder = PurePosixPath(self._path()).parent
        if str(folder) == ".":
            return None
        below = [path for path in self.tree if path.startswith(f"{folder}/")]
        target = folder.with_name(self._fresh("moved"))
        if len(below) > 25:
            return None
        moved = {str(target / PurePosixPath(path).relative_to(folder)): self.tree[path] for path in below}
        return Edit(kind="move folder", writes={**dict.fromkeys(below), **moved})

    # definitions

    def _change_base(self) -> Edit | None:
        path = self._path()
        dialect, text = self._dialect(path), self._text(path)
        found = self._rng.choice([*dialect.klass.finditer(text)] or [None])
        other = self._other(path)
        if found is None or other is None:
            return None
        bring = self._import_of(path, *other)
        if dialect is PYTHON:
            base = self._rng.choice(["", f"({other[1]})", f"({other[1]}, {found['rest'] or 'object'})"])
            head = f"class {found[1]}{base}:"
        else:
            kept = found[0].removesuffix(found["rest"] or "")
            head = kept + self._rng.choice(["", f" extends {other[1]}"])
        changed = text[: found.start()] + head + text[found.end() :]
        return self._written("change of base", path, self._with_import(path, changed, bring))

    def _new_override(self) -> Edit | None:
        path = self._path()
        dialect, text = self._dialect(path), self._text(path)
        classes = [*dialect.klass.finditer(text)]
        names = [found[1] for other in sorted(self.tree) for found in dialect.method.finditer(self._text(other))][:400]
        if not classes or not names:
            return None
        found, name = self._rng.choice(classes), self._rng.choice(names)
        called = self._rng.choice(names)
        end = text.find("\n", found.end())
        if dialect is PYTHON:
            method = f"\n    def {name}(self, *args, **kwargs):\n        return self.{called}(*args)\n"
        else:
            method = f"\n  {name}(...args: any[]): any {{\n    return (this as any).{called}(...args);\n  }}\n"
        return self._written("new override", path, text[:end] + method + text[end + 1 :])

    def _new_function(self) -> Edit | None:
        path = self._path()
        other = self._other(path)
        if other is None:
            return None
        name = self._fresh("added")
        if self._dialect(path) is PYTHON:
            body = f"\n\ndef {name}(value=None):\n    made = {other[1]}(value)\n    return made\n"
        else:
            body = f"\nexport function {name}(value?: any) {{\n  const made = {other[1]}(value);\n  return made;\n}}\n"
        bring = self._import_of(path, *other)
        return self._written("new function", path, self._with_import(path, self._text(path) + body, bring))

    def _call_more(self) -> Edit | None:
        """A call of a definition of the same file, in a function of it; at a line of its own."""
        path = self._path()
        text, names = self._text(path), self._definitions(path)
        mark = re.compile(r"(?m)^    return ") if self._dialect(path) is PYTHON else re.compile(r"(?m)^  return ")
        places = [*mark.finditer(text)]
        if not places or not names:
            return None
        at = self._rng.choice(places).start()
        indent = "    " if self._dialect(path) is PYTHON else "  "
        end = "" if self._dialect(path) is PYTHON else ";"
        return self._written("call", path, text[:at] + f"{indent}{self._rng.choice(names)}(){end}\n" + text[at:])

    def _rename_definition(self) -> Edit | None:
        path = self._path()
        names = self._definitions(path)
        if not names:
            return None
        name, text = self._rng.choice(names), self._text(path)
        everywhere = self._rng.random() < 0.5
        return self._written(
            "rename definition", path, re.sub(rf"\b{name}\b", self._fresh(name), text, count=0 if everywhere else 1)
        )

    def _drop_definition(self) -> Edit | None:
        path = self._path()
        dialect, text = self._dialect(path), self._text(path)
        found = self._rng.choice([*dialect.function.finditer(text), *dialect.klass.finditer(text)] or [None])
        if found is None:
            return None
        after = re.compile(r"(?m)^(?=\S)").search(text, text.find("\n", found.end()) + 1)
        stop = after.start() if after else len(text)
        if dialect is TYPESCRIPT:
            stop = text.find("\n", stop) + 1 or len(text)
        return self._written("drop definition", path, text[: found.start()] + text[stop:])

    # what a file gives to others

    def _with_import(self, path: str, text: str, statement: str) -> str:
        if self._dialect(path) is PYTHON:
            future = text.find("from __future__ import annotations\n")
            at = future + len("from __future__ import annotations\n") if future >= 0 else 0
            if future < 0 and text.startswith(('"""', "'''", 'r"""')):
                return text + "\n" + statement
            return text[:at] + statement + text[at:]
        return statement + text

    def _new_export(self) -> Edit | None:
        inits = [path for path in self.tree if PurePosixPath(path).stem in ("__init__", "index")]
        path = self._rng.choice(sorted(inits) or [self._path()])
        other = self._other(path)
        if other is None:
            return None
        return self._written(
            "new export", path, self._with_import(path, self._text(path), self._import_of(path, *other))
        )

    def _name_list(self) -> Edit | None:
        """`__all__` with some of the file's names; an export list in TypeScript."""
        path = self._path()
        names = self._definitions(path)
        if not names:
            return None
        kept = self._rng.sample(names, self._rng.randint(1, len(names)))
        if self._dialect(path) is PYTHON:
            listed = ", ".join(repr(name) for name in kept)
            return self._written("__all__", path, f"{self._text(path)}\n__all__ = [{listed}]\n")
        listed = ", ".join(f"{name} as {self._fresh('alias')}" for name in kept)
        return self._written("export list", path, f"{self._text(path)}\nexport {{ {listed} }};\n")

    def _star_import(self) -> Edit | None:
        path = self._path()
        other = self._other(path)
        if other is None:
            return None
        statement = self._import_of(path, other[0], "*")
        return self._written("star import", path, self._with_import(path, self._text(path), statement))

    # what is hard to read

    def _break(self) -> Edit | None:
        path = self._path()
        text = self._text(path)
        at = self._rng.choice([0, *(found.end() for found in re.finditer("\n", text))])
        damage = self._rng.choice(["def broken(:\n", ")))\n", "class {\n", "'''\n", "    ((\n", "@\n", "\0\n"])
        self._whole[path] = self.tree[path]
        return self._written("break", path, text[:at] + damage + text[at:])

    def _mend(self) -> Edit | None:
        broken = sorted(self._whole.keys() & self.tree.keys())
        if not broken:
            return None
        path = self._rng.choice(broken)
        return Edit(kind="mend", writes={path: self._whole.pop(path)})

    def _line_ends(self) -> Edit | None:
        path = self._path()
        body = self.tree[path]
        turned = body.replace(b"\r\n", b"\n") if b"\r\n" in body else body.replace(b"\n", b"\r\n")
        return Edit(kind="line ends", writes={path: turned})

    def _encoding(self) -> Edit | None:
        path = self._path()
        text = self._text(path)
        turned = {
            "byte order mark": b"\xef\xbb\xbf" + self.tree[path],
            "utf-16": text.encode("utf-16", "surrogatepass"),
            "latin-1": b"# -*- coding: latin-1 -*-\n" + self.tree[path] + b"# \xe9t\xe9\n",
            "invalid utf-8": self.tree[path] + b"\n# \xff\xfe\n",
        }
        kind = self._rng.choice(sorted(turned))
        return Edit(kind=kind, writes={path: turned[kind]})

    def _several(self) -> Edit | None:
        """Three edits that the index meets at once."""
        before = dict(self.tree)
        kinds: list[str] = []
        for _ in range(3):
            edit = self._rng.choice(self._kinds[:-1])()
            if edit is not None:
                self.make(edit)
                kinds.append(edit.kind)
        writes: dict[str, bytes | None] = {path: None for path in before if path not in self.tree}
        writes |= {path: body for path, body in self.tree.items() if before.get(path) != body}
        self.tree = before
        return Edit(kind=" + ".join(kinds), writes=writes) if writes else None
