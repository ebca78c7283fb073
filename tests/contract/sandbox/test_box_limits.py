"""Limits of a box hold, and nothing that ran in it stays: not after its end, not after its owner's."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import Rights, present_rights
from smp.domain.errors import SandboxFailed, SandboxNotFound
from smp.domain.sandboxes import Execution, Limits, Sandbox
from smp.ports.sandbox_driver import SandboxDriver
from smp.settings import Settings

pytestmark = pytest.mark.sandbox

Spawn = Callable[..., Sandbox]
Run = Callable[..., Execution]
DEADLINE_S = 20.0


def alive(token: str) -> list[str]:
    """Command lines of living processes of this host that carry a token."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
                state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                continue
            if token.encode() in line and state != "Z":
                found.append(line.replace(b"\0", b" ").decode(errors="replace")[:200])
    return found


def gone(token: str) -> bool:
    """Whether no process carries the token (any more); the kernel may need a moment to end them."""
    deadline = time.monotonic() + DEADLINE_S
    while alive(token):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def test_time_is_limited_and_everything_dies_with_it(run: Run) -> None:
    token = secrets.token_hex(8)
    done = run(
        f"echo begun; trap '' TERM HUP INT; (setsid sh -c 'sleep 300; echo {token}' &) ; sh -c 'sleep 300; echo {token}'",
        timeout_ms=1500,
    )
    assert (done.exit_code, done.timed_out, done.stdout) == (124, True, "begun\n")
    assert "killed after 1500 ms" in done.stderr
    assert alive(token) == []
    assert run("echo next").stdout == "next\n"


def test_what_a_command_leaves_behind_dies_at_its_end(run: Run) -> None:
    token = secrets.token_hex(8)
    done = run(f"(setsid sh -c 'exec 0<&- 1>&- 2>&-; sleep 300; : {token}' &); echo done")
    assert (done.stdout, done.exit_code) == ("done\n", 0)
    assert gone(token)


def test_memory_is_limited(run: Run) -> None:
    eat = "python -c \"x = [bytearray(b'x' * (1 << 20)) for _ in range(400)]; print(len(x))\""
    assert run(eat, memory_mb=600).stdout == "400\n"
    done = run(eat, memory_mb=150)
    assert done.exit_code != 0
    assert "400" not in done.stdout
    assert done.memory_killed or "MemoryError" in done.stderr


def test_memory_of_the_whole_box_is_limited(run: Run) -> None:
    eat = "python -c \"import time; x = bytearray(b'x' * (60 << 20)); time.sleep(3)\" & "
    done = run(f"{eat * 6} wait", memory_mb=200, timeout_ms=30_000)
    assert done.memory_killed


# Root is exempt from RLIMIT_NPROC, so root in a user namespace does not stand for an ordinary user here.
@pytest.mark.parametrize("rights", [present_rights()], indirect=True, ids=["own"])
def test_processes_are_limited(run: Run) -> None:
    done = run("for i in $(seq 200); do sleep 60 & done; echo all", pids=40)
    assert "all" not in done.stdout
    assert "fork" in done.stderr.lower()


def test_disk_is_limited(run: Run) -> None:
    done = run("i=0; while :; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done", disk_mb=20, timeout_ms=60_000)
    assert done.exit_code != 0
    assert not done.timed_out
    assert "written to disk" in done.stderr
    assert run("rm f*; ls", disk_mb=20).stdout.startswith("README.md\n")  # it may still be cleaned up


def test_one_huge_file_and_memory_file_systems_are_limited(run: Run) -> None:
    done = run(
        "head -c 100000000 /dev/zero > huge; for d in /tmp /dev/shm ~; do head -c 100000000 /dev/zero > $d/huge; done; "
        "du -ac --apparent-size -BM huge /tmp/huge /dev/shm/huge ~/huge | cut -f1",
        disk_mb=10,
        memory_mb=512,
    )
    sizes = [int(size.rstrip("M")) for size in done.stdout.split()[:-1]]
    assert all(size <= 10 for size in sizes), done.stdout


def test_head_and_tail_of_the_output_are_kept(run: Run) -> None:
    done = run("echo first; head -c 60000000 /dev/zero | tr '\\0' 'x'; echo; echo last", memory_mb=256)
    assert done.truncated
    assert done.stdout.startswith("first\nxxx")
    assert done.stdout.endswith("xxx\nlast\n")
    assert len(done.stdout) < 300_000
    assert "bytes left out" in done.stdout
    assert done.exit_code == 0
    assert list(done.logs) == ["stdout"]
    assert len(done.logs["stdout"]) == 32 << 20  # of 60 MB
    assert done.logs["stdout"].startswith(b"first\nxxx")


def test_a_stream_that_is_cut_is_there_whole_and_one_that_is_not_is_kept_once(run: Run, box: Sandbox) -> None:
    done = run("seq 100000; echo short >&2; ls /smp")
    assert (done.truncated, done.stderr) == (True, "short\n")
    whole = "".join(f"{number}\n" for number in range(1, 100_001)) + "out\ntrace\n"
    assert done.logs == {"stdout": whole.encode()}
    assert run("echo again").logs == {}
    assert not Path(box.state_dir, "logs").exists()


def test_commands_of_one_box_wait_for_each_other(driver: SandboxDriver, box: Sandbox) -> None:
    script = "test -e running && echo overlap >> bad; touch running; python -c pass; rm running"
    threads = [
        threading.Thread(target=driver.execute, args=(box, script), kwargs={"limits": Limits()}) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert driver.changes(box) == ()


def test_boxes_work_at_the_same_time(driver: SandboxDriver, spawn: Spawn) -> None:
    found: dict[int, str] = {}

    def work(number: int) -> None:
        box = spawn()
        driver.execute(box, f"echo {number} > mine", limits=Limits())
        found[number] = driver.execute(box, "cat mine", limits=Limits()).stdout

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"{number}\n" for number in range(6)}


OWNER = """
import os, sys, pathlib, msgspec, threading, time
from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import Rights
from smp.domain.sandboxes import Limits, Sandbox
from smp.settings import load_settings
repo, rights, box, token = sys.argv[1:]
driver = BubblewrapDriver(load_settings(pathlib.Path(repo)), SystemClock(), msgspec.json.decode(rights, type=Rights))
print("ready", flush=True)
if token.startswith("fork"):
    def fork():
        while not any(pathlib.Path(box_folder).glob("exchange/out/running")):
            time.sleep(0.01)
        if os.fork() == 0:
            print(os.getpid(), flush=True)
            time.sleep(120)
            os._exit(0)
    box_folder = msgspec.json.decode(box, type=Sandbox).state_dir
    threading.Thread(target=fork).start()
driver.execute(msgspec.json.decode(box, type=Sandbox), f"touch $SMP_OUT/running; while :; do sleep 300; done; : {token}", limits=Limits())
"""


@pytest.fixture
def start_owner(settings: Settings, rights: Rights, box: Sandbox) -> Callable[[str], subprocess.Popen[str]]:
    import msgspec

    def start(token: str) -> subprocess.Popen[str]:
        arguments = [str(settings.repo), msgspec.json.encode(rights).decode(), msgspec.json.encode(box).decode(), token]
        process = subprocess.Popen([sys.executable, "-c", OWNER, *arguments], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    return start


@pytest.mark.parametrize("delay_ms", [5, 25, 40, 50, 60, 70, 80, 90, 100, 120, 150, 300])
def test_nothing_is_left_when_the_owner_is_killed(
    start_owner: Callable[[str], subprocess.Popen[str]], delay_ms: int, box: Sandbox, run: Run
) -> None:
    token = secrets.token_hex(8)
    owner = start_owner(token)
    time.sleep(delay_ms / 1000)  # where in the start of a box the kill falls is what varies here
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    assert gone(token), alive(token)
    assert box.spec.sandbox_id not in Path("/proc/self/mountinfo").read_text()
    assert run("echo usable").stdout == "usable\n"


def test_a_process_that_the_owner_forked_does_not_keep_the_command_alive(
    start_owner: Callable[[str], subprocess.Popen[str]], run: Run
) -> None:
    token = f"fork{secrets.token_hex(8)}"
    owner = start_owner(token)
    assert owner.stdout is not None
    forked = int(owner.stdout.readline())
    try:
        owner.send_signal(signal.SIGKILL)
        owner.wait()
        assert gone(f": {token}"), alive(f": {token}")
        assert run("echo usable").stdout == "usable\n"
    finally:
        os.kill(forked, signal.SIGKILL)


def test_a_box_outlives_the_kill_and_is_reaped_when_nobody_keeps_it(
    start_owner: Callable[[str], subprocess.Popen[str]], driver: SandboxDriver, box: Sandbox, settings: Settings
) -> None:
    assert driver.reap(frozenset()) == ()  # its maker, this process, is alive
    orphan = subprocess.run(
        [sys.executable, "-c", ORPHAN, str(settings.repo), box.spec.commit_sha],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    assert driver.reap(frozenset({orphan})) == ()
    assert driver.reap(frozenset()) == (orphan,)
    assert not Path(box.state_dir).with_name(orphan).exists()
    assert Path(box.state_dir).exists()


ORPHAN = """
import sys, pathlib
from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.domain.sandboxes import SandboxSpec
from smp.settings import load_settings
driver = BubblewrapDriver(load_settings(pathlib.Path(sys.argv[1])), SystemClock())
spec = SandboxSpec(sandbox_id=SystemClock().fresh_id("box"), session_id="ses_gone", commit_sha=sys.argv[2])
print(driver.spawn(spec).spec.sandbox_id)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="control groups need root")
@pytest.mark.parametrize("rights", [present_rights()], indirect=True, ids=["own"])
def test_no_control_group_is_left(run: Run, box: Sandbox, rights: Rights) -> None:
    run("true")
    assert rights.groups is not None
    left = [name for parent in rights.groups.parents for name in os.listdir(parent) if box.spec.sandbox_id in name]
    assert left == []


def test_another_driver_finds_the_box(settings: Settings, rights: Rights, box: Sandbox, run: Run) -> None:
    run("echo kept > kept")
    other = BubblewrapDriver(settings, SystemClock(), rights)
    assert other.execute(box, "cat kept", limits=Limits()).stdout == "kept\n"


NEST = """python3 -c '
import os
for _ in range({depth}):
    os.mkdir("d"); os.chdir("d")
os.system("head -c {size} /dev/zero > file")
'"""


def test_no_folder_is_too_deep_for_the_disk_limit(run: Run, driver: SandboxDriver, box: Sandbox) -> None:
    # Three files, each within the limit of one file, where no path reaches.
    nests = [f"(mkdir {name}; cd {name}; {NEST.format(depth=2_500, size=40 << 20)})" for name in "abc"]
    assert run("; ".join([*nests, "sleep 30"])).exit_code == 137
    driver.destroy(box)
    with pytest.raises(SandboxNotFound):
        driver.changes(box)


def test_folders_too_deep_to_compare_are_said(run: Run, driver: SandboxDriver, box: Sandbox) -> None:
    assert run(NEST.format(depth=1_500, size=1)).exit_code == 0
    with pytest.raises(SandboxFailed, match="folders deep"):
        driver.changes(box)
    assert run("rm -rf d").exit_code == 0
    assert driver.changes(box) == ()


def test_deep_folders_of_the_output_are_left_out(run: Run) -> None:
    found = run(f"echo kept > $SMP_OUT/kept; cd $SMP_OUT; {NEST.format(depth=1_500, size=1)}")
    assert found.outputs == {"kept": b"kept\n"}


HOLD = """python3 -c '
import mmap, os, time
kept = []
for number in range(8):
    file = open(str(number), "w+b")
    file.truncate(40 << 20)
    held = mmap.mmap(file.fileno(), 0) if {mapped} else file
    os.unlink(str(number))
    held.write(bytes(40 << 20))
    held.flush()
    if {mapped}: file.close()
    kept.append(held)
time.sleep({sleep})
'"""


@pytest.mark.parametrize("mapped", [False, True])
def test_deleted_files_that_are_held_count_as_disk(run: Run, mapped: bool) -> None:
    done = run(HOLD.format(mapped=mapped, sleep=30))
    assert done.exit_code == 137
    assert "disk" in done.stderr


def test_deleted_files_in_memory_are_not_disk(run: Run) -> None:
    command = (
        "cd /tmp; exec 3>a; rm a; head -c 40M /dev/zero >&3; cd /dev/shm; exec 4>b; rm b; head -c 40M /dev/zero >&4"
    )
    assert run(f"{command}; sleep 1; echo fine").stdout == "fine\n"
