"""Questions with known answers, made by code from a package's public history.

Rules, fixed before anything was measured:

- *history*: the newest commits that change the code (not docstring or layout) of one to five functions of the package
  below `source`, tests aside, and say so in at least four words; those about typing, formatting and the like left out. The
  question is the subject and first paragraph of the message, without issue numbers, addresses and trailers; the answer those
  functions. The index is that of the main line before the oldest of these commits: it knows nothing of any of them. At
  most 60 a package; functions that did not exist then answer nothing.
- *docstring*: functions of the same tree with a docstring of at least five words that no other function has, and at least
  two statements; 60 a package by a fixed seed. The question is the first paragraph; the index is made of the tree without any docstring.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import PurePosixPath

from msgspec import Struct

from tests.benchmarks.finding.functions import functions_of
from tests.benchmarks.finding.history import Commit, commits, content, git, snapshot_before
from tests.benchmarks.finding.packages import Package

PER_PACKAGE = 60
COMMITS_READ = 1_500
CHANGED_FUNCTIONS = 5
MESSAGE_WORDS, DOCSTRING_WORDS, STATEMENTS = 4, 5, 2
QUESTION_CHARS = 300
SEED = 4

_CHORES = re.compile(
    r"\b(typing|type[- ]?hints?|annotat\w+|mypy|pyright|lint\w*|flake8|black|ruff|isort|pyupgrade|pre-commit|typos?|spelling"
    r"|docstrings?|changelog|bump\w*|release|version|revert\w*|f-strings?|formatting|reformat\w*|cleanup|clean up|python 2)\b",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"\(?#\d+\)?|https?://\S+|\b(fix(es|ed)?|close[sd]?|refs?|resolves?):? *(#|gh-)\d+|\b[0-9a-f]{7,40}\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[A-Z][\w-]+(-by|-authored-by)?: .*$", re.MULTILINE)


class Question(Struct, frozen=True, kw_only=True):
    """answers: ids of nodes, any of which is right."""

    package: str
    text: str
    answers: tuple[str, ...]


class QuestionSet(Struct, frozen=True, kw_only=True):
    """snapshot: the commit that is indexed."""

    snapshot: str
    history: tuple[Question, ...]
    docstring: tuple[Question, ...]


def question_set(package: Package) -> QuestionSet:
    """Both kinds of questions about a package."""
    asked: list[tuple[Commit, str, tuple[str, ...]]] = []
    for commit in commits(package.history, package.head, below=package.source, limit=COMMITS_READ):
        text = message_text(commit.message)
        if len(asked) == PER_PACKAGE:
            break
        if len(text.split()) >= MESSAGE_WORDS and not _CHORES.search(text):
            changed = _changed(package, commit)
            if 1 <= len(changed) <= CHANGED_FUNCTIONS:
                asked.append((commit, text, changed))
    snapshot = snapshot_before(package.history, package.head, min(commit.time for commit, _, _ in asked))
    files = _sources(package, snapshot)
    present = {_node_id(path, name) for path, source in files.items() for name in functions_of(source)}
    kept = ((text, tuple(one for one in changed if one in present)) for _, text, changed in asked)
    history = tuple(Question(package=package.name, text=text, answers=answers) for text, answers in kept if answers)
    return QuestionSet(snapshot=snapshot, history=history, docstring=_documented(package, files))


def message_text(message: str) -> str:
    """Subject and first paragraph of a commit message as one line."""
    subject, _, rest = message.strip().partition("\n")
    paragraph = _TRAILER.sub("", rest.strip().partition("\n\n")[0])
    return " ".join(_NOISE.sub(" ", f"{subject}\n{paragraph}").split())[:QUESTION_CHARS].strip(" ()[].,:;-")


def _changed(package: Package, commit: Commit) -> tuple[str, ...]:
    """Functions whose code differs; one that holds another that differs as well is left out."""
    found: list[str] = []
    for path in commit.files:
        if not _counts(path):
            continue
        before = functions_of(content(package.history, commit.parent, path) or b"")
        after = functions_of(content(package.history, commit.sha, path) or b"")
        differing = [name for name in before if name in after and before[name].code != after[name].code]
        found += [
            _node_id(path, name) for name in differing if not any(other.startswith(f"{name}.") for other in differing)
        ]
    return tuple(sorted(found))


def _documented(package: Package, files: dict[str, bytes]) -> tuple[Question, ...]:
    candidates: list[tuple[str, str]] = []
    for path, source in sorted(files.items()):
        for name, function in sorted(functions_of(source).items()):
            text = " ".join((function.documentation or "").partition("\n\n")[0].split())[:QUESTION_CHARS]
            if len(text.split()) >= DOCSTRING_WORDS and function.statements >= STATEMENTS:
                candidates.append((text, _node_id(path, name)))
    count = Counter(text for text, _ in candidates)
    unique = [(text, node) for text, node in candidates if count[text] == 1]
    chosen = random.Random(SEED).sample(unique, min(PER_PACKAGE, len(unique)))
    return tuple(Question(package=package.name, text=text, answers=(node,)) for text, node in chosen)


def _sources(package: Package, snapshot: str) -> dict[str, bytes]:
    listed = git(package.history, "ls-tree", "-r", "--name-only", snapshot, "--", package.source).decode().split("\n")
    return {path: content(package.history, snapshot, path) or b"" for path in listed if _counts(path)}


def _counts(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        path.endswith(".py")
        and not {"tests", "test", "testing"} & set(parts[:-1])
        and not parts[-1].startswith("test_")
    )


def _node_id(path: str, qualname: str) -> str:
    return f"function:{path}#{qualname}"
