"""One command in one box, from the folder to the supervisor's answer."""

from __future__ import annotations

import base64
import functools
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.checkout import give_tree
from smp.adapters.sandbox_bubblewrap.filters import compile_filters
from smp.adapters.sandbox_bubblewrap.host.egress import RELAYS
from smp.adapters.sandbox_bubblewrap.host.order import Order, Way
from smp.adapters.sandbox_bubblewrap.layers import PLACE
from smp.adapters.sandbox_bubblewrap.limits import Plan, make_groups, oom_kills, remove_groups
from smp.adapters.sandbox_bubblewrap.once import remove_tree, storage_errors
from smp.adapters.sandbox_bubblewrap.state import BoxFolder
from smp.adapters.sandbox_bubblewrap.supervision import Answer, supervise
from smp.domain.egress import parse_allowed
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import EgressPolicy, Limits, NetworkBlock

# The name server that the launcher opens in the box's network namespace; a box has users and hosts of its own.
_FILES = {
    "resolv.conf": "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
    "hosts": "127.0.0.1 localhost box\n::1 localhost\n",
    "passwd": "root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "group": "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
}
UPLOAD_KB = 1024
"""What one command may send to all allowed names together: requests fit, a copy of the sources does not."""
_MAX_WAYS = 64
LOG_MB = 32
"""Kept of each stream of a command besides head and tail."""
VARIABLES = {
    "PATH": f"{PLACE}/bin:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/agent",
    "USER": "agent",
    "LANG": "C.UTF-8",
    "TMPDIR": "/tmp",  # noqa: S108 - a tmpfs of the box
    # A file may change twice within a second and keep its size; its bytecode would then be stale.
    "PYTHONDONTWRITEBYTECODE": "1",
    "SMP_OUT": "/smp/out",
}


def find_bwrap() -> str:
    """Path of bubblewrap.

    Raises:
        SandboxFailed: It or libseccomp is not installed.
    """
    path = shutil.which("bwrap")
    if path is None:
        raise SandboxFailed("bubblewrap is missing; install it: apt-get install bubblewrap")
    compile_filters()
    return path


@functools.cache
def _known_options(bwrap: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some options that the installed version has."""
    done = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False, timeout=10)
    listed = (done.stdout + done.stderr).split()
    return tuple(option for option in wanted if option in listed)


def make_order(
    folder: BoxFolder,
    lower: Path,
    *,
    command: str,
    limits: Limits,
    plan: Plan,
    uid: int | None,
    root: str,
    binds: tuple[tuple[str, str], ...],
    variables: dict[str, str],
    ways: tuple[Way, ...] = (),
) -> Order:
    """What the supervisor is told.

    Args:
        uid: Host user that the box runs as; None: the present one.
        root: Folder that holds the box's /usr.
        variables: Besides the box's own, which they override.
    """
    bwrap = find_bwrap()
    filters = compile_filters()
    return Order(
        bwrap=bwrap,
        owner=os.getpid(),
        command=command,
        uid=uid,
        lower=str(lower),
        changes=str(folder.layer),
        exchange=str(folder.exchange),
        root=root,
        timeout_ms=limits.timeout_ms,
        output_kb=limits.output_kb,
        disk_mb=limits.disk_mb,
        logs=str(folder.logs),
        log_mb=LOG_MB,
        memory_mb=plan.sampled_memory_mb,
        binds=binds,
        files=_FILES,
        environment=VARIABLES | variables,
        limit_files=plan.groups,
        rlimits=plan.rlimits,
        seccomp=base64.b64encode(filters.box).decode(),
        listener="" if plan.gate else base64.b64encode(filters.listener).decode(),
        gate=plan.gate,
        calls=filters.calls,
        ways=ways,
        upload_kb=UPLOAD_KB,
        bwrap_options=_known_options(bwrap, ("--disable-userns",)),
    )


def open_ways(policy: EgressPolicy) -> tuple[Way, ...]:
    """The ways of a policy, each name with an address of its own in the box.

    Raises:
        SandboxFailed: More names than a box can have.
    """
    hosts = [host for entry in policy.allowed_hosts for host in parse_allowed(entry)]
    names = sorted({host.name for host in hosts})
    if len(hosts) > _MAX_WAYS:
        raise SandboxFailed(f"{len(hosts)} allowed names and ports are more than {_MAX_WAYS}; allow fewer")
    addresses = {name: f"{RELAYS}{number >> 8}.{number & 255}" for number, name in enumerate(names, start=1)}
    return tuple(
        Way(
            name=host.name,
            port=host.port,
            address=addresses[host.name],
            dial=host.dial,
            dial_port=host.dial_port,
            pinned=host.pinned,
        )
        for host in {(host.name, host.port): host for host in hosts}.values()
    )


def fresh_exchange(folder: BoxFolder, uid: int | None) -> None:
    """Empty the folder by which files come out of the box, and the one of its logs."""
    with storage_errors("cannot make the box's exchange folder"):
        remove_tree(folder.logs)
        folder.logs.mkdir(mode=0o700)
        remove_tree(folder.exchange)
        for path in (folder.exchange, folder.exchange / "out", folder.exchange / "trace"):
            path.mkdir(mode=0o755)
        if uid is not None:
            give_tree(folder.exchange, uid)


def run_limited(
    order: Order, plan: Plan, beat: Callable[[], None], blocked: Callable[[NetworkBlock], None] | None = None
) -> tuple[Answer, int]:
    """The supervisor's answer, and how often the kernel killed for memory."""
    try:
        with storage_errors("cannot limit the box"):
            make_groups(plan.groups)
        answer = supervise(order, beat, blocked)
        return answer, oom_kills(plan.groups)
    finally:
        remove_groups(plan.groups)
