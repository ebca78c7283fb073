"""How well `smp/locate` finds: fusion against its parts, the specification's formula and a keyword count.

    python tests/benchmarks/bench_finding.py [--tuning] [--composite] [--only PACKAGE ...] [--json FILE]

Questions are made from the public history of the packages in `finding/packages.py`, by the rules in `finding/questions.py`.
Each package is read from a bare clone below the user's cache folder; one that is not there is named and left out. Indexes
stay in that folder too, so that a second run only asks. Without `--tuning` only the held-out packages are asked about.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from smp.bootstrap import build_platform
from smp.domain.graph import NodeKind, Scope
from smp.query.locate import DEFAULT_KINDS
from smp.services import Services
from smp.settings import load_settings
from tests.benchmarks.finding.contenders import contenders, test_files
from tests.benchmarks.finding.functions import without_docstrings
from tests.benchmarks.finding.history import check_out
from tests.benchmarks.finding.metrics import Score, mean, p_value, score_of
from tests.benchmarks.finding.packages import PACKAGES, Package
from tests.benchmarks.finding.questions import Question, QuestionSet, question_set

KINDS = ("history", "docstring")
LEADER = "fusion"
Results = dict[str, dict[str, list[Score]]]
"""Kind of question → contender → score of each question, in one order for all contenders."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--tuning", action="store_true", help="the packages to tune on instead of the held-out ones")
    options.add_argument("--only", nargs="*", default=[], help="names of packages")
    options.add_argument(
        "--composite", action="store_true", help="the specification's formula too; it walks far and is slow"
    )
    options.add_argument("--json", type=Path, help="write the figures here as well")
    chosen = options.parse_args()
    wanted = [p for p in PACKAGES if p.held_out is not chosen.tuning and (not chosen.only or p.name in chosen.only)]
    missing = [package for package in wanted if not package.history.is_dir()]
    for package in missing:
        print(f"left out: no bare clone of {package.repository} at {package.history}")
    results: Results = {kind: defaultdict(list) for kind in KINDS}
    for package in wanted:
        if package not in missing:
            ask(package, results, composite=chosen.composite)
    if len(missing) == len(wanted):
        print("nothing to ask about; git clone --bare the repositories named above")
        return
    report(results)
    if chosen.json:
        chosen.json.write_text(json.dumps(summary(results), indent=1) + "\n", "utf-8")


def ask(package: Package, results: Results, *, composite: bool) -> None:
    """Put every question about a package to every contender."""
    asked = questions_of(package)
    for kind in KINDS:
        services = indexed(package, asked.snapshot, kind)
        questions: tuple[Question, ...] = getattr(asked, kind)
        for contender in contenders(services):
            if contender.name == "composite" and not composite:
                continue
            results[kind][contender.name] += [score_of(contender.find(one.text), one.answers) for one in questions]
        print(f"{package.name}: {len(questions)} questions, {kind}", flush=True)


def questions_of(package: Package) -> QuestionSet:
    """The questions, made once."""
    kept = folder() / f"{package.name}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(msgspec.json.encode(question_set(package)))
    return msgspec.json.decode(kept.read_bytes(), type=QuestionSet)


def indexed(package: Package, snapshot: str, kind: str) -> Services:
    """The platform over a checked-out snapshot, every definition and file outside the tests embedded."""
    repo = folder() / f"{package.name}-{kind}"
    if not repo.exists():
        fresh = repo.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        check_out(package.history, snapshot, fresh, without_docstrings if kind == "docstring" else None)
        fresh.rename(repo)
    services = build_platform(load_settings(repo, environ={}))
    services.indexer.refresh()
    tests = test_files(services)
    wanted = services.graph.scan(Scope(), (*DEFAULT_KINDS, NodeKind.FILE))
    services.indexer.embed_nodes(node for node in wanted if node.file not in tests)
    return services


def folder() -> Path:
    """Where questions and indexes are kept."""
    return user_cache_path("smp") / "bench" / "finding"


def summary(results: Results) -> dict[str, dict[str, dict[str, float]]]:
    """Metrics by kind and contender, with p against the leader."""
    told: dict[str, dict[str, dict[str, float]]] = {}
    for kind, by_contender in results.items():
        lead = reciprocals(by_contender[LEADER])
        told[kind] = {
            name: msgspec.to_builtins(mean(scores))
            | {"questions": len(scores), "p": 1.0 if name == LEADER else p_value(lead, reciprocals(scores))}
            for name, scores in by_contender.items()
        }
    return told


def reciprocals(scores: Sequence[Score]) -> list[float]:
    """The metric that contenders are compared by."""
    return [score.reciprocal for score in scores]


def report(results: Results) -> None:
    """The tables."""
    for kind, figures in summary(results).items():
        print(f"\n{kind}: {next(iter(figures.values()))['questions']:.0f} questions")
        print(
            "| ranking | MRR | hit@1 | hit@5 | hit@10 | nDCG@10 | p (MRR, against fusion) |\n|---|---|---|---|---|---|---|"
        )
        for name, one in figures.items():
            cells = (one["reciprocal"], one["at_1"], one["at_5"], one["at_10"], one["ndcg_10"])
            against = "" if name == LEADER else f"{one['p']:.4f}"
            print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + f" | {against} |")


if __name__ == "__main__":
    main()
