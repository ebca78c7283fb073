"""Counting calls from outside the processes that make them."""

from __future__ import annotations

import abc
from contextlib import AbstractContextManager

from smp.domain.traces import Trace


class CallWatch(abc.ABC):
    """What is being counted in one control group."""

    @abc.abstractmethod
    def trace(self) -> Trace:
        """The calls since the beginning; asked for once, when the processes have ended.

        Paths are as the interpreters name them, those below `/work/` made relative. When the tracer has died in between,
        the trace says so in `failed` and holds no call.
        """


class CallTracer(abc.ABC):
    """Safe to use from several threads; each watch is its own."""

    @abc.abstractmethod
    def missing(self) -> str:
        """Why it cannot be had here, with what mends it; empty when it can. Found by trying, cached per process."""

    @abc.abstractmethod
    def watch(
        self,
        group: str,
        probe: str,
        offsets: dict[str, int],
        interpreters: tuple[str, ...] = (),
        programs: tuple[str, ...] = (),
    ) -> AbstractContextManager[CallWatch]:
        """Count from now until the end of the context, which forgets everything.

        Args:
            group: Folder of a control group of version 2; only what runs in it is counted.
            probe: File that traced interpreters run a few bytes of before each frame.
            offsets: Where in it, by version of CPython without the dot (`313`).
            interpreters: Programs and libraries of CPython; a process that begins in one and is not traced is missed. Without
                them it is known by its name alone.
            programs: Files of native programs that were built from the checkout; those that have no symbols, no lines or are not
                for this machine are passed over.

        Raises:
            SandboxFailed: The tracer cannot be had; the message says what is missing.
        """
