"""`smp doctor` names what is missing and the command that mends it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from smp.cli.doctor import doctor


def findings_of(repo: Path) -> dict[str, dict[str, object]]:
    done = CliRunner().invoke(doctor, ["--repo", str(repo), "--json"])
    return {finding["subject"]: finding for finding in json.loads(done.stdout)["findings"]}


@pytest.fixture(autouse=True)
def nothing_listens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SMP_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("SMP_CACHE_DIR", str(tmp_path / "cache"))


def test_a_folder_that_is_no_repository_is_named_with_the_way_out(tmp_path: Path) -> None:
    finding = findings_of(tmp_path)["repository"]
    assert finding["good"] is False
    assert "git init" in str(finding["mend"])


def test_a_repository_without_index_is_told_to_make_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    found = findings_of(tmp_path)
    assert (found["repository"]["good"], found["index"]["mend"]) == (True, "smp index")


def test_a_missing_server_is_told_how_to_start(tmp_path: Path) -> None:
    (tmp_path / "cache" / "bin").mkdir(parents=True)
    (tmp_path / "cache" / "bin" / "temporal").write_text("")
    assert findings_of(tmp_path)["workflows"]["mend"] == "smp temporal start"
