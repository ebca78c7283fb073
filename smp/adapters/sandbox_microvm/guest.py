"""What every guest is made of, made once in the cache: kernel, root file system, first programs.

All of it comes from Debian trixie, whatever the host is: the root that the platform makes for boxes anyway
(`interpreters.trixie_root`), with bubblewrap installed into a copy of it; and, unpacked and not installed, the cloud kernel
and a static busybox. Nothing of the host's own system gets into a guest.
"""

from __future__ import annotations

import functools
import hashlib
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from smp.adapters.sandbox_bubblewrap.inside import copy_inside
from smp.adapters.sandbox_bubblewrap.interpreters import Interpreter, ask, trixie_root
from smp.adapters.sandbox_bubblewrap.once import make_once, remove_tree, storage_errors
from smp.adapters.sandbox_microvm.images import make_image
from smp.domain.errors import SandboxFailed

_LAYOUT = "1"  # changes with what is made below, so that an older guest is not taken for a newer one
_KERNEL = "linux-image-cloud-amd64"
_MODULES = ("virtio_ring", "virtio", "virtio_mmio", "virtio_blk", "virtio_console", "overlay")
_TIMEOUT_S = 900
_ADAPTERS = Path(__file__).resolve().parents[1]
_CODE = (
    *(("sandbox_bubblewrap/host", name) for name in ("bpf", "egress", "gate", "kernel", "launch", "measure")),
    *(("sandbox_bubblewrap/host", name) for name in ("opening", "order", "relay", "supervise")),
    *(("sandbox_microvm/inside", name) for name in ("agent", "frames")),
)


class Guest(Struct, frozen=True, kw_only=True):
    """Files on the host, and the Python that the guest's root has."""

    kernel: Path
    root: Path
    parts: Path
    python: Interpreter


def missing_programs() -> str:
    """What is to be installed before a guest can be made or started; empty when nothing is."""
    wanted = {"qemu-system-x86_64": "qemu-system-x86", "debootstrap": "debootstrap", "mke2fs": "e2fsprogs"}
    lacking = [package for program, package in wanted.items() if shutil.which(program, path=_path()) is None]
    return f"apt-get install --no-install-recommends {' '.join(lacking)}" if lacking else ""


def find_qemu() -> str:
    """Path of QEMU.

    Raises:
        SandboxFailed: It is not installed, or this machine is of a kind whose guests we do not know.
    """
    if os.uname().machine != "x86_64":
        raise SandboxFailed(
            f"the microvm driver knows x86_64 only, not {os.uname().machine}; use another [sandbox] driver"
        )
    path = shutil.which("qemu-system-x86_64", path=_path())
    if path is None:
        raise SandboxFailed(
            "qemu-system-x86_64 is missing; install it: apt-get install --no-install-recommends qemu-system-x86"
        )
    return path


def make_guest(cache_dir: Path, progress: Callable[[str], None]) -> Guest:
    """The guest's parts, made on first use.

    Raises:
        SandboxFailed: Something is missing; the message says what to run.
    """
    target = cache_dir / "microvm" / f"guest-{_LAYOUT}"
    make_once(target, lambda staging: _make(staging, cache_dir, progress))
    return Guest(
        kernel=target / "vmlinuz", root=target / "root.ext4", parts=target, python=_python(target / "python.json")
    )


def _make(staging: Path, cache_dir: Path, progress: Callable[[str], None]) -> None:
    lacking = missing_programs()
    if lacking:
        raise SandboxFailed(f"a guest cannot be made; run: {lacking}")
    if os.geteuid() != 0:
        raise SandboxFailed(
            "the guest's root file system is made by root, once; run: "
            f"sudo SMP_CACHE_DIR={cache_dir} {sys.executable} infra/microvm/ensure.py"
        )
    said: list[str] = []

    def tell(line: str) -> None:
        said.append(line)
        progress(line)

    base = trixie_root(cache_dir, tell)
    if base is None:
        raise SandboxFailed(f"the guest's root cannot be made: {said[-1]}; see that a Debian mirror is in reach")
    progress("making the guest of the microvm driver (kernel and root file system, once)")
    root = staging / "root"
    _run("cp", "-a", "--reflink=auto", str(base), str(root))
    _in_root(root, "apt-get", "update", "-qq")
    _in_root(root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "bubblewrap")
    listed = _in_root(root, "apt-cache", "depends", "--important", _KERNEL).split()
    kernel = next((word for word in listed if word.startswith("linux-image-") and word != _KERNEL), "")
    (root / "fetched").mkdir()
    for package in (kernel, "busybox-static"):
        _in_root(root, "sh", "-c", 'cd /fetched && apt-get download -qq "$0" && dpkg-deb -x "$0"_*.deb .', package)
    _take_kernel(root / "fetched", staging)
    found = ask("/usr/bin/python3", chroot=str(root))
    if found is None:
        raise SandboxFailed(f"the guest's Python does not run; remove {base} and try again")
    for left in ("fetched", "var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale"):
        remove_tree(root / left)
    make_image(staging / "root.ext4", root)
    (staging / "python.json").write_bytes(msgspec.json.encode(replace(found, root="microvm")))
    remove_tree(root)


def _take_kernel(fetched: Path, staging: Path) -> None:
    shutil.copyfile(next(fetched.glob("boot/vmlinuz-*")), staging / "vmlinuz")
    shutil.copyfile(next(fetched.glob("**/bin/busybox")), staging / "busybox")
    modules = staging / "modules"
    modules.mkdir()
    for path in sorted(fetched.glob("**/kernel/**/*.ko*")):
        name = path.name.partition(".")[0]
        if name in _MODULES:
            body = path.read_bytes()
            (modules / f"{name}.ko").write_bytes(lzma.decompress(body) if path.suffix == ".xz" else body)


@functools.cache
def _python(path: Path) -> Interpreter:
    return msgspec.json.decode(path.read_bytes(), type=Interpreter)


def make_ramdisk(guest: Guest, cache_dir: Path) -> bytes:
    """The first file system: what mounts the root, and our own programs, so that the root need not change with them."""
    files: dict[str, tuple[int, bytes]] = {}
    inside = Path(__file__).parent / "inside"
    files["init"] = (0o100755, (inside / "init").read_bytes())
    files["bin/busybox"] = (0o100755, (guest.parts / "busybox").read_bytes())
    for module in sorted((guest.parts / "modules").iterdir()):
        files[f"modules/{module.name}"] = (0o100644, module.read_bytes())
    packages = {"smp", "smp/adapters"}
    for folder, name in _CODE:
        packages |= {f"smp/adapters/{folder.partition('/')[0]}", f"smp/adapters/{folder}"}
        files[f"code/smp/adapters/{folder}/{name}.py"] = (0o100644, (_ADAPTERS / folder / f"{name}.py").read_bytes())
    for package in packages:
        files[f"code/{package}/__init__.py"] = (0o100644, b"")
    scripts = copy_inside(cache_dir)
    for script in sorted(path for path in scripts.rglob("*") if path.is_file()):
        files[f"code/inside/{script.relative_to(scripts)}"] = (0o100644, script.read_bytes())
    return _archive(files)


def _archive(files: dict[str, tuple[int, bytes]]) -> bytes:
    """The kernel's own format (Documentation/driver-api/early-userspace/buffer-format.rst), equal for equal files."""
    folders = {"proc", "sys", "dev", "root"}
    for name in files:
        parts = name.split("/")[:-1]
        folders |= {"/".join(parts[: depth + 1]) for depth in range(len(parts))}
    entries = [(name, 0o40755, b"") for name in sorted(folders)]
    entries += [(name, mode, body) for name, (mode, body) in sorted(files.items())]
    made = bytearray()
    for number, (name, mode, body) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        path = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(body), 0, 0, 0, 0, len(path), 0)
        made += b"070701" + b"".join(b"%08X" % field for field in fields) + path
        made += bytes(-len(made) % 4) + body
        made += bytes(-len(made) % 4)
    return bytes(made)


def identity(guest: Guest, ramdisk: bytes) -> str:
    """Differs when a machine stored with one guest cannot be restored with another."""
    digest = hashlib.sha256(ramdisk)
    for path in (guest.kernel, guest.root):
        kind = path.stat()
        digest.update(f"{kind.st_size} {kind.st_mtime_ns} {kind.st_ino}\n".encode())
    return digest.hexdigest()


def _in_root(root: Path, *command: str) -> str:
    return _run("chroot", str(root), *command)


def _run(*command: str) -> str:
    environment = {"PATH": _path(), "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "HOME": "/root"}
    environment |= {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    with storage_errors("cannot make the guest"):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    if done.returncode:
        raise SandboxFailed(
            f"the guest cannot be made: {' '.join(command[:4])}: {(done.stderr or done.stdout).strip()[-300:]}"
        )
    return done.stdout


def _path() -> str:
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
