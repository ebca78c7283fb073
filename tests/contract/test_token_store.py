"""The port of tokens: issued once, kept as hashes, ended at once."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from smp.adapters.tokens_file import FileTokenStore
from smp.domain.errors import NotFound, Unavailable
from smp.domain.ids import AgentId
from smp.ports.token_store import TokenStore
from smp.settings import Settings

AT = "2026-02-15T12:00:00Z"


def store_at(root: Path) -> TokenStore:
    return FileTokenStore(Settings(repo=root, data_dir=root / "data", cache_dir=root / "cache"))


def test_a_token_is_found_by_itself_alone(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    grant, token = store.issue(AgentId("coder"), may_write=False, made_at=AT)
    assert (grant.agent_id, grant.may_write, grant.made_at) == ("coder", False, AT)
    assert store.find(token) == grant
    assert [store.find(wrong) for wrong in ("", token[:-1], token + "x", grant.id)] == [None] * 4


def test_what_is_stored_is_not_the_token_and_nobody_else_reads_it(tmp_path: Path) -> None:
    _, token = store_at(tmp_path).issue(AgentId("coder"), may_write=True, made_at=AT)
    file = tmp_path / "data" / "tokens.json"
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_revoked_token_ends_in_every_process(tmp_path: Path) -> None:
    one, other = store_at(tmp_path), store_at(tmp_path)
    first, token = one.issue(AgentId("coder"), may_write=True, made_at=AT)
    second, kept = other.issue(AgentId("reviewer"), may_write=True, made_at=AT)
    assert one.grants() == (first, second)
    other.revoke(first.id)
    assert (one.find(token), one.find(kept)) == (None, second)


def test_an_unknown_token_cannot_be_revoked(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="tok_no"):
        store_at(tmp_path).revoke("tok_no")


def test_looking_for_a_token_creates_nothing(tmp_path: Path) -> None:
    assert store_at(tmp_path).find("x") is None
    assert not (tmp_path / "data").exists()


def test_a_damaged_file_opens_no_door(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.issue(AgentId("coder"), may_write=True, made_at=AT)
    (tmp_path / "data" / "tokens.json").write_text("{")
    with pytest.raises(Unavailable, match=r"tokens\.json"):
        store.find("x")
