"""`smp call`: what is passed as PARAMS is one JSON document, and nothing of it is taken for more."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from smp.cli.call import call


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    return tmp_path


def called(repository: Path, params: str) -> Result:
    return CliRunner().invoke(call, ["smp/navigate", params, "--repo", str(repository)])


@pytest.mark.parametrize("params", ["{bad", "", '{"query": "a.py#f"}, "id": 7', '{"query": "a.py#f"}} {'])
def test_what_is_no_json_document_by_itself_is_a_parse_error(repository: Path, params: str) -> None:
    result = called(repository, params)
    assert result.exit_code == 1
    assert msgspec.json.decode(result.stderr.strip().splitlines()[-1])["code"] == -32700


def test_a_document_is_passed_as_the_parameters(repository: Path) -> None:
    result = called(repository, '{"query": "a.py#f"}')
    assert result.exit_code == 0
    assert msgspec.json.decode(result.stdout)["entity"]["id"] == "function:a.py#f"
