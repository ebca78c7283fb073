"""`Accept: text/markdown`: a located answer as a document that an agent reads as it is (specification, smp/locate)."""

from __future__ import annotations

import re
from collections import defaultdict

from smp.rpc.methods.query.locate import LocateResult, RankedResult, StructuralLinkResult

_BREAKS = re.compile(r"\s+")


def render(result: object) -> str | None:
    """The Markdown of a result; None for results that have no such form."""
    return _located(result) if isinstance(result, LocateResult) else None


def _located(result: LocateResult) -> str:
    names = {node.node_id: node.name for node in result.results}
    parts = [
        f'## Results for: "{_one_line(result.query)}"',
        f"_{result.seed_count} seeds · {result.total_walked} nodes walked · top {len(result.results)} shown_",
    ]
    for place, node in enumerate(result.results, start=1):
        parts += ["---", _entry(place, node, names)]
    if result.structural_map:
        parts += ["---", "## Structural Map", _fenced(_tree(result, names))]
    return "\n\n".join(parts) + "\n"


def _entry(place: int, node: RankedResult, names: dict[str, str]) -> str:
    mark = " ★ seed" if node.is_seed else ""
    lines = [f"### {place}. {_code(node.name)} · {node.node_type.value} · score {node.final_score:.4f}{mark}"]
    if node.file is not None:
        where = f":{node.start_line}" if node.start_line else ""
        lines.append(f"**File:** {_code(node.file + where)}")
    if node.signature:
        lines.append(f"**Signature:** {_code(node.signature)}")
    if node.docstring:
        lines.append(f"**Docstring:** {_one_line(node.docstring)}")
    if node.tags:
        lines.append("**Tags:** " + " ".join(map(_code, node.tags)))
    others = [seed for seed in node.reachable_from if seed != node.node_id]
    if others:
        lines.append("**Reachable from:** " + " ".join(_code(names.get(seed, seed)) for seed in others))
    table = (
        "| vector | pagerank | heat |\n"
        "|--------|----------|------|\n"
        f"| {node.vector_score:.2f} | {node.pagerank:.3g} | {node.heat_score} |"
    )
    return "  \n".join(lines) + "\n\n" + table


def _tree(result: LocateResult, names: dict[str, str]) -> list[str]:
    """Every edge once, under the best ranked node that leads to it; a node is expanded where it is met first."""
    children: defaultdict[str, list[StructuralLinkResult]] = defaultdict(list)
    order = {node.node_id: place for place, node in enumerate(result.results)}
    for link in sorted(result.structural_map, key=lambda link: (order[link.target], link.edge_type.value)):
        children[link.source].append(link)
    entered = {link.target for link in result.structural_map}
    lines: list[str] = []
    expanded: set[str] = set()
    roots = sorted(children, key=lambda node: (node in entered, order[node]))
    for root in roots:
        if root not in expanded:
            lines.append(names[root])
            _grow(root, "", children, names, expanded, lines)
    return lines


def _grow(
    node: str,
    indent: str,
    children: dict[str, list[StructuralLinkResult]],
    names: dict[str, str],
    expanded: set[str],
    lines: list[str],
) -> None:
    expanded.add(node)
    links = children.get(node, [])
    for link in links:
        last = link is links[-1]
        lines.append(f"{indent}{'└' if last else '├'}─[{link.edge_type.value}]──▶ {names[link.target]}")
        if link.target not in expanded:
            _grow(link.target, indent + ("   " if last else "│  "), children, names, expanded, lines)


def _fenced(lines: list[str]) -> str:
    return "```\n" + "\n".join(line.replace("```", "'''") for line in lines) + "\n```"


def _code(text: str) -> str:
    """A code span that holds whatever backticks its text has."""
    flat = _one_line(text)
    if "`" not in flat:
        return f"`{flat}`"
    longest = max(len(run) for run in re.findall(r"`+", flat))
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}"


def _one_line(text: str) -> str:
    return _BREAKS.sub(" ", text).strip()
