"""The keyring port: own keys sign, own and trusted keys verify, strangers do not."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from smp.adapters.keys_directory import DirectoryKeyring
from smp.domain.errors import Invalid, NotFound, SignatureInvalid, Unavailable
from smp.ports.keyring import Keyring
from smp.settings import Settings


def ring_at(folder: Path) -> Keyring:
    return DirectoryKeyring(Settings(repo=folder, data_dir=folder / "data", cache_dir=folder / "cache"))


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    return tmp_path / "data" / "keys"


@pytest.fixture
def ring(tmp_path: Path) -> Keyring:
    return ring_at(tmp_path)


def test_the_first_key_is_made_once_and_kept(ring: Keyring, tmp_path: Path) -> None:
    key = ring.signing_key()
    assert (ring.signing_key(), ring.signing_key(key), ring_at(tmp_path).signing_key()) == (key, key, key)
    ring_at(tmp_path).verify(key, b"message", ring.sign(key, b"message"))


def test_only_the_owner_can_read_a_private_key(ring: Keyring, keys: Path) -> None:
    private = keys / f"{ring.signing_key()}.key"
    assert (stat.S_IMODE(private.stat().st_mode), stat.S_IMODE(keys.stat().st_mode)) == (0o600, 0o700)


def test_a_signature_holds_for_its_message_alone(ring: Keyring) -> None:
    key = ring.signing_key()
    signature = ring.sign(key, b"message")
    # Every bit of the last byte but a few is zero in an Ed25519 signature (RFC 8032), so a bit is turned, not a byte set.
    for message, wrong in (
        (b"Message", signature),
        (b"message", bytes([signature[0] ^ 1]) + signature[1:]),
        (b"message", signature[:-1] + bytes([signature[-1] ^ 1])),
        (b"message", b""),
    ):
        with pytest.raises(SignatureInvalid) as caught:
            ring.verify(key, message, wrong)
        assert caught.value.fields == {"key_id": key}


def test_the_keys_of_two_servers_differ_and_neither_trusts_the_other(tmp_path: Path) -> None:
    mine, theirs = ring_at(tmp_path / "a"), ring_at(tmp_path / "b")
    key = theirs.signing_key()
    assert key != mine.signing_key()
    with pytest.raises(SignatureInvalid, match="not trusted"):
        mine.verify(key, b"message", theirs.sign(key, b"message"))


def test_a_public_key_that_was_put_there_is_trusted_and_signs_nothing(tmp_path: Path) -> None:
    mine, theirs = ring_at(tmp_path / "a"), ring_at(tmp_path / "b")
    key = theirs.signing_key()
    mine.signing_key()
    public = tmp_path / "a" / "data" / "keys" / "partner.pub"
    public.write_bytes((tmp_path / "b" / "data" / "keys" / f"{key}.pub").read_bytes())
    mine.verify("partner", b"message", theirs.sign(key, b"message"))
    with pytest.raises(Invalid):
        mine.signing_key("partner")


@pytest.mark.parametrize("key_id", ["key_prod_01", "../keys/x", "", ".lock", "a/b", "x\0y"])
def test_an_unknown_key_neither_signs_nor_verifies(ring: Keyring, key_id: str) -> None:
    ring.signing_key()
    with pytest.raises(Invalid) as caught:
        ring.signing_key(key_id)
    assert caught.value.path == "signing_key_id"
    with pytest.raises(SignatureInvalid, match="not trusted"):
        ring.verify(key_id, b"message", b"s" * 64)


def test_a_key_outside_the_folder_cannot_be_named(ring: Keyring, keys: Path) -> None:
    key = ring.signing_key()
    (keys.parent / "outside.pub").write_bytes((keys / f"{key}.pub").read_bytes())
    with pytest.raises(SignatureInvalid, match="not trusted"):
        ring.verify("../outside", b"message", ring.sign(key, b"message"))


def test_of_several_own_keys_one_must_be_named(ring: Keyring, keys: Path) -> None:
    first = ring.signing_key()
    private = Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (keys / "key_prod_01.key").write_bytes(private)
    with pytest.raises(Invalid, match="key_prod_01"):
        ring.signing_key()
    for key in (first, "key_prod_01"):
        ring.verify(key, b"message", ring.sign(key, b"message"))


@pytest.mark.parametrize("body", [b"", b"nonsense", b"ec"])
def test_a_file_that_is_no_ed25519_key_is_named(ring: Keyring, keys: Path, body: bytes) -> None:
    ring.signing_key()
    other = generate_private_key(SECP256R1()).public_key()
    if body == b"ec":
        body = other.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (keys / "broken.pub").write_bytes(body)
    with pytest.raises(Unavailable, match="broken"):
        ring.verify("broken", b"message", b"s" * 64)


def test_whoever_needs_the_first_key_at_the_same_moment_gets_the_same(tmp_path: Path) -> None:
    made: list[str] = []
    start = threading.Barrier(4)

    def ask() -> None:
        start.wait()
        made.append(ring_at(tmp_path).signing_key())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert len(set(made)) == 1


def test_what_another_exports_can_be_trusted_and_revoked(tmp_path: Path) -> None:
    mine, theirs = ring_at(tmp_path / "a"), ring_at(tmp_path / "b")
    key = theirs.make().key_id
    for _ in range(2):
        info = mine.trust(theirs.public(key))
    assert (info.key_id, info.own, mine.known()) == (key, False, (info,))
    signature = theirs.sign(key, b"message")
    mine.verify(key, b"message", signature)
    assert mine.revoke(key) == info
    with pytest.raises(SignatureInvalid, match="not trusted"):
        mine.verify(key, b"message", signature)
    with pytest.raises(NotFound):
        mine.revoke(key)
    mine.trust(theirs.public(key))
    mine.verify(key, b"message", signature)


def test_an_own_key_that_is_revoked_neither_signs_nor_is_trusted_and_is_kept(ring: Keyring, keys: Path) -> None:
    first, second = ring.make().key_id, ring.make().key_id
    signature = ring.sign(first, b"message")
    ring.revoke(first)
    assert [info.key_id for info in ring.known()] == [second]
    assert ring.signing_key() == second
    with pytest.raises(SignatureInvalid):
        ring.verify(first, b"message", signature)
    assert (keys / f"{first}.key.revoked").exists()


def test_an_id_stands_for_one_key(tmp_path: Path) -> None:
    mine, theirs = ring_at(tmp_path / "a"), ring_at(tmp_path / "b")
    one, other = (theirs.public(theirs.make().key_id) for _ in range(2))
    mine.trust(one, key_id="partner")
    with pytest.raises(Invalid, match="revoke"):
        mine.trust(other, key_id="partner")


@pytest.mark.parametrize(("public", "key_id"), [(b"", None), (b"nonsense", None), (None, "../x"), (None, "a/b")])
def test_what_is_no_key_or_no_id_is_not_trusted(tmp_path: Path, public: bytes | None, key_id: str | None) -> None:
    mine, theirs = ring_at(tmp_path / "a"), ring_at(tmp_path / "b")
    with pytest.raises(Invalid):
        mine.trust(theirs.public(theirs.make().key_id) if public is None else public, key_id=key_id)
    assert mine.known() == ()
