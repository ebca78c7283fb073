"""Sources of published packages as git working trees: pinned by version and hash, kept in the user's cache."""

from __future__ import annotations

import hashlib
import importlib.metadata
import subprocess
import sys
import tarfile
from pathlib import Path, PurePosixPath

from msgspec import Struct
from platformdirs import user_cache_path


class Corpus(Struct, frozen=True, kw_only=True):
    """An archive of a registry.

    Attributes:
        registry: `pypi` (a source distribution) or `npm`.
        sha256: Of the archive.
        keep: Folders and files below the archive's own folder; all others are left out.
    """

    registry: str
    name: str
    version: str
    archive: str
    sha256: str
    keep: tuple[str, ...]


FLASK = Corpus(
    registry="pypi",
    name="flask",
    version="3.1.2",
    archive="flask-3.1.2.tar.gz",
    sha256="bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87",
    keep=("src", "tests", "examples", "pyproject.toml"),
)
ATTRS = Corpus(
    registry="pypi",
    name="attrs",
    version="25.3.0",
    archive="attrs-25.3.0.tar.gz",
    sha256="75d7cefc7fb576747b2c81b4442d4d4a1ce0900973527c011d1030fd3bf4af1b",
    keep=("src", "tests", "pyproject.toml"),
)
RXJS = Corpus(
    registry="npm",
    name="rxjs",
    version="7.8.1",
    archive="rxjs-7.8.1.tgz",
    sha256="c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149",
    keep=("src", "package.json", "tsconfig.json"),
)


def check_out(corpus: Corpus, folder: Path) -> Path:
    """A git repository with the kept files of an archive in one commit; the archive is fetched once."""
    root = folder / corpus.name
    with tarfile.open(fetched(corpus)) as opened:
        members = [member for member in opened.getmembers() if member.isfile() and _kept(member.name, corpus)]
        opened.extractall(folder / "unpacked", members=members, filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    unpacked.rename(root)
    commit_all(root, init=True)
    return root


def installed_package(name: str, folder: Path) -> Path:
    """A git repository with the Python sources of a package that this environment has (pinned by requirements.lock)."""
    root = folder / name
    for file in importlib.metadata.files(name) or ():
        if file.suffix in (".py", ".pyi"):
            target = root / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(Path(str(file.locate())).read_bytes())
    commit_all(root, init=True)
    return root


def commit_all(root: Path, message: str = "state", *, init: bool = False) -> None:
    """Record the working tree as it is."""
    if init:
        git(root, "init", "-q", "-b", "main")
        git(root, "config", "core.autocrlf", "false")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "--no-verify", "-m", message)


def git(root: Path, *arguments: str) -> str:
    """Output of a git command."""
    command = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def fetched(corpus: Corpus) -> Path:
    """The archive, from the cache or by the registry's own client.

    Raises:
        ValueError: Its hash is another one.
    """
    folder = user_cache_path("smp") / "bench"
    archive = folder / corpus.archive
    if not archive.exists():
        folder.mkdir(parents=True, exist_ok=True)
        wanted = f"{corpus.name}=={corpus.version}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-binary", ":all:", "--no-deps", wanted]
        npm = ["npm", "pack", "--silent", f"{corpus.name}@{corpus.version}"]
        subprocess.run(pip if corpus.registry == "pypi" else npm, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != corpus.sha256:
        raise ValueError(f"{archive} has the SHA-256 {found}, not {corpus.sha256}; remove it and run this again")
    return archive


def _kept(name: str, corpus: Corpus) -> bool:
    parts = PurePosixPath(name).parts[1:]
    return bool(parts) and parts[0] in corpus.keep
