"""The documentation is what the code says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from msgspec import Struct
from msgspec.structs import fields

from infra.protocol_steps import WITHOUT_EXAMPLE
from smp.cli.main import smp
from smp.rpc.methods import METHOD_GROUPS
from smp.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


def test_protocol_reference_is_current() -> None:
    done = subprocess.run([sys.executable, "infra/protocol_reference.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run: .venv/bin/python infra/protocol_reference.py"


def test_every_method_has_an_example() -> None:
    documented = json.loads((ROOT / "docs" / "examples" / "protocol.json").read_text("utf-8"))
    methods = {method.name for group in METHOD_GROUPS for method in group.METHODS if not method.internal}
    assert methods - WITHOUT_EXAMPLE == documented.keys()


def test_every_page_can_be_found() -> None:
    docs = ROOT / "docs"
    lists = (ROOT / "mkdocs.yml").read_text("utf-8") + (docs / "adr" / "index.md").read_text("utf-8")
    pages = sorted(page.relative_to(docs).as_posix().removeprefix("adr/0") for page in docs.rglob("*.md"))
    assert [page for page in pages if page not in lists] == []


@pytest.mark.parametrize("writer", ["client_methods.py", "typescript_types.py"])
def test_clients_are_current(writer: str) -> None:
    done = subprocess.run([sys.executable, f"infra/{writer}", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, f"run: .venv/bin/python infra/{writer}"


def test_every_option_is_in_the_configuration_page() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    sections = [field for field in fields(Settings) if isinstance(field.type, type) and issubclass(field.type, Struct)]
    options = [f"{section.name}.{option.name}" for section in sections for option in fields(section.type)]
    assert options
    assert [option for option in options if f"`{option}`" not in page] == []


@pytest.mark.parametrize("command", smp.list_commands(click.Context(smp)))
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    node = smp.get_command(click.Context(smp), command)
    assert node is not None
    texts = [node.help or ""]
    if isinstance(node, click.Group):
        texts += [child.help or "" for child in node.commands.values()]
    assert all(texts)
    assert any("smp " in text for text in texts)


NOT_ONE_OBJECT = {"audit export", "call", "completion", "export", "keys export", "mcp", "serve", "worker"}
"""They print JSON lines, JSON already, a key or a script, or serve."""


def test_every_command_prints_json_where_it_is_asked_to() -> None:
    without = {path for path, command in leaves(smp, "") if "--json" not in {o for p in command.params for o in p.opts}}
    assert without == NOT_ONE_OBJECT


def leaves(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Commands that are no groups, by their words."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        yield from leaves(child, f"{path} {name}".strip())


def test_no_recorded_history_names_a_folder_of_whoever_recorded_it() -> None:
    recorded = sorted((ROOT / "tests" / "workflows" / "histories").glob("*.json"))
    assert recorded
    assert [path.name for path in recorded if "site-packages" in path.read_text("utf-8")] == []
