"""What a process leaves of its link lets the next one go on from there: the edges are those of a link of everything."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from pathlib import Path

import pytest

from smp.adapters.link_archives_sqlite import SqliteLinkArchives
from smp.domain.ids import ContentHash, FilePath
from smp.indexing.analyses import Analyses
from smp.indexing.link import Linker, LinkResult, link
from tests.builders.linked_project import PROJECT, Reader, configured, edit_project, shown

PYTHON = {path: text for path, text in PROJECT.items() if path.endswith(".py") or path == "pyproject.toml"}
RUNS = [(seed, ("pkg/", "app", "tests/", "web/")) for seed in range(6)]


def _files(reader: Reader, texts: dict[str, str]) -> Analyses:
    marks = {FilePath(p): ContentHash(hashlib.sha256(t.encode()).hexdigest()) for p, t in sorted(texts.items())}
    return Analyses(marks, reader.analysed(texts))


def _after(
    linker: Linker, reader: Reader, texts: dict[str, str], before: dict[str, str], result: LinkResult
) -> LinkResult:
    touched = frozenset(FilePath(p) for p in before.keys() | texts.keys() if texts.get(p) != before.get(p))
    return linker(
        _files(reader, texts), configs=configured(texts), changed=touched, state=result.state, digests=result.digests
    )


@pytest.mark.parametrize(("seed", "parts"), RUNS)
def test_each_process_goes_on_from_what_was_kept(seed: int, parts: tuple[str, ...], tmp_path: Path) -> None:
    chooser = random.Random(seed)
    project = {path: text for path, text in PROJECT.items() if path.startswith((*parts, "pyproject"))}
    reader, texts = Reader(), dict(project)
    archives = SqliteLinkArchives(tmp_path)
    result = Linker(archives, keep_from=1)(_files(reader, texts), configs=configured(texts))
    held = dict(result.edges)
    linker = Linker(archives, keep_from=1)
    whole = 0
    for _ in range(20):
        if chooser.random() < 0.7:
            linker = Linker(archives, keep_from=1)
        after = edit_project(texts, chooser, project)
        result = _after(linker, reader, after, texts, result)
        whole += linker.linked_anew
        held = {path: found for path, found in held.items() if path in after} | dict(result.edges)
        assert shown(held) == shown(link(reader.analysed(after), configs=configured(after)).edges)
        texts = after
    assert whole < 20, "most processes found what was kept"


def test_a_new_process_links_nothing_anew_and_gives_what_differs_alone(tmp_path: Path) -> None:
    reader, archives = Reader(), SqliteLinkArchives(tmp_path)
    first = Linker(archives, keep_from=1)(_files(reader, PYTHON), configs=configured(PYTHON))
    edited = {**PYTHON, "pkg/tools.py": "\n" + PYTHON["pkg/tools.py"]}
    linker = Linker(archives, keep_from=1)
    again = _after(linker, reader, edited, PYTHON, first)
    assert linker.linked_anew == 0
    assert set(again.edges) == {"pkg/tools.py"}


def test_an_edit_of_another_process_that_is_taken_back_gives_back_the_kept_edges(tmp_path: Path) -> None:
    reader, archives = Reader(), SqliteLinkArchives(tmp_path)
    first = Linker(archives, keep_from=1)(_files(reader, PYTHON), configs=configured(PYTHON))
    edited = {**PYTHON, "pkg/tools.py": PYTHON["pkg/tools.py"].replace("def helper", "def renamed")}
    second = _after(Linker(archives, keep_from=1), reader, edited, PYTHON, first)
    third = _after(Linker(archives, keep_from=1), reader, PYTHON, edited, second)
    assert len(third.edges) > 1
    assert shown(dict(third.edges)) == shown({path: first.edges[path] for path in third.edges})
    assert third.digests == first.digests


def test_a_repository_of_few_files_keeps_nothing(tmp_path: Path) -> None:
    reader, archives = Reader(), SqliteLinkArchives(tmp_path)
    Linker(archives)(_files(reader, PYTHON), configs=configured(PYTHON))
    assert not list(tmp_path.rglob("*.db"))


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "other"])
def test_a_damaged_archive_is_linked_anew_with_a_warning(
    damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    reader, archives = Reader(), SqliteLinkArchives(tmp_path)
    first = Linker(archives, keep_from=1)(_files(reader, PYTHON), configs=configured(PYTHON))
    (file,) = tmp_path.rglob("*.db")
    body = file.read_bytes()
    if damage == "cut":
        file.write_bytes(body[: len(body) // 2])
    elif damage == "emptied":
        file.write_bytes(b"not a database at all" * 1000)
    else:
        with sqlite3.connect(file) as connection:
            if damage == "flipped":
                flipped = "CAST(substr(body, 1, 4) || x'ff' || substr(body, 6) AS BLOB)"
                connection.execute(f"UPDATE entry SET body = {flipped} WHERE key <> 'stamp'")
            else:
                connection.execute("DELETE FROM entry WHERE key LIKE 'summary%'")
        connection.close()
    edited = {**PYTHON, "pkg/tools.py": PYTHON["pkg/tools.py"] + "\ndef more():\n    helper()\n"}
    linker = Linker(archives, keep_from=1)
    again = _after(linker, reader, edited, PYTHON, first)
    assert linker.linked_anew == 1
    assert "damaged" in caplog.text
    expected = link(reader.analysed(edited), configs=configured(edited)).edges
    assert shown({**first.edges, **again.edges}) == shown(expected)
    # What was made anew is kept again.
    after = _after(Linker(archives, keep_from=1), reader, PYTHON, edited, again)
    assert shown({**expected, **after.edges}) == shown(first.edges)


def test_what_another_version_of_the_linker_kept_is_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, archives = Reader(), SqliteLinkArchives(tmp_path)
    first = Linker(archives, keep_from=1)(_files(reader, PYTHON), configs=configured(PYTHON))
    monkeypatch.setattr("smp.indexing.link._STAMP", "another")
    linker = Linker(archives, keep_from=1)
    _after(linker, reader, {**PYTHON, "app.py": "\n"}, PYTHON, first)
    assert linker.linked_anew == 1
