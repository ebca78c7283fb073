"""A box that takes all it can get is ended by its limits, and the host has what it had."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import Rights, present_rights
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Limits, Sandbox, SandboxSpec
from smp.settings import load_settings
from tests.builders.alive_host import alive_host

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

LIMITS = Limits(memory_mb=256, disk_mb=32, pids=48, timeout_ms=20_000, output_kb=64)
ATTACKS = {
    "fork bomb": "python -c 'import os\nwhile True: os.fork()'",
    "fork bomb that ignores signals": "trap '' TERM INT HUP; b() { b | b & b; }; b",
    "disk filler": "while :; do head -c 1000000 /dev/zero > f$RANDOM$(date +%N); done",
    "disk filler without bytes": 'python -c \'import os\nfor n in range(10**7): open(f"e{n}", "w").close()\'',
    "folders without files": "python -c 'import os\nfor n in range(10**7): os.mkdir(f\"d{n}\")'",
    "sparse file": "truncate -s 1T huge && dd if=/dev/zero of=huge bs=1M seek=100000 count=200",
    "filler of all memory file systems": "for d in /tmp ~ /dev/shm; do cat /dev/zero > $d/x & done; wait; exit 9",
    "memory hog": "python -c 'x = []\nwhile True: x.append(bytearray(b\"x\" * (1 << 20)))'",
    "zip bomb": 'python -c \'import zipfile as z, io; b = io.BytesIO(); f = z.ZipFile(b, "w", 8); '
    'f.writestr("x", bytes(1 << 26)); f.close(); [z.ZipFile(b).extract("x", f"/work/{n}") for n in range(64)]\'',
    "output flood": "yes | head -c 400000000; exit 9",
    "too many open files": "python -c 'import os\nk = [os.dup(0) for _ in range(10**6)]'",
    "endless loop on all cores": "for i in 1 2 3 4; do (while :; do :; done) & done; wait",
    "sleeper that nothing wakes": "trap '' TERM INT HUP; setsid sh -c \"trap '' TERM; sleep 3000\" & wait",
}
EXPECTED_TIMEOUTS = {"endless loop on all cores", "sleeper that nothing wakes", "fork bomb"}


def _rights() -> list[object]:
    # Root is exempt from RLIMIT_NPROC, so root in a user namespace does not stand for an ordinary user here.
    return [pytest.param(present_rights(), id="root" if os.geteuid() == 0 else "user")]


@pytest.fixture(params=_rights())
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> BubblewrapDriver:
    rights = request.param
    assert isinstance(rights, Rights)
    repo = tmp_path / "repo"
    repo.mkdir()
    for command in (["init", "-q"], ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm1", "--allow-empty"]):
        subprocess.run(["git", *command], cwd=repo, check=True)
    return BubblewrapDriver(load_settings(repo), SystemClock(), rights)


@pytest.fixture
def box(driver: BubblewrapDriver, tmp_path: Path) -> Iterator[Sandbox]:
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tmp_path / "repo", check=True, capture_output=True, text=True
    )
    made = driver.spawn(
        SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")),
            session_id=SessionId("ses_test"),
            commit_sha=CommitSha(head.stdout.strip()),
        )
    )
    yield made
    driver.destroy(made)


def members(box: Sandbox) -> list[str]:
    """Processes of this host whose command line names the box."""
    found = subprocess.run(["pgrep", "-f", box.spec.sandbox_id], capture_output=True, text=True, check=False)
    return found.stdout.split()


@pytest.mark.parametrize("attack", sorted(ATTACKS))
def test_the_box_ends_and_the_host_stands(driver: BubblewrapDriver, box: Sandbox, tmp_path: Path, attack: str) -> None:
    with alive_host(tmp_path) as host:
        host.prove_alive()
        done = driver.execute(box, ATTACKS[attack], limits=LIMITS)
        assert done.exit_code != 0, done.stderr
        assert done.timed_out <= (attack in EXPECTED_TIMEOUTS | {"fork bomb that ignores signals"})
        host.prove_alive()
        assert members(box) == []
        assert len(done.stdout) + len(done.stderr) < 4 * LIMITS.output_kb << 10
        used = sum(path.lstat().st_blocks * 512 for path in Path(box.state_dir, "layer", "upper").rglob("*"))
        assert used < 8 * LIMITS.disk_mb << 20
        assert driver.execute(box, "echo usable", limits=Limits(memory_mb=256, disk_mb=512)).stdout == "usable\n"
    assert driver.destroy(box) >= 0
