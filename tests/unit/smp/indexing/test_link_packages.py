"""Packages that span files, and methods written outside their class: what links, and that increments are exact."""

from __future__ import annotations

import random

import msgspec
import pytest

from smp.domain.graph import Edge, EdgeKind
from smp.domain.ids import FilePath
from smp.domain.source import FileSummary
from smp.indexing.linking.revision import Revision, TooWide
from tests.builders.package_language import PackageLanguage, toy_summary

PROJECT = {
    "a/one.toy": "import b\ntype T b.Base\nfunc start helper T#run T#base T#far b.make I?run\nfunc twice helper",
    "a/two.toy": "func helper print T#run\nmethod T run helper T#stop\ninterface I run stop\nimpl T I",
    "a/three.toy": "import b\nmethod T stop b.make missing\nimpl Lost I",
    "a/linux.toy": "func open print",
    "a/windows.toy": "func open helper",
    "b/base.toy": "type Base\nfunc make Base#base\nfunc open make",
    "b/more.toy": "method Base base make\nmethod Base far open",
    "c/main.toy": "import a\nimport b\nfunc main a.start a.open a.T#run a.I?run a.nothing open",
}
LINES = (
    "func helper", "func missing helper", "method T run open", "method Base stop make", "type T", "type Lost b.Base", "impl Base I",
    "method Lost run helper", "interface I far", "func main T#far T#stop I?stop I?far", "func make T#run", "import b", "func nothing",
)  # fmt: skip


def summaries(texts: dict[str, str]) -> dict[FilePath, FileSummary]:
    return {FilePath(path): toy_summary(FilePath(path), text) for path, text in texts.items()}


def linked(texts: dict[str, str]) -> dict[str, tuple[Edge, ...]]:
    made = Revision(PackageLanguage(), summaries(texts), {}, frozenset())
    return {path: made.edges(FilePath(path)) for path in texts}


def calls(edges: tuple[Edge, ...], source: str) -> set[str]:
    return {
        str(e.target).partition(":")[2] for e in edges if e.kind is EdgeKind.CALLS_STATIC and e.source.endswith(source)
    }


def test_a_name_of_the_package_is_found_in_any_of_its_files() -> None:
    edges = linked(PROJECT)
    assert "a/two.toy#helper" in calls(edges["a/one.toy"], "#start")
    assert {e.resolution for e in edges["a/one.toy"] if e.target == "function:a/two.toy#helper"} == {"lexical"}


def test_a_name_that_several_files_of_a_package_define_means_each_of_them() -> None:
    found = calls(linked(PROJECT)["c/main.toy"], "#main")
    assert {"a/linux.toy#open", "a/windows.toy#open"} <= found
    assert "b/base.toy#open" not in found


def test_a_name_that_nobody_in_the_package_defines_is_unresolved() -> None:
    edges = linked(PROJECT)
    unresolved = {e.to_name: e.reason for e in edges["c/main.toy"] if e.kind is EdgeKind.CALLS_UNRESOLVED}
    assert unresolved == {"a.nothing": "not_in_imports", "open": "ambiguous"}


def test_methods_written_elsewhere_belong_to_the_class_and_are_inherited() -> None:
    found = calls(linked(PROJECT)["a/one.toy"], "#start")
    assert {"a/two.toy#T.run", "b/more.toy#Base.base", "b/more.toy#Base.far"} <= found


def test_a_promise_is_an_edge_of_the_class_and_makes_its_methods_candidates() -> None:
    edges = linked(PROJECT)
    promises = [e for e in edges["a/one.toy"] if e.kind is EdgeKind.IMPLEMENTS]
    assert [(e.source, e.target, e.line, e.import_source) for e in promises] == [
        ("class:a/one.toy#T", "interface:a/two.toy#I", 4, "a/two.toy")
    ]
    through = next(
        e for e in edges["a/one.toy"] if e.kind is EdgeKind.CALLS_STATIC and e.target == "function:a/two.toy#I.run"
    )
    assert "function:a/two.toy#T.run" in through.candidates


def test_an_import_of_a_package_leads_to_the_files_whose_names_are_used() -> None:
    imports = {str(e.target) for e in linked(PROJECT)["c/main.toy"] if e.kind is EdgeKind.IMPORTS}
    assert imports == {
        "file:a/one.toy", "file:a/two.toy", "file:a/linux.toy", "file:a/windows.toy", "file:b/base.toy", "file:b/more.toy",
    }  # fmt: skip


def _edit(texts: dict[str, str], chooser: random.Random) -> dict[str, str]:
    changed = dict(texts)
    path = chooser.choice(sorted(changed))
    lines = changed[path].splitlines()
    match chooser.randrange(7):
        case 0:
            lines.insert(chooser.randrange(len(lines) + 1), "")
        case 1 | 2:
            lines.insert(chooser.randrange(len(lines) + 1), chooser.choice(LINES))
        case 3 if lines:
            del lines[chooser.randrange(len(lines))]
        case 4 if len(changed) > 3:
            del changed[path]
            return changed
        case 5:
            changed[path.replace("/", "/x", 1)] = changed.pop(path)
            return changed
        case _:
            back = chooser.choice(sorted(PROJECT))
            changed[back] = PROJECT[back]
            return changed
    changed[path] = "\n".join(lines)
    return changed


@pytest.mark.parametrize("seed", range(12))
def test_after_any_edit_the_edges_are_those_of_a_link_of_everything(seed: int) -> None:
    chooser = random.Random(seed)
    texts = dict(PROJECT)
    held = Revision(PackageLanguage(), summaries(texts), {}, frozenset())
    for _ in range(25):
        texts = _edit(texts, chooser)
        files = summaries(texts)
        try:
            held.advance(files, {}, frozenset())
        except TooWide:
            held = Revision(PackageLanguage(), files, {}, frozenset())
        expected = linked(texts)
        for path in texts:
            assert msgspec.json.encode(held.edges(FilePath(path))) == msgspec.json.encode(expected[path]), path


def test_a_method_added_in_another_file_reaches_who_looked_for_it_in_vain() -> None:
    held = Revision(PackageLanguage(), summaries(PROJECT), {}, frozenset())
    without = {**PROJECT, "b/more.toy": PROJECT["b/more.toy"].replace("method Base far", "func far")}
    held.advance(summaries(without), {}, frozenset())
    assert "b/more.toy#Base.far" not in calls(held.edges(FilePath("a/one.toy")), "#start")
    held.advance(summaries(PROJECT), {}, frozenset())
    assert "b/more.toy#Base.far" in calls(held.edges(FilePath("a/one.toy")), "#start")
