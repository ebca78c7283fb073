"""The measured packages: fetched once, unpacked, their test suites run under the recorder; all in the user's cache folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_path

HERE = Path(__file__).parent
RECORDER = HERE / "recorder.py"
REQUIREMENTS = HERE / "requirements.txt"
SUITE_SECONDS = 1800


class Package(NamedTuple):
    """A source distribution and the SHA-256 of its archive. style: why it was chosen. needs: what its suite needs besides
    `requirements.txt`, which is part of every round's measurement."""

    name: str
    version: str
    sha256: str
    style: str
    needs: tuple[str, ...] = ()

    @property
    def archive(self) -> str:
        return f"{self.name}-{self.version}.tar.gz"


def cache() -> Path:
    """Where everything of this bench lies."""
    folder = user_cache_path("smp") / "bench" / "accuracy"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def interpreter() -> Path:
    """CPython 3.12 or newer, for `sys.monitoring`; SMP_ACCURACY_PYTHON names another one."""
    named = os.environ.get("SMP_ACCURACY_PYTHON")
    found = [named] if named else [shutil.which(f"python3.{minor}") for minor in (12, 13, 14)]
    found += [str(path) for path in sorted(Path.home().glob(".pyenv/versions/3.1[2-4]*/bin/python"))]
    for candidate in found:
        if candidate is None:
            continue
        question = "import sys; print(sys.version_info >= (3, 12))"
        said = subprocess.run([candidate, "-c", question], capture_output=True, text=True, check=False)
        if said.stdout.strip() == "True":
            return Path(candidate)
    raise SystemExit("no CPython 3.12 or newer found: install one or name it in SMP_ACCURACY_PYTHON")


def tools(packages: tuple[Package, ...]) -> Path:
    """The interpreter of a venv with what the suites need and the packages' own metadata."""
    needs = [one for package in packages for one in package.needs]
    wanted = REQUIREMENTS.read_bytes() + "".join([*(package.archive for package in packages), *needs]).encode()
    folder = cache() / f"venv-{hashlib.sha256(wanted).hexdigest()[:12]}"
    python = folder / "bin" / "python"
    done = folder / "complete"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([str(interpreter()), "-m", "venv", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, "-r", str(REQUIREMENTS), *needs], check=True)
        for package in packages:
            subprocess.run([*install, "--no-deps", f"{package.name}=={package.version}"], check=True)
        done.touch()
    return python


def unpack(package: Package, python: Path) -> Path:
    """The package's source tree, from the cache or by pip."""
    folder = cache() / f"{package.name}-{package.version}"
    if not folder.exists():
        archive = cache() / package.archive
        if not archive.exists():
            command = [str(python), "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", package.name]
            subprocess.run([*command, f"{package.name}=={package.version}", "-d", str(cache())], check=True)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        if digest != package.sha256:
            raise SystemExit(f"{archive}: its SHA-256 is {digest}, not that of the measured package")
        with tarfile.open(archive) as opened:
            opened.extractall(cache(), filter="data")
    return folder


def observed(package: Package, repo: Path, python: Path) -> dict[str, Any]:
    """What the recorder saw while the package's suite ran; kept until the recorder or the venv changes."""
    key = hashlib.sha256(RECORDER.read_bytes() + str(python).encode()).hexdigest()[:12]
    out = cache() / f"{package.name}-{package.version}-observed-{key}.json"
    if not out.exists():
        part = out.with_suffix(".part")
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(repo / "src"), str(repo), str(HERE)]),
            "SMP_ACCURACY_ROOT": str(repo.resolve()),
            "SMP_ACCURACY_OUT": str(part),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        # Rewritten assertions have calls of their own, at places that are not in the source.
        command = [
            str(python),
            "-m",
            "pytest",
            "-q",
            "-p",
            "recorder",
            "-p",
            "no:cacheprovider",
            "--assert=plain",
            "tests",
        ]
        ran = subprocess.run(
            command, cwd=repo, env=environment, capture_output=True, text=True, timeout=SUITE_SECONDS, check=False
        )
        if not part.exists():
            raise SystemExit(f"the suite of {package.name} did not run:\n{ran.stdout[-3000:]}\n{ran.stderr[-2000:]}")
        seen = json.loads(part.read_text("utf-8"))
        seen["suite"] = ran.stdout.strip().splitlines()[-1]
        part.write_text(json.dumps(seen), "utf-8")
        part.rename(out)
    found: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return found


if __name__ == "__main__":
    sys.exit("run tests/benchmarks/bench_accuracy.py")
