"""`smp keys list|new|trust|revoke|export`: which keys sign snapshots here, and whose are believed."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from smp.bootstrap import open_keys
from smp.cli.options import json_option, repository_options, say
from smp.domain.errors import Invalid
from smp.ports.keyring import KeyInfo
from smp.settings import Settings


@click.group()
def keys() -> None:
    """Keys that sign snapshots of this repository, and those whose snapshots are believed."""


@keys.command(name="list")
@json_option
@repository_options
def list_keys(settings: Settings, as_json: bool) -> None:
    """List all keys: id, whether it signs here, and its fingerprint, to be compared over another channel.

    \b
    Example: smp keys list
    """
    found = open_keys(settings).known()
    if as_json:
        click.echo(msgspec.json.encode({"keys": found}).decode())
        return
    for key in found:
        click.echo(_words(key))
    if not found:
        click.echo("no keys yet; smp keys new makes one, and so does the first smp export --format snapshot")


@keys.command()
@json_option
@repository_options
def new(settings: Settings, as_json: bool) -> None:
    """Make a key that signs snapshots here."""
    made = open_keys(settings).make()
    say(as_json, made, _words(made))


@keys.command()
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--id", "key_id", default=None, help="The id that its owner signs under.  [default: from the key]")
@json_option
@repository_options
def trust(settings: Settings, file: Path, key_id: str | None, as_json: bool) -> None:
    """Believe what the owner of a public key signs. FILE is what `smp keys export` wrote there; - reads standard input.

    \b
    Example: smp keys trust ~/key_0123456789abcdef.pub
    """
    try:
        public = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Invalid(f"cannot read {str(file)!r}: {error.strerror}", path="file") from error
    trusted = open_keys(settings).trust(public, key_id=key_id)
    say(as_json, trusted, _words(trusted))


@keys.command()
@click.argument("key_id")
@json_option
@repository_options
def revoke(settings: Settings, key_id: str, as_json: bool) -> None:
    """Believe a key no longer; one of our own signs no longer either. It is kept aside in the keys folder."""
    info = open_keys(settings).revoke(key_id)
    say(as_json, info, f"revoked {info.key_id}: snapshots that it signed are refused from now on")


@keys.command(name="export")
@click.argument("key_id", required=False)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="File to write.  [default: standard output]")
@repository_options
def export_key(settings: Settings, key_id: str | None, out: Path | None) -> None:
    """Write the public half of a key, to be given to those who are to believe it.

    \b
    Example: smp keys export > ours.pub
    """
    ring = open_keys(settings)
    public = ring.public(ring.signing_key(key_id) if key_id is None else key_id)
    if out is None:
        click.echo(public.decode("ascii"), nl=False)
    else:
        out.write_bytes(public)


def _words(key: KeyInfo) -> str:
    return f"{key.key_id}  {'signs, trusted' if key.own else 'trusted'}  sha256:{key.fingerprint}"


COMMANDS = (keys,)
