"""Expected failures are one sentence and an exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from smp.cli.failures import run_reporting_failures
from smp.domain.errors import Invalid


def command_raising(error: BaseException | None) -> click.Command:
    def body() -> None:
        if error is not None:
            raise error

    return click.Command("try", callback=body)


@pytest.mark.parametrize(
    ("error", "code", "shown"),
    [
        (None, 0, ""),
        (click.exceptions.Exit(1), 1, ""),
        (Invalid("no folder 'x'; name a repository", path="repo"), 1, "no folder 'x'; name a repository"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.UsageError("PARAMS must be one JSON object"), 2, "PARAMS must be one JSON object"),
    ],
)
def test_each_way_out_has_its_code_and_sentence(
    error: BaseException | None,
    code: int,
    shown: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["try"])
    with pytest.raises(SystemExit) as stop:
        run_reporting_failures(command_raising(error))
    assert stop.value.code == code
    captured = capsys.readouterr()
    assert shown in " ".join(captured.err.split())
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("name", ["[/x]", "[bold]", "[/red]"])
def test_a_name_from_outside_is_no_markup(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["try"])
    with pytest.raises(SystemExit) as stop:
        run_reporting_failures(command_raising(Invalid(f"no folder {name!r}", path="repo")))
    assert stop.value.code == 1
    assert f"error: no folder {name!r}" in capsys.readouterr().err


def test_a_full_standard_output_is_one_sentence_and_code_1() -> None:
    script = (
        "import click; from smp.cli.failures import run_reporting_failures;"
        "run_reporting_failures(click.Command('try', callback=lambda: click.echo('x' * 100_000)))"
    )
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: No space left on device")
    assert done.stderr.count("\n") == 1
