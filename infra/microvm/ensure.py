"""Make what the microvm driver's machines are made of, and store one; print how they run here. As root, once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from smp.adapters.sandbox_microvm.guest import find_qemu, make_guest
from smp.adapters.sandbox_microvm.machine import choose_accelerator, shape_for, store
from smp.domain.errors import SandboxFailed
from smp.domain.sandboxes import Limits
from smp.settings import load_settings


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache-dir", type=Path, default=None)
    cache_dir = parser.parse_args().cache_dir or load_settings(Path.cwd()).cache_dir
    try:
        qemu = find_qemu()
        guest = make_guest(cache_dir, say)
        accelerator = choose_accelerator(guest, cache_dir, say)
        store(guest, shape_for(Limits(), accelerator), cache_dir, say)
    except SandboxFailed as error:
        say(f"error: {error.message}")
        return 1
    print(f"{qemu} under {accelerator}; guest with Python {guest.python.full} in {guest.root.parent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
