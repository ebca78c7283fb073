"""`smp hook install|remove|status`: git brings commits, merges, rebases and checkouts into the index.

A hook is a file of git's; a shell script that is there already keeps its text and gets a few lines at its head, between marks,
which `remove` takes out again (at its head, since a script may end early). One in another language is left alone and named.
The lines start the refresh in the background and say nothing, whatever happens: git must never
wait for it nor fail by it. They name no path: the repository is the one that git runs the hook in, so that a hook that
linked worktrees share brings each checkout into its own index.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from smp.cli.options import json_option, repository_options, say
from smp.domain.errors import Invalid, Unavailable
from smp.settings import Settings

EVENTS = ("post-commit", "post-checkout", "post-merge", "post-rewrite")
BEGIN, END = "# >>> smp index >>>", "# <<< smp index <<<"
SHEBANG = "#!/bin/sh\n"
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})


class HookState(Struct, frozen=True, kw_only=True):
    """A hook. file: where git looks for it. state: `installed`, `absent`, or `other` (there, and not ours)."""

    event: str
    file: str
    state: str


@click.group()
def hook() -> None:
    """Let git bring commits, merges, rebases and checkouts into the index."""


@hook.command()
@json_option
@repository_options
def install(settings: Settings, as_json: bool) -> None:
    """Add a line to git's post-commit, post-checkout, post-merge and post-rewrite hooks; existing hooks stay.

    \b
    Example: smp hook install
    """
    folder = hooks_folder(settings.repo)
    foreign = [event for event in EVENTS if not _is_shell(_read(folder / event))]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for event in EVENTS:
            if event not in foreign:
                _write(folder / event, with_ours(_read(folder / event)))
    except OSError as error:
        raise Unavailable(f"cannot write in {str(folder)!r}: {error.strerror}", backend="git hooks") from error
    done = [event for event in EVENTS if event not in foreign]
    say(as_json, {"hooks": hook_states(settings.repo)}, f"installed in {folder}: {', '.join(done)}")
    if foreign:
        raise Invalid(
            f"no shell scripts, so left as they are: {', '.join(foreign)}; let them run `smp index` in the background",
            path="hooks",
        )


@hook.command()
@json_option
@repository_options
def remove(settings: Settings, as_json: bool) -> None:
    """Take our line out again; a hook that held nothing else is removed."""
    folder = hooks_folder(settings.repo)
    for event in EVENTS:
        file = folder / event
        text = _read(file)
        if text is None or BEGIN not in text:
            continue
        rest = without_ours(text)
        if rest.strip() in ("", SHEBANG.strip()):
            file.unlink()
        else:
            _write(file, rest)
    say(as_json, {"hooks": hook_states(settings.repo)}, f"removed from {folder}")


@hook.command()
@json_option
@repository_options
def status(settings: Settings, as_json: bool) -> None:
    """Say which of git's hooks bring changes into the index."""
    states = hook_states(settings.repo)
    if as_json:
        click.echo(msgspec.json.encode({"hooks": states}).decode())
        return
    for one in states:
        click.echo(f"{one.event:<14} {one.state:<10} {one.file}")


def hook_states(repo: Path) -> tuple[HookState, ...]:
    """What git would run."""
    folder = hooks_folder(repo)
    found: list[HookState] = []
    for event in EVENTS:
        text = _read(folder / event)
        runs = os.access(folder / event, os.X_OK)
        state = "absent" if text is None else "installed" if BEGIN in text and runs else "other"
        found.append(HookState(event=event, file=str(folder / event), state=state))
    return tuple(found)


def hooks_folder(repo: Path) -> Path:
    """Where git looks for the hooks of a checkout: `core.hooksPath` and linked worktrees are git's business."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    done = subprocess.run(
        ["git", "-C", str(repo), "rev-parse", "--git-path", "hooks"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        raise Invalid(f"{str(repo)!r} is no git repository; run `git init` in it first", path="repo")
    return repo / done.stdout.rstrip("\n")


def with_ours(text: str | None) -> str:
    """A shell script with our lines below its first, once."""
    kept = without_ours(text) if text else SHEBANG
    first, _, rest = kept.partition("\n")
    if not first.startswith("#!"):
        return _ours() + kept
    return first + "\n" + _ours() + rest


def without_ours(text: str) -> str:
    """A hook's text as it was before."""
    while BEGIN in text and END in text[text.index(BEGIN) :]:
        start = text.index(BEGIN)
        stop = text.index(END, start) + len(END)
        text = text[:start] + text[stop:].removeprefix("\n")
    return text


def _ours() -> str:
    found = shutil.which("smp")
    command = f'"{found}"' if found else f'"{sys.executable}" -m smp.cli.start'
    return (
        f"{BEGIN}\n"
        "# Brings the change into the index, in the background and without a word; smp hook remove takes this out.\n"
        f'( root=$(git rev-parse --show-toplevel) && test -d "$root/.smp" || exit 0\n'
        f"  unset $(git rev-parse --local-env-vars)\n"
        f'  exec nice {command} index "$root" ) </dev/null >/dev/null 2>&1 &\n'
        f"{END}\n"
    )


def _is_shell(text: str | None) -> bool:
    """Whether a hook is absent, or one that a shell reads; without a first line that names one, git's shell does."""
    if text is None or not text.startswith("#!"):
        return text is None or "\0" not in text
    words = text.partition("\n")[0][2:].split()
    names = [Path(word).name for word in words]
    return any(name in SHELLS for name in names[: 2 if names[:1] == ["env"] else 1])


def _read(file: Path) -> str | None:
    try:
        return file.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None


def _write(file: Path, text: str) -> None:
    """Whole or not at all, executable, with the mode that it had."""
    mode = (file.stat().st_mode & 0o777) if file.exists() else 0o755
    part = file.with_name(f".{file.name}.{os.getpid()}")
    part.write_text(text, "utf-8", "surrogateescape")
    part.chmod(mode | 0o111)
    part.replace(file.resolve() if file.is_symlink() else file)


COMMANDS = (hook,)
