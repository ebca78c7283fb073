"""File systems in files: what a guest gets to see of the host, as read-only disks, and the disk that it writes to.

A guest reads blocks of files that were made for it; no path of the host is ever walked on its behalf. mke2fs fills an ext4
from a folder without mounting it, with owners, links, overlayfs' deletions and attributes. The host never mounts or
parses what a guest has written: its files come back over the serial port.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.checkout import Repository
from smp.adapters.sandbox_bubblewrap.once import storage_errors
from smp.domain.errors import SandboxFailed, Unavailable
from smp.domain.ids import CommitSha
from smp.host_git import HostGit

DEVICE_BYTES = 64 << 30
"""The size that every disk claims: a stored machine has read the sizes of its disks, and a file system may be smaller."""
_UUID = "5d6f9b2e-3b0a-4c0e-9d5e-0a5b6c7d8e9f"
_FEATURES = (
    "none,ext_attr,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,huge_file,dir_nlink,extra_isize"
)
_TIMEOUT_S = 900
_MB = 1 << 20


def find_mke2fs() -> str:
    """Path of mke2fs.

    Raises:
        SandboxFailed: It is not installed.
    """
    path = shutil.which("mke2fs", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if path is None:
        raise SandboxFailed("mke2fs is missing; install it: apt-get install e2fsprogs")
    return path


def make_image(target: Path, source: Path, *, free_mb: int = 0) -> None:
    """An ext4 with what a folder has.

    Args:
        free_mb: Room besides what the folder needs.

    Raises:
        SandboxFailed: The disk is full, or mke2fs refuses.
    """
    size, entries = _measure(source)
    # Each file takes whole blocks and an inode of 256 bytes; a twentieth goes to the file system's own tables.
    room_mb = (size + entries * 768) * 21 // 20 // _MB + 16 + free_mb
    inodes = max(1024, entries * 5 // 4 + free_mb * 64 + 256)
    command = [find_mke2fs(), "-q", "-F", "-t", "ext4", "-b", "4096", "-I", "256", "-N", str(inodes), "-m", "0"]
    command += ["-O", _FEATURES, "-U", _UUID]
    command += [
        "-E",
        f"hash_seed={_UUID},lazy_itable_init=1,root_owner=0:0",
        "-d",
        str(source),
        str(target),
        f"{room_mb}M",
    ]
    environment = {
        "PATH": os.defpath,
        "LC_ALL": "C.UTF-8",
        "E2FSPROGS_FAKE_TIME": "1000000000",
        "MKE2FS_CONFIG": os.devnull,
    }
    # mke2fs makes a folder of its own at the top, which git in a box would complain of
    clean = [str(Path(command[0]).with_name("debugfs")), "-w", "-R", "rmdir lost+found", str(target)]
    with storage_errors("cannot make a disk for the box"):
        for step in (command, clean):
            done = subprocess.run(
                step, capture_output=True, text=True, errors="replace", check=False, timeout=_TIMEOUT_S, env=environment
            )
            if done.returncode:
                target.unlink(missing_ok=True)
                raise SandboxFailed(f"cannot make a disk for the box: {done.stderr.strip()[-300:]}; free space there")
        os.truncate(target, DEVICE_BYTES)
        target.chmod(0o644)


def _measure(folder: Path) -> tuple[int, int]:
    """Bytes in whole blocks, and the number of files and folders."""
    size = entries = 0
    pending = [os.fspath(folder)]
    while pending:
        with os.scandir(pending.pop()) as found:
            for entry in found:
                entries += 1
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                    size += 4096
                elif entry.is_file(follow_symlinks=False):
                    size += -(-entry.stat(follow_symlinks=False).st_size // 4096) * 4096
    return size, entries


def pack_history(folder: Path, repository: Repository, commit: CommitSha) -> None:
    """An object store with what the commit can reach, and nothing else: other branches stay on the host.

    Raises:
        SandboxFailed: git refuses.
    """
    packs = folder / "pack"
    packs.mkdir(parents=True)
    try:
        done = HostGit(repository.root, trusted=True).run(
            "pack-objects",
            "--revs",
            "--quiet",
            "--delta-base-offset",
            str(packs / "pack"),
            stdin=f"{commit}\n".encode(),
            timeout_s=_TIMEOUT_S,
            umask=0o022,
        )
    except Unavailable as error:
        raise SandboxFailed(error.message) from error
    except subprocess.TimeoutExpired as error:
        raise SandboxFailed(f"git did not pack the history of {commit} in {_TIMEOUT_S} s") from error
    if done.returncode:
        raise SandboxFailed(f"git pack-objects: {done.stderr.decode(errors='replace').strip()[-300:]}")
    for path in packs.iterdir():
        path.chmod(0o644)
