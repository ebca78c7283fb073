"""Packages of npm, installed once into the user's cache."""

from __future__ import annotations

import subprocess
from pathlib import Path

from platformdirs import user_cache_path


def installed(*packages: str) -> Path:
    """`node_modules` with these packages, and what they need."""
    name = "+".join(one.replace("/", "-") for one in packages)
    folder = user_cache_path("smp") / "bench" / "gate" / "npm" / name
    if not (folder / "node_modules" / ".package-lock.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], cwd=folder, check=True)
    return folder / "node_modules"
