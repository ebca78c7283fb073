"""Without the cyclic collector: reading and linking make millions of objects, and next to no garbage in circles."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Looking for circles meanwhile would double the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def set_aside() -> None:
    """What a server has loaded stays for its life: without this, the collector goes through all of it now and then, which
    makes one answer in some hundred 14 ms late."""
    gc.collect()
    gc.freeze()


def return_memory() -> None:
    """Gives room that is free, and lies between what is not, back to the system; where the C library cannot, nothing happens."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
