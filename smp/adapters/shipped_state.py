"""What a repository brings along in the folder of our state is not ours: whoever wrote it would be believed.

A commit can hold `.smp/tokens.json` (a token of its author), keys to be trusted, a database, or a link that leads out of the
repository. Records may be kept under version control: they are read as text that may be wrong, and grant nothing.
"""

from __future__ import annotations

import os

from smp.domain.errors import Invalid
from smp.host_git import HostGit
from smp.ports.record_files import RecordFile
from smp.settings import Settings

_REGULAR = frozenset({"100644", "100755"})
_HARMLESS = frozenset({".gitignore", RecordFile.EPISODES.value, RecordFile.FACTS.value, RecordFile.RULES.value})


def refuse_shipped_state(settings: Settings) -> None:
    """Look at what git tracks below the data directory; nothing for one outside of the repository.

    Raises:
        Invalid: Something there would be believed, or leads elsewhere.
    """
    if not settings.data_dir.is_relative_to(settings.repo) or not os.path.lexists(settings.data_dir):
        return
    folder = settings.data_dir.relative_to(settings.repo).as_posix()
    listed = HostGit(settings.repo).run("ls-files", "-s", "-z", "--", f":(literal){folder}")
    for entry in listed.stdout.split(b"\0") if listed.returncode == 0 else ():
        head, _, path = os.fsdecode(entry).partition("\t")
        name = path.removeprefix(folder).lstrip("/")
        if path and not (head[:6] in _REGULAR and name in _HARMLESS):
            raise Invalid(
                f"the repository itself carries {path!r}, where the state of this platform lies, and it may be anybody's; "
                f"look at it, then take it out (git rm -r --cached {folder}; delete it), or keep the state elsewhere with --data-dir",
                path="data_dir",
            )
