"""Holds one virtual machine: starts it with as few rights as it can do with, and ends it when its owner ends.

Started by the driver with one JSON line on its standard input, which then stays open. When the driver closes it, or has
ended (a process that it has forked may hold a copy of the other end), the machine is killed; when this process is killed,
the kernel kills the machine.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
from typing import Any

from smp.adapters.sandbox_bubblewrap.host import kernel

_FAILED = 125


def main() -> None:
    """Entry point of the keeper process."""
    os.setsid()  # Ctrl-C in the driver's terminal is for the driver
    line = bytearray()
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            return
        line += piece
    order: dict[str, Any] = json.loads(line)
    try:
        owner = os.pidfd_open(order["owner"])
    except ProcessLookupError:
        return
    ourselves = os.getpid()
    machine = os.fork()
    if machine == 0:
        try:
            _become_machine(order, ourselves)
        except OSError as error:
            os.write(2, f"{error}\n".encode())
        finally:
            os._exit(_FAILED)
    handle = os.pidfd_open(machine)
    for number in os.listdir("/proc/self/fd"):
        if int(number) > 2 and int(number) not in (owner, handle):
            try:
                os.close(int(number))
            except OSError:
                continue
    poll = select.poll()
    for descriptor in (0, owner, handle):
        poll.register(descriptor, select.POLLIN)
    if handle not in [descriptor for descriptor, _ in poll.poll()]:
        os.kill(machine, signal.SIGKILL)
    sys.exit(min(abs(os.waitstatus_to_exitcode(os.waitpid(machine, 0)[1])), 255))


def _become_machine(order: dict[str, Any], keeper: int) -> None:
    os.dup2(os.open("/dev/null", os.O_RDWR), 0)
    os.dup2(0, 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (order["max_file"], order["max_file"]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if order["uid"] is not None:
        kernel.unshare(kernel.CLONE_NEWNET)
        os.setgroups([])
        os.setresgid(order["uid"], order["uid"], order["uid"])
        os.setresuid(order["uid"], order["uid"], order["uid"])
    kernel.die_with_parent()
    if os.getppid() != keeper:
        return
    os.chdir("/")
    os.execve(order["argv"][0], order["argv"], {"PATH": os.defpath, "LC_ALL": "C.UTF-8"})  # noqa: S606
