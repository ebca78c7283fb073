"""Find, or as root on Debian make, the interpreter that boxes will run; print what it is."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.interpreters import TRACED, find_interpreter
from smp.domain.errors import SandboxFailed
from smp.settings import load_settings


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache-dir", type=Path, default=None)
    cache_dir = parser.parse_args().cache_dir or load_settings(Path.cwd()).cache_dir
    try:
        found = find_interpreter("", cache_dir, say)
        if found.numbers() not in TRACED and install_debootstrap():
            found = find_interpreter("", cache_dir, say)
    except SandboxFailed as error:
        say(f"error: {error.message}")
        return 1
    print(f"{found.executable} (Python {found.full}, root {found.root})")
    return 0


def install_debootstrap() -> bool:
    """Whether it is there now."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None or shutil.which("debootstrap"):
        return False
    say("installing debootstrap with apt, to make a Debian trixie root with CPython 3.13")
    done = subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "debootstrap"],
        stdout=sys.stderr,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        check=False,
    )
    if done.returncode:
        say("apt-get failed; boxes will use the platform's own Python")
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
