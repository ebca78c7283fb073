"""Execute a page of the documentation word for word, and hold what it shows against what comes out.

    python infra/run_page.py docs/tutorial.md [docs/howto.md …]

All `sh` blocks of the pages run in one shell, in order; the first that fails ends it. The lines of a `text` block must appear,
in that order, in the output of the `sh` block before it; `…` stands for anything.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "-- end of block {} --"


@dataclass
class Block:
    """Commands, and the lines that their output is to have."""

    commands: str
    expected: list[str] = field(default_factory=list)


def blocks_of(page: str) -> list[Block]:
    """The `sh` blocks of a page with what is said to come of them."""
    found: list[Block] = []
    for kind, body in _BLOCK.findall(page):
        if kind == "sh":
            found.append(Block(body))
        elif found:
            found[-1].expected += [line for line in body.splitlines() if line.strip()]
    return found


def missing(expected: list[str], output: str) -> str | None:
    """The first expected line that does not come, in its order; None when all do."""
    lines = iter(output.splitlines())
    for wanted in expected:
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in wanted.split("…")))
        whole = pattern.search if "…" in wanted else pattern.fullmatch
        if not any(whole(line.strip()) for line in lines):
            return wanted
    return None


def main() -> int:
    """Run, compare, report."""
    blocks = [block for name in sys.argv[1:] for block in blocks_of(Path(name).read_text("utf-8"))]
    if not blocks:
        sys.exit("usage: python infra/run_page.py PAGE.md …")
    script = "".join(f"{block.commands}\nprintf '\\n%s\\n' '{_MARK.format(n)}'\n" for n, block in enumerate(blocks))
    shell = ["bash", "-eu", "-o", "pipefail", "-c", script]
    done = subprocess.run(
        shell,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    rest = done.stdout
    for number, block in enumerate(blocks):
        output, mark, rest = rest.partition(_MARK.format(number))
        if not mark:
            print(f"this failed (exit code {done.returncode}):\n{block.commands}\n{output}")
            return 1
        wanted = missing(block.expected, output)
        if wanted is not None:
            print(f"this does not show {wanted.strip()!r}:\n{block.commands}\n{output}")
            return 1
        print(f"$ {block.commands.strip()}\n{output.strip()}\n")
    print(f"{len(blocks)} blocks ran as written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
