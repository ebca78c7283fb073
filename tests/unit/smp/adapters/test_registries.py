"""The machine's registries are what its package clients say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from smp.adapters.registries import configured_registries


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Own home and PATH; pip's index by its own variable."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "https://py.test/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://more.test:8080/simple")
    for name, said in (("npm", "https://npm.test/"), ("go", "https://go.test|https://go2.test,direct")):
        (programs / name).write_text(f"#!/bin/sh\necho '{said}'\n")
        (programs / name).chmod(0o755)
    configured_registries.cache_clear()
    yield tmp_path
    configured_registries.cache_clear()


def test_each_client_is_asked(machine: Path) -> None:
    (machine / ".cargo").mkdir()
    (machine / ".cargo/config.toml").write_text('[registries.own]\nindex = "sparse+https://crates.test/index/"\n')
    (machine / ".m2").mkdir()
    (machine / ".m2/settings.xml").write_text(
        '<settings xmlns="m"><mirrors><mirror><url>https://maven.test/r</url></mirror></mirrors></settings>'
    )
    assert configured_registries() == (
        "crates.test", "go.test", "go2.test", "maven.test", "more.test:8080", "npm.test", "py.test"
    )  # fmt: skip


def test_a_client_that_fails_names_nothing(machine: Path) -> None:
    (machine / "bin/npm").write_text("#!/bin/sh\nexit 1\n")
    assert "npm.test" not in configured_registries()


def test_where_pip_has_no_index_of_its_own_the_one_built_into_it_counts(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = configured_registries()
    configured_registries.cache_clear()
    monkeypatch.delenv("PIP_INDEX_URL")
    built_in = set(configured_registries()) - set(configured)
    assert len(built_in) == 2  # the index, and where it keeps its files
