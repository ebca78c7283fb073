"""Keys that sign, and keys that are trusted."""

from __future__ import annotations

import abc


class Keyring(abc.ABC):
    """Ed25519 keys by id. The public half of every own key is trusted; others are trusted by being put there."""

    @abc.abstractmethod
    def signing_key(self, key_id: str | None = None) -> str:
        """The id of the key to sign with.

        Args:
            key_id: None: the one own key, made on first use.

        Raises:
            Invalid: No own key has this id, or there are several and none was named.
            Unavailable: The key cannot be read or written.
        """

    @abc.abstractmethod
    def sign(self, key_id: str, message: bytes) -> bytes:
        """The signature, 64 bytes. Raises what `signing_key` raises."""

    @abc.abstractmethod
    def verify(self, key_id: str, message: bytes, signature: bytes) -> None:
        """Return when a trusted key of this id made the signature.

        Raises:
            SignatureInvalid: It did not, or no key of this id is trusted here.
            Unavailable: The key cannot be read.
        """
