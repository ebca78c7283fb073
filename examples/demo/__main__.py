"""`make demo`, `python -m examples.demo [--down]`."""

from __future__ import annotations

import os
import signal
import sys


def _leave(*_: object) -> None:
    sys.stderr.write("interrupted; nothing has begun yet\n")
    sys.stderr.flush()
    os._exit(130)


if __name__ == "__main__":
    # Importing the platform takes a second, in which a Ctrl-C would surface from the depths of some library.
    signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    from examples.demo.session import main

    main()
