"""The privileged helper: loads the program, hands its sums out. Runs with the system's Python, the only one that has BCC.

One JSON object a line on standard input, one line of answer each on standard output (docs/tracing.md):

    {"do": "attach", "file": path, "offsets": {"313": 107},
     "interpreters": [path, …]}                                         {"ok": true}
    {"do": "watch", "group": folder}                                   {"ok": true, "box": 1}
    {"do": "probe", "box": 1, "file": path, "offsets": [4506, …]}      {"ok": true, "first": 0}
    {"do": "collect", "box": 1}                                        {"ok": true, "frames": …, "calls": …, …}
    anything that fails                                                {"ok": false, "error": "…"}

It ends with its standard input. Probes hang on descriptors of this process, so the kernel takes them away when it ends,
however it ends. Nothing that the product sends is run or passed to a shell; files and folders are opened, not made.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from smp.adapters.tracer_ebpf.host import probes
from smp.adapters.tracer_ebpf.host.headers import join_headers
from smp.adapters.tracer_ebpf.host.program import SOURCE

_ENTRY = 0  # of enum bpf_probe_attach_type of libbcc
_KINDS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}
_MAIN = "Py_BytesMain"
_REASONS = ("edges", "names", "unreadable", "deep")


class Tracer:
    """The loaded program. Descriptors are kept for the life of the process."""

    def __init__(self) -> None:
        import bcc

        self._lib = bcc.lib
        self._kind = bcc.BPF.KPROBE
        self._bpf = bcc.BPF(text=SOURCE)
        walk = self._bpf.load_func("on_walk", self._kind)
        self._bpf["programs"][ctypes.c_int(0)] = ctypes.c_int(walk.fd)
        self._attached: set[tuple[int, int, int | str]] = set()
        self._boxes = 0
        self._groups: dict[int, int] = {}
        self._native = -1
        self._links: dict[int, list[int]] = {}
        self._probes = 0

    def attach(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put the probe on a file, and one on the start of these interpreters; a second time does nothing."""
        path = os.path.realpath(request["file"])
        found = os.stat(path)
        for version, offset in request["offsets"].items():
            key = (found.st_dev, found.st_ino, int(offset))
            if key in self._attached:
                continue
            program = self._bpf.load_func(f"on_frame_{int(version)}", self._kind)
            name = f"smp_{found.st_ino}_{offset}".encode()
            if self._lib.bpf_attach_uprobe(program.fd, _ENTRY, name, path.encode(), int(offset), -1, 0) < 0:
                raise OSError(ctypes.get_errno(), "the kernel takes no uprobe here")
            self._attached.add(key)
        for interpreter in request.get("interpreters", ()):
            self._attach_main(os.path.realpath(interpreter))
        return {}

    def _attach_main(self, path: str) -> None:
        """An interpreter is a program or the library that it is linked to; only one of them has the function."""
        found = os.stat(path)
        key = (found.st_dev, found.st_ino, _MAIN)
        if key in self._attached:
            return
        self._attached.add(key)
        try:
            _, offset = self._bpf._check_path_symbol(path.encode(), _MAIN.encode(), None, -1)
        except Exception:  # noqa: BLE001 - BCC raises Exception itself
            return
        program = self._bpf.load_func("on_main", self._kind)
        name = f"smp_main_{found.st_ino}".encode()
        if self._lib.bpf_attach_uprobe(program.fd, _ENTRY, name, path.encode(), offset, -1, 0) < 0:
            raise OSError(ctypes.get_errno(), f"the kernel takes no uprobe on {path}")

    def watch(self, request: dict[str, Any]) -> dict[str, Any]:
        """Count what processes of a control group do, from now on."""
        group = os.stat(os.path.join(request["group"], "cgroup.procs"))
        del group  # a folder of something else has no such file
        self._boxes += 1
        number = os.stat(request["group"]).st_ino
        self._groups[self._boxes] = number
        self._bpf["groups"][ctypes.c_uint64(number)] = ctypes.c_uint32(self._boxes)
        return {"box": self._boxes}

    def probe(self, request: dict[str, Any]) -> dict[str, Any]:
        """Count the calls of native functions of a file, numbered one after the other, until the box is collected."""
        if self._native < 0:
            self._bpf.load_func("on_native", self._kind)
            self._native = probes.load(bytes(self._bpf.dump_func("on_native")))
        first = self._probes
        link = probes.attach(self._native, request["file"], request["offsets"], first)
        self._links.setdefault(int(request["box"]), []).append(link)
        self._probes += len(request["offsets"])
        return {"first": first}

    def _take_natives(self, box: int) -> list[tuple[int, int, int]]:
        for link in self._links.pop(box, ()):
            os.close(link)
        table = self._bpf["natives"]
        found = [(key, sum(counts)) for key, counts in list(table.items()) if key.box == box]
        for key, _ in found:
            del table[key]
        return [(key.function, key.distance, count) for key, count in found]

    def collect(self, request: dict[str, Any]) -> dict[str, Any]:
        """The sums of a box, which are forgotten with it; its processes have ended."""
        box = int(request["box"])
        number = self._groups.pop(box)
        del self._bpf["groups"][ctypes.c_uint64(number)]
        images = {key.value: value for key, value in self._bpf["images"].items() if value.box == box}
        frames = {(key.image, key.address, key.version): _names(value) for key, value in self._take("names", images)}
        indexes: dict[tuple[Any, ...], int] = {}
        calls: dict[tuple[int, int], int] = {}
        cut = nameless = 0
        for key, counts in self._take("edges", images):
            ends = [
                frames.get((key.image, address, version))
                for address, version in ((key.caller, key.caller_version), (key.callee, key.callee_version))
            ]
            if ends[0] is None or ends[1] is None:
                nameless += sum(counts)
                continue
            cut += sum(counts) if ends[0][3] or ends[1][3] else 0
            pair = tuple(indexes.setdefault(end[:3], len(indexes)) for end in ends if end is not None)
            calls[pair[0], pair[1]] = calls.get((pair[0], pair[1]), 0) + sum(counts)
        for key in images:
            del self._bpf["images"][ctypes.c_uint64(key)]
        return {
            "frames": list(indexes),
            "calls": [(*pair, count) for pair, count in calls.items()],
            "processes": sum(image.seen for image in images.values()),
            "missed": [_name(image) for image in images.values() if not image.seen],
            "natives": self._take_natives(box),
            "lost": {"nameless": nameless, "cut": cut} | self._lost(box),
        }

    def _take(self, table: str, images: dict[int, Any]) -> Iterator[tuple[Any, Any]]:
        """Entries of these images, removed."""
        map_ = self._bpf[table]
        for key, value in list(map_.items()):
            if key.image in images:
                yield key, value
                del map_[key]

    def _lost(self, box: int) -> dict[str, int]:
        table = self._bpf["lost"]
        found = {_REASONS[key.why]: (key, value.value) for key, value in table.items() if key.box == box}
        for key, _ in found.values():
            del table[key]
        return {why: count for why, (_, count) in found.items()}


def _name(image: Any) -> str:
    return "python" if image.interpreter else str(image.name.decode("utf-8", "replace"))


def _names(entry: Any) -> tuple[str, str, int, bool]:
    file = _text(entry.file, entry.file_bytes, entry.file_kind)
    return file, _text(entry.name, entry.name_bytes, entry.name_kind), entry.line, bool(entry.cut)


def _text(field: Any, count: int, kind: int) -> str:
    return ctypes.string_at(ctypes.addressof(field) if not isinstance(field, bytes) else field, count).decode(
        _KINDS.get(kind, "latin-1"), "replace"
    )


def serve(tracer: Tracer) -> None:
    """Answer requests until standard input ends."""
    known: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "attach": tracer.attach,
        "watch": tracer.watch,
        "probe": tracer.probe,
        "collect": tracer.collect,
    }
    for line in sys.stdin:
        try:
            request = json.loads(line)
            answer = {"ok": True} | known[request["do"]](request)
        except (ValueError, KeyError, TypeError, OSError) as error:
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        _say(answer)


def main() -> None:
    """Load, say so, serve."""
    with tempfile.TemporaryDirectory(prefix="smp-headers-") as folder:
        try:
            headers = join_headers(folder)
            if headers:
                os.environ["BCC_KERNEL_SOURCE"] = headers
            tracer = Tracer()
        except ImportError:
            _say({"ok": False, "error": "BCC for Python is missing; install it: apt-get install python3-bpfcc"})
            return
        except Exception as error:  # noqa: BLE001 - the edge of a process; BCC raises Exception itself
            _say({"ok": False, "error": f"the program does not load: {error}"})
            return
    _say({"ok": True, "protocol": 1})
    serve(tracer)


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
