"""Ed25519 keys as files below `<data_dir>/keys`.

    <key_id>.key   an own key, PKCS 8 PEM, mode 0600: signs, and is trusted
    <key_id>.pub   the public half, PEM: trusted

An own key gets a `.pub` beside it, to be given to others. Whoever puts another's `.pub` there trusts what its owner
signs; removing the file ends that. Ids of keys that are made here come from the key itself, so that two servers' differ.
A revoked key is kept as `<key_id>.key.revoked` or `<key_id>.pub.revoked`: it neither signs nor is trusted.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from smp.domain.errors import Invalid, NotFound, SignatureInvalid, Unavailable
from smp.ports.keyring import KeyInfo, Keyring
from smp.settings import Settings

FOLDER = "keys"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class DirectoryKeyring(Keyring):
    """See the port."""

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.data_dir / FOLDER

    def signing_key(self, key_id: str | None = None) -> str:
        if key_id is not None:
            if key_id not in self._own():
                names = ", ".join(self._own()) or "none yet; leave signing_key_id out and one is made"
                raise Invalid(f"no signing key {key_id!r} here; own keys: {names}", path="signing_key_id")
            return key_id
        own = self._own() or (self._make(),)
        if len(own) > 1:
            raise Invalid(f"several signing keys here; name one of {', '.join(own)}", path="signing_key_id")
        return own[0]

    def sign(self, key_id: str, message: bytes) -> bytes:
        return self._private(self.signing_key(key_id)).sign(message)

    def verify(self, key_id: str, message: bytes, signature: bytes) -> None:
        try:
            self._trusted(key_id).verify(signature, message)
        except InvalidSignature as error:
            raise SignatureInvalid(
                "the signature does not verify; the snapshot was changed after it was signed, export it anew",
                key_id=key_id,
            ) from error

    def known(self) -> tuple[KeyInfo, ...]:
        own = self._own()
        with self._translated():
            others = sorted(path.stem for path in self._folder.glob("*.pub"))
        trusted = [name for name in others if _ID.fullmatch(name) and name not in own]
        return (*(self._info(name, own=True) for name in own), *(self._info(name, own=False) for name in trusted))

    def make(self) -> KeyInfo:
        with self._locked():
            return self._info(self._write(Ed25519PrivateKey.generate()), own=True)

    def trust(self, public: bytes, *, key_id: str | None = None) -> KeyInfo:
        try:
            key = serialization.load_pem_public_key(public)
        except (ValueError, UnsupportedAlgorithm) as error:
            raise Invalid("no public key in PEM form; smp keys export writes one", path="public") from error
        if not isinstance(key, Ed25519PublicKey):
            raise Invalid("a public key of another kind; snapshots are signed with Ed25519", path="public")
        name = key_id or _id_of(key)
        if _ID.fullmatch(name) is None:
            raise Invalid(f"{name!r} is no key id; letters, digits, dot, dash and underscore are", path="key_id")
        with self._locked():
            present = {info.key_id: info for info in self.known()}.get(name)
            if present is not None and present.fingerprint != _fingerprint(key):
                raise Invalid(
                    f"another key has the id {name!r} here; revoke it first, or name another id", path="key_id"
                )
            if present is None:
                _write_file(self._folder / f"{name}.pub", _pem(key), mode=0o644)
        return self._info(name, own=name in self._own())

    def revoke(self, key_id: str) -> KeyInfo:
        with self._locked():
            info = self._present(key_id)
            with self._translated(key_id):
                # the private half last: while it is there the key is trusted
                for suffix in (".pub", ".key"):
                    path = self._folder / f"{key_id}{suffix}"
                    if path.exists():
                        os.replace(path, path.with_name(f"{path.name}.revoked"))
        return info

    def public(self, key_id: str) -> bytes:
        self._present(key_id)
        return _pem(self._trusted(key_id))

    def _present(self, key_id: str) -> KeyInfo:
        known = {info.key_id: info for info in self.known()}
        if key_id not in known:
            raise NotFound(f"no key {key_id!r} here; smp keys list shows them", key_id=key_id)
        return known[key_id]

    def _info(self, key_id: str, *, own: bool) -> KeyInfo:
        return KeyInfo(key_id=key_id, fingerprint=_fingerprint(self._trusted(key_id)), own=own)

    def _own(self) -> tuple[str, ...]:
        with self._translated():
            names = sorted(path.stem for path in self._folder.glob("*.key"))
        return tuple(name for name in names if _ID.fullmatch(name))

    def _private(self, key_id: str) -> Ed25519PrivateKey:
        with self._translated(key_id):
            key = serialization.load_pem_private_key((self._folder / f"{key_id}.key").read_bytes(), password=None)
            if not isinstance(key, Ed25519PrivateKey):
                raise ValueError("no Ed25519 key")
            return key

    def _trusted(self, key_id: str) -> Ed25519PublicKey:
        if _ID.fullmatch(key_id) is not None:
            if key_id in self._own():
                return self._private(key_id).public_key()
            with self._translated(key_id):
                path = self._folder / f"{key_id}.pub"
                if path.is_file():
                    key = serialization.load_pem_public_key(path.read_bytes())
                    if not isinstance(key, Ed25519PublicKey):
                        raise ValueError("no Ed25519 key")
                    return key
        raise SignatureInvalid(
            f"signed with {key_id!r}, a key that is not trusted here; to trust it, get its public key from its owner "
            f"and run: smp keys trust FILE",
            key_id=key_id,
        )

    def _make(self) -> str:
        """The first key. Two processes that need it at the same moment get the same one."""
        with self._locked():
            own = self._own()
            return own[0] if own else self._write(Ed25519PrivateKey.generate())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time changes the folder, which is made when it is missing."""
        with self._translated():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._folder / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
            finally:
                os.close(lock)

    def _write(self, key: Ed25519PrivateKey) -> str:
        key_id, public = _id_of(key.public_key()), _pem(key.public_key())
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        _write_file(self._folder / f"{key_id}.pub", public, mode=0o644)
        _write_file(self._folder / f"{key_id}.key", private, mode=0o600)
        return key_id

    @contextmanager
    def _translated(self, key_id: str | None = None) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Unavailable(
                f"the {FOLDER} folder of the data directory: {error.strerror}; check its permissions", backend=FOLDER
            ) from error
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise Unavailable(f"key {key_id!r} is no Ed25519 key in PEM form; replace it", backend=FOLDER) from error


def _fingerprint(key: Ed25519PublicKey) -> str:
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()


def _id_of(key: Ed25519PublicKey) -> str:
    return f"key_{_fingerprint(key)[:16]}"


def _pem(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _write_file(path: Path, content: bytes, *, mode: int) -> None:
    """Write whole or not at all; the mode holds from the first byte on."""
    written = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(written, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(written, path)
