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


class BlockReporter:
    """Notifies of what was refused in one command, once per host and port, as soon as it is known."""

    def __init__(self, notifier: Notifier, sandbox_id: SandboxId) -> None:
        self._notifier = notifier
        self._sandbox_id = sandbox_id
        self._told: set[tuple[str, int]] = set()

    def __call__(self, block: NetworkBlock) -> None:
        """Publish, unless this target has been told of."""
        target = block.host, block.port
        if target in self._told:
            return
        self._told.add(target)
        self._notifier.publish(
            NetworkBlocked(
                sandbox_id=self._sandbox_id,
                blocked_host=block.host,
                blocked_port=block.port,
                address=block.address,
                protocol=block.protocol,
                process=block.process,
            )
        )
