"""The queues a worker serves: one of the repository, one of the repository on this host.

A box lives on the host that made it, so every later step in it goes to the host's own queue. The host's name is kept
in the data directory: it outlives the worker's process, and another data directory never answers to it.
"""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

from msgspec import Struct

from smp.domain.errors import Unavailable
from smp.domain.runs import queue_of

HOST_FILE = "host"


class Queues(Struct, frozen=True, kw_only=True):
    """`session`: workflows and steps that need only the store. `host`: steps in boxes of this host."""

    session: str
    host: str


def host_queue(session_queue: str, host: str) -> str:
    """The queue of one host."""
    return f"{session_queue}-sandbox@{host}"


def queues_of(data_dir: Path, repository: str = "") -> Queues:
    """Queues of the repository on the host whose data directory this is.

    Args:
        repository: What names the repository where several hosts work on it (`Settings.runs_of`); the directory when empty.

    Raises:
        Unavailable: The directory cannot be written.
    """
    session = queue_of(repository or str(data_dir))
    return Queues(session=session, host=host_queue(session, _host(data_dir)))


def _host(data_dir: Path) -> str:
    """This host's name, minted once; two workers that start at once agree, because only one creates the file."""
    path = data_dir / HOST_FILE
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), path.open("x", encoding="ascii") as file:
            file.write(secrets.token_hex(6))
        return path.read_text("ascii").strip()
    except OSError as error:
        raise Unavailable(
            f"cannot write {str(data_dir)!r}: {error.strerror}; free some space or name another place with --data-dir",
            backend="data_dir",
        ) from error
