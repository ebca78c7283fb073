"""Per-file analysis: configuration, other files, and that an analysis survives encoding."""

from __future__ import annotations

import msgspec

from smp.domain.graph import NodeKind
from smp.domain.ids import FilePath
from smp.indexing.analyse import FileAnalysis, analyse, wants_config


def test_configuration_is_a_config_node_without_definitions() -> None:
    found = analyse(FilePath("config/shop.toml"), b"[a]\nb = 1\n")
    assert [node.kind for node in found.nodes] == [NodeKind.CONFIG]
    assert found.nodes[0].id == "config:config/shop.toml"
    assert found.summary is None


def test_a_file_of_no_known_language_is_a_file_node() -> None:
    found = analyse(FilePath("README.md"), b"hello\n")
    assert [(node.kind, node.language, node.lines) for node in found.nodes] == [(NodeKind.FILE, None, 1)]


def test_an_analysis_survives_encoding() -> None:
    found = analyse(
        FilePath("a.py"), b"import x\n\nclass A(x.B):\n    def f(self, y: int = 1):\n        return self.g(y)\n"
    )
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=FileAnalysis) == found


def test_an_analysis_depends_on_nothing_but_path_and_content() -> None:
    content = b"def f():\n    return [g(x) for x in y if x]\n"
    assert analyse(FilePath("a.py"), content) == analyse(FilePath("a.py"), content)


def test_configuration_that_matters_to_module_resolution_is_asked_for() -> None:
    assert wants_config(FilePath("pyproject.toml"))
    assert wants_config(FilePath("sub/setup.cfg"))
    assert not wants_config(FilePath("config/shop.toml"))
