"""Which packages are measured, what of them counts as the project, and how they come into the cache."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
COMPILER = "5.9.3"
TYPES = {
    "@types/node": "24.10.1",
    "@types/react": "18.3.27",
    "@types/react-dom": "18.3.7",
    "@types/jest": "29.5.14",
    "@types/lodash": "4.17.21",
    "react": "18.3.1",
    "react-dom": "18.3.1",
    "@tanstack/react-query": "5.90.12",
    "react-hook-form": "7.72.0",
    "react-router": "6.30.2",
    "react-router-dom": "6.30.2",
    "@testing-library/react": "15.0.7",
    "expect": "29.7.0",
    "ra-data-fakerest": "5.15.4",
    "ra-i18n-polyglot": "5.15.4",
}
"""What the packages are written against: with it the checker knows more, the graph nothing else."""
TESTING = {
    "@matteo.collina/tspl": "0.2.0",
    "fastify-plugin": "5.1.0",
    "fluent-json-schema": "5.0.0",
    "flush-write-stream": "2.0.0",
    "http-errors": "2.0.0",
    "joi": "17.13.3",
    "proxyquire": "2.1.3",
    "split2": "4.2.0",
    "undici": "6.22.0",
    "vary": "1.1.2",
    "yup": "1.7.1",
}
"""What the tests that run load besides their package."""


@dataclass(frozen=True)
class Package:
    """A package.

    Attributes:
        parts: Files and folders that are its sources; the rest of the archive is built from them.
        options: Compiler options that its own configuration sets and the sources need.
        tests: Pattern of test files that `node FILE` runs as they are; empty where the tests need more than that.
    """

    name: str
    version: str
    parts: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    tests: str = ""

    @property
    def folder(self) -> str:
        """Its name without what a path would take for folders."""
        return self.name.replace("/", "+")

    def files(self, root: Path) -> list[PurePosixPath]:
        """Its source files, below the root; declaration files are no sources."""
        found = [path for path in root.rglob("*") if path.suffix in SUFFIXES and path.is_file()]
        named = [PurePosixPath(path.relative_to(root).as_posix()) for path in found]
        return sorted(path for path in named if not path.name.endswith((".d.ts", ".d.mts", ".d.cts")))


_NODE_ESM: dict[str, object] = {"module": "nodenext", "moduleResolution": "nodenext"}
_BUNDLED: dict[str, object] = {"module": "esnext", "moduleResolution": "bundler", "jsx": "preserve"}
PACKAGES = (
    Package("langium", "4.4.0", ("src",), _NODE_ESM),
    Package(
        "fastify", "5.12.8", ("fastify.js", "lib", "test"), {"allowJs": True, **_NODE_ESM}, "test/[0-9a-d]*.test.js"
    ),
    Package("ra-core", "5.15.4", ("src",), _BUNDLED),
    Package("ajv", "8.20.0", ("lib",), {"module": "commonjs", "moduleResolution": "node10"}),
    Package("@blueprintjs/core", "6.20.0", ("src",), _BUNDLED),
    Package(
        "pino",
        "10.4.0",
        ("pino.js", "file.js", "lib", "test"),
        {"allowJs": True, "module": "commonjs", "moduleResolution": "node10"},
        "test/*.test.js",
    ),
    Package("@reduxjs/toolkit", "2.15.0", ("src",), _BUNDLED),
    Package("@loopback/context", "8.0.15", ("src",), {"module": "commonjs", "moduleResolution": "node10"}),
)


def compiler_options(package: Package) -> dict[str, object]:
    """Options of the compiler for a package."""
    return {
        "target": "es2022",
        "lib": ["es2023", "dom", "dom.iterable"],
        "strict": True,
        "noEmit": True,
        "skipLibCheck": True,
        "esModuleInterop": True,
        "resolveJsonModule": True,
        "experimentalDecorators": True,
        "types": ["node", "jest"],
        **package.options,
    }


def prepare(folder: Path) -> None:
    """Packages, compiler and types by npm; the sources of each package as a project of its own beside `node_modules`."""
    wanted = {"typescript": COMPILER, **TYPES, **TESTING, **{one.name: one.version for one in PACKAGES}}
    manifest = json.dumps({"private": True, "dependencies": wanted}, indent=1, sort_keys=True)
    written = folder / "package.json"
    if not written.exists() or written.read_text("utf-8") != manifest or not (folder / "node_modules").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / "projects", ignore_errors=True)
        pending = folder / "package.json.pending"
        written.write_text(manifest, "utf-8")
        pending.touch()
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--silent"]
        subprocess.run(command, cwd=folder, check=True)
        pending.unlink()
    for package in PACKAGES:
        source, target = folder / "node_modules" / package.name, folder / "projects" / package.folder
        if target.is_dir():
            continue
        draft = target.with_suffix(".new")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        shutil.copy(source / "package.json", draft)
        for part in package.parts:
            if (source / part).is_dir():
                shutil.copytree(source / part, draft / part)
            else:
                shutil.copy(source / part, draft / part)
        draft.rename(target)
