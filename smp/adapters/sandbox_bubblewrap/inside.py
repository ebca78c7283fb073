"""The scripts that run inside a box, copied to where every box can read them."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from smp.adapters.sandbox_bubblewrap.eval_probe import FILE, page
from smp.adapters.sandbox_bubblewrap.once import make_once
from smp.domain.errors import SandboxFailed

# Found by path, not imported: adapters do not know the use cases, and these files are no part of this process.
_SOURCES = Path(__file__).resolve().parents[2] / "sandboxes" / "inside"


@functools.cache
def copy_inside(cache_dir: Path) -> Path:
    """Folder with the present scripts, readable for everyone whatever the umask of the installation was.

    Raises:
        SandboxFailed: The installation lacks them.
    """
    sources = {
        path.relative_to(_SOURCES): path.read_bytes()
        for path in sorted(_SOURCES.rglob("*"))
        if path.suffix in (".py", ".cjs", ".mjs")
    }
    if not sources:
        raise SandboxFailed("the installation is incomplete: smp/sandboxes/inside is missing; install smp again")
    sources[Path(FILE)] = page()
    digest = hashlib.sha256()
    for name, content in sources.items():
        digest.update(f"{name}\0{len(content)}\0".encode() + content)

    def make(staging: Path) -> None:
        for name, content in sources.items():
            target = staging / name
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
            target.write_bytes(content)
            target.chmod(0o644)
        for folder in [staging, *(path for path in staging.rglob("*") if path.is_dir())]:
            folder.chmod(0o755)

    return make_once(cache_dir / "inside" / digest.hexdigest()[:32], make)
