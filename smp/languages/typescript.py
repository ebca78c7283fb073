"""TypeScript and TSX, declaration files included."""

from __future__ import annotations

from smp.languages.ecmascript.grammar import TYPESCRIPT_SUFFIXES
from smp.languages.ecmascript.language import EcmaScript


class TypeScript(EcmaScript):
    """ECMAScript with types: what is declared is the main evidence of what a call reaches."""

    name = "typescript"
    suffixes = TYPESCRIPT_SUFFIXES
