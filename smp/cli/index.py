"""`smp index`: build or refresh the index of a repository."""

from __future__ import annotations

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.failures import stderr
from smp.cli.options import IndexProgress, repository_options
from smp.domain.errors import Invalid
from smp.settings import Settings, load_settings

_SHOWN = 5


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
@click.option(
    "--ranks", is_flag=True, help="Make ranks and communities as well; else a server, or the first question, does."
)
@click.option(
    "--vectors", is_flag=True, help="Embed everything as well, ranks and communities included: minutes, once."
)
@repository_options
def index(settings: Settings, path: str | None, as_json: bool, ranks: bool, vectors: bool) -> None:
    """Build or refresh the index of PATH (default: the current directory).

    \b
    Example: smp index ~/src/myproject
    A stopped --vectors goes on where it was when it is run again.
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
        if ranks or vectors:
            progress("rank", 0, 1)
            services.indexer.ensure_ranked()
            progress("rank", 1, 1)
        if vectors:
            services.indexer.ensure_embedded(progress)
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
        return
    click.echo(
        f"indexed {report.files} files ({report.parsed} parsed) in {report.duration_ms / 1000:.1f} s: "
        f"{report.nodes} nodes, {report.edges} edges, {report.unresolved} calls into libraries or unresolved"
    )
    if report.files == 0:
        stderr.print(
            f"git lists no file in {str(settings.repo)!r} that can be indexed: add files to git, or name another repository "
            "with --repo",
            soft_wrap=True,
            markup=False,
        )
    if ranks or vectors:
        found = services.indexer.partition().communities
        coarse = sum(community.level == 0 for community in found)
        click.echo(f"communities: {coarse} coarse, {len(found) - coarse} fine")
    if vectors:
        reached = services.indexer.ready_to_search().embedding
        click.echo(f"embedded {reached.embedded} of {reached.total} nodes")
    for what, items in (
        ("skipped", [f"{item.path} ({item.reason})" for item in report.skipped]),
        ("damaged", [f"{item.file}:{item.line} ({item.message})" for item in report.parse_errors]),
    ):
        if items:
            more = f" and {len(items) - _SHOWN} more (--json lists all)" if len(items) > _SHOWN else ""
            stderr.print(f"{what}: {', '.join(items[:_SHOWN])}{more}", soft_wrap=True, markup=False)


COMMANDS = (index,)
