"""What may leave a box, as clients see it, and telling them what was refused."""

from __future__ import annotations

from collections.abc import Callable

from smp.domain.egress import parse_allowed, public_name
from smp.domain.ids import SandboxId
from smp.domain.notifications import NetworkBlocked
from smp.domain.sandboxes import EgressPolicy, NetworkBlock
from smp.ports.notifier import Notifier
from smp.settings import SandboxSettings

Registries = Callable[[], tuple[str, ...]]
"""Host names of the package registries that this machine's clients use."""

WIRE_NAMES = {"deny_all": "none", "registry_only": "registry_only"}
"""Policy → `network.egress_policy` of `smp/sandbox/spawn`."""


def wire_policy(policy: EgressPolicy) -> str:
    """The policy's name on the wire."""
    return WIRE_NAMES[policy.name]


def wire_allowed(policy: EgressPolicy) -> tuple[str, ...]:
    """What a box may reach, as its client sees it."""
    return tuple(dict.fromkeys(public_name(entry) for entry in policy.allowed_hosts))


def choose_policy(settings: SandboxSettings, registries: Registries) -> EgressPolicy:
    """The policy of a new box.

    Raises:
        Invalid: An allowed host does not read.
    """
    allowed = set(settings.allowed_hosts)
    if settings.egress == "registry_only":
        allowed |= set(registries())
    for entry in allowed:
        parse_allowed(entry)
    if not allowed:
        return EgressPolicy()
    return EgressPolicy(name="registry_only", allowed_hosts=tuple(sorted(allowed)))


def report_blocks(notifier: Notifier, sandbox_id: SandboxId, blocks: tuple[NetworkBlock, ...]) -> None:
    """Notify once per host and port, in the order in which they were refused."""
    for host, port in dict.fromkeys((block.host, block.port) for block in blocks):
        notifier.publish(NetworkBlocked(sandbox_id=sandbox_id, blocked_host=host, blocked_port=port))
