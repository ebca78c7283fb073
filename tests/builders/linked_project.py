"""A small project of several languages, random edits of it, and its analyses."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import msgspec

from smp.domain.graph import Edge
from smp.domain.ids import FilePath
from smp.domain.source import FileAnalysis
from smp.indexing.analyse import analyse, wants_config

PROJECT: dict[str, str] = {
    "pkg/__init__.py": "from .core import *\nfrom .models import Order as Purchase\nfrom . import tools\n",
    "pkg/core.py": (
        "from .base import Base, Mixin\nfrom .deco import traced, registered\nfrom functools import partial\n"
        "import pkg.tools as tools\n\n__all__ = ['Engine', 'run', 'build']\n\n"
        "class Engine(Mixin, Base):\n    limit = tools.LIMIT\n    def __init__(self, part, *rest, **named):\n"
        "        super().__init__(part)\n        self.part = part\n        self.rest = rest\n        self.done = []\n"
        "    @property\n    def state(self):\n        return self.part\n    @traced\n    def go(self, callback):\n"
        "        self.done.append(callback)\n        for each in self.done:\n            each()\n        return callback(self.part)\n\n"
        "def build(part=None):\n    return Engine(part or tools.default(), tools.helper, key=tools.other)\n\n"
        "@registered\ndef run(x):\n    engine = build()\n    engine.go(lambda p: p.hook())\n    engine.state.hook()\n"
        "    later = partial(tools.helper, engine)\n    later()\n    return engine\n"
    ),
    "pkg/base.py": (
        "class Base:\n    def __init__(self, part):\n        self.part = part\n        self.setup()\n"
        "    def setup(self):\n        pass\n    def hook(self):\n        self.setup()\n    def __enter__(self):\n        return self\n"
        "    def __exit__(self, *a):\n        pass\n\nclass Mixin:\n    def setup(self):\n        self.hook()\n"
    ),
    "pkg/deco.py": (
        "import functools\nREGISTRY = {}\ndef traced(f):\n    @functools.wraps(f)\n    def wrapper(*a, **k):\n"
        "        return f(*a, **k)\n    return wrapper\n\ndef registered(f):\n    REGISTRY[f.__name__] = f\n    return f\n"
        "def call(name, *a):\n    return REGISTRY[name](*a)\n"
    ),
    "pkg/tools.py": (
        "from __future__ import annotations\nfrom .base import Base\nLIMIT = 3\nclass Tool(Base):\n    def hook(self):\n"
        "        return helper(self)\ndef default() -> Base:\n    return Tool(None)\ndef helper(x=None):\n    return other\n"
        "def other(*a):\n    def inner(b: Base = None):\n        return b.hook()\n    return inner\n"
    ),
    "pkg/models.py": (
        "from pkg import tools, core\nimport pkg.deco\nclass Order(core.Engine):\n    kind = tools.Tool(1)\n"
        "    def hook(self):\n        self.kind.hook()\n        pkg.deco.call('run', self)\n    def total(self):\n"
        "        return [line.hook() for line in self.rest]\n\ntools.patched = Order\n"
    ),
    "pkg/loop_a.py": "from .loop_b import *\nfrom .tools import helper as aid\ndef a():\n    b()\n    aid()()\n",
    "pkg/loop_b.py": "from .loop_a import *\ndef b():\n    a()\n    missing()\n",
    "app.py": (
        "import pkg\nfrom pkg import run, Purchase, tools\ndef main():\n    order = Purchase(tools.default(), 1)\n"
        "    with order as o:\n        o.hook()\n        o.total()\n    tools.patched(2).setup()\n    run(order).go(order.hook)\n"
        "    unknown.hook(1)\n    print(len([order]))\n    return pkg.build\nmain()().go(print)\n"
    ),
    "tests/conftest.py": (
        "import pytest\nfrom pkg import Purchase\n@pytest.fixture\ndef order():\n    made = Purchase(None)\n    made.setup()\n    return made\n"
    ),
    "tests/test_app.py": (
        "import unittest\nfrom app import main\ndef test_total(order):\n    order.total()\nclass AppTest(unittest.TestCase):\n"
        "    def setUp(self):\n        self.made = main()\n    def test_main(self):\n        self.made(1).go(main)\n"
    ),
    "web/kit.ts": "export interface Part { hook(): void }\nexport class Kit implements Part { hook() { help(() => this.hook()); } }\n"
    "export function help(f: () => void) { f(); return { deep: { call: f } }; }\nexport const table = { open: help, get size() { return help; } };\n",
    "web/index.ts": "export * from './kit';\nexport { help as aid } from './kit';\n",
    "web/main.ts": "import { Kit, aid, table } from './index';\nimport * as kit from './kit';\nfunction start(k: kit.Part) { k.hook(); }\n"
    "start(new Kit());\nconst extra = { ...table, more: aid };\nextra.open(() => start(new kit.Kit())).deep.call();\nextra.size; extra.more(start);\n",
    "web/package.json": '{"name": "web", "type": "module"}\n',
    "shop/go.mod": "module example.org/shop\n",
    "shop/store/store.go": "package store\n\ntype Saver interface{ Save(n int) error }\ntype Base struct{ next *Store }\n"
    "type Store struct { Base; saver Saver }\nfunc New() *Store { return &Store{} }\nfunc helper(s Saver) { s.Save(1) }\n",
    "shop/store/methods.go": "package store\n\nfunc (s *Store) Save(n int) error { helper(s); s.hook(); return nil }\n"
    "func (b *Base) hook() { b.next.Save(2); missing() }\nvar _ Saver = (*Store)(nil)\n",
    "shop/store/more.go": 'package store\n\nimport "fmt"\n\nfunc other() { fmt.Println(New()) }\nvar table = map[string]func(){"a": other}\n',
    "shop/main.go": 'package main\n\nimport "example.org/shop/store"\n\nfunc main() {\n\ts := store.New()\n\ts.Save(1)\n\tvar x store.Saver = s\n'
    "\tx.Save(2)\n\tstore.Other()\n\thelper()\n}\n",
    "shop/store/store_test.go": 'package store\n\nimport "testing"\n\nfunc TestSave(t *testing.T) { New().Save(1); t.Run("x", check) }\n'
    "func check(t *testing.T) { other() }\n",
    "kit/Cargo.toml": '[package]\nname = "kit"\n',
    "kit/src/lib.rs": "mod store;\nmod base;\npub use store::{Store, helper as aid};\npub use base::*;\nfn run() { let s = Store::new(); s.save(); aid(&s); hook(); inner::deep(); }\n"
    "pub mod inner { use super::*; pub fn deep() { run(); super::store::Store::new().hook(); } }\n",
    "kit/src/store.rs": "use crate::base::{Saver, Base};\npub struct Store { base: Base, next: Option<Box<Store>> }\nimpl Store { pub fn new() -> Self { todo!() }\n"
    "pub fn hook(&self) { self.next.as_ref().unwrap().save(); self.base.go(); } }\npub fn helper(s: &dyn Saver) { s.save(); }\n",
    "kit/src/base.rs": "use crate::store::Store;\npub trait Saver { fn save(&self); fn twice(&self) { self.save(); } }\npub struct Base;\nimpl Base { pub fn go(&self) {} }\n"
    "impl Saver for Store { fn save(&self) { self.hook(); helper(self); self.twice(); } }\npub fn hook() { crate::inner::deep(); }\n",
    "kit/src/main.rs": 'use kit::{Store, hook, inner};\nfn main() { hook(); inner::deep(); kit::Store::new().twice(); println!("{}", Store::new().go()); }\n',
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
}
NAMES = (
    "store",
    "Store",
    "Save",
    "New",
    "helper",
    "hook",
    "setup",
    "go",
    "run",
    "other",
    "Base",
    "Tool",
    "help",
    "Kit",
    "part",
    "traced",
    "inner",
)
SNIPPETS = (
    "\nimpl Saver for Base { fn save(&self) { self.go(); } }\n",
    "\nmod extra; pub use extra::*;\n",
    "\nimpl Store { fn go(&self) { self.save(); Self::new(); helper(self); } }\n",
    "\nfrom pkg.base import Base\nclass Extra(Base):\n    def hook(self):\n        self.setup()\n",
    "\ndef added(x: 'Base' = None, *more):\n    x.hook()\n    more[0]()\n    return lambda: x\n",
    "\nfrom pkg.tools import *\nhelper()\nother()()\n",
    "\nimport pkg.core\npkg.core.build(max).go(min)\n",
    "\ndef len(x):\n    return x.hook()\nlen(Base(1))\n",
    "\n__all__ = ['run', 'helper']\n",
    "\ndef damaged(:\n    helper(\n",
    "\ndef __getattr__(name):\n    return name\n",
    "\nimport pkg.tools\npkg.tools.helper = pkg.tools.other\n",
    "\nfunc (s *Store) hook() { s.Save(3) }\n",
    '\nfunc missing() { other(); table["a"]() }\n',
    "\ntype Extra struct{ Store }\nfunc (e Extra) Save(n int) error { return e.Store.Save(n) }\n",
    "\nfunc Other() (*Store, error) { return New(), nil }\n",
    "\ndef setup(self):\n    self.extra = setup\n    self.extra.hook()\n    self.part.state()\n",
)


def edit_project(texts: dict[str, str], chooser: random.Random, project: dict[str, str]) -> dict[str, str]:
    """One random edit of a project."""
    changed = dict(texts)
    sources = sorted(path for path in changed if path.endswith((".py", ".ts", ".go", ".rs")))
    path = chooser.choice(sources)
    lines = changed[path].splitlines(keepends=True)
    edits: tuple[Callable[[], None], ...] = (
        lambda: changed.update({path: "\n" + changed[path]}),
        lambda: changed.update({path: changed[path] + chooser.choice(SNIPPETS)}),
        lambda: changed.update({path: changed[path].replace(chooser.choice(NAMES), chooser.choice(NAMES))}),
        lambda: changed.update({path: changed[path].replace(chooser.choice(NAMES), chooser.choice(NAMES), 1)}),
        lambda: changed.update({path: "".join(line for at, line in enumerate(lines) if at != cut)}),
        lambda: changed.update({path: "".join([*lines[:cut], lines[cut], *lines[cut:]])}) if lines else None,
        lambda: changed.__delitem__(path) if len(sources) > 5 else None,
        lambda: changed.update({path.replace("pkg/", "pkg/sub_", 1): changed.pop(path)}),
        lambda: changed.update({name: project[name] for name in chooser.sample(sorted(project), 4)}),
        lambda: changed.update({path: changed[path].replace("(Base)", chooser.choice(["", "(Mixin)", "(Exception)"]))}),
        lambda: changed.update({"pyproject.toml": f"[tool.pytest.ini_options]\npythonpath = ['{chooser.choice('.p')}']\n"}),
        lambda: changed.update({"shop/go.mod": f"module example.org/{chooser.choice(['shop', 'other'])}\n"}),
        lambda: changed.update({path.replace("shop/", "shop/store/", 1): changed.pop(path)}),
        lambda: changed.update({path.replace("kit/src/", "kit/src/extra_", 1).replace("extra_base", "extra"): changed.pop(path)}),
        lambda: changed.update({"web/package.json": f'{{"name": "web", "type": "{chooser.choice(["module", "commonjs"])}"}}'}),
    )  # fmt: skip
    cut = chooser.randrange(max(1, len(lines)))
    for _ in range(chooser.choice([1, 1, 1, 2, 3])):
        if path in changed:
            chooser.choice(edits)()
    return changed


class Reader:
    """Analyses of the versions of a project; equal texts are read once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], FileAnalysis] = {}

    def analysed(self, texts: dict[str, str]) -> dict[FilePath, FileAnalysis]:
        """Of one version."""
        for path, text in texts.items():
            if (path, text) not in self._known:
                self._known[path, text] = analyse(FilePath(path), text.encode())
        return {FilePath(path): self._known[path, text] for path, text in texts.items()}


def configured(texts: dict[str, str]) -> dict[FilePath, bytes]:
    """The configuration that linking reads."""
    return {FilePath(path): text.encode() for path, text in texts.items() if wants_config(FilePath(path))}


def shown(found: Mapping[FilePath, tuple[Edge, ...]]) -> dict[str, list[bytes]]:
    """Edges, to be compared byte for byte."""
    return {path: [msgspec.json.encode(edge) for edge in edges] for path, edges in found.items()}
