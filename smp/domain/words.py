"""Words of prose and of identifiers, as search sees them: folded, split at case and underscore boundaries."""

from __future__ import annotations

import re

_RUN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+|[^A-Za-z0-9]+")


def split_words(text: str) -> list[str]:
    """Lower-case words in order of appearance, with repetitions.

    `parseHTTPHeader_v2` gives `parse`, `http`, `header`, `v2`. Letters outside ASCII are folded but not split at case.
    """
    return [part.lower() for run in _RUN.findall(text) for part in _PART.findall(run)]
