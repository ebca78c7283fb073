"""Which Python a box runs: named in the settings, else the newest that the call tracer works best with.

In this order: `[sandbox] python`; CPython 3.13 or 3.12 on PATH, of pyenv or of uv; the one we run on, when it is as
new; as root a Debian trixie root that debootstrap makes once; the platform's own python3. Each candidate is asked what
it is by running it; one that does not answer is passed over.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.domain.errors import SandboxFailed

ASK = (
    "import json, os, sys, sysconfig; print(json.dumps(dict("
    "executable=os.path.realpath(getattr(sys, '_base_executable', '') or sys.executable), prefix=sys.base_prefix, "
    "version='%d.%d' % sys.version_info[:2], full=sys.version.split()[0], "
    "implementation=sys.implementation.name, platform=sysconfig.get_platform())))"
)
TRACED = ((3, 13), (3, 12))
"""Versions with `sys.monitoring` that the tracer is tested with, best first."""
_OLDEST = (3, 8)


class Interpreter(Struct, frozen=True, kw_only=True):
    """A Python that a box may run.

    Attributes:
        executable: Path in the box; the interpreter behind a virtual environment, never the environment's.
        prefix: Its installation, bound at the same path when it lies outside /usr.
        version: `3.13`. full: `3.13.0`.
        root: Folder that holds the box's /usr, when it is not the host's own.
    """

    executable: str
    prefix: str
    version: str
    full: str
    implementation: str
    platform: str
    root: str = "/"

    def numbers(self) -> tuple[int, int]:
        major, minor = self.version.split(".")
        return int(major), int(minor)

    def files(self) -> tuple[str, ...]:
        """The program, and the library that it may be linked to, as paths on the host."""
        root = Path(self.root)
        program = root / self.executable.lstrip("/")
        library = sorted((root / self.prefix.lstrip("/") / "lib").glob(f"libpython{self.version}*.so*"))
        return tuple(str(path) for path in (program, *library) if path.is_file())

    def identity(self) -> str:
        """Equal for interpreters that can share installed packages at the same path."""
        return f"{self.implementation}-{self.full}-{self.platform}-{self.root}-{self.executable}"


def find_interpreter(configured: str, cache_dir: Path, progress: Callable[[str], None]) -> Interpreter:
    """The box's interpreter.

    Raises:
        SandboxFailed: The configured one does not run or is too old, or there is none at all.
    """
    if configured:
        chosen = shutil.which(configured) or configured
        found = ask(chosen)
        if found is None:
            raise SandboxFailed(f"[sandbox] python = {configured!r} does not run; name an existing interpreter")
        if found.numbers() < _OLDEST:
            raise SandboxFailed(f"[sandbox] python = {configured!r} is {found.full}; name Python 3.8 or newer")
        return found
    for candidate in _candidates():
        found = ask(candidate)
        if found is not None and found.implementation == "cpython" and found.numbers() in TRACED:
            return found
    if os.geteuid() == 0 and shutil.which("debootstrap"):
        root = trixie_root(cache_dir, progress)
        made = ask("/usr/bin/python3", chroot=str(root)) if root is not None else None
        if made is not None:
            return made
    for last in (shutil.which("python3") or "", "/usr/bin/python3", sys.executable):
        found = ask(last) if last else None
        if found is not None and found.numbers() >= _OLDEST:
            return found
    raise SandboxFailed("no Python for the box; install one (apt-get install python3) or set [sandbox] python")


def ask(executable: str, *, chroot: str = "") -> Interpreter | None:
    """What an interpreter says of itself; None when it does not run."""
    command = [*(["chroot", chroot] if chroot else []), executable, "-I", "-S", "-c", ASK]
    try:
        done = subprocess.run(command, capture_output=True, timeout=30, check=True, stdin=subprocess.DEVNULL)
        return msgspec.structs.replace(msgspec.json.decode(done.stdout, type=Interpreter), root=chroot or "/")
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError):
        return None


def _candidates() -> Iterator[str]:
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR") or Path.home() / ".local/share/uv/python")
    for major, minor in TRACED:
        # An installation of pyenv or uv first: a shim on PATH may stand for any version, or none.
        for folder in (*_newest_first(pyenv, f"{major}.{minor}.*"), *_newest_first(uv, f"cpython-{major}.{minor}.*")):
            yield str(folder / "bin" / "python3")
        named = shutil.which(f"python{major}.{minor}")
        if named:
            yield named
    yield sys.executable


def _newest_first(folder: Path, pattern: str) -> list[Path]:
    def number(path: Path) -> list[int]:
        return [int(part) for part in path.name.replace("-", ".").split(".") if part.isdigit()]

    try:
        return sorted(folder.glob(pattern), key=number, reverse=True)
    except OSError:
        return []


def trixie_root(cache_dir: Path, progress: Callable[[str], None]) -> Path | None:
    """A Debian trixie root with CPython 3.13 and git, made once by debootstrap; None, told to `progress`, when that fails."""
    root = cache_dir / "python" / "trixie"
    if not root.is_dir():
        progress("making a Debian trixie root for CPython 3.13 (about a minute, once)")
        staging = root.with_name(f"trixie.{os.getpid()}")
        staging.parent.mkdir(parents=True, exist_ok=True)
        command = ["debootstrap", "--variant=minbase", "--include=python3,git,ca-certificates", "trixie", str(staging)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            shutil.rmtree(staging, ignore_errors=True)
            progress(f"debootstrap failed ({done.stdout.strip()[-200:]})")
            return None
        try:
            os.rename(staging, root)
        except OSError:
            shutil.rmtree(staging, ignore_errors=True)  # another process was faster
    return root
