"""Kernel headers where BCC finds them.

BCC compiles with the kernel's own headers. Debian splits them over two folders, of a version that need not be the running
kernel's: what the program uses of them (the layout of saved registers, numbers of helpers) does not change. The two are
joined by links.
"""

from __future__ import annotations

import glob
import os


def join_headers(folder: str) -> str:
    """The folder to name to BCC; empty when it finds the running kernel's headers by itself.

    Args:
        folder: Empty, for the links.

    Raises:
        OSError: There are no headers.
    """
    if os.environ.get("BCC_KERNEL_SOURCE") or os.path.isdir(f"/lib/modules/{os.uname().release}/build"):
        return ""
    found = sorted(glob.glob("/usr/src/linux-headers-*-common"))
    for common in reversed(found):
        for special in sorted(glob.glob(common.removesuffix("-common") + "-*")):
            if special != common and os.path.exists(f"{special}/include/generated/autoconf.h"):
                _join(folder, common, special, ("", "include", "arch", "arch/x86", "arch/x86/include"))
                return folder
    raise OSError("kernel headers are missing; install them: apt-get install linux-headers-amd64")


def _join(folder: str, common: str, special: str, split: tuple[str, ...]) -> None:
    """Link every entry of both; folders that both have are made anew, one level after the other."""
    for level in split:
        target = os.path.join(folder, level)
        os.makedirs(target, exist_ok=True)
        for source in (common, special):
            origin = os.path.join(source, level)
            for name in os.listdir(origin) if os.path.isdir(origin) else ():
                inner = os.path.join(level, name)
                if inner not in split and not os.path.lexists(os.path.join(folder, inner)):
                    os.symlink(os.path.join(origin, name), os.path.join(folder, inner))
