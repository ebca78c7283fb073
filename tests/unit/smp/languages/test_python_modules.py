"""Which file a module name means."""

from __future__ import annotations

import pytest

from smp.domain.ids import FilePath
from smp.domain.source import FileSummary, ImportDecl
from smp.languages.base import Module
from smp.languages.python.modules import PythonResolver


def resolver(*paths: str, configs: dict[str, bytes] | None = None) -> PythonResolver:
    empty = FileSummary(names=(), definitions=("file:x",))
    given = {FilePath(path): content for path, content in (configs or {}).items()}
    return PythonResolver({FilePath(path): empty for path in paths}, given)


def find(table: PythonResolver, importer: str, module: str, level: int = 0) -> Module:
    return table.module(FilePath(importer), ImportDecl(module, "x", 1, 0, level=level))


def test_a_package_comes_before_a_module_of_the_same_name() -> None:
    table = resolver("a/__init__.py", "a.py", "main.py")
    assert find(table, "main.py", "a").path == "a/__init__.py"


def test_source_comes_before_its_stub_which_is_kept_for_types() -> None:
    found = find(resolver("a.py", "a.pyi", "main.py"), "main.py", "a")
    assert (found.path, found.types) == ("a.py", "a.pyi")


def test_src_layouts_are_roots() -> None:
    table = resolver("src/pkg/__init__.py", "src/pkg/a.py", "tests/test_a.py")
    assert find(table, "tests/test_a.py", "pkg.a").path == "src/pkg/a.py"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", b"[tool.pytest.ini_options]\npythonpath = ['code']\n"),
        ("pyproject.toml", b"[tool.setuptools.package-dir]\n'' = 'code'\n"),
        ("setup.cfg", b"[options]\npackage_dir =\n    = code\n"),
        ("pytest.ini", b"[pytest]\npythonpath = code\n"),
    ],
)
def test_configuration_names_roots(name: str, content: bytes) -> None:
    table = resolver("code/pkg/a.py", "tests/test_a.py", configs={name: content})
    assert find(table, "tests/test_a.py", "pkg.a").path == "code/pkg/a.py"


def test_broken_configuration_names_none() -> None:
    table = resolver("src/a.py", configs={"pyproject.toml": b"[[[", "setup.cfg": b"no section\n"})
    assert find(table, "main.py", "a").path == "src/a.py"


def test_a_script_sees_its_siblings_and_a_module_of_a_package_does_not() -> None:
    table = resolver("scripts/a.py", "scripts/b.py", "pkg/__init__.py", "pkg/a.py", "pkg/json.py")
    assert find(table, "scripts/a.py", "b").path == "scripts/b.py"
    assert find(table, "pkg/a.py", "json").kind == "external"


def test_relative_imports_climb() -> None:
    table = resolver("p/__init__.py", "p/q/__init__.py", "p/q/r.py", "p/s.py")
    assert find(table, "p/q/r.py", "", level=1).path == "p/q/__init__.py"
    assert find(table, "p/q/r.py", "s", level=2).path == "p/s.py"
    assert find(table, "p/q/__init__.py", "r", level=1).path == "p/q/r.py"
    assert find(table, "p/q/r.py", "gone", level=2).kind == "missing"


def test_what_the_project_has_not_is_external_and_its_own_holes_are_missing() -> None:
    table = resolver("pkg/__init__.py", "main.py")
    assert find(table, "main.py", "numpy.linalg").kind == "external"
    assert find(table, "main.py", "pkg.gone").kind == "missing"


def test_folders_without_init_are_namespaces() -> None:
    table = resolver("space/inner/a.py", "main.py")
    assert find(table, "main.py", "space").kind == "namespace"
    assert find(table, "main.py", "space.inner.a").path == "space/inner/a.py"


def test_fixtures_are_looked_up_outwards() -> None:
    table = resolver("tests/unit/test_a.py", "tests/unit/conftest.py", "tests/conftest.py", "conftest.py")
    assert table.fixture_files(FilePath("tests/unit/test_a.py")) == (
        "tests/unit/test_a.py",
        "tests/unit/conftest.py",
        "tests/conftest.py",
        "conftest.py",
    )
