"""C++."""

from __future__ import annotations

from smp.languages.cfamily.grammar import CPP_SUFFIXES
from smp.languages.cfamily.language import CFamily


class Cpp(CFamily):
    """C++."""

    name = "cpp"
    suffixes = CPP_SUFFIXES
