"""Make the example shop: a small repository with a bug in its rounding, and a bare `origin` beside it.

    python -m examples.shop DIRECTORY

The other examples, the tutorial and the examples of the protocol reference work on it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from examples.shop.making import make_shop

if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m examples.shop DIRECTORY")
    make_shop(Path(sys.argv[1]))
    print(f"a repository at {sys.argv[1]}, its origin at {sys.argv[1]}-origin.git")
