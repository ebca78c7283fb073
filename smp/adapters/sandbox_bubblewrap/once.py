"""Folders that are made once, whole or not at all, and shared by every process of the machine."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from smp.domain.errors import SandboxFailed

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn a failing disk into a message that says which folder and what to do."""
    try:
        yield
    except OSError as error:
        where = f" at {os.fsdecode(error.filename)!r}" if error.filename is not None else ""
        raise SandboxFailed(
            f"{what}: {error.strerror or error}{where}; free space there, make it writable, or choose another folder "
            "(--data-dir, SMP_CACHE_DIR)"
        ) from error


_held: set[int] = set()


def open_lock(path: Path) -> int:
    """Descriptor of a lock file, made when it is not there; give it back with `release`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    _held.add(descriptor)
    return descriptor


def release(descriptor: int) -> None:
    """Give a lock back, if it was taken, and close its file."""
    _held.discard(descriptor)
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _close_held() -> None:
    # A forked process shares its maker's locks; it must not hold them on when the maker is killed.
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_close_held)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock among processes and threads; freed by the kernel when the holder dies."""
    descriptor = open_lock(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        release(descriptor)


def make_once(target: Path, make: Callable[[Path], None]) -> Path:
    """The folder `target`, made by `make` in a staging folder beside it and then renamed.

    Args:
        make: Fills the staging folder, which is empty; what it raises goes to the caller and nothing stays.
    """
    if target.is_dir():
        return target
    with storage_errors(f"cannot make {target.parent}"):
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = locked(_lock_of(target))
        lock.__enter__()
    try:
        if target.is_dir():
            return target
        staging = target.with_name(f".{target.name}.new")
        with storage_errors(f"cannot make {target}"):
            remove_tree(staging)
            staging.mkdir(mode=0o755)
        try:
            make(staging)
            with storage_errors(f"cannot make {target}"):
                os.rename(staging, target)
        except BaseException:
            with contextlib.suppress(OSError):
                remove_tree(staging)
            raise
    finally:
        lock.__exit__(None, None, None)
    return target


def remove_once(target: Path, *, also: Path) -> None:
    """Take down what `make_once` made, and a file that belongs to it, so that a maker sees both or neither."""
    with storage_errors(f"cannot remove {target}"), locked(_lock_of(target)):
        also.unlink(missing_ok=True)
        doomed = target.with_name(f".{target.name}.old")
        remove_tree(doomed)
        with contextlib.suppress(FileNotFoundError):
            os.rename(target, doomed)
        remove_tree(doomed)


def _lock_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.lock")


def remove_tree(folder: Path) -> int:
    """Remove a folder whatever its permissions, following no link.

    Returns:
        Bytes that its files took; 0 when there is no such folder.

    Raises:
        OSError: It cannot be removed.
    """
    try:
        top = os.open(folder, _FOLDER)
    except FileNotFoundError:
        return 0
    freed, lifted = 0, (f".doomed-{secrets.token_hex(8)}-{number}" for number in itertools.count())
    try:
        while True:
            # Again and again: someone else may remove it at the same time, and lift into it.
            for name in os.listdir(top):
                with contextlib.suppress(FileNotFoundError):
                    freed += _remove_entry(top, name, lifted)
            if not os.listdir(top):
                with contextlib.suppress(FileNotFoundError):
                    os.rmdir(folder)
                return freed
    finally:
        os.close(top)


def _remove_entry(top: int, name: str, lifted: Iterator[str]) -> int:
    """Remove a file, or a folder whose own folders are lifted beside it first.

    A box may nest folders deeper than paths, recursion and descriptors go; lifted, no tree is deeper than two.
    """
    kind = os.stat(name, dir_fd=top, follow_symlinks=False)
    if not stat.S_ISDIR(kind.st_mode):
        os.unlink(name, dir_fd=top)
        return kind.st_blocks * 512
    _open_rights(top, name, kind)
    freed, folder = 0, os.open(name, _FOLDER, dir_fd=top)
    try:
        for child in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                inner = os.stat(child, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(inner.st_mode):
                    _open_rights(folder, child, inner)
                    os.rename(child, next(lifted), src_dir_fd=folder, dst_dir_fd=top)
                else:
                    os.unlink(child, dir_fd=folder)
                    freed += inner.st_blocks * 512
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)
    return freed


def _open_rights(parent: int, name: str, kind: os.stat_result) -> None:
    """Root needs none of this; a user may have taken away his own rights, and overlayfs makes `work` mode 000."""
    if kind.st_mode & 0o700 != 0o700:
        os.chmod(name, 0o700, dir_fd=parent)
