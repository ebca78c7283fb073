"""What a release holds, and that it can be installed and used without the checkout."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel made from it."""
    folder = tmp_path_factory.mktemp("release")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_has_the_console_and_says_that_it_is_typed(release: Path) -> None:
    (wheel,) = release.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"smp/console/{path.name}" for path in (ROOT / "console").iterdir()} <= names
    assert "smp/py.typed" in names
    assert [name for name in names if name.startswith(("tests/", "infra/", "clients/"))] == []


def test_the_source_distribution_has_what_the_wheel_is_made_of_and_no_leftovers(release: Path) -> None:
    (archive,) = release.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        folders = {name.split("/")[1] for name in opened.getnames() if "/" in name}
    assert {"smp", "workflows", "activities", "workers", "console", "docs", "LICENSE", "CHANGELOG.md"} <= folders
    assert folders.isdisjoint({".venv", ".cache", "build", "dist", "node_modules"})


def test_an_installed_wheel_indexes_and_answers(release: Path, tmp_path: Path) -> None:
    """Without dependencies of its own: they are this environment's, so that nothing is fetched."""
    (wheel,) = release.glob("*.whl")
    target, repo = tmp_path / "installed", tmp_path / "repo"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True)
    (repo / "shop").mkdir(parents=True)
    (repo / "shop" / "money.py").write_text("def cents(text: str) -> int:\n    return int(text)\n")
    subprocess.run(["git", "init", "--quiet", str(repo)], check=True)
    start = f"import sys; sys.path[:] = [{str(target)!r}, *(p for p in sys.path if p != {str(ROOT)!r})]; "
    start += "import smp; assert smp.__file__.startswith(sys.path[0]); from smp.cli.start import main; main()"
    ask = [sys.executable, "-c", start, "call", "smp/navigate", '{"query": "cents"}', "--repo", str(repo)]
    done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "function:shop/money.py#cents" in done.stdout
