"""Tokens in `<data_dir>/tokens.json`, mode 0600: grants by the SHA-256 of the token. A token has 256 random bits."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import msgspec

from smp.domain.access import Grant
from smp.domain.errors import NotFound, Unavailable
from smp.domain.ids import AgentId
from smp.ports.token_store import TokenStore
from smp.settings import Settings

FILE = "tokens.json"
PREFIX = "smp_"


class FileTokenStore(TokenStore):
    """See the port. The file is read again whenever it has changed, so that a revoked token ends in every process."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.data_dir / FILE
        self._seen: tuple[int, int, int] | None = None
        self._held: dict[str, Grant] = {}

    def issue(self, agent_id: AgentId, *, may_write: bool, made_at: str) -> tuple[Grant, str]:
        token = PREFIX + secrets.token_urlsafe(32)
        grant = Grant(id=f"tok_{secrets.token_hex(6)}", agent_id=agent_id, may_write=may_write, made_at=made_at)
        with self._writing() as held:
            held[_digest(token)] = grant
        return grant, token

    def grants(self) -> tuple[Grant, ...]:
        return tuple(self._read().values())

    def revoke(self, grant_id: str) -> None:
        with self._writing() as held:
            found = [digest for digest, grant in held.items() if grant.id == grant_id]
            if not found:
                raise NotFound(f"no token {grant_id!r}; `smp token list` shows them", token_id=grant_id)
            for digest in found:
                del held[digest]

    def find(self, token: str) -> Grant | None:
        # By the digest of what was sent: how long a look-up takes says nothing about tokens that hold.
        return self._read().get(_digest(token))

    def _read(self) -> dict[str, Grant]:
        try:
            found = os.stat(self._path)
            state = (found.st_mtime_ns, found.st_ino, found.st_size)
            if state != self._seen:
                self._held = msgspec.json.decode(self._path.read_bytes(), type=dict[str, Grant])
                self._seen = state
        except FileNotFoundError:
            self._held, self._seen = {}, None
        except (OSError, msgspec.DecodeError) as error:
            raise Unavailable(
                f"{FILE} of the data directory cannot be read: {error}; mend it, or remove it and issue tokens anew",
                backend="tokens",
            ) from error
        return self._held

    @contextmanager
    def _writing(self) -> Iterator[dict[str, Grant]]:
        """The present tokens, to be changed; written when the block ends without an error."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Unavailable(f"the data directory cannot be written: {error.strerror}", backend="tokens") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            held = dict(self._read())
            yield held
            self._replace(msgspec.json.encode(held))
        finally:
            os.close(lock)

    def _replace(self, body: bytes) -> None:
        try:
            descriptor, written = tempfile.mkstemp(prefix=".writing-", dir=self._path.parent)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(body)
                    stream.flush()
                    os.fsync(stream.fileno())
                os.replace(written, self._path)
            except BaseException:
                with suppress(OSError):
                    os.unlink(written)
                raise
        except OSError as error:
            raise Unavailable(f"the data directory cannot be written: {error.strerror}", backend="tokens") from error


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
