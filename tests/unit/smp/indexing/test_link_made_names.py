"""Texts that name methods, classes that calls make, fields of classes below: after edits the edges are those of a link of everything."""

from __future__ import annotations

import random

import pytest

from smp.domain.ids import FilePath
from smp.indexing.link import Linker, link
from tests.builders.linked_project import Reader, shown

PROJECT = {
    "base.py": (
        "class Base:\n    KINDS: dict\n    writer = None\n    def _method(self, name: str):\n        return getattr(self, name)\n"
        "    def render(self, token):\n        return self._method(token['kind'])(token)\n"
        "    def write(self, name, done):\n        self.KINDS[name](self.writer(), done)\n        self.close(done)\n"
        "    def close(self, done):\n        pass\n"
    ),
    "below.py": (
        "from base import Base\nfrom tools import dump, Json\nclass Below(Base):\n    KINDS = {'dump': dump}\n    writer = Json\n"
        "    def title(self, token):\n        pass\n    def only(self, token):\n        pass\n"
        "    def close(self, done):\n        done()\n"
    ),
    "tools.py": (
        "def dump(json, done):\n    json.text()\nclass Json:\n    def text(self):\n        pass\n"
        "class Lazy:\n    def __new__(cls):\n        return Held(cls)\nclass Held:\n    def __init__(self, wanted):\n"
        "        self.wanted = wanted\n    def make(self):\n        return self.wanted()\n"
    ),
    "tokens.py": "FIRST = {'kind': 'title'}\nFIRST['kind'] = 'only'\n",
    "use.py": (
        "from base import Base\nfrom below import Below\nfrom tools import Json, Lazy\ndef finished():\n    pass\n"
        "def make(**members):\n    return type('Made', (Below,), members)\n"
        "made = make(json=Json())\nmade().json.text()\nmade().title({})\nLazy().make()\nBelow().write('a', finished)\n"
        "def run(base: Base):\n    base.write('a', finished)\n"
    ),
}
VARIANTS = (
    ("'title'", "'only'"),
    ("'kind'", "'sort'"),
    ("'only'", "'other'"),
    ("Json", "Held"),
    ("(Base)", ""),
    ("Below,", "Base,"),
)


def edited(texts: dict[str, str], chooser: random.Random) -> dict[str, str]:
    after = dict(texts)
    path = chooser.choice(sorted(PROJECT))
    what = chooser.randrange(4)
    if path not in after or what == 0:
        after[path] = PROJECT[path]
    elif what == 1:
        del after[path]
    else:
        old, new = chooser.choice(VARIANTS)
        after[path] = after[path].replace(old, new)
    return after


@pytest.mark.parametrize("seed", range(4))
def test_after_any_edit_the_edges_are_those_of_a_link_of_everything(seed: int) -> None:
    chooser, reader, texts = random.Random(seed), Reader(), dict(PROJECT)
    result = Linker()(reader.analysed(texts), configs={})
    held = dict(result.edges)
    linker = Linker()
    for step in range(25):
        after = edited(texts, chooser)
        files = reader.analysed(after)
        touched = frozenset(FilePath(p) for p in texts.keys() | after.keys() if texts.get(p) != after.get(p))
        linker = Linker() if step % 3 == 0 else linker  # one that remembers nothing begins with what was kept
        result = linker(files, configs={}, changed=touched, state=result.state, digests=result.digests)
        held = {path: found for path, found in held.items() if path in after} | dict(result.edges)
        assert shown(held) == shown(link(files, configs={}).edges)
        texts = after


def test_a_text_in_another_file_names_a_method_that_is_called() -> None:
    reader, linker = Reader(), Linker()
    before = {**PROJECT, "tokens.py": "FIRST = {}\n"}
    first = linker(reader.analysed(before), configs={})
    called = {edge.target for edge in first.edges[FilePath("base.py")]}
    assert "function:below.py#Below.title" not in called
    again = Linker()(
        reader.analysed(PROJECT),
        configs={},
        changed=frozenset({FilePath("tokens.py")}),
        state=first.state,
        digests=first.digests,
    )
    called = {edge.target for edge in again.edges[FilePath("base.py")]}
    assert {"function:below.py#Below.title", "function:below.py#Below.only"} <= called
