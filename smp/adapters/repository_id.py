"""Under which id a server that many repositories share keeps what belongs to this one.

Made at random for each data directory and kept there with the directory's own path. A copy of a checkout finds another path in
its file while the first still stands: it gets an id of its own. A checkout that was moved keeps its id.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import uuid
from pathlib import Path

import msgspec
from msgspec import Struct

from smp.domain.errors import Invalid, Unavailable
from smp.settings import Settings

FILE_NAME = "repository.json"


class _Record(Struct, frozen=True, kw_only=True):
    """id: hexadecimal. path: of the data directory for which it was made."""

    id: str
    path: str


def repository_id(settings: Settings) -> str:
    """The id of the settings, else that of the data directory, which is made when there is none.

    Raises:
        Invalid: The one that the settings name is not made of letters, digits and dashes.
        Unavailable: The data directory cannot be written.
    """
    named = settings.graph.repository
    if named:
        if not named.replace("-", "").isalnum() or not named.isascii() or len(named) > 64:
            raise Invalid("SMP_GRAPH_REPOSITORY takes up to 64 letters, digits and dashes", path="graph.repository")
        return named
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        ignore = settings.data_dir / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", "utf-8")
        with (settings.data_dir / f"{FILE_NAME}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return _kept(settings.data_dir / FILE_NAME).id
    except OSError as error:
        raise Unavailable(
            f"cannot write in {str(settings.data_dir)!r} ({error.strerror}); name another folder with --data-dir",
            backend=FILE_NAME,
        ) from error


def _kept(path: Path) -> _Record:
    here = str(path.parent.resolve())
    record: _Record | None = None
    with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
        record = msgspec.json.decode(path.read_bytes(), type=_Record)
    if record is not None and record.path == here:
        return record
    if record is None or _same(Path(record.path) / FILE_NAME, record.id):
        record = _Record(id=uuid.uuid4().hex, path=here)
    record = msgspec.structs.replace(record, path=here)
    fresh = path.with_suffix(".tmp")
    fresh.write_bytes(msgspec.json.encode(record))
    os.replace(fresh, path)
    return record


def _same(path: Path, known: str) -> bool:
    """Whether another data directory has this id too."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=_Record).id == known
    return False
