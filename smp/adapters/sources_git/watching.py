"""Telling that a working tree has changed, by the kernel's notices (watchfiles); by looking again and again where those end.

Two kinds of news: paths that changed, and that another commit is checked out (or the same branch has moved), which is told
as an empty set. The latter is read off HEAD and its log, which lie in the repository's own folder: for a linked worktree
that is outside the tree.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from smp.domain.errors import SmpError
from smp.domain.ids import FilePath

DEBOUNCE_MS = 200
"""Longest time that changes are gathered for."""
STEP_MS = 50
"""Quiet after which they are told at once."""
POLL_MS = 1_000
"""Between looks where the kernel has no room for more watches."""
READY_S = 10.0
HEADS = ("HEAD", "logs/HEAD")


@contextmanager
def watching(
    root: Path,
    git_dir: Path,
    *,
    watched: Callable[[FilePath], bool],
    ignored: Callable[[frozenset[FilePath]], frozenset[FilePath]],
    on_change: Callable[[frozenset[FilePath]], None],
) -> Iterator[None]:
    """Call back from a thread until the context ends.

    Args:
        git_dir: Of this working tree; holds its HEAD.
        watched: Whether a path may be of interest, by its name alone.
        ignored: Those of some paths that git ignores.
    """
    import watchfiles  # costs a tenth of a start-up that mostly does not watch

    stop, ready = threading.Event(), threading.Event()
    heads = {os.path.realpath(git_dir / name) for name in HEADS}

    def relative(name: str) -> FilePath:
        return FilePath(os.path.relpath(name, root).replace(os.sep, "/"))

    def wanted(_: watchfiles.Change, name: str) -> bool:
        return name in heads or watched(relative(name))

    def tell(names: set[str]) -> None:
        paths = frozenset(relative(name) for name in names - heads)
        try:
            kept = paths - ignored(paths)
        except SmpError:
            kept = paths  # better to look once too often
        if (kept or names & heads) and not stop.is_set():
            on_change(frozenset(kept))

    def listen(*, polling: bool) -> None:
        places = [root] if _inside(git_dir, root) else [root, git_dir]
        changes = watchfiles.watch(
            *places,
            watch_filter=wanted,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=stop,
            rust_timeout=DEBOUNCE_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=polling,
            poll_delay_ms=POLL_MS,
            ignore_permission_denied=True,
        )
        for batch in changes:
            ready.set()
            if batch:
                tell({name for _, name in batch})

    def run() -> None:
        try:
            listen(polling=False)
        except OSError:  # no watches left (fs.inotify.max_user_watches), or a file system that gives no notices
            listen(polling=True)

    thread = threading.Thread(target=run, name="smp-watch", daemon=True)
    thread.start()
    ready.wait(timeout=READY_S)
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=READY_S)


def _inside(folder: Path, root: Path) -> bool:
    return os.path.realpath(folder).startswith(str(root) + os.sep)
