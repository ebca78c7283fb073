"""What a file or a definition is for, by topology, paths and decorators alone (specification, file roles)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from smp.domain.graph import Node, NodeKind

HTTP_VERBS = frozenset({"delete", "get", "head", "options", "patch", "post", "put", "route", "websocket"})
"""Last names of decorators that make a function an endpoint (`@app.get("/x")`, `@Post()`)."""
API_FOLDERS = frozenset({"api", "apis", "controllers", "endpoints", "routers", "routes"})
ENDPOINT_FOLDERS = frozenset({"controllers", "routes"})
TEST_FOLDERS = frozenset({"__tests__", "spec", "specs", "test", "tests"})
SERVICE_FOLDERS = frozenset({"services"})
UTILITY_FOLDERS = frozenset({"helpers", "lib", "shared", "util", "utils"})
CORE_IMPORTERS = 5
"""A utility that more files import is core."""
HIGH_IMPORTERS, HIGH_COMPLEXITY = 10, 8
MEDIUM_IMPORTERS, MEDIUM_COMPLEXITY = 3, 4

_DECORATOR = re.compile(r"@\s*(?:[\w$]+\s*\.\s*)*(?P<name>[\w$]+)")


def is_endpoint(node: Node) -> bool:
    """Whether a decorator with the name of an HTTP verb sits on a definition."""
    return any(
        found is not None and found["name"].lower() in HTTP_VERBS
        for found in map(_DECORATOR.match, node.metadata.decorators)
    )


def in_api_layer(path: str) -> bool:
    """Whether a file lies in a folder of the layer that faces clients."""
    return not API_FOLDERS.isdisjoint(_folders(path))


def is_api_package(path: str) -> bool:
    """Whether a folder is one of that layer, or lies in one."""
    return not API_FOLDERS.isdisjoint(path.lower().split("/"))


def role_of(file: Node, defined: Iterable[Node], *, importers: int, imports: int) -> str:
    """The role of a file; the first rule that matches.

    Args:
        defined: All definitions in the file.
        importers: Files that import it. imports: files that it imports.
    """
    definitions = tuple(defined)
    folders = _folders(file.qualname)
    if _is_test(file, definitions):
        return "test"
    if file.kind is NodeKind.CONFIG:
        return "config"
    if any(map(is_endpoint, definitions)) or not ENDPOINT_FOLDERS.isdisjoint(folders):
        return "endpoint"
    if not SERVICE_FOLDERS.isdisjoint(folders) and importers and imports:
        return "service"
    if importers > CORE_IMPORTERS and not UTILITY_FOLDERS.isdisjoint(folders):
        return "core_utility"
    if importers == 0 and not any(node.exported for node in definitions):
        return "isolated"
    return "module"


def risk_level(*, importers: int, avg_complexity: float) -> str:
    """`low`, `medium` or `high`, by how many files import and how branched the code is on average."""
    if importers > HIGH_IMPORTERS or avg_complexity > HIGH_COMPLEXITY:
        return "high"
    if importers > MEDIUM_IMPORTERS or avg_complexity > MEDIUM_COMPLEXITY:
        return "medium"
    return "low"


def _is_test(file: Node, defined: tuple[Node, ...]) -> bool:
    if file.role == "test":
        return True
    if (file.language is None or not file.role) and not TEST_FOLDERS.isdisjoint(_folders(file.qualname)):
        return True  # what lies among tests and is no code: what they read
    return bool(defined) and all(node.kind is NodeKind.TEST for node in defined)


def _folders(path: str) -> frozenset[str]:
    return frozenset(part.lower() for part in PurePosixPath(path).parts[:-1])
