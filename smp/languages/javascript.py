"""JavaScript, JSX included."""

from __future__ import annotations

from smp.languages.ecmascript.grammar import JAVASCRIPT_SUFFIXES
from smp.languages.ecmascript.language import EcmaScript


class JavaScript(EcmaScript):
    """ECMAScript as runtimes read it; modules of both kinds, and scripts."""

    name = "javascript"
    suffixes = JAVASCRIPT_SUFFIXES
