"""The assert check's rules by language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

from smp.domain.assertions import TargetSurface, TestFlow
from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant
from smp.languages.ecmascript.gate.assertions import ecmascript_support, ecmascript_test_flows
from smp.languages.ecmascript.gate.probes import with_probes
from smp.languages.ecmascript.gate.runners import has_known_runner
from smp.languages.ecmascript.gate.surface import ecmascript_surface
from smp.languages.ecmascript.grammar import JAVASCRIPT_SUFFIXES, TYPESCRIPT_SUFFIXES
from smp.languages.python.gate.assertions import python_support, python_surface, python_test_flows


class AssertionRules(Struct, frozen=True, kw_only=True):
    """What the gate asks of a language.

    Attributes:
        surface: (path, bytes) of a target → its functions.
        support: (path, bytes) of a test file → files that may hold its fixtures and helpers.
        flows: (path and bytes of the test file, surface, bytes of the support files) → a flow for each test.
        test_id: (path of the test file, name of a test in it) → the test as its runner words it.
        runner: Script in `smp/sandboxes/inside` that runs mutants of the language.
        job: (path and bytes of a target, mutants) → what that script needs besides the common job.
        has_known_runner: (bytes of a test file or None, bytes of `manifest` or None) → whether something that the gate can
            drive runs the project's tests. Where not, no session is held to a verdict.
        manifest: File that names the project's test runner; None when the language has one runner.
    """

    surface: Callable[[FilePath, bytes], TargetSurface]
    support: Callable[[FilePath, bytes], tuple[FilePath, ...]]
    flows: Callable[[FilePath, bytes, TargetSurface, Mapping[FilePath, bytes]], tuple[TestFlow, ...]]
    test_id: Callable[[FilePath, str], str]
    runner: str
    job: Callable[[FilePath, bytes, tuple[Mutant, ...]], Mapping[str, object]]
    has_known_runner: Callable[[bytes | None, bytes | None], bool]
    manifest: FilePath | None


def _probes(path: FilePath, source: bytes, mutants: tuple[Mutant, ...]) -> Mapping[str, object]:
    probed = with_probes(path, source)
    found = {str(mutant.index): probed.probe_of(mutant.start_byte) for mutant in mutants}
    return {"probed": probed.source.decode("utf-8", "replace"), "probes": probed.lines, "probe_of": found}


_ECMASCRIPT = AssertionRules(
    surface=ecmascript_surface,
    support=ecmascript_support,
    flows=ecmascript_test_flows,
    test_id=lambda path, test: f"{path}::{test}",
    runner="node_runner.py",
    job=_probes,
    has_known_runner=has_known_runner,
    manifest=FilePath("package.json"),
)
_RULES = {
    ".py": AssertionRules(
        surface=python_surface,
        support=python_support,
        flows=lambda path, source, surface, support: python_test_flows(source, surface, support),
        test_id=lambda path, test: f"{path}::{test.replace('.', '::')}",
        runner="mutation_runner.py",
        job=lambda path, source, mutants: {},
        has_known_runner=lambda test, manifest: True,
        manifest=None,
    ),
} | dict.fromkeys((*JAVASCRIPT_SUFFIXES, *TYPESCRIPT_SUFFIXES), _ECMASCRIPT)


def assertion_rules(path: FilePath) -> AssertionRules | None:
    """The rules for files with this ending; None when there are none."""
    return _RULES.get(PurePosixPath(path).suffix)
