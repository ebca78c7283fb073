"""Options that every command takes, and the index that most of them need."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import click

from smp.bootstrap import build_platform
from smp.services import Services
from smp.settings import Settings, load_settings

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
"""For a command that takes `as_json`."""

P = ParamSpec("P")
R = TypeVar("R")


def repository_options(command: Callable[Concatenate[Settings, P], R]) -> Callable[P, R]:
    """Add `--repo` and `--data-dir`; the command receives the loaded settings first."""

    @click.option(
        "--repo",
        type=click.Path(path_type=Path),
        default=Path(),
        show_default="the current directory",
        help="The repository's root.",
    )
    @click.option(
        "--data-dir",
        type=click.Path(path_type=Path),
        default=None,
        help="Where its state lives.  [default: REPO/.smp]",
    )
    @functools.wraps(command)
    def with_settings(*args: P.args, **kwargs: P.kwargs) -> R:
        repo, data_dir = kwargs.pop("repo"), kwargs.pop("data_dir")
        if not isinstance(repo, Path) or not (data_dir is None or isinstance(data_dir, Path)):
            raise TypeError("click passes paths")
        return command(load_settings(repo, data_dir=data_dir), *args, **kwargs)

    return with_settings


def say(as_json: bool, answer: object, words: str) -> None:
    """Print an answer as one JSON object, or in words."""
    if as_json:
        import msgspec

        words = msgspec.json.encode(answer).decode()
    click.echo(words)


def open_indexed(settings: Settings) -> Services:
    """The platform with a fresh index; builds one where there is none, saying so on stderr."""
    services = build_platform(settings)
    if services.indexer.generation() == 0:
        from smp.cli.failures import stderr

        stderr.print(f"no index of {settings.repo.name} yet: building one")
        with IndexProgress() as progress:
            services.indexer.refresh(progress)
    return services


class IndexProgress:
    """A live bar on stderr, called with (stage, done, total)."""

    def __init__(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        from smp.cli.failures import stderr

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=stderr,
            transient=True,
        )
        self._tasks: dict[str, int] = {}

    def __enter__(self) -> IndexProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total)
        self._bar.update(self._bar.task_ids[list(self._tasks).index(stage)], completed=done, total=total)
