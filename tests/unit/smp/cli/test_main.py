"""The root command: its list is what there is, and it starts without loading any of it."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from smp.cli.main import smp

HEAVY = ("numpy", "temporalio", "onnxruntime", "igraph", "rich", "structlog", "smp.bootstrap", "tree_sitter")


@pytest.mark.parametrize("name", smp.list_commands(click.Context(smp)))
def test_every_command_of_the_list_is_there_under_its_name(name: str) -> None:
    found = smp.get_command(click.Context(smp), name)
    assert found is not None
    assert found.name == name


def loaded_by(code: str) -> set[str]:
    """Modules that a fresh interpreter has after some code."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_the_list_of_commands_loads_none_of_them() -> None:
    code = "from smp.cli.main import smp\nsmp.main(['--help'], standalone_mode=False)"
    assert loaded_by(code).isdisjoint(HEAVY)


def test_a_question_loads_neither_models_nor_workflows() -> None:
    loaded = loaded_by("import smp.cli.call")
    assert loaded.isdisjoint({*HEAVY} - {"smp.bootstrap"})
