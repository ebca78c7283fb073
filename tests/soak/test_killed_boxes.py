"""Killed at twenty random moments of spawn, execute and destroy: after the reaper nothing of any box is left.

Run by `make soak`; `tests/contract/sandbox/test_box_limits.py` kills owners of running commands in `make test`.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.limits import present_rights
from smp.bootstrap import DRIVERS
from smp.settings import load_settings

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

KILLS = 20
SEED = 20_261_130
OWNER = """
import pathlib, sys
from smp.adapters.clock_system import SystemClock
from smp.bootstrap import DRIVERS
from smp.domain.sandboxes import Limits, SandboxSpec
from smp.settings import load_settings
repo, head, token, name = sys.argv[1:]
driver = DRIVERS[name](load_settings(pathlib.Path(repo)), SystemClock())
driver.capabilities()
print("ready", flush=True)
while True:
    box = driver.spawn(SandboxSpec(sandbox_id=SystemClock().fresh_id("box"), session_id=token, commit_sha=head))
    driver.execute(box, f"(setsid sleep 300 &) ; head -c 100000 /dev/zero > f; : {token}", limits=Limits())
    driver.destroy(box)
    print("round", flush=True)
"""


def processes(token: str) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            named = entry.name.isdigit() and token.encode() in (entry / "cmdline").read_bytes()
            if named and (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                found.append(entry.name)
        except OSError:
            continue
    return found


def groups() -> set[str]:
    """Control groups of boxes and of trials."""
    own = present_rights().groups
    return {
        f"{parent}/{name}" for parent in (own.folders() if own else ()) for name in os.listdir(parent) if "-" in name
    }


def drivers() -> list[str]:
    """Those that need no daemon and can be had here."""
    machines = os.geteuid() == 0 and shutil.which("qemu-system-x86_64") is not None
    return ["bubblewrap", "microvm"] if machines else ["bubblewrap"]


@pytest.mark.parametrize("name", drivers())
def test_nothing_is_left(tmp_path: Path, name: str) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "a.txt").write_text("a\n")
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=repo, check=True, capture_output=True, text=True).stdout
    chance = random.Random(SEED)
    token = f"smp-killed-{os.getpid()}"
    before = groups()
    for _ in range(KILLS):
        owner = subprocess.Popen(
            [sys.executable, "-c", OWNER, str(repo), head.strip(), token, name], stdout=subprocess.PIPE, text=True
        )
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        # One whole round first, which also tells how long a round takes; the moment is then anywhere in the next one.
        begun = time.monotonic()
        assert owner.stdout.readline() == "round\n"
        time.sleep(chance.random() * (time.monotonic() - begun))
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    deadline = time.monotonic() + 20
    while processes(token) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes(token) == []  # a virtual machine has its session in its arguments, which is the token
    driver = DRIVERS[name](load_settings(repo), SystemClock())
    driver.reap(frozenset())
    boxes = repo / ".smp" / "boxes"
    # What has no record may be a box that someone is just making; it is taken after an hour.
    for path in boxes.glob("box_*"):
        os.utime(path, (0, 0))
    driver.reap(frozenset())
    assert sorted(path.name for path in boxes.glob("box_*")) == []
    assert groups() <= before
    assert str(boxes) not in Path("/proc/self/mountinfo").read_text()
