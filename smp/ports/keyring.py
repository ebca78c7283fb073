"""Keys that sign, and keys that are trusted."""

from __future__ import annotations

import abc

from msgspec import Struct


class KeyInfo(Struct, frozen=True, kw_only=True):
    """A key that is here.

    Attributes:
        fingerprint: SHA-256 of the raw public key, hexadecimal: what two people compare before they trust.
        own: Whether it can sign here; every own key is trusted.
    """

    key_id: str
    fingerprint: str
    own: bool


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

    @abc.abstractmethod
    def known(self) -> tuple[KeyInfo, ...]:
        """Every key that is here, own ones first, then by id.

        Raises:
            Unavailable: A key cannot be read; the message names it.
        """

    @abc.abstractmethod
    def make(self) -> KeyInfo:
        """A new own key, beside those that are there."""

    @abc.abstractmethod
    def trust(self, public: bytes, *, key_id: str | None = None) -> KeyInfo:
        """Trust what the owner of a key signs. Repeating it is harmless.

        Args:
            public: PEM of an Ed25519 public key.
            key_id: The id under which its owner signs; None: the id that a key made here gets from itself.

        Raises:
            Invalid: No such key, no id, or another key of this id is here already.
        """

    @abc.abstractmethod
    def revoke(self, key_id: str) -> KeyInfo:
        """Trust a key no longer; an own one signs no longer either, and is kept aside, not destroyed.

        Raises:
            NotFound: No key of this id is here.
        """

    @abc.abstractmethod
    def public(self, key_id: str) -> bytes:
        """PEM of the public half, to be given to others. Raises what `revoke` raises."""
