"""A linker that remembers gives, after any edit, byte for byte what a link of everything gives."""

from __future__ import annotations

import random

import pytest

from smp.domain.ids import FilePath
from smp.indexing.link import Linker, link
from tests.builders.linked_project import PROJECT, Reader, configured, edit_project, shown

RUNS = [
    *((seed, ("pkg/", "app", "tests/", "web/")) for seed in range(8)),
    *((seed, ("shop/",)) for seed in range(100, 105)),
]
RUNS += [(seed, ("kit/",)) for seed in range(200, 205)]


@pytest.mark.parametrize(("seed", "parts"), RUNS)
def test_after_any_edit_the_edges_are_those_of_a_link_of_everything(seed: int, parts: tuple[str, ...]) -> None:
    chooser = random.Random(seed)
    project = {path: text for path, text in PROJECT.items() if path.startswith((*parts, "pyproject"))}
    reader, linker, texts = Reader(), Linker(), dict(project)
    result = linker(reader.analysed(texts), configs=configured(texts))
    held = dict(result.edges)
    for _ in range(20):
        after = edit_project(texts, chooser, project)
        files, configs = reader.analysed(after), configured(after)
        touched = frozenset(FilePath(p) for p in texts.keys() | after.keys() if texts.get(p) != after.get(p))
        result = linker(files, configs=configs, changed=touched, state=result.state, digests=result.digests)
        held = {path: found for path, found in held.items() if path in after} | dict(result.edges)
        assert shown(held) == shown(link(files, configs=configs).edges)
        texts = after


@pytest.mark.parametrize(
    "edit",
    [
        "\n" + PROJECT["pkg/tools.py"],
        PROJECT["pkg/tools.py"].replace("    return Tool", "    print()\n    return Tool"),
    ],
)
def test_an_edit_that_nobody_else_sees_links_nothing_anew(edit: str) -> None:
    reader, linker = Reader(), Linker()
    first = linker(reader.analysed(PROJECT), configs=configured(PROJECT))
    assert linker.linked_anew == 4
    after = {**PROJECT, "pkg/tools.py": edit}
    again = linker(
        reader.analysed(after),
        configs=configured(after),
        changed=frozenset({FilePath("pkg/tools.py")}),
        state=first.state,
        digests=first.digests,
    )
    assert linker.linked_anew == 0
    assert set(again.edges) == {"pkg/tools.py"}


def test_classes_that_go_while_one_was_asked_for_what_overrides_it_leave_nothing_behind() -> None:
    reader, linker = Reader(), Linker()
    before = {
        "a.py": "class Base:\n    def go(self):\n        self.step()\nclass Lower(Base):\n    def step(self): ...\n"
    }
    state = linker(reader.analysed(before), configs={}).state
    emptied = reader.analysed({"a.py": "\n"})
    again = linker(emptied, configs={}, changed=frozenset({FilePath("a.py")}), state=state)
    assert shown(again.edges) == shown(link(emptied, configs={}).edges)


def test_unnamed_functions_of_functions_of_one_name_stay_apart() -> None:
    text = "def f(g):\n    g(lambda: 1)\n    g(lambda: 2)\n\ndef f(g):\n    g(lambda a, b: a.x(b))\n"
    reader, linker = Reader(), Linker()
    before, after = {"m.py": text}, {"m.py": "\n" + text}
    first = linker(reader.analysed(before), configs={})
    again = linker(
        reader.analysed(after),
        configs={},
        changed=frozenset({FilePath("m.py")}),
        state=first.state,
        digests=first.digests,
    )
    assert shown(dict(again.edges)) == shown(dict(link(reader.analysed(after), configs={}).edges))


_KINDS = (
    "from typing import overload\nclass A:\n    def go(self): ...\nclass B:\n    def go(self): ...\nclass C(A): ...\n"
    "{overloads}def make(value) -> A | B:\n    return A() if value == 1 else B()\n"
)
_INT, _STR = "@overload\ndef make(value: int) -> A: ...\n", "@overload\ndef make(value: str) -> B: ...\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", _INT + _STR),
        (_INT + _STR, ""),
        (_INT + _STR, _STR + _INT.replace("int", "float")),
        (_INT + _STR, _INT.replace("-> A", "-> B") + _STR),
        (_INT + _STR, _INT + _STR + _STR.replace("str", "bytes")),
    ],
)
def test_callers_elsewhere_follow_the_overloads_of_what_they_call(before: str, after: str) -> None:
    caller = (
        "from kinds import make\ndef use(held):\n    make(1).go()\n    make('a').go()\n    make(held).go()\nuse(2)\n"
    )
    reader, linker = Reader(), Linker()
    old = {"kinds.py": _KINDS.format(overloads=before), "caller.py": caller}
    new = {**old, "kinds.py": _KINDS.format(overloads=after)}
    first = linker(reader.analysed(old), configs={})
    again = linker(
        reader.analysed(new),
        configs={},
        changed=frozenset({FilePath("kinds.py")}),
        state=first.state,
        digests=first.digests,
    )
    expected = shown(link(reader.analysed(new), configs={}).edges)
    assert shown(dict(first.edges) | dict(again.edges)) == expected
    assert shown(first.edges) != expected


_SUITE = "from shared import Shared\nclass Suite(Shared):\n    def run(self):\n        class Local(self.Model): ...\n        Local().go()\n"
_MODEL = "class {name}:\n    class Model:\n        def go(self): ...\n"


@pytest.mark.parametrize(("before", "after"), [("Other", "Shared"), ("Shared", "Other")])
def test_a_base_read_from_the_receiver_follows_the_class_behind_it_elsewhere(before: str, after: str) -> None:
    reader, linker = Reader(), Linker()
    texts = {
        name: _MODEL.format(name=name) + ("class Shared: ...\n" if name == "Other" else "") for name in (before, after)
    }
    old = {"shared.py": texts[before], "suite.py": _SUITE}
    new = {"shared.py": texts[after], "suite.py": _SUITE}
    first = linker(reader.analysed(old), configs={})
    again = linker(
        reader.analysed(new),
        configs={},
        changed=frozenset({FilePath("shared.py")}),
        state=first.state,
        digests=first.digests,
    )
    expected = shown(link(reader.analysed(new), configs={}).edges)
    assert shown(dict(first.edges) | dict(again.edges)) == expected
    assert shown(first.edges) != expected
