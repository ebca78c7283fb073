"""Files → analyses, in this process when they are few, else in worker processes.

Workers are spawned, never forked: the parent has threads. They get batches of about a megabyte and send msgpack back, so
that nothing is pickled but bytes. A worker ends when its parent has died, however it died.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from smp.domain.errors import Unavailable
from smp.domain.graph import Edge, Node
from smp.domain.ids import ContentHash, FilePath, NodeId
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse
from smp.ports.source_tree import SourceFile

if TYPE_CHECKING:
    from concurrent.futures import Future

BATCH_BYTES = 1_000_000
INLINE_BYTES = 1_500_000
"""Below this much source a worker would cost more to start than it saves."""

Analyse = Callable[[FilePath, bytes], FileAnalysis]


class Analysed(NamedTuple):
    """An analysis and the hash of the content it was made from.

    Attributes:
        analysis: Whole; or with the file's own node only, without edges and bodies, when `packed` holds those.
        packed: Nodes and words of bodies, encoded: nothing needs them before they are stored, and they are large.
        packed_edges: Likewise the edges inside the file.
    """

    hash: ContentHash
    analysis: FileAnalysis
    packed: bytes = b""
    packed_count: int = 0
    packed_edges: bytes = b""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes; decoded at every call."""
        return _unpack(self.packed).nodes if self.packed else self.analysis.nodes

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges that the file states by itself; decoded at every call."""
        return _decode_edges(zlib.decompress(self.packed_edges)) if self.packed else self.analysis.edges

    @property
    def bodies(self) -> dict[NodeId, str]:
        """Words of bodies; decoded at every call."""
        return _unpack(self.packed).bodies if self.packed else self.analysis.bodies

    @property
    def node_count(self) -> int:
        return self.packed_count if self.packed else len(self.analysis.nodes)


class _Packed(Struct, frozen=True, array_like=True):
    nodes: tuple[Node, ...]
    bodies: dict[NodeId, str]


class _Sent(Struct, frozen=True, array_like=True):
    """What a worker gives back of a file."""

    analysis: FileAnalysis
    packed: bytes
    count: int
    edges: bytes


def _unpack(packed: bytes) -> _Packed:
    return _decode_packed(zlib.decompress(packed))


_decode_packed = msgspec.msgpack.Decoder(_Packed).decode
_decode_edges = msgspec.msgpack.Decoder(tuple[Edge, ...]).decode
_encode = msgspec.msgpack.Encoder().encode


def analyse_files(
    batches: Iterable[tuple[SourceFile, ...]], *, workers: int, inline: Analyse | None = None
) -> Iterator[Analysed]:
    """Analyses in the order of the files.

    Args:
        batches: Read one after the other while workers are busy, so that not all content is held at once.
        workers: Processes; 0 = one per core; 1 = none but this one.
        inline: Analyses with this function in this process, whatever the amount.

    Raises:
        Unavailable: A worker died (killed, or out of memory).
    """
    processes = workers or os.cpu_count() or 1
    if inline is not None or processes == 1:
        for batch in batches:
            yield from _analyse_here(batch, inline or analyse)
        return
    held: list[tuple[SourceFile, ...]] = []
    source = iter(batches)
    total = 0
    for batch in source:
        held.append(batch)
        total += sum(len(file.content) for file in batch)
        if total > INLINE_BYTES:
            break
    else:
        for batch in held:
            yield from _analyse_here(batch, analyse)
        return
    yield from _analyse_in_pool(held, source, processes)


def split_batches(files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, ...]]:
    """Consecutive files of about `BATCH_BYTES` together."""
    batch: list[SourceFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.content)
        if size >= BATCH_BYTES:
            yield tuple(batch)
            batch, size = [], 0
    if batch:
        yield tuple(batch)


def _analyse_here(batch: tuple[SourceFile, ...], function: Analyse) -> Iterator[Analysed]:
    for file in batch:
        yield Analysed(file.hash, function(file.path, file.content))


def _analyse_in_pool(
    held: list[tuple[SourceFile, ...]], rest: Iterator[tuple[SourceFile, ...]], processes: int
) -> Iterator[Analysed]:
    # a tenth of a command's start, and most commands index little or nothing
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor

    decode = msgspec.msgpack.Decoder(tuple[_Sent, ...]).decode
    waiting: deque[tuple[tuple[ContentHash, ...], Future[bytes]]] = deque()
    known: dict[object, object] = {}
    pool = ProcessPoolExecutor(
        processes, mp_context=multiprocessing.get_context("spawn"), initializer=_start_worker, initargs=(os.getpid(),)
    )

    def submit(batch: tuple[SourceFile, ...]) -> None:
        job = pool.submit(_analyse_batch, tuple((file.path, file.content) for file in batch))
        waiting.append((tuple(file.hash for file in batch), job))

    try:
        for batch in held:
            submit(batch)
        more = True
        while waiting or more:
            while more and len(waiting) < 3 * processes:
                following = next(rest, None)
                more = following is not None
                if following is not None:
                    submit(following)
            if waiting:
                hashes, job = waiting.popleft()
                for digest, sent in zip(hashes, decode(job.result()), strict=True):
                    yield Analysed(digest, _sharing(sent.analysis, known), sent.packed, sent.count, sent.edges)
    except BrokenProcessPool as error:
        raise Unavailable(
            "a parser process died, perhaps for lack of memory; run smp index again, with fewer workers if it recurs "
            "(SMP_INDEX_WORKERS=1)",
            backend="workers",
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _analyse_batch(batch: tuple[tuple[FilePath, bytes], ...]) -> bytes:
    return _encode([_sent(analyse(path, content)) for path, content in batch])


def _sent(analysis: FileAnalysis) -> _Sent:
    packed = zlib.compress(_encode(_Packed(analysis.nodes, analysis.bodies)), 1)
    edges = zlib.compress(_encode(analysis.edges), 1)
    lean = msgspec.structs.replace(analysis, nodes=analysis.nodes[:1], edges=(), bodies={})
    return _Sent(lean, packed, len(analysis.nodes), edges)


def _sharing(analysis: FileAnalysis, known: dict[object, object]) -> FileAnalysis:
    """The same with ops and names that equal ones of other files are: half of all ops, and most names, are."""
    summary = analysis.summary
    if summary is None:
        return analysis
    ops = tuple(map(known.setdefault, summary.ops, summary.ops))
    names = tuple(map(known.setdefault, summary.names, summary.names))
    for variable in summary.variables:
        _share(variable, "name", known)
    for function in summary.functions:
        _share(function, "name", known)
        _share(function, "params", known)
    for declaration in summary.imports:
        for field in ("module", "name", "bound"):
            _share(declaration, field, known)
    return msgspec.structs.replace(analysis, summary=msgspec.structs.replace(summary, ops=ops, names=names))


def _share(thing: Struct, field: str, known: dict[object, object]) -> None:
    """Lets a field of what was just decoded, and nobody else has seen, be the object that equal ones are."""
    held = getattr(thing, field)
    msgspec.structs.force_setattr(thing, field, known.setdefault(held, held))


def _start_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and do not outlive it: after SIGKILL nobody closes the queue we wait on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
