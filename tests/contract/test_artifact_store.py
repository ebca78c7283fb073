"""The artifact store port: documents by kind and key, blobs by their hash."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from smp.adapters.neo4j.artifacts import Neo4jArtifactStore
from smp.adapters.neo4j.database import Neo4jDatabase
from smp.adapters.sessions_sqlite.artifacts import SqliteArtifactStore
from smp.domain.ids import ContentHash, SessionId
from smp.ports.artifact_store import ArtifactStore
from smp.settings import Settings

ONE, TWO = SessionId("ses_1"), SessionId("ses_2")
Opener = Callable[[], ArtifactStore]


@pytest.fixture(params=["sqlite", "neo4j"])
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens the same store anew, as another process would."""
    if request.param == "neo4j":
        settings, repository = request.getfixturevalue("neo4j"), uuid.uuid4().hex
        return lambda: Neo4jArtifactStore(Neo4jDatabase(settings, repository))
    return lambda: SqliteArtifactStore(
        Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
    )


@pytest.fixture
def store(open_store: Opener) -> ArtifactStore:
    return open_store()


def test_a_document_is_replaced_by_the_next_of_its_key(store: ArtifactStore, open_store: Opener) -> None:
    store.put("box", "k", b"1", session_id=ONE)
    store.put("box", "k", b"2", session_id=ONE)
    assert open_store().get("box", "k") == b"2"
    assert store.get("verify", "k") is None


def test_the_first_of_two_writers_wins_when_absent_is_asked_for(store: ArtifactStore, open_store: Opener) -> None:
    assert store.put_if_absent("handoff", "k", b"first") == b"first"
    assert open_store().put_if_absent("handoff", "k", b"second") == b"first"


def test_documents_are_listed_by_key_and_by_session(store: ArtifactStore) -> None:
    store.put("box", "b", b"2", session_id=ONE)
    store.put("box", "a", b"1", session_id=TWO)
    store.put("box", "c", b"3")
    store.put("verify", "d", b"4", session_id=ONE)
    assert store.list("box") == (("a", b"1"), ("b", b"2"), ("c", b"3"))
    assert store.list("box", session_id=ONE) == (("b", b"2"),)
    assert store.list("none") == ()


def test_a_deleted_document_is_gone_and_deleting_again_is_harmless(store: ArtifactStore) -> None:
    store.put("box", "k", b"1")
    store.delete("box", "k")
    store.delete("box", "k")
    assert store.get("box", "k") is None


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"x" * 300_000])
def test_a_blob_is_found_by_the_hash_of_its_bytes(store: ArtifactStore, open_store: Opener, content: bytes) -> None:
    digest = store.put_blob(content)
    assert digest == hashlib.sha256(content).hexdigest()
    assert store.put_blob(content) == digest
    assert open_store().blob(digest) == content
    assert store.blob(ContentHash("0" * 64)) is None
