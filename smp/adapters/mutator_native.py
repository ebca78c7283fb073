"""Mutants from our own syntax trees: byte spans and their replacements, a rule set a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from smp.domain.errors import Invalid
from smp.domain.ids import FilePath
from smp.domain.mutants import Mutant
from smp.languages.ecmascript.gate.mutations import ecmascript_mutants
from smp.languages.ecmascript.grammar import JAVASCRIPT_SUFFIXES, TYPESCRIPT_SUFFIXES
from smp.languages.python.gate.mutations import python_mutants
from smp.ports.mutator import Mutator

_RULES: Mapping[str, Callable[[FilePath, bytes, frozenset[int] | None], tuple[Mutant, ...]]] = {
    ".py": python_mutants,
} | dict.fromkeys((*JAVASCRIPT_SUFFIXES, *TYPESCRIPT_SUFFIXES), ecmascript_mutants)


class NativeMutator(Mutator):
    """Pure: no state, no files; safe from any thread."""

    def enumerate(self, path: FilePath, source: bytes, *, lines: frozenset[int] | None) -> tuple[Mutant, ...]:
        """See the port.

        Raises:
            Invalid: No rules for this kind of file (`path` = `target_file`).
        """
        rules = _RULES.get(PurePosixPath(path).suffix)
        if rules is None:
            known = ", ".join(sorted(_RULES))
            raise Invalid(
                f"no mutation rules for {path!r}; files with these endings can be verified: {known}", path="target_file"
            )
        return rules(path, source, lines)

    def apply(self, source: bytes, mutant: Mutant) -> bytes:
        return source[: mutant.start_byte] + mutant.mutated.encode() + source[mutant.end_byte :]
