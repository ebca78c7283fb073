"""A data directory keeps its id when it moves, and a copy of it gets another one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from smp.adapters.repository_id import repository_id
from smp.domain.errors import Invalid
from smp.settings import load_settings


def id_of(root: Path, **environ: str) -> str:
    root.mkdir(exist_ok=True)
    return repository_id(load_settings(root, environ=environ))


def test_an_id_is_made_once(tmp_path: Path) -> None:
    assert id_of(tmp_path / "a") == id_of(tmp_path / "a")
    assert id_of(tmp_path / "a") != id_of(tmp_path / "b")


def test_a_copy_gets_an_id_of_its_own_and_the_first_keeps_its(tmp_path: Path) -> None:
    first = id_of(tmp_path / "a")
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert id_of(tmp_path / "b") != first
    assert id_of(tmp_path / "a") == first
    assert id_of(tmp_path / "b") == id_of(tmp_path / "b")


def test_a_checkout_that_was_moved_keeps_its_id(tmp_path: Path) -> None:
    first = id_of(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    assert id_of(tmp_path / "b") == first


def test_the_environment_may_name_one(tmp_path: Path) -> None:
    assert id_of(tmp_path / "a", SMP_GRAPH_REPOSITORY="team-shop") == "team-shop"
    with pytest.raises(Invalid, match="SMP_GRAPH_REPOSITORY"):
        id_of(tmp_path / "a", SMP_GRAPH_REPOSITORY='x" OR 1')
