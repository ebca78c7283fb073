"""How the limits of a box become files of control groups, or process limits where those cannot be had.

As root the kernel counts: memory with page cache and tmpfs, processes, shares of a core, in version 1 or 2 of the
control groups, whichever has the controllers. Otherwise memory is sampled by the supervisor over the whole box and
bounded per process by RLIMIT_DATA, processes by RLIMIT_NPROC (which counts in the box's own user namespace), and CPU in
total by RLIMIT_CPU. RLIMIT_AS is not used: runtimes that reserve address space would die.
"""

from __future__ import annotations

import contextlib
import functools
import os
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from smp.adapters.sandbox_bubblewrap.host.gate import KernelGate
from smp.domain.sandboxes import Limits

# Host user of boxes that root starts: not uid 0, else files that only root may read would be readable. Outside the
# ranges of login users, system users and the usual subordinate ids.
BOX_UID = 64200
_ROOT = Path("/sys/fs/cgroup")
_GROUP = "smp"
_PERIOD_US = 100_000
_V1 = ("memory", "pids", "cpu")


class ControlGroups(Struct, frozen=True, kw_only=True):
    """Where groups are made.

    Attributes:
        version: 1 or 2.
        parents: One folder per controller (one alone in version 2).
        gate: Folder of version 2 whose groups take the egress gate (`host/gate.py`); empty: the kernel has none for us.
    """

    version: int
    parents: tuple[str, ...]
    gate: str = ""

    def folders(self) -> tuple[str, ...]:
        """All folders in which a box has a group."""
        return tuple(dict.fromkeys((*self.parents, self.gate))) if self.gate else self.parents


class Rights(Struct, frozen=True, kw_only=True):
    """What the present process may do for its boxes.

    Attributes:
        uid: Host user that boxes run as; None: the present one, in a user namespace.
        groups: None: limits are sampled.
    """

    uid: int | None
    groups: ControlGroups | None


class Plan(Struct, frozen=True, kw_only=True):
    """What to write, and which limits the supervisor samples.

    Attributes:
        groups: Per folder, the files that hold the limits; made before the command and removed after it.
        sampled_memory_mb: 0 when the kernel counts.
        gate: The one of the groups that the egress gate is attached to; empty: the listener answers in its place.
    """

    groups: dict[str, dict[str, str]]
    rlimits: dict[str, int]
    sampled_memory_mb: int
    gate: str = ""


@functools.cache
def find_control_groups() -> ControlGroups | None:
    """The hierarchy that takes our limits, found by making a group in it; None for an ordinary user."""
    if os.geteuid() != 0:
        return None
    for found in (_version_2(), _version_1()):
        if found is not None and _usable(found):
            gate = _gate_parent(found)
            return replace(found, gate=gate) if gate else found
    return None


def _gate_parent(groups: ControlGroups) -> str:
    """Where groups take the gate, found by attaching one; empty where the kernel has no BPF for us."""
    parents = groups.parents if groups.version == 2 else (str(_ROOT / "unified" / _GROUP),)
    trial = Path(parents[0], f"probe-gate-{os.getpid()}")
    try:
        if not Path(parents[0]).parent.joinpath("cgroup.controllers").exists():
            return ""
        trial.mkdir(parents=True, exist_ok=True)
        KernelGate(str(trial)).close()
    except OSError:
        return ""
    finally:
        remove_groups({str(trial): {}})
    return parents[0]


def present_rights() -> Rights:
    """Root's boxes run as a user of their own and in control groups; everybody else's as himself."""
    if os.geteuid() == 0:
        return Rights(uid=BOX_UID, groups=find_control_groups())
    return Rights(uid=None, groups=None)


def _version_2() -> ControlGroups | None:
    for root in (_ROOT, _ROOT / "unified"):
        parent = root / _GROUP
        with contextlib.suppress(OSError):
            controllers = (root / "cgroup.controllers").read_text().split()
            if not {"memory", "pids", "cpu"} <= set(controllers):
                continue
            parent.mkdir(exist_ok=True)
            for folder in (root, parent):
                (folder / "cgroup.subtree_control").write_text("+memory +pids +cpu")
            return ControlGroups(version=2, parents=(str(parent),))
    return None


def _version_1() -> ControlGroups | None:
    if not all((_ROOT / name / "cgroup.procs").exists() for name in _V1):
        return None
    return ControlGroups(version=1, parents=tuple(str(_ROOT / name / _GROUP) for name in _V1))


def _usable(groups: ControlGroups) -> bool:
    plan = _plan_groups(groups, f"probe-{os.getpid()}", Limits())
    try:
        make_groups(plan)
    except OSError:
        return False
    remove_groups(plan)
    return True


def plan_limits(groups: ControlGroups | None, name: str, limits: Limits) -> Plan:
    """Files and process limits for one command.

    Args:
        name: Name of the control group, unique on the host.
    """
    rlimits = {
        "CORE": 0,
        "NOFILE": 4096,
        "FSIZE": limits.disk_mb << 20,
        "MEMLOCK": 1 << 16,
    }
    if groups is not None:
        gate = f"{groups.gate}/{name}" if groups.gate else ""
        made = _plan_groups(groups, name, limits) | ({gate: {}} if gate and groups.version == 1 else {})
        return Plan(groups=made, rlimits=rlimits, sampled_memory_mb=0, gate=gate)
    rlimits["NPROC"] = limits.pids
    rlimits["DATA"] = limits.memory_mb << 20
    rlimits["CPU"] = limits.timeout_ms // 1000 + 5
    return Plan(groups={}, rlimits=rlimits, sampled_memory_mb=limits.memory_mb)


def _plan_groups(groups: ControlGroups, name: str, limits: Limits) -> dict[str, dict[str, str]]:
    memory = str(limits.memory_mb << 20)
    quota = limits.cpu_pct * _PERIOD_US // 100
    # The stem, the keeper and bubblewrap's two processes are ours, not the command's.
    pids = str(limits.pids + 4)
    if groups.version == 2:
        files = {"memory.max": memory, "pids.max": pids, "cpu.max": f"{quota} {_PERIOD_US}"}
        return {f"{groups.parents[0]}/{name}": files | {"memory.swap.max?": "0", "memory.oom.group?": "0"}}
    by_controller = (
        {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes?": memory},
        {"pids.max": pids},
        {"cpu.cfs_period_us": str(_PERIOD_US), "cpu.cfs_quota_us": str(quota)},
    )
    return {f"{parent}/{name}": files for parent, files in zip(groups.parents, by_controller, strict=True)}


def make_groups(plan: dict[str, dict[str, str]]) -> None:
    """Make the folders and write their limits; a file with `?` is one that not every kernel has."""
    for folder, files in plan.items():
        os.makedirs(folder, exist_ok=True)
        for name, value in files.items():
            path = Path(folder, name.rstrip("?"))
            if not name.endswith("?") or path.exists():
                path.write_text(value)


def oom_kills(plan: dict[str, dict[str, str]]) -> int:
    """How often the kernel killed for memory in these groups."""
    for folder in plan:
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                for line in Path(folder, name).read_text().splitlines():
                    if line.startswith("oom_kill "):
                        return int(line.split()[1])
    return 0


def remove_groups(plan: dict[str, dict[str, str]]) -> None:
    """Remove the folders; the processes in them have ended, or are killed here."""
    for folder in plan:
        with contextlib.suppress(OSError):
            Path(folder, "cgroup.kill").write_text("1")
        for _ in range(100):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                break
            except OSError:
                _kill_members(folder)
            else:
                break


def _kill_members(folder: str) -> None:
    with contextlib.suppress(OSError):
        for line in Path(folder, "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(line), 9)
    # A killed process leaves its group when it is reaped, by whoever started it.
    os.sched_yield()


def remove_orphaned_groups(groups: ControlGroups) -> None:
    """Remove the groups whose maker has ended: every name ends in its process number (`plan_limits`)."""
    for name in stale_groups(groups, ""):
        maker = name.rpartition("-")[2]
        if maker.isdigit() and not Path("/proc", maker).exists():
            remove_groups({f"{parent}/{name}": {} for parent in groups.folders()})


def stale_groups(groups: ControlGroups, prefix: str) -> list[str]:
    """Names of groups whose box begins with a prefix."""
    found: set[str] = set()
    for parent in groups.folders():
        with contextlib.suppress(OSError):
            found |= {entry.name for entry in os.scandir(parent) if entry.is_dir() and entry.name.startswith(prefix)}
    return sorted(found)
