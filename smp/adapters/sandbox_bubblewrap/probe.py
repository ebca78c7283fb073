"""What this driver can do on this host, found out by making a small box and trying."""

from __future__ import annotations

import os
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.checkout import give_tree
from smp.adapters.sandbox_bubblewrap.limits import Rights, plan_limits
from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.running import fresh_exchange, make_order, run_limited
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.domain.errors import SandboxFailed
from smp.domain.ids import SandboxId
from smp.domain.sandboxes import Limits, TracerName
from smp.ports.sandbox_driver import Capabilities

# Reads a file of the checkout, changes it, and connects to an address that no host may have (RFC 5737).
_TRY = "cat seed >copy && cat copy && rm seed && ! (exec 3<>/dev/tcp/203.0.113.1/9)"
_LIMITS = Limits(memory_mb=256, disk_mb=16, pids=32, timeout_ms=20_000)


def probe(boxes: Path, rights: Rights) -> Capabilities:
    """Capabilities of this host.

    Args:
        boxes: Where boxes are kept: whether the copy-on-write mount works depends on the file system.
    """
    folder = BoxFolder(boxes, SandboxId(f"probe-{os.getpid()}"))
    groups = rights.groups
    try:
        blocked = _try_box(folder, rights)
    except SandboxFailed as error:
        return Capabilities(driver="bubblewrap", available=False, missing=(error.message,))
    finally:
        remove_tree(folder.path)
    return Capabilities(
        driver="bubblewrap",
        available=True,
        copy_on_write=True,
        memory_limit=f"cgroup-v{groups.version}" if groups is not None else "sampled",
        egress=_mechanism(rights) if blocked else "no-interface",
        tracers=(TracerName.MONITORING.value,),
    )


def _mechanism(rights: Rights) -> str:
    return "ebpf" if rights.groups is not None and rights.groups.gate else "seccomp-notify"


def _try_box(folder: BoxFolder, rights: Rights) -> bool:
    """Run the trial; whether its connect was reported."""
    uid = rights.uid
    lower = folder.path / "lower"
    with storage_errors("cannot make a box"):
        for path in (folder.path, lower, folder.layer, folder.upper, folder.work):
            path.mkdir(mode=0o755, parents=True, exist_ok=True)
        (lower / "seed").write_text("seed")
        if uid is not None:
            give_tree(lower, uid)
            give_tree(folder.upper, uid)
    fresh_exchange(folder, uid)
    plan = plan_limits(rights.groups, folder.id, _LIMITS)
    order = make_order(
        folder, lower, command=f"bash -c '{_TRY}'", limits=_LIMITS, plan=plan, uid=uid, root="/", binds=(), variables={}
    )
    answer, _ = run_limited(order, plan, lambda: None)
    if answer.exit_code or answer.out != b"seed":
        raise SandboxFailed(f"a trial box does not work: {answer.err.decode(errors='replace').strip()[-300:]}")
    return bool(answer.blocks)
