"""The packages of a box: a virtual environment made once per interpreter and list of requirements, bound read-only.

pip unpacks wheels into it; with `--only-binary=:all:` no code of any package runs on the host. The environment is laid
out by hand rather than by `venv`, which would have to run at the place where the box will see it (`/opt/venv`).
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.interpreters import Interpreter
from smp.adapters.sandbox_bubblewrap.once import make_once
from smp.domain.errors import SandboxFailed

PLACE = "/opt/venv"
INSIDE = "/opt/smp"
_LAYOUT = "1"  # changes with what is written below, so that an older layer is not taken for a newer one
_TIMEOUT_S = 1800
# Runs at the start of every interpreter of the environment, also with -I and -E; a line of a .pth file must be one line.
_HOOK = (
    "import os, sys; 'SMP_TRACE' in os.environ and not sys.flags.no_site and ("
    f"sys.path.append({INSIDE!r}), __import__('call_trace').start(os.environ['SMP_TRACE']), "
    f"sys.path.remove({INSIDE!r}))\n"
)


def make_layer(
    cache_dir: Path, interpreter: Interpreter, lines: tuple[str, ...], progress: Callable[[str], None]
) -> Path:
    """The environment's folder on the host.

    Raises:
        SandboxFailed: pip cannot install the requirements; the message ends in pip's own last words.
    """
    text = "\n".join([_LAYOUT, interpreter.identity(), *lines])
    target = cache_dir / "layers" / hashlib.sha256(text.encode()).hexdigest()[:32]

    def make(staging: Path) -> None:
        progress(f"installing {len(lines)} requirements for Python {interpreter.version} (once)")
        _fill(staging, interpreter, lines)

    return make_once(target, make)


def _fill(folder: Path, interpreter: Interpreter, lines: tuple[str, ...]) -> None:
    packages = folder / "lib" / f"python{interpreter.version}" / "site-packages"
    packages.mkdir(parents=True)
    listed = folder / "requirements.txt"
    listed.write_text("\n".join(lines) + "\n", "utf-8")
    _install(packages, listed, interpreter)
    programs = folder / "bin"
    programs.mkdir()
    scripts = packages / "bin"
    for script in sorted(scripts.iterdir()) if scripts.is_dir() else ():
        _move_script(script, programs / script.name)
    for name in ("python", "python3", f"python{interpreter.version}"):
        (programs / name).symlink_to(interpreter.executable)
    home = os.path.dirname(interpreter.executable)
    (folder / "pyvenv.cfg").write_text(
        f"home = {home}\ninclude-system-site-packages = false\nversion = {interpreter.full}\n", "utf-8"
    )
    (packages / "smp_call_trace.pth").write_text(_HOOK, "utf-8")
    _make_readable(folder)


def _install(target: Path, listed: Path, interpreter: Interpreter) -> None:
    command = [*_pip(interpreter), "install", "--target", str(target), "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--no-warn-conflicts", "--quiet", "-r", str(listed)]
    if interpreter.root != "/":
        command += ["--python-version", interpreter.version, "--implementation", "cp"]
    environment = {**os.environ, "PIP_USER": "0", "PYTHONNOUSERSITE": "1"}
    environment.pop("PYTHONPATH", None)
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            cwd=target,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SandboxFailed(f"pip did not finish: {error}; check the network and the package index") from error
    if done.returncode:
        words = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise SandboxFailed(
            f"cannot install the box's packages for Python {interpreter.version}: {' '.join(words)[-600:]}; "
            "only wheels are installed: set [sandbox] requirements in smp.toml to what has some"
        )


def _pip(interpreter: Interpreter) -> list[str]:
    """pip of our own environment, run for the box's interpreter; else the interpreter's own."""
    if importlib.util.find_spec("pip") is not None:
        own = [sys.executable, "-m", "pip"]
        return own if interpreter.root != "/" else [*own, "--python", interpreter.executable]
    return [interpreter.executable, "-m", "pip"]


def _move_script(script: Path, target: Path) -> None:
    content = script.read_bytes()
    first, newline, rest = content.partition(b"\n")
    if first.startswith(b"#!") and b"python" in first:
        content = f"#!{PLACE}/bin/python".encode() + newline + rest
    target.write_bytes(content)
    target.chmod(0o755)
    script.unlink()


def _make_readable(folder: Path) -> None:
    """The box's user is another than the one who installs; a strict umask must not lock it out."""
    for base, folders, files in os.walk(folder):
        for name in (*folders, *files, ""):
            path = Path(base, name)
            if not path.is_symlink():
                mode = path.stat().st_mode
                bits = 0o555 if stat.S_ISDIR(mode) or mode & 0o100 else 0o444
                path.chmod(stat.S_IMODE(mode) | bits)
