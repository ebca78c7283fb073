"""Records and the graph over them, on real files."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from smp.adapters.records_directory import DirectoryRecordFiles
from smp.domain.errors import Invalid, NotFound
from smp.domain.records import Episode, FailureNote, Rule
from smp.ports.record_files import RecordFile
from smp.records import edge_store
from smp.records.edge_store import EdgeStore
from smp.records.nodes import file_node
from smp.records.reading import read_records
from smp.records.recorder import Recorder
from smp.records.repair_rules import proposals
from smp.settings import Settings
from tests.builders.read_platform import StoppedClock

CART = "src/cart.py"


@pytest.fixture
def files(tmp_path: Path) -> DirectoryRecordFiles:
    return DirectoryRecordFiles(Settings(repo=tmp_path, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))


@pytest.fixture
def recorder(files: DirectoryRecordFiles) -> Recorder:
    return Recorder(files, StoppedClock())


def note(mark: str = "fp_aaaa", by: str | None = "retry", kind: str = "test_change") -> FailureNote:
    return FailureNote(fingerprint=mark, class_="gate_tests", tool="execute", resolved_by=by, resolution=kind)


def episode(number: int, *notes: FailureNote, files: tuple[str, ...] = (CART,)) -> Episode:
    at = f"2026-02-{number:02}T00:00:00Z"
    return Episode(id=f"ep_{number:04}", run_id=f"run-{number}", files_changed=files, failures=notes, at=at)


def put(files: DirectoryRecordFiles, *episodes: Episode, rules: tuple[Rule, ...] = ()) -> None:
    with files.writing(RecordFile.EPISODES):
        files.replace(RecordFile.EPISODES, b"".join(msgspec.json.encode(one) + b"\n" for one in episodes))
    with files.writing(RecordFile.RULES):
        files.replace(RecordFile.RULES, msgspec.json.encode({"version": 1, "rules": rules}))


def test_a_backfill_makes_what_the_records_imply_once(recorder: Recorder, files: DirectoryRecordFiles) -> None:
    put(files, episode(1, note(by="rule_x")))
    done, warnings = recorder.backfill()
    before = [files.read(file) for file in (RecordFile.EDGES, RecordFile.INDEX)]
    again, _ = recorder.backfill()
    assert (done.added, done.edges, warnings, again.added) == (4, 4, [], 0)
    assert before == [files.read(file) for file in (RecordFile.EDGES, RecordFile.INDEX)]


def test_what_is_known_of_a_file_joins_episodes_failures_and_rules(
    recorder: Recorder, files: DirectoryRecordFiles
) -> None:
    put(files, episode(1, note(by="rule_x")), episode(2, note(by=None), note("fp_bbbb", by=None)))
    recorder.backfill()
    known = recorder.known(CART)
    assert known is not None
    assert (known.episodes, known.fixed_by) == (("ep_0001", "ep_0002"), {"fp_aaaa": ("rule_x",)})
    assert known.seen_counts == {"fp_aaaa": 2, "fp_bbbb": 1}
    assert recorder.known("src/never.py") is None


def test_asking_what_is_known_creates_nothing(recorder: Recorder, tmp_path: Path) -> None:
    assert recorder.known(CART) is None
    recorder.stats()
    assert not (tmp_path / "data").exists()


def test_the_newest_edges_are_kept_at_the_bound(
    recorder: Recorder, files: DirectoryRecordFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_store, "MAX_EDGES", 4)
    put(files, *(episode(number) for number in (1, 2, 3)))
    recorder.backfill()
    log = files.read(RecordFile.EDGES)
    assert log is not None
    assert {json.loads(line)["run_id"] for line in log.splitlines()} == {"run-2", "run-3"}
    assert (recorder.backfill()[0].added, files.read(RecordFile.EDGES)) == (0, log)


def test_a_pruned_edge_comes_back_from_its_record(recorder: Recorder, files: DirectoryRecordFiles) -> None:
    put(files, episode(1))
    recorder.backfill()
    age = StoppedClock().now() - datetime(2026, 2, 1, tzinfo=UTC) - timedelta(hours=1)
    assert recorder.prune(age + timedelta(hours=2))[:2] == (0, 2)
    assert recorder.prune(age)[:2] == (2, 0)
    assert recorder.backfill()[0].edges == 2


def test_a_corrupt_index_is_left_by_reads_and_set_aside_by_writes(
    recorder: Recorder, files: DirectoryRecordFiles, tmp_path: Path
) -> None:
    put(files, episode(1))
    recorder.backfill()
    index = tmp_path / "data" / RecordFile.INDEX
    index.write_bytes(b"[]")
    found, warnings = recorder.stats()
    assert (found.edges, len(warnings), index.read_bytes()) == (2, 1, b"[]")
    recorder.backfill()
    assert index.with_name("edges.index.json.corrupt").read_bytes() == b"[]"
    assert EdgeStore(files).warnings == []


def test_three_repairs_of_one_kind_propose_a_rule(files: DirectoryRecordFiles) -> None:
    put(files, episode(1, note()), episode(2, note()))
    assert proposals(read_records(files).episodes, ()) == ()
    put(files, episode(1, note()), episode(2, note()), episode(3, note()), episode(4, note(kind="source_change")))
    (rule,) = proposals(read_records(files).episodes, ())
    assert (rule.status, rule.fingerprints, rule.evidence) == (
        "proposed",
        ("fp_aaaa",),
        ("ep_0001", "ep_0002", "ep_0003"),
    )
    assert proposals(read_records(files).episodes, (rule,)) == ()


def test_doing_the_same_again_three_times_is_no_rule(files: DirectoryRecordFiles) -> None:
    put(files, *(episode(number, note(kind="retry")) for number in (1, 2, 3)))
    assert proposals(read_records(files).episodes, ()) == ()


def test_judging_a_rule_keeps_what_else_the_file_says(recorder: Recorder, files: DirectoryRecordFiles) -> None:
    rule = {"id": "rule_a", "at": "2026-02-01T00:00:00Z", "status": "proposed", "colour": "blue"}
    with files.writing(RecordFile.RULES):
        files.replace(RecordFile.RULES, msgspec.json.encode({"version": 1, "rules": [rule], "more": 1}))
    assert recorder.judge("rule_a", "accepted").status == "accepted"
    kept = json.loads(files.read(RecordFile.RULES) or b"")
    assert (kept["more"], kept["rules"]) == (1, [{**rule, "status": "accepted"}])


def test_unknown_and_shipped_rules_cannot_be_judged(recorder: Recorder, files: DirectoryRecordFiles) -> None:
    put(files, rules=(Rule(id="rule_s", at="2026-02-01T00:00:00Z", seeded=True),))
    with pytest.raises(NotFound, match="rule_no"):
        recorder.judge("rule_no", "accepted")
    with pytest.raises(Invalid, match="shipped"):
        recorder.judge("rule_s", "rejected")


@pytest.mark.parametrize(
    ("path", "node"),
    [
        ("./a//b/./c.py", "file:a/b/c.py"),
        ("x/../a.py", "file:a.py"),
        ("../a.py", None),
        ("a/../../b.py", None),
        ("/abs/../x", "file:/x"),
        (".", None),
        ("", None),
        ("é" * 254, None),
    ],
)
def test_paths_become_nodes_as_text_only(path: str, node: str | None) -> None:
    assert file_node(path) == node
