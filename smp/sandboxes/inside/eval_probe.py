"""Lets the kernel see this interpreter's calls; runs inside the box, at the start of every interpreter. CPython 3.12, 3.13.

CPython runs a Python-to-Python call without leaving its evaluation loop, where no probe can see it, unless a frame
evaluation function is set (PEP 523). The one set here is the interpreter's own, reached by a few bytes of machine code in
a file, on which the host has put a probe (`smp/adapters/sandbox_bubblewrap/eval_probe.py` has the bytes).
Nothing else runs in this process on its account: what is counted, and how, is the kernel's business.
"""

import ctypes
import os
import sys

ROOT = "/work/"
PAGE = 4096
OFFSETS = {(3, 12): 0, (3, 13): 64}
"""Where the code for a version begins; what it jumps to is in the word at the same offset of the following page."""
_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _FIXED, _ANONYMOUS = 0x02, 0x10, 0x20


def install(path):
    """Set the frame evaluation function; without effect on other versions, and where somebody else has set one.

    Args:
        path: The file with the machine code.
    """
    offset = OFFSETS.get(sys.version_info[:2])
    if offset is None or sys.implementation.name != "cpython" or not os.path.exists(path):
        return
    api = ctypes.pythonapi
    evaluate = ctypes.cast(api._PyEval_EvalFrameDefault, ctypes.c_void_p).value
    api.PyInterpreterState_Get.restype = ctypes.c_void_p
    interpreter = ctypes.c_void_p(api.PyInterpreterState_Get())
    api._PyInterpreterState_GetEvalFrameFunc.restype = ctypes.c_void_p
    if api._PyInterpreterState_GetEvalFrameFunc(interpreter) != evaluate:
        return
    address = _map(path)
    if address is None:
        return
    ctypes.c_uint64.from_address(address + PAGE + offset).value = evaluate
    api._PyInterpreterState_SetEvalFrameFunc(interpreter, ctypes.c_void_p(address + offset))
    # The first frame that the kernel sees: this interpreter is traced, whatever it will run.
    exec(compile("", ROOT, "exec"), {})  # noqa: S102 - an empty program


def _map(path):
    """The address of the file's page, executable, with a writable page behind it."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    failed = ctypes.c_void_p(-1).value
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        address = libc.mmap(None, 2 * PAGE, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
        if address in (None, failed):
            return None
        code = libc.mmap(address, PAGE, _READ | _EXECUTE, _PRIVATE | _FIXED, descriptor, 0)
        return address if code == address else None
    finally:
        os.close(descriptor)
