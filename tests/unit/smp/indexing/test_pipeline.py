"""The write side on real git and SQLite, with a toy language."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from smp.domain.errors import Invalid, TooLarge
from smp.domain.graph import Direction, EdgeKind, NodeKind, Scope
from smp.domain.ids import AgentId, FilePath, NodeId, SessionId
from smp.indexing.merkle import leaves
from smp.indexing.pipeline import FileChange
from smp.indexing.records import load_record, save_record

CALLER = "def a:\n  target()\n"
CALLEE = "def target:\n"


def change(path: str, content: str | None = None, change_type: str = "modified") -> FileChange:
    body = content.encode() if content is not None else None
    return FileChange(path=FilePath(path), content=body, change_type=change_type)


def graph_of(store: Any) -> tuple[list[Any], list[Any]]:
    return list(store.scan(Scope())), list(store.scan_edges(Scope()))


def callers(store: Any, name: str) -> list[str]:
    (node,) = store.find(name)
    return [
        edge.source for edge in store.edges([node.id], kinds=(EdgeKind.CALLS_STATIC,), direction=Direction.INCOMING)
    ]


def test_an_empty_repository_is_indexed_as_nothing_but_itself(bench: Any) -> None:
    report = bench.indexer.refresh()
    assert (report.files, report.nodes, report.commit_sha) == (0, 1, None)
    assert [node.kind for node in bench.store.scan(Scope())] == [NodeKind.REPOSITORY]
    assert bench.indexer.state().root_hash == hashlib.sha256(b"").hexdigest()


def test_files_packages_and_calls_are_stored(bench: Any) -> None:
    bench.write(src__a_py=CALLER, src__b_py=CALLEE)
    report = bench.indexer.refresh()
    assert (report.files, report.parsed, report.unresolved) == (2, 2, 0)
    nodes, edges = graph_of(bench.store)
    assert [node.id for node in nodes] == [
        "file:src/a.py",
        "file:src/b.py",
        "function:src/a.py#a",
        "function:src/b.py#target",
        "package:src",
        "repository:repository",
    ]
    assert [(edge.kind.value, edge.source, edge.target) for edge in edges] == [
        ("CALLS_STATIC", "function:src/a.py#a", "function:src/b.py#target"),
        ("CONTAINS", "package:src", "file:src/a.py"),
        ("CONTAINS", "package:src", "file:src/b.py"),
        ("CONTAINS", "repository:repository", "package:src"),
        ("DEFINES", "file:src/a.py", "function:src/a.py#a"),
        ("DEFINES", "file:src/b.py", "function:src/b.py#target"),
    ]


def test_a_second_refresh_parses_nothing_and_changes_nothing(bench: Any) -> None:
    bench.write(a_py=CALLER, b_py=CALLEE)
    bench.indexer.refresh()
    before = graph_of(bench.store)
    report = bench.indexer.refresh()
    assert (report.parsed, report.counts.nodes_updated, report.counts.relationships_updated) == (0, 0, 0)
    assert graph_of(bench.store) == before


@pytest.mark.parametrize("restart", [False, True])
def test_editing_a_called_file_keeps_its_callers(bench: Any, make_bench: Any, restart: bool) -> None:
    """BL-032, with and without a restart in between; the result is that of a fresh index."""
    bench.write(a_py=CALLER, b_py="def b:\n  target()\n", t_py=CALLEE)
    bench.indexer.refresh()
    store, indexer = bench.another_process() if restart else (bench.store, bench.indexer)
    bench.write(t_py=CALLEE + "# touched\n")
    assert indexer.update([change("t.py")]).status == "success"
    assert callers(store, "target") == ["function:a.py#a", "function:b.py#b"]
    fresh = make_bench("fresh")
    fresh.write(a_py=CALLER, b_py="def b:\n  target()\n", t_py=CALLEE + "# touched\n")
    fresh.indexer.refresh()
    assert graph_of(store) == graph_of(fresh.store)


@pytest.mark.parametrize("explicit", [False, True])
def test_emptied_deleted_and_renamed_files_leave_no_ghosts(bench: Any, make_bench: Any, explicit: bool) -> None:
    """BL-034, through a refresh and through explicit updates."""
    bench.write(util_py="def helper:\n", emptied_py="def run:\n  helper()\n", gone_py="def old:\n  helper()\n")
    bench.write(before_py="def kept:\n")
    bench.indexer.refresh()
    bench.indexer.ensure_ranked()
    bench.indexer.ensure_embedded()
    bench.write(emptied_py="", after_py="def kept:\n")
    (bench.root / "gone.py").unlink()
    (bench.root / "before.py").unlink()
    if explicit:
        bench.indexer.update(
            [
                change("emptied.py"),
                change("after.py", change_type="created"),
                change("gone.py", change_type="deleted"),
                change("before.py", change_type="deleted"),
            ]
        )
    else:
        bench.indexer.ensure_fresh()
    assert bench.store.find("run") == bench.store.find("old") == ()
    assert [node.id for node in bench.store.find("kept")] == ["function:after.py#kept"]
    assert callers(bench.store, "helper") == []
    assert list(leaves(bench.indexer.merkle())) == ["after.py", "emptied.py", "util.py"]
    bench.indexer.ensure_embedded()
    assert not {key for key in bench.vectors.hashes("nodes") if "gone" in key or "before" in key or "#run" in key}
    fresh = make_bench("fresh")
    fresh.write(util_py="def helper:\n", emptied_py="", after_py="def kept:\n")
    fresh.indexer.refresh()
    for store in (bench.store, fresh.store):
        store.apply(_without_communities())
    assert graph_of(bench.store) == graph_of(fresh.store)
    assert bench.indexer.merkle() == fresh.indexer.merkle()


def _without_communities() -> Any:
    from smp.domain.graph import OWNER_COMMUNITIES, GraphDelta

    return GraphDelta(removed=(OWNER_COMMUNITIES,))


def test_a_deleted_definition_unlinks_its_callers_and_comes_back(bench: Any) -> None:
    bench.write(a_py=CALLER, t_py=CALLEE)
    bench.indexer.refresh()
    before = graph_of(bench.store)
    bench.indexer.update([change("t.py", change_type="deleted")])
    assert bench.store.find("target") == ()
    (unresolved,) = bench.store.edges([NodeId("function:a.py#a")])
    assert (unresolved.kind, unresolved.to_name) == (EdgeKind.CALLS_UNRESOLVED, "target")
    bench.indexer.update([change("t.py")])
    assert graph_of(bench.store) == before


def test_pushed_content_stands_until_the_file_changes_on_disk(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    bench.indexer.update([change("a.py", "def pushed:\n")])
    assert (bench.root / "a.py").read_text() == "def a:\n"
    bench.indexer.refresh()
    bench.indexer.ensure_fresh()
    assert bench.indexer.content(FilePath("a.py")) == b"def pushed:\n"
    assert bench.store.find("pushed")
    assert bench.store.find("a") == ()
    bench.write(a_py="def edited:\n")
    bench.indexer.ensure_fresh()
    assert bench.store.find("pushed") == ()
    assert bench.store.find("edited")
    assert bench.indexer.content(FilePath("a.py")) == b"def edited:\n"


def test_a_pushed_file_that_never_was_on_disk_stays_through_restarts(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    bench.indexer.update([change("new/n.py", "def n:\n", "created")])
    store, indexer = bench.another_process()
    indexer.ensure_fresh()
    assert [node.id for node in store.find("new/n.py")] == ["file:new/n.py"]
    indexer.update([change("new/n.py", change_type="deleted")])
    assert store.find("package:new") == store.find("n") == ()


def test_a_deletion_that_was_pushed_stands_while_the_file_is_unchanged(bench: Any) -> None:
    bench.write(a_py="def a:\n", b_py="def b:\n")
    bench.indexer.refresh()
    bench.indexer.update([change("a.py", change_type="deleted")])
    bench.indexer.refresh()
    assert bench.store.find("a") == ()
    bench.indexer.update([change("a.py")])
    assert bench.store.find("a")
    bench.indexer.update([change("a.py", change_type="deleted")])
    bench.write(a_py="def a:\n# again\n")
    bench.indexer.ensure_fresh()
    assert bench.store.find("a")


def test_the_same_content_changes_nothing_and_is_not_recorded(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    said = len(bench.notifier.said)
    report = bench.indexer.update([change("a.py", "def a:\n")])
    assert (report.counts.nodes_updated, report.files, report.changed_nodes) == (0, (), ())
    assert bench.store.history(NodeId("function:a.py#a"), since="") == ()
    assert len(bench.notifier.said) == said


def test_an_update_records_who_changed_what_and_tells_it(bench: Any) -> None:
    bench.write(a_py="def a:\ndef b:\n")
    bench.indexer.refresh()
    report = bench.indexer.update(
        [change("a.py", "def a(x):\ndef b:\ndef c:\n")], agent=AgentId("ann"), session=SessionId("ses_1")
    )
    assert report.changed_nodes == ("file:a.py", "function:a.py#a", "function:a.py#c")
    (event,) = bench.store.history(NodeId("function:a.py#a"), since="")
    assert (event.event, event.agent, event.session) == ("modified", "ann", "ses_1")
    assert bench.store.history(NodeId("function:a.py#b"), since="") == ()
    assert bench.store.history(NodeId("function:a.py#c"), since="")[0].event == "created"
    changes = bench.notifier.said[-1].changes
    assert changes.files_affected == ("a.py",)
    assert "function a modified" in changes.structural_changes
    assert changes.semantic_changes == ("function a: signature changed",)


def test_damage_makes_an_update_partial(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    report = bench.indexer.update([change("a.py", "def a:\n!\n")])
    assert report.status == "partial"
    assert [(error.file, error.line) for error in report.parse_errors] == [("a.py", 1)]
    assert bench.store.find("a")


@pytest.mark.parametrize(
    "path",
    ["../x.py", "/etc/passwd", "", ".", ".git/config", ".smp/graph.db", "a/../../x.py", "a\0b", "a.py/b.py", "d"],
)
def test_paths_that_are_no_file_of_the_repository_are_refused(bench: Any, path: str) -> None:
    bench.write(a_py="def a:\n", d__b_py="def b:\n")
    bench.indexer.refresh()
    before = graph_of(bench.store)
    with pytest.raises(Invalid):
        bench.indexer.update([change("a.py", "def z:\n"), change(path, "def x:\n")])
    assert graph_of(bench.store) == before


def test_a_link_that_leaves_the_repository_is_refused(bench: Any, tmp_path: Any) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    bench.write(a_py="def a:\n")
    (bench.root / "link").symlink_to(outside)
    with pytest.raises(Invalid):
        bench.indexer.update([change("link/x.py", "def x:\n")])


@pytest.mark.parametrize("spelling", ["./pkg/a.py", "pkg//a.py", "pkg\\a.py", "pkg/./a.py"])
def test_every_spelling_of_a_path_means_one_file(bench: Any, spelling: str) -> None:
    bench.write(pkg__a_py="def a:\n")
    bench.indexer.refresh()
    assert bench.indexer.update([change(spelling, "def z:\n")]).files == ("pkg/a.py",)


def test_what_cannot_be_read_from_disk_is_refused_with_the_reason(bench: Any) -> None:
    bench.write(_gitignore="ignored.py\n", ignored_py="def i:\n")
    (bench.root / ".gitignore").write_text("ignored.py\n")
    bench.indexer.refresh()
    with pytest.raises(Invalid, match="not on disk"):
        bench.indexer.update([change("missing.py")])
    with pytest.raises(Invalid, match="ignored"):
        bench.indexer.update([change("ignored.py")])
    with pytest.raises(Invalid, match="change_type"):
        bench.indexer.update([change("a.py", "x", "renamed")])


def test_content_over_the_limit_is_refused(bench: Any) -> None:
    _, indexer = bench.another_process(SMP_INDEX_MAX_FILE_BYTES="10")
    with pytest.raises(TooLarge):
        indexer.update([change("a.py", "def abcdefgh:\n")])


def test_deleting_an_unknown_file_does_nothing(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    assert bench.indexer.update([change("no/such.py", change_type="deleted")]).counts.nodes_removed == 0


def test_a_preview_shows_both_sides_and_stores_nothing(bench: Any) -> None:
    bench.write(a_py=CALLER, t_py=CALLEE)
    bench.indexer.refresh()
    before = graph_of(bench.store)
    preview = bench.indexer.preview([change("t.py", "def renamed:\n!\n")])
    assert [node.name for node in preview.before_nodes] == ["t.py", "target"]
    assert [node.name for node in preview.after_nodes] == ["t.py", "renamed"]
    assert preview.relinked == ("a.py",)
    assert "CALLS_STATIC" in [edge.kind for edge in preview.before_edges]
    assert "CALLS_UNRESOLVED" in [edge.kind for edge in preview.after_edges]
    assert preview.parse_errors
    assert graph_of(bench.store) == before


def test_a_view_is_the_graph_as_the_update_would_make_it(bench: Any) -> None:
    bench.write(a_py=CALLER, t_py=CALLEE, gone_py="def g:\n  target()\n")
    bench.indexer.refresh()
    changes = [
        change("t.py", "def target:\n  extra()\n"),
        change("pkg/new.py", "def extra:\n", "created"),
        change("gone.py", change_type="deleted"),
    ]
    before = graph_of(bench.store)
    view = bench.indexer.view(changes)
    seen = graph_of(view)
    assert graph_of(bench.store) == before
    assert callers(view, "extra") == ["function:t.py#target"]
    bench.indexer.update(changes)
    assert seen == graph_of(bench.store)


def test_an_index_of_another_format_is_made_anew(bench: Any) -> None:
    bench.write(a_py=CALLER, t_py=CALLEE)
    bench.indexer.refresh()
    before = graph_of(bench.store)
    record = load_record(bench.store)
    assert record is not None
    save_record(bench.store, msgspec.structs.replace(record, format=record.format - 1))
    store, indexer = bench.another_process()
    assert indexer.refresh().parsed == 2
    assert graph_of(store) == before
    assert indexer.refresh().parsed == 0


def test_a_commit_without_changes_is_noticed(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    assert bench.indexer.state().commit_sha is None
    sha = bench.commit()
    bench.indexer.ensure_fresh()
    assert bench.indexer.state().commit_sha == sha


def test_a_branch_switch_while_nobody_watched_is_noticed(bench: Any) -> None:
    """BL-035."""
    bench.write(svc_py="def only_main:\n")
    main = bench.commit()
    bench.git("checkout", "-q", "-b", "other")
    bench.write(svc_py="def only_other:\n")
    other = bench.commit()
    bench.git("checkout", "-q", "main")
    bench.indexer.refresh()
    assert bench.indexer.state().commit_sha == main
    bench.git("checkout", "-q", "other")
    store, indexer = bench.another_process()
    assert (indexer.state().commit_sha, indexer.state().stale) == (main, ("svc.py",))
    indexer.ensure_fresh()
    assert (indexer.state().commit_sha, indexer.state().stale) == (other, ())
    assert store.find("only_other")
    assert store.find("only_main") == ()
    bench.git("checkout", "-q", "main")
    bench.indexer.ensure_fresh()
    assert bench.store.find("only_main")
    assert bench.store.find("only_other") == ()


def test_content_is_given_only_while_it_is_what_was_indexed(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.indexer.refresh()
    assert bench.indexer.content(FilePath("a.py")) == b"def a:\n"
    bench.write(a_py="def inserted:\ndef a:\n")
    assert bench.indexer.content(FilePath("a.py")) is None
    assert bench.indexer.content(FilePath("nothing.py")) is None


def test_two_processes_that_change_the_index_in_turn_agree(bench: Any, make_bench: Any) -> None:
    bench.write(a_py=CALLER, t_py=CALLEE)
    bench.indexer.refresh()
    store, indexer = bench.another_process()
    indexer.update([change("t.py", "def other:\n")])
    bench.indexer.update([change("a.py", "def a:\n  other()\n")])
    indexer.update([change("b.py", "def b:\n  other()\n", "created")])
    assert callers(store, "other") == ["function:a.py#a", "function:b.py#b"]
    assert graph_of(store) == graph_of(bench.store)


def test_a_change_that_was_overtaken_is_worked_out_anew(bench: Any) -> None:
    """The other process commits while this one is linking."""
    bench.write(a_py=CALLER, t_py=CALLEE)
    bench.indexer.refresh()
    _, other = bench.another_process()
    from_other: list[Callable[[], Any]] = [lambda: other.update([change("t.py", "def renamed:\n")])]
    import sys

    link = sys.modules[type(bench).__module__].toy_link

    def slow_link(*arguments: Any, **named: Any) -> Any:
        result = link(*arguments, **named)
        if from_other:
            from_other.pop()()
        return result

    store, indexer = bench.another_process(link=slow_link)
    indexer.update([change("a.py", "def a:\n  renamed()\n")])
    assert callers(store, "renamed") == ["function:a.py#a"]
    assert indexer.state().stale == ()


def test_an_error_in_the_middle_of_a_commit_leaves_the_old_state(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write(a_py=CALLER, t_py=CALLEE)
    bench.indexer.refresh()
    before = (graph_of(bench.store), bench.store.file_hashes(), bench.indexer.state())

    def full(*_: Any) -> None:
        raise OSError("disk full")

    # there is no port to make the last write of a transaction fail
    monkeypatch.setattr(bench.store, "record", full)
    with pytest.raises(OSError, match="disk full"):
        bench.indexer.update([change("t.py", "def renamed:\n")])
    monkeypatch.undo()
    assert (graph_of(bench.store), bench.store.file_hashes(), bench.indexer.state()) == before
    assert bench.indexer.update([change("t.py", "def renamed:\n")]).status == "success"


def test_the_state_names_what_is_uncommitted_and_what_is_not_indexed_yet(bench: Any) -> None:
    bench.write(a_py="def a:\n", b_py="def b:\n")
    commit = bench.commit()
    bench.indexer.refresh()
    bench.write(a_py="def a2:\n", c_py="def c:\n")
    now = bench.indexer.freshness()
    assert (now.commit_sha, now.dirty, now.stale) == (commit, ("a.py", "c.py"), ("a.py", "c.py"))
    bench.indexer.ensure_fresh()
    now = bench.indexer.freshness()
    assert (now.dirty, now.stale) == (("a.py", "c.py"), ())
    bench.commit()
    assert bench.indexer.freshness().dirty == ()


def test_an_answer_says_of_which_look_at_the_tree_it_is_and_the_next_looks_anew(bench: Any) -> None:
    bench.write(a_py="def a:\n")
    bench.commit()
    bench.indexer.refresh()
    bench.indexer.begin_answer()
    bench.indexer.ensure_fresh()
    bench.write(a_py="def a2:\n")  # after the answer was made
    assert bench.indexer.freshness().stale == ()
    bench.indexer.begin_answer()
    assert bench.indexer.freshness().stale == ("a.py",)
    bench.indexer.ensure_fresh()
    assert bench.indexer.freshness().stale == ()
