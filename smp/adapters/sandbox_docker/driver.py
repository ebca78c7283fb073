"""Boxes whose commands run in Docker containers: runc, or gVisor's runsc where the daemon has it; any image.

A box is a folder, as it is for bubblewrap: the same checkout, change set and private git directory. Each command gets a
container of its own, on which the daemon mounts the copy-on-write checkout, and which is gone when the command is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import docker
from docker.errors import APIError, NotFound
from docker.types import DriverConfig, LogConfig, Mount, Ulimit

from smp.adapters.sandbox_bubblewrap.checkout import OBJECTS
from smp.adapters.sandbox_bubblewrap.folder_driver import FolderDriver
from smp.adapters.sandbox_bubblewrap.interpreters import TRACED, Interpreter
from smp.adapters.sandbox_bubblewrap.layers import INSIDE, PLACE
from smp.adapters.sandbox_bubblewrap.limits import Plan
from smp.adapters.sandbox_bubblewrap.outcome import read_logs, read_outputs, to_execution
from smp.adapters.sandbox_bubblewrap.running import LOG_MB, UPLOAD_KB, VARIABLES, fresh_exchange, open_ways
from smp.adapters.sandbox_bubblewrap.state import BoxFolder, Owner, present_process
from smp.adapters.sandbox_bubblewrap.tracing import joined, missing_tracer, tracing_variables, watched
from smp.adapters.sandbox_docker.container import BOOT, Running, egress_group
from smp.adapters.sandbox_docker.daemon import daemon, docker_errors
from smp.adapters.sandbox_docker.host.gatekeeper import Watch
from smp.adapters.sandbox_docker.images import LABEL, ask_image, find_image
from smp.adapters.sandbox_docker.seccomp import profile
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import Execution, Limits, NetworkBlock, Sandbox, SandboxSpec, TracerName
from smp.ports.sandbox_driver import Capabilities

_PERIOD_US = 100_000
_OWN_PROCESSES = 2  # process 1, and the shell of the command
_FILES = {
    "passwd": "root:x:0:0::/root:/bin/sh\nagent:x:{uid}:{uid}::/home/agent:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
    "group": "root:x:0:\nagent:x:{uid}:\nnogroup:x:65534:\n",
}


class DockerDriver(FolderDriver):
    """Safe to use from several threads and processes at once; one command at a time in each box."""

    name = "docker"

    def capabilities(self) -> Capabilities:
        try:
            with daemon() as api:
                able = api.info()
        except SandboxFailed as error:
            return Capabilities(driver=self.name, available=False, missing=(error.message,))
        missing = missing_tracer(self._tracer, self._rights)
        gated = self._rights.groups is not None and bool(self._rights.groups.gate)
        return Capabilities(
            driver=self.name,
            available=True,
            copy_on_write=True,
            memory_limit=f"cgroup-v{able.get('CgroupVersion', '1')}",
            egress="ebpf" if gated else "no-interface",
            tracers=(TracerName.MONITORING.value, *(() if missing else (TracerName.EBPF.value,))),
            missing=(missing,) if missing and self._tracer is not None else (),
        )

    def _prepare(self, spec: SandboxSpec, progress: Callable[[str], None]) -> Interpreter | None:
        if spec.services:
            raise SandboxFailed(f"services ({', '.join(spec.services)}) cannot be started yet; leave `services` out")
        awkward = [char for char in ",:\\" if char in str(self._boxes)]
        if awkward:
            raise SandboxFailed(
                f"the data directory's path has {awkward[0]!r}, which overlay mounts by Docker do not take; choose another "
                "with --data-dir"
            )
        with daemon() as api:
            interpreter = self._python(api, find_image(api, spec.image, self._settings.cache_dir, progress))
        if spec.tracer is TracerName.EBPF:
            missing = missing_tracer(self._tracer, self._rights)
            if missing:
                raise SandboxFailed(missing)
            if interpreter is None or interpreter.numbers() not in TRACED:
                raise SandboxFailed(
                    "the ebpf tracer knows CPython 3.12 and 3.13, which the image does not have; use another image, or "
                    '[sandbox] tracer = "monitoring"'
                )
        return interpreter

    def _python(self, api: docker.APIClient, image: str) -> Interpreter | None:
        if image not in _PYTHONS:
            _PYTHONS[image] = ask_image(api, image, self._settings.sandbox.python or "python3")
        return _PYTHONS[image]

    def execute(
        self,
        box: Sandbox,
        command: str,
        *,
        limits: Limits,
        heartbeat: Callable[[], None] | None = None,
        trace: bool = True,
        blocked: Callable[[NetworkBlock], None] | None = None,
    ) -> Execution:
        folder = self._folder(box)
        alive = heartbeat or _no_beat
        with folder.held(waiting=alive), daemon() as api:
            spec = folder.read().box.spec
            lower = Path(self.lower(spec.commit_sha))
            fresh_exchange(folder, self._uid)
            image = find_image(api, spec.image, self._settings.cache_dir, _silent)
            interpreter = self._python(api, image)
            chosen = spec.tracer if trace and interpreter is not None else None
            made = self._make(
                api, folder, lower, spec, image, interpreter, command=command, limits=limits, tracer=chosen
            )
            running = Running(api, made, limits, folder.logs, LOG_MB)
            try:
                pid = running.start()
                gate = egress_group(pid)
                watch = Watch(
                    pid=pid,
                    gate=gate,
                    uid=self._uid,
                    folders=(str(folder.upper), str(folder.exchange)),
                    disk_mb=limits.disk_mb,
                    ways=open_ways(spec.egress),
                    upload_kb=UPLOAD_KB,
                )
                with watched(
                    chosen,
                    Plan(groups={}, rlimits={}, sampled_memory_mb=0, gate=gate),
                    folder,
                    tracing=self._tracer,
                    inside=self._inside,
                    interpreters=(),  # an image's programs have no path on the host: they are known by their names
                ) as counting:
                    answer, oom = running.run(watch, alive, blocked)
                    outputs = read_outputs(folder.exchange / "out")
                    found = counting.trace(interpreter) if interpreter is not None else None
            finally:
                running.remove()
            logs = read_logs(folder.logs)
        return to_execution(answer, limits, outputs=outputs, logs=logs, trace=found, oom_kills=int(oom))

    def reap(self, keep: frozenset[str]) -> tuple[str, ...]:
        with contextlib.suppress(SandboxFailed), daemon() as api, docker_errors("containers are not shown"):
            for found in api.containers(all=True, filters={"label": f"{LABEL}={self.name}"}):
                if not _owned(found["Labels"]):
                    with contextlib.suppress(NotFound, APIError):
                        api.remove_container(found["Id"], force=True, v=True)
            for volume in api.volumes(filters={"label": f"{LABEL}={self.name}", "dangling": True})["Volumes"] or ():
                if not _owned(volume["Labels"]):
                    with contextlib.suppress(NotFound, APIError):
                        api.remove_volume(volume["Name"], force=True)
        return super().reap(keep)

    def _make(
        self,
        api: docker.APIClient,
        folder: BoxFolder,
        lower: Path,
        spec: SandboxSpec,
        image: str,
        interpreter: Interpreter | None,
        *,
        command: str,
        limits: Limits,
        tracer: TracerName | None,
    ) -> str:
        uid = self._uid if self._uid is not None else os.getuid()
        owner = present_process()
        labels = {
            LABEL: self.name,
            "smp.box": folder.id,
            "smp.session": spec.session_id,
            "smp.owner": f"{owner.pid}:{owner.started}:{owner.boot}",
        }
        size = limits.disk_mb << 20
        with docker_errors("the container cannot be made"):
            host = api.create_host_config(
                network_mode="none",
                dns=["127.0.0.1"],
                dns_opt=["timeout:1", "attempts:1"],
                cap_drop=["ALL"],
                security_opt=["no-new-privileges", f"seccomp={profile()}"],
                read_only=True,
                mounts=self._mounts(folder, lower, interpreter, labels, uid),
                tmpfs=_memory_file_systems(size, uid),
                # Docker turns IPv6 off where there is no network, and a box has its own ::1.
                sysctls={"net.ipv6.conf.all.disable_ipv6": "0"},
                shm_size=size,
                mem_limit=limits.memory_mb << 20,
                memswap_limit=limits.memory_mb << 20,
                pids_limit=limits.pids + _OWN_PROCESSES,
                cpu_period=_PERIOD_US,
                cpu_quota=limits.cpu_pct * _PERIOD_US // 100,
                ulimits=[
                    Ulimit(name="core", soft=0, hard=0),
                    Ulimit(name="nofile", soft=4096, hard=4096),
                    Ulimit(name="fsize", soft=size, hard=size),
                    Ulimit(name="memlock", soft=1 << 16, hard=1 << 16),
                ],
                ipc_mode="private",
                runtime=self._settings.sandbox.runtime or None,
                log_config=LogConfig(type="none"),
                init=False,
            )
            made = api.create_container(
                image,
                ["-c", BOOT, "sh", command],
                entrypoint=["/bin/sh"],
                user=f"{uid}:{uid}",
                hostname="box",
                working_dir="/work",
                stdin_open=True,
                environment=self._variables(lower, interpreter, tracer),
                labels=labels,
                host_config=host,
            )
        return str(made["Id"])

    def _mounts(
        self, folder: BoxFolder, lower: Path, interpreter: Interpreter | None, labels: dict[str, str], uid: int
    ) -> list[Mount]:
        layers = f"lowerdir={lower},upperdir={folder.upper},workdir={folder.work}"
        overlay = DriverConfig("local", {"type": "overlay", "device": "overlay", "o": layers})
        made = [Mount("/work", None, type="volume", driver_config=overlay, no_copy=True, labels=labels)]
        made.append(Mount("/smp", str(folder.exchange), type="bind"))
        binds = [(str(self._inside), INSIDE)]
        if interpreter is not None:
            binds.append((str(self._layer(lower, interpreter, _silent)), PLACE))
        binds += [(str(store), f"{OBJECTS}/{number}") for number, store in enumerate(self._repository.objects)]
        packages = self._settings.repo / "node_modules"
        # Where Node looks last for what the checkout lacks. A link could lead anywhere on the host.
        if packages.is_dir() and not packages.is_symlink():
            binds.append((str(packages), "/node_modules"))
        etc = folder.path / "etc"
        etc.mkdir(mode=0o755, exist_ok=True)
        for name, text in _FILES.items():
            (etc / name).write_text(text.format(uid=uid))
            (etc / name).chmod(0o644)
            binds.append((str(etc / name), f"/etc/{name}"))
        return made + [Mount(target, source, type="bind", read_only=True) for source, target in binds]

    def _variables(self, lower: Path, interpreter: Interpreter | None, tracer: TracerName | None) -> dict[str, str]:
        source = ["/work/src"] if (lower / "src").is_dir() else []
        chosen = self._settings.sandbox.environment
        tracing = tracing_variables(tracer)
        return VARIABLES | {"PYTHONPATH": ":".join([*source, "/work"])} | chosen | joined(tracing, chosen)


def _memory_file_systems(size: int, uid: int) -> dict[str, str]:
    """By place. The last two hide what Docker shows of the host's devices, modules and control groups."""
    own = f"size={size},uid={uid},gid={uid},nosuid,nodev,exec"
    return {
        "/tmp": f"{own},mode=1777",  # noqa: S108 - a path in the box
        "/home/agent": f"{own},mode=0700",
        "/run": "size=64k,mode=0755",
        "/sys": "size=64k,mode=0555",
        "/sys/fs/cgroup": "size=4k,mode=0000",
    }


_PYTHONS: dict[str, Interpreter | None] = {}


def _owned(labels: dict[str, str]) -> bool:
    """Whether the process that made a container or volume still runs."""
    pid, started, boot = (labels.get("smp.owner", "") + "::").split(":")[:3]
    if not pid.isdigit() or not started.isdigit():
        return False
    return Owner(pid=int(pid), started=int(started), boot=boot).alive()


def _silent(_: str) -> None:
    return None


def _no_beat() -> None:
    return None
