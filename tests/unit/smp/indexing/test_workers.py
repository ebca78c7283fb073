"""Analysing in worker processes gives what analysing here gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from msgspec.structs import replace

from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse
from smp.indexing.workers import BATCH_BYTES, INLINE_BYTES, analyse_files, split_batches
from smp.languages.nodes import hash_bytes
from smp.ports.source_tree import SourceFile


def source(path: str, content: bytes) -> SourceFile:
    return SourceFile(path=FilePath(path), content=content, hash=hash_bytes(content))


def test_batches_hold_about_a_megabyte_and_every_file_once_in_order() -> None:
    files = [source(f"{n}.txt", b"x" * 300_000) for n in range(10)]
    batches = list(split_batches(files))
    assert [file.path for batch in batches for file in batch] == [file.path for file in files]
    assert all(sum(len(file.content) for file in batch) >= BATCH_BYTES for batch in batches[:-1])
    assert list(split_batches([])) == []


def test_a_few_files_are_analysed_in_this_process() -> None:
    files = (source("a.py", b"def f(): pass\n"), source("b.txt", b"text"))
    found = list(analyse_files([files], workers=8, inline=None))
    assert [one.analysis for one in found] == [analyse(file.path, file.content) for file in files]
    assert [one.hash for one in found] == [file.hash for file in files]


def test_workers_give_the_same_in_the_same_order() -> None:
    body = b"".join(b"def f%d(x):\n    return f%d(x)\n" % (n, n // 2) for n in range(200))
    filler = b'X = "' + b"x" * 400_000 + b'"\n'
    files = [source(f"m{n}.py", body + filler) for n in range(5)]
    assert sum(len(file.content) for file in files) > INLINE_BYTES
    found = list(analyse_files(split_batches(files), workers=2))
    whole = [replace(one.analysis, nodes=one.nodes, edges=one.edges, bodies=one.bodies) for one in found]
    assert whole == [analyse(file.path, file.content) for file in files]
    assert [one.node_count for one in found] == [len(one.nodes) for one in found]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_a_worker_does_not_outlive_its_parent() -> None:
    script = textwrap.dedent(
        """
        import os, sys
        from smp.indexing.workers import _start_worker
        from concurrent.futures import ProcessPoolExecutor
        import multiprocessing
        if __name__ == "__main__":
            pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"),
                                       initializer=_start_worker, initargs=(os.getpid(),))
            print(pool.submit(os.getpid).result(), flush=True)
            sys.stdin.read()
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    descriptor = os.pidfd_open(worker)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    try:
        import select

        # a process file descriptor becomes readable when the process has ended
        assert select.select([descriptor], [], [], 30)[0]
    finally:
        os.close(descriptor)
        for stream in (parent.stdin, parent.stdout):
            if stream is not None:
                stream.close()
