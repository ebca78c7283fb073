"""Repository paths: one spelling, or a refusal that names the parameter."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smp.domain.errors import Invalid
from smp.domain.ids import FilePath
from smp.domain.paths import MAX_FOLDERS, covers, repository_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src//a.py", "src/a.py"),
        ("src/x/../a.py", "src/a.py"),
        ("src/", "src/"),
        ("src/./x/..//", "src/"),
        ("~/a", "~/a"),
        ("%2e%2e/a", "%2e%2e/a"),
        ("a b/ü.py", "a b/ü.py"),
        ("zz {}://", "zz {}:/"),
        (".github/x.yml", ".github/x.yml"),
    ],
)
def test_every_spelling_of_a_path_becomes_one(text: str, path: str) -> None:
    assert repository_path(text, path="p") == path


def test_a_path_leads_through_a_bounded_number_of_folders() -> None:
    fits = "d/" * MAX_FOLDERS + "a"
    assert repository_path(fits, path="p") == fits
    with pytest.raises(Invalid, match="folders"):
        repository_path(f"d/{fits}", path="p")


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "./",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a//../..//x",
        "file:///etc/passwd",
        "http://host/x",
        ".git/config",
        "sub/.git/config",
        ".GIT/config",
        ".smp/x.db",
        "a\x00b",
        "x" * 5000,
    ],
)
def test_what_leaves_the_repository_or_is_private_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        repository_path(text, path="files[3]")
    assert refused.value.path == "files[3]"


@given(st.text(alphabet="ab./~ \\", max_size=20))
def test_a_path_that_is_accepted_stays_inside_and_is_its_own_normal_form(text: str) -> None:
    try:
        path = repository_path(text, path="p")
    except Invalid:
        return
    joined = posixpath.normpath(posixpath.join("/root", path))
    assert joined.startswith("/root/")
    assert repository_path(path, path="p") == path


def test_a_scope_covers_its_files_and_what_lies_under_its_folders() -> None:
    scope = (FilePath("a.py"), FilePath("src/"))
    assert covers(scope, FilePath("a.py"))
    assert covers(scope, FilePath("src/deep/b.py"))
    assert not covers(scope, FilePath("src.py"))
    assert not covers(scope, FilePath("a.py/x"))
    assert not covers((), FilePath("a.py"))
