"""What a document must be before strangers read it: of bounded length, without secrets, without this machine's paths. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

MAX_CHARACTERS = 65_000
"""GitHub takes 65,536 characters; GitLab takes more."""
_LEFT_OUT = "_Left out: the document would be too long._"
_SECRETS = re.compile(
    r"""\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{16})
    |(?P<named>\b[\w-]*(?:token|secret|passw(?:or)?d|api[_-]?key)[\w-]*\s*[=:]\s*|\bbearer\s+|://[^/@\s:]*:)["']?[^\s"'`|@&]{6,}""",
    re.IGNORECASE | re.VERBOSE,
)
_MENTION = re.compile(r"(?<![\w`/.])@(?=[\w-])")
_ISSUE = re.compile(r"(?:[\w.-]+(?:/[\w.-]+)+)?#\d+|https?://\S+/(?:issues|work_items)/\d+")


def without_secrets(text: str, folders: Iterable[Path]) -> str:
    """The text without what looks like a credential, and with `<folder name>` for folders of this machine."""
    for folder in sorted(set(folders), key=lambda one: len(str(one)), reverse=True):
        if folder.name:
            # A function, since a name may hold what `re` reads as a reference to a group.
            place = f"<{folder.name}>"
            text = re.sub(rf"{re.escape(str(folder))}(?![\w-])", lambda _: place, text)  # noqa: B023 used at once
    return _SECRETS.sub(lambda found: f"{found['named'] or ''}***", text)


def prose(text: str) -> str:
    """One line of somebody's words: no markup of theirs, and nobody is called by it."""
    line = " ".join(text.split()).replace("<", "&lt;").replace(">", "&gt;")
    return _MENTION.sub("@\u200b", line)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def issue_line(refs: tuple[str, ...]) -> str:
    """References such that both hosts link them, and close what is an issue when the change is merged."""
    fixes = [ref for ref in (_numbered(ref) for ref in refs) if _ISSUE.fullmatch(ref)]
    others = [prose(ref) for ref in refs if not _ISSUE.fullmatch(_numbered(ref))]
    parts = ([", ".join(f"Fixes {ref}" for ref in fixes)] if fixes else []) + (
        [f"Issues: {', '.join(others)}"] if others else []
    )
    return "; ".join(parts)


def _numbered(ref: str) -> str:
    ref = ref.strip()
    return f"#{ref}" if ref.isdecimal() else ref


def bounded(sections: list[list[str]], limit: int = MAX_CHARACTERS) -> str:
    """Sections as one text of at most `limit` characters: the longest ones lose their content first, and say so.

    Each section begins with its heading, but for the first, which is kept.
    """
    kept = ["\n".join(section).strip() for section in sections if section]
    while sum(len(text) + 2 for text in kept) > limit:
        at = max(range(1, len(kept)), key=lambda index: len(kept[index]), default=0)
        short = f"{kept[at].partition(chr(10))[0]}\n\n{_LEFT_OUT}"
        if at == 0 or len(short) >= len(kept[at]):
            return "\n\n".join(kept)[: limit - 1] + "\n"
        kept[at] = short
    return "\n\n".join(kept) + "\n"
