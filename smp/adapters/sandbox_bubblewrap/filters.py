"""The two seccomp filters of a box, compiled by libseccomp to classic BPF.

`box_filter` is what bubblewrap installs for the command: socket families by allow-list, ways to other kernels' interfaces
by deny-list, other ABIs killed. `listener_filter` hands connects and sends to the supervisor. A refusal that the filter
does not express is the namespaces' business; the contract tests try both.
"""

from __future__ import annotations

import errno
import functools
import stat
import tempfile
from types import ModuleType
from typing import Literal

from msgspec import Struct

from smp.domain.errors import SandboxFailed

_DENIED = [
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "open_by_handle_at",
    "name_to_handle_at",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "syslog",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
    "iopl",
    "ioperm",
    "lookup_dcookie",
    "fanotify_init",
    "pidfd_getfd",
    "process_madvise",
    "vhangup",
    "nfsservctl",
]
# open_tree_attr, listmount, statmount (the same on every architecture); libseccomp 2.5.4 has no names for them.
_DENIED_NUMBERS = (457, 458, 467)
# linux/sched.h: NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_STREAM, _SOCK_DGRAM = 1, 2
_PROTOCOLS = (1, 33, 58, 132, 136)  # icmp, dccp, icmpv6, sctp, udplite
_FILE_TYPE = 0o170000  # S_IFMT
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
CALLS = ("connect", "sendto", "sendmsg", "sendmmsg")


class Filters(Struct, frozen=True, kw_only=True):
    """box, listener: classic BPF. calls: numbers of the calls that the listener reports, by name."""

    box: bytes
    listener: bytes
    calls: dict[str, int]


@functools.cache
def compile_filters() -> Filters:
    """Both filters for this machine's architecture.

    Raises:
        SandboxFailed: libseccomp is not installed.
    """
    try:
        import pyseccomp
    except (ImportError, OSError, RuntimeError) as error:
        raise SandboxFailed("libseccomp is missing; install it: apt-get install libseccomp2") from error
    calls = {name: int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name)) for name in CALLS}
    return Filters(box=_box_filter(pyseccomp), listener=_listener_filter(pyseccomp), calls=calls)


class Argument(Struct, frozen=True, kw_only=True):
    """A condition on an argument of a system call; `mask`: bits that MASKED_EQ looks at."""

    index: int
    operator: Literal["EQ", "NE", "GT", "MASKED_EQ"]
    value: int
    mask: int = 0


class Rule(Struct, frozen=True, kw_only=True):
    """A refusal: the call by name, or by number where libseccomp has no name for it, and the error it gets."""

    call: str | int
    error: int = errno.EPERM
    arguments: tuple[Argument, ...] = ()


def box_rules() -> tuple[Rule, ...]:
    """All that a box is refused, whoever makes it; everything else is allowed, and other ABIs are killed."""
    calls: tuple[str | int, ...] = (*_DENIED, *_DENIED_NUMBERS)
    made = [Rule(call=call) for call in calls]
    made += [
        Rule(call="clone", arguments=(Argument(index=0, operator="MASKED_EQ", value=bit, mask=bit),))
        for bit in _NEW_NAMESPACES
    ]
    # Pipes, sockets and files may be made by mknod; devices may not, nor the device 0/0 that overlayfs takes for a deletion.
    made += [
        Rule(call=name, arguments=(Argument(index=at, operator="MASKED_EQ", value=kind, mask=_FILE_TYPE),))
        for name, at in (("mknod", 1), ("mknodat", 2))
        for kind in (stat.S_IFCHR, stat.S_IFBLK)
    ]
    # The flags of clone3 lie behind a pointer; with ENOSYS the C library falls back to clone.
    made.append(Rule(call="clone3", error=errno.ENOSYS))
    made += _socket_rules()
    made += [
        Rule(call="ioctl", arguments=(Argument(index=1, operator="MASKED_EQ", value=request, mask=0xFFFFFFFF),))
        for request in (_TIOCSTI, _TIOCLINUX)
    ]
    return tuple(made)


def _socket_rules() -> list[Rule]:
    def refused(*arguments: Argument) -> Rule:
        return Rule(call="socket", arguments=arguments)

    allowed = (_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK)
    families = [family for family in range(_AF_NETLINK) if family not in allowed]
    made = [refused(Argument(index=0, operator="EQ", value=family)) for family in families]
    made.append(refused(Argument(index=0, operator="GT", value=_AF_NETLINK)))
    for family in (_AF_INET, _AF_INET6):
        of_family = Argument(index=0, operator="EQ", value=family)
        made += [
            refused(of_family, Argument(index=1, operator="MASKED_EQ", value=kind, mask=0xF))
            for kind in range(16)
            if kind not in (_SOCK_STREAM, _SOCK_DGRAM)
        ]
        made += [refused(of_family, Argument(index=2, operator="EQ", value=protocol)) for protocol in _PROTOCOLS]
    # NETLINK_ROUTE alone: getifaddrs needs it.
    netlink = Argument(index=0, operator="EQ", value=_AF_NETLINK)
    made.append(refused(netlink, Argument(index=2, operator="NE", value=0)))
    made.append(Rule(call="socketpair", arguments=(Argument(index=0, operator="NE", value=_AF_UNIX),)))
    return made


def _box_filter(sc: ModuleType) -> bytes:
    made = sc.SyscallFilter(sc.ALLOW)
    made.set_attr(sc.Attr.ACT_BADARCH, sc.KILL_PROCESS)
    for rule in box_rules():
        number = rule.call if isinstance(rule.call, int) else sc.resolve_syscall(sc.Arch.NATIVE, rule.call)
        if number >= 0:  # negative: this architecture has no such call
            made.add_rule(sc.ERRNO(rule.error), number, *(_condition(sc, argument) for argument in rule.arguments))
    return _program(made)


def _condition(sc: ModuleType, argument: Argument) -> object:
    if argument.operator == "MASKED_EQ":
        return sc.Arg(argument.index, sc.MASKED_EQ, argument.mask, argument.value)
    return sc.Arg(argument.index, getattr(sc, argument.operator), argument.value)


def _listener_filter(sc: ModuleType) -> bytes:
    made = sc.SyscallFilter(sc.ALLOW)
    made.set_attr(sc.Attr.ACT_BADARCH, sc.KILL_PROCESS)
    for name in ("connect", "sendmsg", "sendmmsg"):
        made.add_rule(sc.NOTIFY, name)
    made.add_rule(sc.NOTIFY, "sendto", sc.Arg(4, sc.NE, 0))  # without an address it cannot leave a connected socket
    return _program(made)


def _program(made: object) -> bytes:
    with tempfile.TemporaryFile() as file:
        made.export_bpf(file)  # type: ignore[attr-defined] # the package has no type information
        file.seek(0)
        return file.read()
