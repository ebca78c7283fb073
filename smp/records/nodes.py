"""Node ids of the record graph: `<kind>:<value>`, exact and opaque (spec/records.md section 3).

They are minted here and nowhere else. A path is rewritten as text only, never resolved: that cannot be wrong.
"""

from __future__ import annotations

from collections.abc import Callable

MAX_NODE_BYTES = 512
KINDS = ("file", "episode", "failure", "rule", "fact", "run", "task", "symbol")
EPISODE_PREFIX = "ep_"
RUN_PREFIX = "run-"
RULE_PREFIX = "rule_"


def canonical_path(path: str) -> str | None:
    """`./`, `//`, inner `.` and `a/..` removed; None for what leaves the repository that way, or is no file's path."""
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
        elif not absolute:
            return None
    return ("/" if absolute else "") + "/".join(parts) if parts else None


def _minted(kind: str, value: str | None) -> str | None:
    if not value:
        return None
    node = f"{kind}:{value}"
    return node if len(node.encode("utf-8", "surrogatepass")) <= MAX_NODE_BYTES else None


def file_node(path: str) -> str | None:
    """The node of a path; None where it has none."""
    return _minted("file", canonical_path(path))


def _minter(kind: str) -> Callable[[str], str | None]:
    def mint(value: str) -> str | None:
        return _minted(kind, value)

    mint.__doc__ = f"The node of a {kind}; None when its id would be too long."
    return mint


episode_node = _minter("episode")
failure_node = _minter("failure")
rule_node = _minter("rule")
fact_node = _minter("fact")
run_node = _minter("run")


def kind_of(node: str) -> str:
    """The kind of a node."""
    return node.partition(":")[0]


def value_of(node: str) -> str:
    """The bare id in a node."""
    return node.partition(":")[2]


def asked_node(text: str) -> str | None:
    """What a person names: a node id, or else a path."""
    if kind_of(text) in KINDS and value_of(text):
        return text
    return file_node(text)
