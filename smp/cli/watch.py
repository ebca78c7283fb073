"""`smp watch`: keep the index in step with the files, as a foreground process."""

from __future__ import annotations

import queue
import time

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.options import IndexProgress, repository_options
from smp.domain.errors import SmpError
from smp.domain.ids import FilePath
from smp.indexing.reports import IndexReport
from smp.services import Services
from smp.settings import Settings

QUIET_S = 0.15
"""A burst (a checkout, a formatter) is over when nothing has changed for as long."""
BURST_S = 2.0
"""Longest wait for that."""
SHOWN = 3


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print each refresh as a JSON object on a line.")
@repository_options
def watch(settings: Settings, as_json: bool) -> None:
    """Bring edits, deletes, branch switches and commits into the index as they happen, until Ctrl-C.

    A line says what was brought in. `smp serve` does the same by itself.

    \b
    Example: smp watch --repo ~/src/myproject
    """
    services = build_platform(settings)
    with IndexProgress() as progress:
        report = services.indexer.refresh(progress)
    _say(report, 0, as_json=as_json)
    news: queue.SimpleQueue[frozenset[FilePath]] = queue.SimpleQueue()
    with services.sources.watch(news.put):
        _follow(services, news, as_json=as_json)  # what changed before the watch began
        while True:
            news_of = gather(news)
            _follow(services, news, as_json=as_json, paths=news_of)


def gather(news: queue.SimpleQueue[frozenset[FilePath]]) -> frozenset[FilePath]:
    """The paths of one burst of changes; waits for the first."""
    paths = set(news.get())
    ends = time.monotonic() + BURST_S
    while time.monotonic() < ends:
        try:
            paths |= news.get(timeout=QUIET_S)
        except queue.Empty:
            break
    return frozenset(paths)


def _follow(
    services: Services,
    news: queue.SimpleQueue[frozenset[FilePath]],
    *,
    as_json: bool,
    paths: frozenset[FilePath] = frozenset(),
) -> None:
    """Bring the index up to date; what cannot be read now is tried again with the next change."""
    from smp.cli.failures import stderr

    before = services.indexer.state().commit_sha
    try:
        report = services.indexer.refresh()
    except SmpError as error:
        stderr.print(f"not indexed yet: {error.message}", soft_wrap=True, markup=False)
        return
    if report.parsed or report.removed or report.commit_sha != before:
        _say(report, len(paths), as_json=as_json, paths=paths)


def _say(report: IndexReport, changed: int, *, as_json: bool, paths: frozenset[FilePath] = frozenset()) -> None:
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
        return
    names = ", ".join(sorted(paths)[:SHOWN]) + (f" and {changed - SHOWN} more" if changed > SHOWN else "")
    at = f" at {report.commit_sha[:10]}" if report.commit_sha else ""
    click.echo(
        f"{time.strftime('%H:%M:%S')} {report.parsed} read, {report.removed} gone in {report.duration_ms:.0f} ms"
        f"{at}: {report.files} files, {report.nodes} nodes" + (f" ({names})" if names else "")
    )


COMMANDS = (watch,)
