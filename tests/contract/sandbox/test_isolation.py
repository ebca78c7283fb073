"""Nothing leaves a box, and no box sees another: each refusal is against a target that was proved to be there."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smp.adapters.sandbox_bubblewrap.limits import Rights
from smp.domain.ids import FilePath
from smp.domain.sandboxes import ChangedFile, Execution, Limits, NetworkBlock, Sandbox
from smp.ports.sandbox_driver import SandboxDriver
from tests.builders.alive_host import Host, alive_host

pytestmark = pytest.mark.sandbox

Spawn = Callable[..., Sandbox]
Run = Callable[..., Execution]
ATTEMPTS = Path(__file__).with_name("attempts.py")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with alive_host(tmp_path) as found:
        yield found


def test_no_way_out_is_open(host: Host, driver: SandboxDriver, box: Sandbox, run: Run, rights: Rights) -> None:
    host.prove_alive()
    driver.write(box, [ChangedFile(path=FilePath("attempts.py"), content=ATTEMPTS.read_bytes())])
    done = run(f"python attempts.py '{json.dumps(host.given)}'")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    refused = {"EPERM", "EACCES", "ENOSYS", "ENOSPC", "EINVAL", "EPROTONOSUPPORT", "EAFNOSUPPORT", "ESOCKTNOSUPPORT"}
    for name, outcome in found["calls"].items():
        if name.startswith("allowed"):
            assert outcome == "open", name
        elif name == "32-bit call":
            assert outcome == "signal 31"  # SIGSYS
        else:
            assert outcome in refused, (name, outcome)
    assert {name: outcome for name, outcome in found["network"].items() if outcome == "open"} == {}
    outward = {name: outcome for name, outcome in found["network"].items() if name.startswith(("tcp", "udp", "dns"))}
    assert set(outward.values()) == {"ECONNREFUSED"}, outward
    assert found["network"]["abstract socket"] == "ECONNREFUSED"
    assert found["network"]["unix socket"] == "ENOENT"
    status = {name: found["files"].pop(name) for name in ("CapEff", "CapBnd", "NoNewPrivs")}
    assert status == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"}
    assert found["descriptors"] == ["0", "1", "2", "3"]
    open_files = {name for name, outcome in found["files"].items() if outcome == "open"}
    if rights.uid is None and os.geteuid() == 0:
        open_files.discard("core_pattern")  # opened by its owner on the host; writing needs rights that no box has
    assert open_files == set()
    assert host.hits == []
    assert not Path("/smp-was-here").exists()


def test_loopback_inside_the_box_works(run: Run) -> None:
    done = run(
        "python -c \"import socket; s = socket.create_server(('127.0.0.1', 0)); "
        "c = socket.create_connection(s.getsockname()); c.sendall(b'x'); print(s.accept()[0].recv(1))\""
    )
    assert (done.exit_code, done.stdout, done.network_blocks) == (0, "b'x'\n", ())


def test_an_attempt_to_leave_is_refused_and_reported_by_name_and_address(run: Run) -> None:
    done = run(
        "cat > c.py <<'X'\n"
        "import socket, sys\n"
        "for host in ('api.example.com', '203.0.113.7'):\n"
        "    try: socket.create_connection((host, 443), timeout=5)\n"
        "    except OSError as error: print(type(error).__name__)\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "try: s.sendto(b'x', ('203.0.113.8', 53))\n"
        "except OSError as error: print(type(error).__name__)\n"
        "X\n"
        "python c.py"
    )
    assert done.stdout == "ConnectionRefusedError\n" * 3, done.stderr
    found = [(block.host, block.port, block.reason, block.protocol, block.process) for block in done.network_blocks]
    assert found == [
        ("api.example.com", 443, "egress_blocked", "tcp", "python"),
        ("203.0.113.7", 443, "egress_blocked", "tcp", "python"),
        ("203.0.113.8", 53, "egress_blocked", "udp", "python"),
    ]


def test_an_attempt_is_told_while_the_command_still_runs(driver: SandboxDriver, box: Sandbox) -> None:
    told = []

    def answer(block: NetworkBlock) -> None:
        told.append((block.host, block.port, block.address, block.protocol, block.process))
        (Path(box.state_dir) / "exchange/out/told").touch()

    command = (
        "python -c \"import socket; socket.create_connection(('late.example.com', 443))\" 2>/dev/null; "
        "while ! test -e $SMP_OUT/told; do sleep 0.01; done"
    )
    done = driver.execute(box, command, limits=Limits(timeout_ms=60_000), blocked=answer)
    assert (done.exit_code, done.timed_out) == (0, False)
    assert told == [("late.example.com", 443, done.network_blocks[0].address, "tcp", "python")]
    assert len(done.network_blocks) == 1


def test_an_attempt_from_a_daemon_without_environment_is_refused_too(run: Run) -> None:
    done = run(
        "setsid env -i /opt/venv/bin/python -I -c \"import socket; socket.create_connection(('203.0.113.9', 80))\" "
        "2>$SMP_OUT/said & while ! grep -q Error $SMP_OUT/said; do :; done"
    )
    assert b"ConnectionRefusedError" in done.outputs["said"]
    assert [block.address for block in done.network_blocks] == ["203.0.113.9"]


def test_boxes_do_not_see_each_other(run: Run, spawn: Spawn, driver: SandboxDriver, box: Sandbox) -> None:
    other = spawn()
    driver.write(other, [ChangedFile(path=FilePath("private"), content=b"PRIVATE-CONTENT")])
    done = run(
        f"cat {other.state_dir}/layer/upper/private; grep -rs PRIVATE-CONTENT /work /smp /tmp /opt/smp; "
        "ls /proc | grep -c '^[0-9]'"
    )
    assert "PRIVATE" not in done.stdout
    assert int(done.stdout.split()[-1]) < 10


def test_the_present_environment_stays_outside(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMP_TEST_CANARY", "canary")
    assert "canary" not in run("env; cat /proc/1/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n'").stdout


def test_a_box_is_no_root_and_only_its_own_folders_are_writable(run: Run) -> None:
    done = run(
        "id -u; for d in / /usr /etc /opt/venv /opt/smp /opt/git-objects/0 /dev /var/tmp /run /root; "
        "do touch $d/x 2>/dev/null && echo writable $d; done; touch /tmp/x ~/x /smp/out/x /work/x /dev/shm/x && echo fine"
    )
    assert done.stdout == "1000\nfine\n"


def test_a_box_that_root_started_runs_as_a_user_of_its_own(run: Run, box: Sandbox, rights: Rights) -> None:
    run("touch mine")
    owner = Path(box.state_dir, "layer", "upper", "mine").stat().st_uid
    assert owner == (rights.uid or os.getuid())
    assert rights.uid != 0
