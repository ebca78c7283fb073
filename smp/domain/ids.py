"""Identifiers, and the only functions that mint those which are derived from names.

Random ids (sessions, boxes, audits …) come from `smp.ports.clock.Clock.fresh_id`; node ids are a pure function of
kind, path and qualified name (decisions.md section 2), so that they survive every edit that does not rename.
"""

from __future__ import annotations

from typing import NewType

NodeId = NewType("NodeId", str)
"""`<kind>:<path>` or `<kind>:<path>#<qualified name>`; opaque to clients."""
FilePath = NewType("FilePath", str)
"""Repository-relative POSIX path, never absolute, never with `..`."""
CommitSha = NewType("CommitSha", str)
SessionId = NewType("SessionId", str)
CheckpointId = NewType("CheckpointId", str)
SandboxId = NewType("SandboxId", str)
AuditId = NewType("AuditId", str)
HandoffId = NewType("HandoffId", str)
VerifyId = NewType("VerifyId", str)
SnapshotId = NewType("SnapshotId", str)
AgentId = NewType("AgentId", str)
ContentHash = NewType("ContentHash", str)
"""SHA-256 of bytes, 64 lower-case hex digits."""


def mint_node_id(kind: str, path: str, qualname: str | None = None) -> NodeId:
    """The id of a node.

    Args:
        kind: A `NodeKind` value in lower case, e.g. `function`.
        path: Repository-relative POSIX path (or a repository's name, a community's key).
        qualname: Dotted name inside the file; None for the file itself and for packages.

    Returns:
        `kind:path` or `kind:path#qualname`.
    """
    return NodeId(f"{kind}:{path}#{qualname}" if qualname else f"{kind}:{path}")
