"""`smp import`: take over an index that another server has made and signed."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from smp.bootstrap import build_platform
from smp.cli.options import repository_options
from smp.domain.errors import Invalid
from smp.settings import Settings


@click.command(name="import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--expect", "root_hash", default=None, help="Root hash (8 digits or more) that it must have or serve.")
@click.option("--unsigned", is_flag=True, help="Take it although no trusted key has signed it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as one JSON object.")
@repository_options
def import_(settings: Settings, file: Path, root_hash: str | None, unsigned: bool, as_json: bool) -> None:
    """Take over the snapshot FILE; files that differ here are indexed anew, and the working tree wins.

    Everything is checked before anything is stored. Its key must be trusted: smp keys trust.

    \b
    Example: smp import ~/snap_0123456789abcdef.tar.zst
    """
    services = build_platform(settings)
    try:
        with file.open("rb") as source:
            snapshot_id = services.snapshots.bring(source)
    except OSError as error:
        raise Invalid(f"cannot read {str(file)!r}: {error.strerror}", path="file") from error
    done = services.snapshots.take_over(snapshot_id, expected_root_hash=root_hash, verify_signature=not unsigned)
    if as_json:
        click.echo(msgspec.json.encode(done).decode())
        return
    click.echo(
        f"took over {snapshot_id}: {done.nodes} nodes, {done.edges} edges; "
        f"{len(done.re_indexed)} files indexed here" + ("" if done.signature_verified else "; signature not checked")
    )
    if done.diverging_packages:
        click.echo("differs here: " + ", ".join(done.diverging_packages))


COMMANDS = (import_,)
