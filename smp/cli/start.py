"""Where the console script begins: until everything is loaded, Ctrl-C ends the process without a word.

Loading takes a few hundredths of a second; an interrupt in it would be shown as a traceback from the middle of an import.
"""

from __future__ import annotations

import signal


def main() -> None:
    """Entry point of the console script."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from smp.cli.main import main as run

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
