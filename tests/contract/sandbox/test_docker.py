"""The docker driver against a real daemon: what the port promises, by the means of containers."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker
import pytest
from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_docker.driver import DockerDriver
from smp.adapters.tracer_ebpf.tracer import EbpfTracer
from smp.domain.errors import SandboxFailed
from smp.domain.ids import CommitSha, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import ChangedFile, Execution, Limits, NetworkBlock, Sandbox, SandboxSpec, TracerName
from smp.settings import Settings
from tests.builders import docker_daemon

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(not docker_daemon.can_run(), reason="root and dockerd are needed"),
]

Run = Callable[..., Execution]


@pytest.fixture(scope="module", autouse=True)
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with docker_daemon.docker_daemon(tmp_path_factory.mktemp("docker")) as found, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", found)
        yield found


@pytest.fixture
def driver(settings: Settings) -> DockerDriver:
    return DockerDriver(settings, SystemClock())


@pytest.fixture
def box(driver: DockerDriver, head: CommitSha) -> Iterator[Sandbox]:
    made = driver.spawn(spec(head))
    yield made
    driver.destroy(made)


@pytest.fixture
def run(driver: DockerDriver, box: Sandbox) -> Run:
    def execute(command: str, **limits: int) -> Execution:
        narrow = {"memory_mb": 256, "disk_mb": 32, "pids": 64, "timeout_ms": 60_000} | limits
        return driver.execute(box, command, limits=Limits(**narrow))

    return execute


def spec(head: CommitSha, *, image: str | None = None, services: tuple[str, ...] = ()) -> SandboxSpec:
    return SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SessionId("ses_test"),
        commit_sha=head,
        tracer=TracerName.MONITORING,
        image=image,
        services=services,
    )


def labelled(daemon: str) -> list[str]:
    api = docker.APIClient(daemon, version="auto")
    try:
        found = [each["Id"] for each in api.containers(all=True, filters={"label": "smp.driver=docker"})]
        volumes = api.volumes(filters={"label": "smp.driver=docker"})["Volumes"] or []
        return found + [each["Name"] for each in volumes]
    finally:
        api.close()


def test_changes_stay_between_commands_and_are_the_change_set(driver: DockerDriver, box: Sandbox, run: Run) -> None:
    assert run("echo more >>README.md && rm run.sh && echo new >src/new.py").exit_code == 0
    assert run("cat src/new.py && git status --short").stdout.split() == [
        "new",
        "M",
        "README.md",
        "D",
        "run.sh",
        "??",
        "src/new.py",
    ]
    found = {each.path: each.content for each in driver.changes(box)}
    assert found == {"README.md": b"read me\nmore\n", "run.sh": None, "src/new.py": b"new\n"}


def test_tests_run_with_the_packages_and_calls_are_counted(run: Run) -> None:
    done = run("python -m pytest -q tests; echo kept >$SMP_OUT/kept.txt")
    assert "1 passed" in done.stdout
    assert done.outputs == {"kept.txt": b"kept\n"}
    assert done.trace is not None
    assert ("test_double", "double", 1) in {
        (call.caller.qualname, call.callee.qualname, call.count) for call in done.trace.calls
    }


def test_the_kernels_tracer_counts_in_a_container(settings: Settings, head: CommitSha) -> None:
    tracer = EbpfTracer()
    if tracer.missing():
        pytest.skip(tracer.missing())
    driver = DockerDriver(settings, SystemClock(), tracer=tracer)
    box = driver.spawn(replace(spec(head), tracer=TracerName.EBPF))
    try:
        done = driver.execute(box, "python -m pytest -q tests", limits=Limits())
    finally:
        driver.destroy(box)
    assert done.trace is not None
    assert (done.trace.tracer, done.trace.missed_processes) == ("ebpf", 0)
    assert ("test_double", "double", 1) in {
        (call.caller.qualname, call.callee.qualname, call.count) for call in done.trace.calls
    }


def test_what_the_platform_writes_the_box_reads(driver: DockerDriver, box: Sandbox, run: Run) -> None:
    driver.write(box, [ChangedFile(path=FilePath("given.txt"), content=b"given\n")])
    assert run("cat given.txt").stdout == "given\n"


def test_nothing_is_reached_and_each_attempt_is_named_while_the_command_runs(
    driver: DockerDriver, box: Sandbox
) -> None:
    seen: list[NetworkBlock] = []
    program = (
        "import errno, socket\n"
        "for family, kind, target in ((2, 1, ('paste.example.org', 443)), (10, 1, ('2001:db8::1', 80)), (2, 2, ('192.0.2.7', 53))):\n"
        "    one = socket.socket(family, kind)\n"
        "    try:\n"
        "        one.connect(target)\n"
        "    except OSError as error:\n"
        "        print(errno.errorcode[error.errno])\n"
    )
    driver.write(box, [ChangedFile(path=FilePath("dial.py"), content=program.encode())])
    done = driver.execute(box, "python3 dial.py && sleep 1", limits=Limits(), blocked=seen.append)
    assert done.stdout.split() == ["ECONNREFUSED"] * 3
    targets = [(block.host, block.port, block.protocol) for block in done.network_blocks]
    assert targets == [("paste.example.org", 443, "tcp"), ("2001:db8::1", 80, "tcp"), ("192.0.2.7", 53, "udp")]
    assert {block.host for block in seen} == {block.host for block in done.network_blocks}


def test_sockets_of_other_families_namespaces_and_io_uring_are_refused(run: Run) -> None:
    program = (
        "import ctypes, json, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "found = {}\n"
        "for name, family, kind, protocol in (('vsock', 40, 1, 0), ('packet', 17, 3, 3), ('raw', 2, 3, 1), ('ping', 2, 2, 1)):\n"
        "    try:\n"
        "        socket.socket(family, kind, protocol).close(); found[name] = 0\n"
        "    except OSError as error:\n"
        "        found[name] = error.errno\n"
        "for name, number, argument in (('io_uring', 425, 8), ('unshare', 272, 0x10000000)):\n"
        "    found[name] = ctypes.get_errno() if libc.syscall(number, argument, 0) < 0 else 0\n"
        "print(json.dumps(found))\n"
    )
    done = run(f"cat >try.py <<'E'\n{program}E\npython3 try.py")
    assert json.loads(done.stdout) == dict.fromkeys(("vsock", "packet", "raw", "ping", "io_uring", "unshare"), 1)


def test_the_user_has_no_rights_and_no_socket_of_docker(run: Run) -> None:
    done = run("id -un; grep -E 'CapBnd|NoNewPrivs' /proc/self/status; ls /run/docker.sock; touch /usr/x")
    assert done.stdout.split() == ["agent", "CapBnd:", "0000000000000000", "NoNewPrivs:", "1"]
    assert "Read-only file system" in done.stderr


def test_limits_end_what_exceeds_them(run: Run) -> None:
    slow = run("(setsid sleep 300 &) ; sleep 300", timeout_ms=1500)
    assert (slow.exit_code, slow.timed_out) == (124, True)
    hog = run("python3 -c 'x = bytearray(900 << 20)'")
    assert hog.memory_killed
    full = run("for i in 1 2 3 4; do head -c 20000000 /dev/zero >big$i; done; sleep 30")
    assert "more than 32 MB written to disk" in full.stderr


def test_output_keeps_head_and_tail_and_the_whole_by_reference(run: Run) -> None:
    done = run("seq 1 100000")
    assert done.truncated
    assert done.stdout.startswith("1\n")
    assert done.stdout.endswith("100000\n")
    assert done.logs["stdout"].count(b"\n") == 100_000


def test_two_boxes_do_not_see_each_other_and_nothing_is_left(
    driver: DockerDriver, head: CommitSha, box: Sandbox, run: Run, daemon: str
) -> None:
    run("echo mine >mine.txt; git stash")
    other = driver.spawn(spec(head))
    done = driver.execute(other, "ls mine.txt; git stash list; ls -A /smp/out", limits=Limits())
    assert done.stdout == ""
    driver.destroy(other)
    assert labelled(daemon) == []
    assert "/layer/upper" not in Path("/proc/self/mountinfo").read_text()


def test_containers_of_a_dead_owner_are_reaped(driver: DockerDriver, daemon: str) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    api = docker.APIClient(daemon, version="auto")
    try:
        labels = {"smp.driver": "docker", "smp.owner": f"{ended.pid}:1:gone", "smp.box": "box_gone"}
        made = api.create_container(
            "smp-box:trixie-1", ["sleep", "300"], labels=labels, host_config=api.create_host_config(network_mode="none")
        )
        api.start(made)
    finally:
        api.close()
    driver.reap(frozenset())
    assert labelled(daemon) == []


def test_a_killed_owner_takes_the_command_with_him_and_the_reaper_the_rest(
    driver: DockerDriver, head: CommitSha, daemon: str, settings: Settings
) -> None:
    program = (
        "import sys; from pathlib import Path; from smp.adapters.clock_system import SystemClock; "
        "from smp.adapters.sandbox_docker.driver import DockerDriver; from smp.domain.sandboxes import Limits, SandboxSpec; "
        "from smp.settings import load_settings; driver = DockerDriver(load_settings(Path(sys.argv[1])), SystemClock()); "
        "box = driver.spawn(SandboxSpec(sandbox_id='box_doomed', session_id='ses_test', commit_sha=sys.argv[2])); "
        "driver.execute(box, 'touch /smp/out/begun; sleep 600', limits=Limits())"
    )
    owner = subprocess.Popen([sys.executable, "-c", program, str(settings.repo), head])
    begun = settings.data_dir / "boxes" / "box_doomed" / "exchange" / "out" / "begun"
    wait_until(begun.exists)
    owner.kill()
    owner.wait()
    api = docker.APIClient(daemon, version="auto")
    try:
        wait_until(lambda: not api.containers(filters={"label": "smp.driver=docker"}))
    finally:
        api.close()
    assert driver.reap(frozenset()) == ("box_doomed",)
    assert labelled(daemon) == []
    assert not begun.exists()
    assert "box_doomed" not in Path("/proc/self/mountinfo").read_text()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_image_that_is_not_to_be_had_is_an_error_that_says_what_is(driver: DockerDriver, head: CommitSha) -> None:
    with pytest.raises(SandboxFailed, match="leave `image` out"):
        driver.spawn(spec(head, image="registry.invalid/none:1"))


def test_without_a_daemon_the_way_out_is_named(
    driver: DockerDriver, head: CommitSha, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert not driver.capabilities().available
    with pytest.raises(SandboxFailed, match=r"apt-get install docker\.io"):
        driver.spawn(spec(head))
