"""Boxes: from spawn to the first output, and ten boxes on a 7,000-file repository beside ten copies of it.

    python tests/benchmarks/bench_sandbox.py [--rounds N]

The repository is made here, from a fixed seed. Wall time is what a box costs whoever waits for it, so the clock is read; on a
busy machine look at the ratios. Processor seconds count children. Disk is what `st_blocks` says.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from smp.adapters.clock_system import SystemClock
from smp.adapters.sandbox_bubblewrap.driver import BubblewrapDriver
from smp.adapters.sandbox_bubblewrap.limits import Rights, present_rights
from smp.adapters.sandbox_microvm.driver import MicrovmDriver
from smp.domain.ids import CommitSha, SandboxId, SessionId
from smp.domain.sandboxes import Limits, Sandbox, SandboxSpec
from smp.ports.sandbox_driver import SandboxDriver
from smp.settings import load_settings

FILES, FOLDERS, BOXES = 7_000, 200, 10
SEED = 7
LOOP = "python -c 'total = 0\nfor number in range(2_000_000): total += number % 7\nprint(total)'"


def make_repository(folder: Path) -> CommitSha:
    """7,000 files of 0.2 to 20 KB in 200 folders, one commit."""
    chance = random.Random(SEED)
    folder.mkdir()
    for number in range(FILES):
        path = folder / f"package{number % FOLDERS}" / f"module{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"value_{chance.random()} = {number}\n" for _ in range(chance.randrange(5, 600))))
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@b", "commit", "-qm1"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True)
    return CommitSha(done.stdout.strip())


def disk_bytes(folder: Path) -> int:
    """Disk that a folder and all below it take."""
    return sum(path.lstat().st_blocks * 512 for path in (folder, *folder.rglob("*")))


def processor_s() -> float:
    """Processor seconds of this process and of all that it has waited for."""
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in found)


def spawn(driver: SandboxDriver, commit: CommitSha) -> Sandbox:
    """A box of its own."""
    return driver.spawn(
        SandboxSpec(
            sandbox_id=SandboxId(SystemClock().fresh_id("box")), session_id=SessionId("ses_bench"), commit_sha=commit
        )
    )


def first_output(driver: SandboxDriver, commit: CommitSha, rounds: int) -> None:
    """Print how long it takes from asking for a box to the end of `echo`, the way through the supervisor included."""
    spent, used = [], []
    for _ in range(rounds):
        clock, processor = time.perf_counter(), processor_s()
        box = spawn(driver, commit)
        assert driver.execute(box, "echo first", limits=Limits()).stdout == "first\n"
        spent.append((time.perf_counter() - clock) * 1000)
        used.append((processor_s() - processor) * 1000)
        driver.destroy(box)
    line = f"median {statistics.median(spent):.0f} ms, worst {max(spent):.0f} ms, processor {statistics.median(used):.0f} ms"
    print(f"  spawn to first output, {rounds} rounds: {line}")


def computing(driver: SandboxDriver, commit: CommitSha, rounds: int) -> None:
    """Print how long a loop of two million additions takes from within, its interpreter's start included."""
    box = spawn(driver, commit)
    spent = [driver.execute(box, LOOP, limits=Limits()).duration_ms for _ in range(rounds)]
    driver.destroy(box)
    print(f"  a Python loop in the box, {rounds} rounds: median {statistics.median(spent):.0f} ms")


def machines(folder: Path, commit: CommitSha, rounds: int) -> None:
    """The same of the microvm driver, where it can be had; a first use of the cache makes the guest."""
    driver = MicrovmDriver(load_settings(folder / "repo", data_dir=folder / "machines"), SystemClock())
    clock = time.perf_counter()
    able = driver.capabilities()
    if not able.available:
        print(f"{able.driver}: not here ({'; '.join(able.missing)})")
        return
    print(f"{able.driver}: memory limit {able.memory_limit}, egress {able.egress}")
    print(f"  guest and accelerator: {time.perf_counter() - clock:.2f} s")
    clock = time.perf_counter()
    box = spawn(driver, commit)
    print(f"  checkout, history and disks of the commit, once: {time.perf_counter() - clock:.2f} s")
    clock = time.perf_counter()
    driver.execute(box, "true", limits=Limits())
    print(f"  a first command, which may store a machine: {time.perf_counter() - clock:.2f} s")
    driver.destroy(box)
    first_output(driver, commit, rounds)
    computing(driver, commit, rounds)


def ten_boxes(driver: SandboxDriver, commit: CommitSha, checkout: Path, folder: Path) -> None:
    """Print time and disk of ten boxes, one after the other and at once, and of ten copies."""
    clock = time.perf_counter()
    boxes = [spawn(driver, commit) for _ in range(BOXES)]
    spent_boxes = time.perf_counter() - clock
    size_boxes = sum(disk_bytes(Path(box.state_dir)) for box in boxes)
    clock = time.perf_counter()
    threads = [
        threading.Thread(target=driver.execute, args=(box, "wc -l package7/*"), kwargs={"limits": Limits()})
        for box in boxes
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent_commands = time.perf_counter() - clock
    for box in boxes:
        driver.destroy(box)
    copies = [folder / f"copy{number}" for number in range(BOXES)]
    clock = time.perf_counter()
    for copy in copies:
        shutil.copytree(checkout, copy, symlinks=True)
    spent_copies = time.perf_counter() - clock
    size_copies = sum(disk_bytes(copy) for copy in copies)
    for copy in copies:
        shutil.rmtree(copy)
    print(f"  {BOXES} boxes on {FILES} files: {spent_boxes:.2f} s; {BOXES} copies: {spent_copies:.2f} s")
    share = 100 * size_boxes / size_copies
    print(f"  disk: {size_boxes >> 10} KB against {size_copies >> 10} KB ({share:.1f} %)")
    print(f"  a command in all {BOXES} at once: {spent_commands:.2f} s")


def main() -> None:
    """Run it for each kind of rights that this user has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    kinds = {"root" if os.geteuid() == 0 else "user": present_rights(), "user": Rights(uid=None, groups=None)}
    with tempfile.TemporaryDirectory(prefix="smp-bench-sandbox-") as made:
        folder = Path(made)
        commit = make_repository(folder / "repo")
        for name, rights in kinds.items():
            driver = BubblewrapDriver(load_settings(folder / "repo", data_dir=folder / name), SystemClock(), rights)
            able = driver.capabilities()
            print(f"{able.driver}, {name}: memory limit {able.memory_limit}, egress {able.egress}")
            clock = time.perf_counter()
            checkout = Path(driver.lower(commit))
            print(
                f"  checkout of the commit, once: {time.perf_counter() - clock:.2f} s, {disk_bytes(checkout) >> 20} MB"
            )
            first_output(driver, commit, rounds)
            computing(driver, commit, max(1, rounds // 4))
            ten_boxes(driver, commit, checkout, folder)
        machines(folder, commit, max(1, rounds // 4))


if __name__ == "__main__":
    main()
