"""Where a node lies, and whether that is inside a scope."""

from __future__ import annotations

from smp.domain.graph import Edge, Node, NodeKind, Scope


def place_of(node: Node) -> str | None:
    """The path a node lies at: its file, a package's own path; None for repositories and communities."""
    if node.file is not None:
        return node.file
    return node.qualname if node.kind is NodeKind.PACKAGE else None


def in_scope(place: str | None, scope: Scope) -> bool:
    """Whether a place lies in a scope; the full scope holds everything, placed or not."""
    if scope.kind == "full" or not scope.prefix:
        return True
    if place is None:
        return False
    return place == scope.prefix or (scope.kind == "package" and place.startswith(scope.prefix + "/"))


def edge_order(edge: Edge) -> tuple[str, str, str, str, str, str]:
    """Sort key of edges: kind, source, target, to_name; then what tells the last twins apart."""
    return (
        edge.kind.value,
        edge.source,
        edge.target or "",
        edge.to_name or "",
        edge.reason.value if edge.reason else "",
        edge.commit_sha or "",
    )
