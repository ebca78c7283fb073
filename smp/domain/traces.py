"""What a tracer saw: pairs of frames, names not yet resolved to nodes."""

from __future__ import annotations

from msgspec import Struct


class Frame(Struct, frozen=True, kw_only=True, array_like=True):
    """A code object as the interpreter names it.

    Attributes:
        file: Path as seen in the box, made relative to the checkout when it lies inside; else absolute.
        qualname: `co_qualname` (3.11+), e.g. `Cart.total`, `outer.<locals>.inner`, `<module>`.
        first_line: `co_firstlineno`; decorators counted in.
    """

    file: str
    qualname: str
    first_line: int


class CallObservation(Struct, frozen=True, kw_only=True, array_like=True):
    """`count` calls from one frame to another; `lower_bound` when the tracer may have missed some."""

    caller: Frame
    callee: Frame
    count: int
    lower_bound: bool = False


class Trace(Struct, frozen=True, kw_only=True):
    """Everything a tracer collected in one execution, sorted by caller and callee.

    Attributes:
        tracer: `monitoring` or `ebpf`.
        processes: Interpreters traced. missed_processes: interpreters that started without the tracer.
        lost_calls: Calls that were seen and are not in `calls`: full tables, names too long, stacks too deep.
        failed: Why there is no trace, where the tracer broke; empty otherwise.
    """

    tracer: str
    calls: tuple[CallObservation, ...] = ()
    processes: int = 0
    missed_processes: int = 0
    lost_calls: int = 0
    failed: str = ""
