"""The microvm driver against real machines: what the port promises, by the means of a guest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_microvm.driver import MicrovmDriver
from smp.domain.errors import SandboxFailed, SandboxNotFound
from smp.domain.ids import CommitSha, FilePath, SandboxId, SessionId
from smp.domain.sandboxes import (
    ChangedFile,
    EgressPolicy,
    Execution,
    Limits,
    NetworkBlock,
    Sandbox,
    SandboxSpec,
    TracerName,
)
from smp.settings import Settings
from tests.builders.alive_host import alive_host

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("qemu-system-x86_64") is None, reason="root and QEMU are needed"
    ),
]

Run = Callable[..., Execution]
ATTEMPTS = Path(__file__).with_name("attempts.py")
SESSION = SessionId(f"ses_test{os.getpid()}")


@pytest.fixture
def driver(settings: Settings) -> MicrovmDriver:
    return MicrovmDriver(settings, SystemClock())


@pytest.fixture
def box(driver: MicrovmDriver, head: CommitSha) -> Iterator[Sandbox]:
    made = driver.spawn(spec(head))
    yield made
    driver.destroy(made)


@pytest.fixture
def run(driver: MicrovmDriver, box: Sandbox) -> Run:
    def execute(command: str, **limits: int) -> Execution:
        narrow = {"memory_mb": 256, "disk_mb": 32, "pids": 64, "timeout_ms": 120_000} | limits
        return driver.execute(box, command, limits=Limits(**narrow))

    return execute


def spec(head: CommitSha, **changes: object) -> SandboxSpec:
    plain = SandboxSpec(
        sandbox_id=SandboxId(SystemClock().fresh_id("box")),
        session_id=SESSION,
        commit_sha=head,
        tracer=TracerName.MONITORING,
    )
    return replace(plain, **changes)


def machines() -> list[str]:
    """Command lines of the machines that run boxes of this test run."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().decode(errors="replace")
        except OSError:
            continue
        if "\0smp-microvm:" in line and f":{SESSION}:" in line:
            found.append(line)
    return found


def test_it_can_do_here_what_the_other_drivers_do(driver: MicrovmDriver) -> None:
    found = driver.capabilities()
    assert (found.available, found.copy_on_write, found.missing) == (True, True, ())
    assert (found.egress, found.tracers) == ("ebpf", ("monitoring",))


def test_changes_stay_between_commands_and_are_the_change_set(driver: MicrovmDriver, box: Sandbox, run: Run) -> None:
    first = run(
        "echo more >>README.md && rm run.sh && echo new >src/new.py && rm -r docs/a && mkdir docs/a && echo 3 >docs/a/3 && "
        "ln -s README.md link && printf '#!/bin/sh\\n' >go.sh && chmod +x go.sh && umask 0"
    )
    assert (first.exit_code, first.stderr) == (0, "")
    done = run("cat src/new.py && ls docs/a && git status --short && git log --oneline | wc -l")
    expected = ["new", "3", "M", "README.md", "D", "docs/a/one.txt", "D", "docs/a/two.txt", "D", "run.sh"]
    assert done.stdout.split()[: len(expected)] == expected
    assert done.stdout.split()[-1] == "1"
    found = {each.path: (each.content, each.mode, each.link) for each in driver.changes(box)}
    assert found == {
        "README.md": (b"read me\nmore\n", 0o644, None),
        "docs/a/3": (b"3\n", 0o644, None),
        "docs/a/one.txt": (None, 0o644, None),
        "docs/a/two.txt": (None, 0o644, None),
        "go.sh": (b"#!/bin/sh\n", 0o755, None),
        "link": (b"README.md", 0o120000, "README.md"),
        "run.sh": (None, 0o644, None),
        "src/new.py": (b"new\n", 0o644, None),
    }


def test_tests_run_with_the_packages_and_calls_are_counted(driver: MicrovmDriver, box: Sandbox, run: Run) -> None:
    driver.write(box, [ChangedFile(path=FilePath("given.txt"), content=b"given\n")])
    done = run("cat given.txt; python -m pytest -q tests; echo kept >$SMP_OUT/kept.txt")
    assert done.stdout.startswith("given\n")
    assert "1 passed" in done.stdout
    assert done.outputs == {"kept.txt": b"kept\n"}
    assert done.trace is not None
    assert ("test_double", "double", 1) in {
        (call.caller.qualname, call.callee.qualname, call.count) for call in done.trace.calls
    }


def test_nothing_is_reached_and_each_attempt_is_named_while_the_command_runs(
    driver: MicrovmDriver, box: Sandbox
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
    # two processors may report in another order than the attempts were made in
    targets = {(block.host, block.port, block.protocol) for block in done.network_blocks}
    assert targets == {("paste.example.org", 443, "tcp"), ("2001:db8::1", 80, "tcp"), ("192.0.2.7", 53, "udp")}
    assert len(done.network_blocks) == len(targets)
    assert {block.host for block in seen} == {block.host for block in done.network_blocks}


def test_no_way_out_is_open(driver: MicrovmDriver, box: Sandbox, run: Run, tmp_path: Path) -> None:
    with alive_host(tmp_path) as host:
        host.prove_alive()
        driver.write(box, [ChangedFile(path=FilePath("attempts.py"), content=ATTEMPTS.read_bytes())])
        done = run(f"python attempts.py '{json.dumps(host.given)}'")
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)
        calls = {name: outcome for name, outcome in found["calls"].items() if not name.startswith("allowed")}
        assert {name for name, outcome in calls.items() if outcome == "open"} == set()
        assert calls["32-bit call"] == "signal 31"
        outward = {
            name: outcome for name, outcome in found["network"].items() if name.startswith(("tcp", "udp", "dns"))
        }
        assert set(outward.values()) == {"ECONNREFUSED"}, outward
        status = {name: found["files"].pop(name) for name in ("CapEff", "CapBnd", "NoNewPrivs")}
        assert status == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"}
        assert {name for name, outcome in found["files"].items() if outcome == "open"} == set()
        assert host.hits == []
        host.assert_intact()


def test_limits_end_what_exceeds_them(run: Run) -> None:
    slow = run("echo begun >begun; (setsid sleep 300 &) ; sleep 300", timeout_ms=5000)
    assert (slow.exit_code, slow.timed_out) == (124, True)
    hog = run("cat begun; python3 -c 'x = bytearray(600 << 20)'")
    assert (hog.stdout, hog.memory_killed) == ("begun\n", True)
    full = run("for i in 1 2 3 4; do head -c 20000000 /dev/zero >big$i; done; sleep 60")
    assert "more than 32 MB written to disk" in full.stderr


def test_output_keeps_head_and_tail_and_the_whole_by_reference(run: Run) -> None:
    done = run("seq 1 100000")
    assert done.truncated
    assert (done.stdout[:2], done.stdout[-7:]) == ("1\n", "100000\n")
    assert done.logs["stdout"].count(b"\n") == 100_000


def test_two_restored_machines_are_not_twins(run: Run) -> None:
    command = "od -An -tx1 -N16 /dev/urandom; date +%s; ls -A /smp/out /tmp"
    (one, then, *more), (other, later, *others) = (run(command).stdout.splitlines() for _ in range(2))
    assert one != other
    assert abs(int(then) - time.time()) < 600
    assert int(then) <= int(later)
    assert more == others


def test_a_guest_has_no_network_device_and_only_the_history_of_its_commit(
    driver: MicrovmDriver, head: CommitSha, repo: Path
) -> None:
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t"]
    for command in (["checkout", "-qb", "other"], ["commit", "-qm", "elsewhere", "--allow-empty"]):
        subprocess.run([*git, *command], cwd=repo, check=True)
    elsewhere = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True)
    box = driver.spawn(spec(head))
    try:
        done = driver.execute(
            box,
            f"cat /proc/net/dev | tail -n +3 | cut -d: -f1; git cat-file -t {head}; git cat-file -t {elsewhere.stdout}",
            limits=Limits(),
        )
    finally:
        driver.destroy(box)
    assert done.stdout.split() == ["lo", "commit"]


def test_a_cancelled_command_takes_its_machine_with_it_and_changes_nothing(driver: MicrovmDriver, box: Sandbox) -> None:
    beats = 0

    def beat() -> None:
        nonlocal beats
        beats += 1
        if beats > 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        driver.execute(box, "echo x >x; sleep 600", limits=Limits(), heartbeat=beat)
    assert machines() == []
    assert driver.changes(box) == ()


def test_a_killed_owner_leaves_nothing_after_the_next_start(
    driver: MicrovmDriver, head: CommitSha, settings: Settings
) -> None:
    program = (
        "import sys; from pathlib import Path; from smp.adapters.clock_system import SystemClock; "
        "from smp.adapters.sandbox_microvm.driver import MicrovmDriver; from smp.domain.sandboxes import Limits, SandboxSpec; "
        "from smp.settings import load_settings; driver = MicrovmDriver(load_settings(Path(sys.argv[1])), SystemClock()); "
        "box = driver.spawn(SandboxSpec(sandbox_id='box_doomed', session_id=sys.argv[3], commit_sha=sys.argv[2])); "
        "driver.execute(box, 'sleep 600', limits=Limits())"
    )
    owner = subprocess.Popen([sys.executable, "-c", program, str(settings.repo), head, SESSION])
    wait_until(lambda: bool(machines()))
    owner.kill()
    owner.wait()
    wait_until(lambda: not machines())
    assert driver.reap(frozenset()) == ("box_doomed",)
    assert not (settings.data_dir / "boxes" / "box_doomed").exists()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_it_cannot_do_is_refused_with_the_way_out(driver: MicrovmDriver, head: CommitSha) -> None:
    for changes, way_out in (
        ({"image": "debian:12"}, "leave `image` out"),
        ({"services": ("redis:7",)}, "leave `services` out"),
        ({"tracer": TracerName.EBPF}, "monitoring"),
        ({"egress": EgressPolicy(name="registry_only", allowed_hosts=("pypi.org",))}, "deny_all"),
    ):
        with pytest.raises(SandboxFailed, match=way_out):
            driver.spawn(spec(head, **changes))


def test_without_qemu_the_command_that_installs_it_is_named(
    driver: MicrovmDriver, head: CommitSha, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    assert not driver.capabilities().available
    with pytest.raises(SandboxFailed, match="apt-get install --no-install-recommends qemu-system-x86"):
        driver.spawn(spec(head))


def test_a_destroyed_box_is_gone(driver: MicrovmDriver, head: CommitSha) -> None:
    box = driver.spawn(spec(head))
    assert driver.destroy(box) > 0
    with pytest.raises(SandboxNotFound):
        driver.execute(box, "true", limits=Limits())
    assert driver.destroy(box) == 0
