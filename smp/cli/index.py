"""`smp index`: build or refresh the index of a repository."""

from __future__ import annotations

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.failures import stderr
from smp.cli.options import IndexProgress, repository_options
from smp.domain.errors import Invalid
from smp.settings import Settings, load_settings

_SHOWN_SKIPS = 5


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@repository_options
def index(settings: Settings, path: str | None, as_json: bool) -> None:
    """Build or refresh the index of PATH (default: the current directory).

    \b
    Example: smp index ~/src/myproject
    """
    if path is not None:
        root = settings.repo / path
        if not root.is_dir():
            raise Invalid(f"no folder {path!r}; name a repository", path="path")
        explicit = settings.data_dir if settings.data_dir != settings.repo / ".smp" else None
        settings = load_settings(root, data_dir=explicit)
    services = build_platform(settings)
    with IndexProgress() as progress:
        report = services.indexer.refresh(progress)
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
        return
    click.echo(
        f"indexed {report.files} files ({report.parsed} parsed) in {report.duration_ms / 1000:.1f} s: "
        f"{report.nodes} nodes, {report.edges} edges, {report.unresolved} unresolved calls"
    )
    if report.skipped:
        shown = ", ".join(f"{item.path} ({item.reason})" for item in report.skipped[:_SHOWN_SKIPS])
        more = len(report.skipped) - _SHOWN_SKIPS
        stderr.print(f"skipped: {shown}" + (f" and {more} more" if more > 0 else ""), soft_wrap=True, markup=False)


COMMANDS = (index,)
