"""`Accept: text/markdown`: answers that an agent reads as they are: what was located (specification, smp/locate), the context
of a file, the impact of a change."""

from __future__ import annotations

import re
from collections import defaultdict

from msgspec import UnsetType

from smp.rpc.methods.query.change import ContextResult, ImpactResult
from smp.rpc.methods.query.locate import LocateResult, RankedResult, StructuralLinkResult

_BREAKS = re.compile(r"\s+")


def render(result: object) -> str | None:
    """The Markdown of a result; None for results that have no such form."""
    if isinstance(result, LocateResult):
        return _located(result)
    if isinstance(result, ContextResult):
        return _context(result)
    return _impact(result) if isinstance(result, ImpactResult) else None


def _context(result: ContextResult) -> str:
    told = result.summary
    parts = [
        f"## Context of {_code(result.file.path)}",
        f"_{told.role} · risk {told.risk_level} · imported by {told.blast_radius} files · heat {told.heat_score} · "
        f"complexity up to {told.max_complexity}_",
    ]
    lines = [f"{_code(one.signature or one.name)} · line {one.start_line}" for one in result.defines.functions]
    lines += [
        f"class {_code(one.name)} · {one.method_count} methods · line {one.start_line}"
        for one in result.defines.classes
    ]
    sections = (
        ("Defines", lines),
        ("Imports", [f"{_code(one.file)}: {', '.join(map(_code, one.items))}" for one in result.imports]),
        ("Imported by", [_code(one.file) for one in result.imported_by]),
        ("Tests", [_code(file) for file in told.test_files] or ["none reach it"]),
        ("Entry points", [_code(node) for node in result.entry_points]),
        (
            "Similar files",
            [f"{_code(one.file)} · {one.shared_imports} imports shared" for one in result.structurally_similar],
        ),
    )
    parts += [f"**{title}**\n\n" + _bullets(entries) for title, entries in sections if entries]
    return "\n\n".join((*parts, *_omissions(result.omitted))) + "\n"


def _impact(result: ImpactResult) -> str:
    parts = [
        f"## Impact: {result.severity}",
        f"_{len(result.affected_files)} files · {len(result.affected_functions)} direct dependents · "
        f"{result.transitive_functions} further away_",
    ]
    updates = [
        f"{_code(one.file)} · {_code(one.function) if one.function else 'module level'} · {one.reason}"
        for one in result.required_updates
    ]
    dependents = [f"{_code(one.id)} · {one.relationship}" for one in result.affected_functions]
    for title, entries in (("Places to edit", updates), ("Dependents", dependents)):
        if entries:
            parts.append(f"**{title}**\n\n" + _bullets(entries))
    return "\n\n".join((*parts, *_omissions(result.omitted))) + "\n"


def _bullets(entries: list[str]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)


def _omissions(omitted: dict[str, int] | UnsetType) -> list[str]:
    """What a budget has cut, so that nobody takes a part for the whole."""
    if isinstance(omitted, UnsetType):
        return []
    return ["_Left out: " + ", ".join(f"{count} of {name}" for name, count in sorted(omitted.items())) + "_"]


def _located(result: LocateResult) -> str:
    names = {node.node_id: node.name for node in result.results}
    parts = [
        f'## Results for: "{_one_line(result.query)}"',
        f"_{result.seed_count} seeds · {result.total_walked} nodes walked · top {len(result.results)} shown_",
    ]
    for place, node in enumerate(result.results, start=1):
        parts += ["---", _entry(place, node, names)]
    if result.truncated and not isinstance(result.next_cursor, UnsetType):
        parts.append(f"_More follow: cursor {_code(result.next_cursor)}_")
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
