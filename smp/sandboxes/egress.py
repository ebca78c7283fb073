"""What may leave a box, as clients see it, and telling them what was refused."""

from __future__ import annotations

from smp.domain.ids import SandboxId
from smp.domain.notifications import NetworkBlocked
from smp.domain.sandboxes import EgressPolicy, NetworkBlock
from smp.ports.notifier import Notifier

WIRE_NAMES = {"deny_all": "none", "registry_only": "registry_only"}
"""Policy → `network.egress_policy` of `smp/sandbox/spawn`."""


def wire_policy(policy: EgressPolicy) -> str:
    """The policy's name on the wire."""
    return WIRE_NAMES[policy.name]


def report_blocks(notifier: Notifier, sandbox_id: SandboxId, blocks: tuple[NetworkBlock, ...]) -> None:
    """Notify once per host and port, in the order in which they were refused."""
    for host, port in dict.fromkeys((block.host, block.port) for block in blocks):
        notifier.publish(NetworkBlocked(sandbox_id=sandbox_id, blocked_host=host, blocked_port=port))
