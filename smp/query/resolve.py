"""From what a caller wrote to the node, file or scope that is meant (decisions.md section 2).

A reference is a node id, a path, `path#qualname`, or a qualified or bare name where that is unique. One spelling is
stored; others of the same path (`./a`, `a//b`, `a/../a`, backslashes) are rewritten before the second look-up.
"""

from __future__ import annotations

from collections.abc import Iterator

from smp.domain.errors import Invalid, NodeNotFound
from smp.domain.graph import Node, NodeKind, Scope
from smp.domain.ids import FilePath
from smp.domain.paths import repository_path
from smp.ports.graph_store import GraphStore

_ID_PREFIXES = tuple(f"{kind.value.lower()}:" for kind in NodeKind)


def resolve_node(graph: GraphStore, ref: str, *, path: str) -> Node:
    """The one node that a reference means.

    Args:
        path: Name of the parameter, for errors.

    Raises:
        NodeNotFound: None answers, or several do (`candidates`).
        Invalid: The reference is a path that leaves the repository.
    """
    for spelling in _spellings(ref, path=path):
        found = graph.find(spelling)
        if len(found) == 1:
            return found[0]
        exact = [node for node in found if node.qualname == spelling]
        if len(exact) == 1:
            return exact[0]
        if found:
            raise NodeNotFound(ref, candidates=tuple(node.id for node in found))
    raise NodeNotFound(ref, suggestion=_other_case(graph, ref))


def resolve_file(graph: GraphStore, ref: str, *, path: str) -> Node:
    """The File or Config node that a reference means; a definition stands for the file that holds it.

    Raises:
        NodeNotFound: None answers, or several do.
        Invalid: It leaves the repository, or means something that lies in no file.
    """
    node = resolve_node(graph, ref, path=path)
    if _is_file(node):
        return node
    if node.file is None:
        raise Invalid(f"{ref!r} is a {node.kind.value.lower()}; name a file", path=path)
    return resolve_node(graph, node.file, path=path)


def resolve_scope(graph: GraphStore, text: str, *, path: str = "scope") -> Scope:
    """A scope that holds something.

    Raises:
        NodeNotFound: No file lies there.
        Invalid: The path leaves the repository.
    """
    if text == "full":
        return Scope()
    kind, _, written = text.partition(":")
    if kind == "package" and written.strip("./") == "":
        return Scope()
    for spelling in _paths(written, path=path):
        scope = Scope(kind=kind, prefix=spelling.rstrip("/"))
        if any(kind == "package" or node.file is not None for node in graph.scan(scope)):
            return scope
    raise NodeNotFound(text)


def resolve_path(text: str, *, path: str) -> FilePath:
    """A path to a file that need not exist yet, in the one stored spelling.

    Raises:
        Invalid: It leaves the repository, or names a folder.
    """
    normal = repository_path(text, path=path)
    if normal.endswith("/"):
        raise Invalid(f"{text!r} names a folder; name a file", path=path)
    return normal


def _spellings(ref: str, *, path: str) -> Iterator[str]:
    """The reference as written, then with its path part rewritten."""
    yield ref
    prefix = next((known for known in _ID_PREFIXES if ref.startswith(known)), "")
    place, hash_sign, qualname = ref.removeprefix(prefix).partition("#")
    if _looks_like_path(place):
        for spelling in _paths(place, path=path):
            yield f"{prefix}{spelling.rstrip('/')}{hash_sign}{qualname}"


def _other_case(graph: GraphStore, ref: str) -> str | None:
    """The path of a file that differs from a reference in letter case only. Reads every file: for failures alone."""
    if not _looks_like_path(ref):
        return None
    place, hash_sign, qualname = ref.partition("#")
    wanted = place.casefold().removeprefix("./")
    files = (node for node in graph.scan(Scope(), (NodeKind.FILE, NodeKind.CONFIG)))
    found = next((node.qualname for node in files if node.qualname.casefold() == wanted), None)
    return None if found is None or found == place else f"{found}{hash_sign}{qualname}"


def _paths(text: str, *, path: str) -> tuple[str, ...]:
    """A backslash may be part of a name where the repository was made, so that reading comes first."""
    normal = repository_path(text, path=path)
    if "\\" not in text:
        return (normal,)
    return (normal, repository_path(text.replace("\\", "/"), path=path))


def _looks_like_path(text: str) -> bool:
    return "/" in text or "\\" in text or text in (".", "..")


def _is_file(node: Node) -> bool:
    return node.file is not None and node.qualname == node.file
