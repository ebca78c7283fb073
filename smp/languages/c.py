"""C."""

from __future__ import annotations

from smp.languages.cfamily.grammar import C_SUFFIXES
from smp.languages.cfamily.language import CFamily


class C(CFamily):
    """C, and headers, which may turn out to be C++."""

    name = "c"
    suffixes = C_SUFFIXES
