"""A repository that brings `.smp` along is not believed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from smp.adapters.shipped_state import refuse_shipped_state
from smp.bootstrap import build_platform, build_records, build_tokens, open_keys
from smp.domain.errors import Invalid
from smp.settings import Settings, load_settings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    return made


def tracked(root: Path, path: str, text: str = "{}", link: str | None = None) -> Settings:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    if link is None:
        place.write_text(text)
    else:
        os.symlink(link, place)
    subprocess.run(["git", "-C", str(root), "add", "-f", path], check=True)
    return load_settings(root, environ={})


@pytest.mark.parametrize(
    "path", [".smp/tokens.json", ".smp/keys/theirs.pub", ".smp/sessions.db", ".smp/graph/edges.jsonl"]
)
def test_state_that_came_with_the_repository_is_refused_by_whatever_would_believe_it(root: Path, path: str) -> None:
    settings = tracked(root, path)
    for build in (build_platform, build_tokens, build_records, open_keys):
        with pytest.raises(Invalid, match=path.replace(".", r"\.")):
            build(settings)


@pytest.mark.parametrize("path", [".smp", ".smp/memory", ".smp/memory/episodes.jsonl", ".smp/evolve/rules.json"])
def test_a_link_that_came_with_the_repository_is_refused(root: Path, tmp_path: Path, path: str) -> None:
    settings = tracked(root, path, link=str(tmp_path / "elsewhere"))
    with pytest.raises(Invalid, match=r"\.smp"):
        refuse_shipped_state(settings)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "path", [".smp/memory/episodes.jsonl", ".smp/evolve/rules.json", ".smp/.gitignore", "smp.toml"]
)
def test_records_may_be_kept_under_version_control(root: Path, path: str) -> None:
    refuse_shipped_state(tracked(root, path, text=""))


def test_state_elsewhere_is_the_callers_own(root: Path, tmp_path: Path) -> None:
    tracked(root, ".smp/tokens.json")
    refuse_shipped_state(load_settings(root, data_dir=tmp_path / "data", environ={}))


def test_state_that_git_does_not_track_is_ours(root: Path) -> None:
    (root / ".smp").mkdir()
    (root / ".smp" / "tokens.json").write_text("{}")
    refuse_shipped_state(load_settings(root, environ={}))
