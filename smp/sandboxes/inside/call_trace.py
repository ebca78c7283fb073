"""Counts the calls between functions of the checkout; runs inside the box, in every interpreter, from its start.

Standard library only, Python 3.8 or newer. Started by a `.pth` file of the box's environment when `SMP_TRACE` names a
folder; each process leaves one JSON file there when it ends:

    {"frames": [[file, qualname, first line], …], "calls": [[caller, callee, count], …]}

with indexes into `frames`. What counts: a function of the checkout begins to run (a generator once, at its first step),
and the nearest frame of the checkout on the stack above is its caller. A call that no frame of the checkout asked for,
such as a test by its runner, is left out; so are module and class bodies, which are run, not called.

`sys.monitoring` (3.12) switches itself off for code outside the checkout after its first event; before that there is
`sys.setprofile`. Counts are held per thread, so that no addition is lost between two threads.
"""

import atexit
import json
import os
import sys
import threading
import time
from _thread import get_ident

ROOT = "/work/"
KERNEL = "ebpf"
_FOREIGN = ("/site-packages/", "/.venv/", "/node_modules/")
_CO_OPTIMIZED = 0x1  # set for functions, not for modules and class bodies
_CO_GENERATORS = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_TOOL_IDS = (4, 3)  # 0, 1, 2 and 5 have names in sys.monitoring: debugger, coverage, profiler, optimizer

_start_folder = os.getcwd()
_inside = {}  # file name of a code object -> its path in the checkout, or "" for code from elsewhere
_codes = {}  # id -> code object, held so that the id stays its own
_counts = {}  # thread -> {(id of caller, id of callee): count}
_folder = ""
_get_frame = sys._getframe


def start(folder, root=ROOT):
    """Begin to count.

    Args:
        folder: Where the result is written; `ebpf`: nowhere, the kernel counts and this process only lets it.
        root: Path of the checkout, ending in a slash.
    """
    global _folder, ROOT
    if folder == KERNEL:
        import eval_probe

        eval_probe.install(os.path.join(os.path.dirname(__file__), "eval_probe.bin"))
        return
    if _folder:
        return
    _folder = folder
    ROOT = root
    _inside[__file__] = ""
    atexit.register(write)
    os.register_at_fork(after_in_child=_counts.clear)
    _write_before("_exit")
    _write_before("execv")
    _write_before("execve")
    if not _start_monitoring():
        threading.setprofile(_on_profile)
        sys.setprofile(_on_profile)


def _start_monitoring():
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is None:
        return False
    for tool in _TOOL_IDS:
        try:
            monitoring.use_tool_id(tool, "smp")
        except ValueError:
            continue
        monitoring.register_callback(tool, monitoring.events.PY_START, _make_on_start(monitoring.DISABLE))
        monitoring.set_events(tool, monitoring.events.PY_START)
        return True
    return False


def _make_on_start(disable):
    counts, thread, get_frame = _counts, get_ident, _get_frame

    def on_start(code, offset):
        frame = get_frame(1).f_back
        try:
            # Only pairs of held code objects are keys, so an id found here is no other object's.
            counts[thread()][id(frame.f_code), id(code)] += 1
        except (KeyError, AttributeError):
            if not _counts_as_callee(code):
                return disable
            _count(code, frame)
        return None

    return on_start


def _on_profile(frame, event, argument):
    if event != "call":
        return
    code = frame.f_code
    if code.co_flags & _CO_GENERATORS and not _begins(frame, code):
        return
    caller = frame.f_back
    try:
        _counts[get_ident()][id(caller.f_code), id(code)] += 1
    except (KeyError, AttributeError):
        if _counts_as_callee(code):
            _count(code, caller)


def _counts_as_callee(code):
    path = _inside.get(code.co_filename)
    if path is None:
        path = _place(code.co_filename)
    return path and code.co_flags & _CO_OPTIMIZED


def _begins(frame, code):
    """False for the later steps of a generator, which this interpreter reports as calls too."""
    if frame.f_lasti < 0:
        return True
    if sys.version_info < (3, 11):  # noqa: UP036 - the box's Python, not ours
        return False
    # 3.11: RESUME has 0 in the low bits of its argument at the start, and the kind of yield later on.
    return code.co_code[frame.f_lasti + 1] & 3 == 0


def _count(code, frame):
    inside = _inside
    while frame is not None:
        caller = frame.f_code
        path = inside.get(caller.co_filename)
        if path is None:
            path = _place(caller.co_filename)
        if path:
            break
        frame = frame.f_back
    else:
        return
    key = (id(caller), id(code))
    counts = _counts.get(get_ident())
    if counts is None:
        counts = _counts[get_ident()] = {}
    known = counts.get(key)
    if known is None:
        _codes[key[0]] = caller
        _codes[key[1]] = code
        counts[key] = 1
    else:
        counts[key] = known + 1


def _place(name):
    path = ""
    if not name.startswith("<"):
        full = name if name.startswith("/") else os.path.join(_start_folder, name)
        full = os.path.normpath(full)
        if full.startswith(ROOT) and not any(part in full for part in _FOREIGN):
            path = full
    _inside[name] = path
    return path


def _qualname(code):
    if code.co_name == "<module>" or sys.version_info >= (3, 11):
        return getattr(code, "co_qualname", code.co_name)
    return "?." + code.co_name  # what it is defined in is not known; the first line tells definitions apart


def write():
    """Write what was counted since the start, the fork or the last writing; counting goes on."""
    merged = {}
    for thread in list(_counts):
        for key, count in list(_counts.pop(thread, {}).items()):
            merged[key] = merged.get(key, 0) + count
    indexes = {}
    frames = []

    def index(code_id):
        code = _codes[code_id]
        frame = (_inside[code.co_filename], _qualname(code), code.co_firstlineno)
        if frame not in indexes:
            indexes[frame] = len(frames)
            frames.append(frame)
        return indexes[frame]

    calls = [(index(caller), index(callee), count) for (caller, callee), count in merged.items()]
    target = os.path.join(_folder, f"{os.getpid()}-{time.monotonic_ns()}.json")
    try:
        with open(target + ".part", "w") as file:
            json.dump({"frames": frames, "calls": calls}, file)
        os.rename(target + ".part", target)
    except OSError:
        return  # the folder is gone or full: a program must not fail for being watched


def _write_before(name):
    """Write before a call that ends the interpreter without its exit handlers."""
    original = getattr(os, name)

    def call(*arguments, **named):
        write()
        return original(*arguments, **named)

    setattr(os, name, call)
