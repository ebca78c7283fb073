"""Records which function calls which, from which place, while a test suite runs; a pytest plugin of the package's interpreter.

Standard library only, CPython 3.12 or newer. `SMP_ACCURACY_ROOT` names the folder whose code is the project,
`SMP_ACCURACY_OUT` the file that gets, as JSON:

    {"rows": [[caller, place, callee, origin, behind], …], "codes": [[file, qualname, first line], …],
     "left_out": {reason: number of callees}}

caller, callee, behind: indexes into `codes`. place: [first line, last line, first column, last column] of the instruction that
calls. behind: the function of the project that the called object wraps (`__wrapped__`), else null. origin: how the
callee came to run:

    function, class, instance, partial   the called object
    wrapped    a wrapper of a library around a function of the project was called: the function it wraps is the callee
    builtin    a built-in was called, and called back
    syntax     no call at this place: an operator, an attribute, a loop, `with`

Whether the code writes a call at the place is for the scorer, which has the syntax tree. A generator's or coroutine's body runs
when somebody asks for its first step, so for those the call itself is recorded; all others are recorded when they begin to
run, so that a call that fails for its arguments is none.
"""

# mypy: ignore-errors
import dis
import functools
import json
import os
import sys
import threading
import types

ROOT = os.environ["SMP_ACCURACY_ROOT"].rstrip("/") + "/"
OUT = os.environ["SMP_ACCURACY_OUT"]
_TOOL = 4
_LAZY = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators
_FOREIGN = ("/site-packages/", "/.venv/", "/venv/")

_inside = {}
_rows = {}
_left_out = {"the caller is outside the project": {}, "a module or class body": {}, "a generator expression": {}}
_seen = set()
_local = threading.local()
_CACHE = dis.opmap["CACHE"]
_frame = sys._getframe


def _is_inside(name):
    known = _inside.get(name)
    if known is None:
        full = os.path.realpath(name) if not name.startswith("<") else ""
        known = _inside[name] = full.startswith(ROOT) and not any(part in full for part in _FOREIGN)
    return known


def _own(value):
    """The code of a function of the project; None for anything else."""
    if type(value) is types.MethodType:
        value = value.__func__
    if type(value) is types.FunctionType and _is_inside(value.__code__.co_filename):
        return value.__code__
    return None


def _wrapped(value):
    """The innermost function of the project that an object says it wraps."""
    if type(value) is types.MethodType:
        value = value.__func__
    found = None
    for _ in range(8):
        try:
            value = object.__getattribute__(value, "__dict__").get("__wrapped__")
        except (AttributeError, TypeError):
            return found
        if value is None:
            return found
        found = _own(value) or found
    return found


def _origin(value):
    kind = type(value)
    if kind in (types.FunctionType, types.MethodType):
        return "function"
    if isinstance(value, type):
        return "class" if value.__flags__ & (1 << 9) else "builtin"
    if kind in (functools.partial, functools.partialmethod):
        return "partial"
    if kind in (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType):
        return "builtin"
    if kind in (types.MethodDescriptorType, types.ClassMethodDescriptorType):
        return "builtin"
    return "instance"


def _on_call(code, offset, value, argument):
    if not _is_inside(code.co_filename):
        return sys.monitoring.DISABLE
    own = _own(value)
    behind = _wrapped(value)
    _local.last = (code, offset, value, behind)
    if own is not None:
        if own.co_flags & _LAZY:
            _rows.setdefault((code, offset, own), ("function", behind))
    elif behind is not None and type(value) is not functools.partial:
        _rows.setdefault((code, offset, behind), ("wrapped", None))
    elif type(value) is functools.partial:
        inner = value.func
        while type(inner) is functools.partial:
            inner = inner.func
        own = _own(inner)
        if own is not None and own.co_flags & _LAZY:
            _rows.setdefault((code, offset, own), ("partial", None))
    return None


def _on_start(code, offset):
    if not _is_inside(code.co_filename):
        return sys.monitoring.DISABLE
    frame = _frame(1).f_back
    if not code.co_flags & 0x1:
        _left_out["a module or class body"][code] = True
        return sys.monitoring.DISABLE
    if code.co_flags & _LAZY:
        if code.co_name == "<genexpr>":
            _left_out["a generator expression"][code] = True
        return sys.monitoring.DISABLE
    if frame is None or not _is_inside(frame.f_code.co_filename):
        _left_out["the caller is outside the project"][code] = True
        return None
    offset = frame.f_lasti
    key = (frame.f_code, offset, code)
    if key in _seen:
        return None
    _seen.add(key)
    instructions = frame.f_code.co_code
    while instructions[offset] == _CACHE:  # a frame that has entered another stands behind its instruction
        offset -= 2
    key = (frame.f_code, offset, code)
    last = getattr(_local, "last", None)
    opcode = instructions[offset]
    if last is not None and last[0] is key[0] and last[1] == offset and dis.opname[opcode].startswith("CALL"):
        _rows[key] = (_origin(last[2]), last[3] if last[3] is not code else None)
    else:
        _rows[key] = ("syntax", None)
    return None


def write():
    """Writes what was recorded."""
    sys.monitoring.set_events(_TOOL, 0)
    codes = {}

    def index(code):
        if code is None:
            return None
        entry = (os.path.realpath(code.co_filename)[len(ROOT) :], code.co_qualname, code.co_firstlineno)
        return codes.setdefault(entry, len(codes))

    rows = []
    for (caller, offset, callee), (origin, behind) in list(_rows.items()):
        place = list(caller.co_positions())[offset // 2]
        rows.append([index(caller), [at or 0 for at in place], index(callee), origin, index(behind)])
    left_out = {reason: len(found) for reason, found in _left_out.items()}
    with open(OUT, "w") as file:
        json.dump({"rows": rows, "codes": list(codes), "left_out": left_out}, file)


def pytest_unconfigure(config):
    write()


def _begin():
    monitoring = sys.monitoring
    monitoring.use_tool_id(_TOOL, "smp-accuracy")
    monitoring.register_callback(_TOOL, monitoring.events.CALL, _on_call)
    monitoring.register_callback(_TOOL, monitoring.events.PY_START, _on_start)
    monitoring.set_events(_TOOL, monitoring.events.CALL | monitoring.events.PY_START)


_begin()
