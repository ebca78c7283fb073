"""What every vector index must do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smp.adapters.memory import MemoryVectorIndex
from smp.adapters.vectors_embedded import EmbeddedVectorIndex
from smp.adapters.vectors_weaviate import WeaviateVectorIndex
from smp.domain.errors import Invalid, Unavailable
from smp.settings import load_settings


@pytest.fixture(params=["memory", "embedded", "weaviate"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "memory":
        yield MemoryVectorIndex()
        return
    if request.param == "weaviate":
        server = WeaviateVectorIndex(request.getfixturevalue("weaviate"), uuid.uuid4().hex, "a model")
        yield server
        server.close()
        return
    opened = EmbeddedVectorIndex(load_settings(tmp_path, environ={}))
    yield opened
    opened.close()


def unit(*numbers: float) -> Any:
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def put(index: Any, collection: str = "nodes", **vectors: Any) -> None:
    index.upsert(collection, tuple(vectors), np.stack(list(vectors.values())), tuple(f"h-{key}" for key in vectors))


def nearest(index: Any, query: Any, k: int, **options: Any) -> list[str]:
    return [match.key for match in index.nearest("nodes", query, k=k, **options)]


def test_the_nearest_come_first_with_their_cosine(index: Any) -> None:
    put(index, east=unit(1, 0), north=unit(0, 1), between=unit(1, 1))
    found = index.nearest("nodes", unit(1, 0), k=2)
    assert [match.key for match in found] == ["east", "between"]
    assert [match.score for match in found] == pytest.approx([1.0, 2**-0.5], abs=1e-5)


def test_ties_are_broken_by_key_wherever_the_limit_falls(index: Any) -> None:
    put(index, d=unit(1, 0), b=unit(1, 0), a=unit(0, 1), c=unit(1, 0))
    assert nearest(index, unit(1, 0), 1) == ["b"]
    assert nearest(index, unit(1, 0), 2) == ["b", "c"]
    assert nearest(index, unit(1, 0), 9) == ["b", "c", "d", "a"]


def test_a_search_can_be_restricted(index: Any) -> None:
    put(index, a=unit(1, 0), b=unit(1, 1), c=unit(0, 1))
    assert nearest(index, unit(1, 0), 2, within=frozenset({"b", "c", "unknown"})) == ["b", "c"]
    assert nearest(index, unit(1, 0), 2, within=frozenset()) == []


def test_upsert_replaces_and_repeating_is_harmless(index: Any) -> None:
    put(index, a=unit(1, 0))
    put(index, a=unit(0, 1), b=unit(1, 0))
    put(index, a=unit(0, 1), b=unit(1, 0))
    assert index.hashes("nodes") == {"a": "h-a", "b": "h-b"}
    assert nearest(index, unit(0, 1), 1) == ["a"]
    assert index.vectors("nodes", ["a", "zz"])["a"].tolist() == [0.0, 1.0]


def test_collections_are_apart_and_empty_ones_answer(index: Any) -> None:
    put(index, a=unit(1, 0))
    put(index, "centroids", c=unit(1, 0, 0))
    assert index.hashes("centroids") == {"c": "h-c"}
    assert index.nearest("nothing", unit(1, 0), k=3) == ()
    assert index.similarities("nothing", unit(1, 0), ["a"]) == {}


def test_similarities_of_known_keys(index: Any) -> None:
    put(index, a=unit(1, 0), b=unit(-1, 0), c=unit(0, 1))
    assert index.similarities("nodes", unit(1, 0), ["b", "a", "zz"]) == pytest.approx({"a": 1.0, "b": -1.0})


def test_deleted_keys_are_forgotten(index: Any) -> None:
    put(index, a=unit(1, 0), b=unit(1, 1), c=unit(0, 1))
    index.delete("nodes", ["a", "zz"])
    index.delete("nothing", ["a"])
    assert nearest(index, unit(1, 0), 9) == ["b", "c"]
    put(index, a=unit(1, 0))
    assert nearest(index, unit(1, 0), 1) == ["a"]


def test_another_dimension_is_refused(index: Any) -> None:
    put(index, a=unit(1, 0))
    with pytest.raises(Invalid):
        put(index, b=unit(1, 0, 0))


def test_vectors_outlive_the_process_and_other_processes_see_them(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environ={})
    one, other = EmbeddedVectorIndex(settings), EmbeddedVectorIndex(settings)
    assert other.hashes("nodes") == {}
    put(one, a=unit(1, 0))
    assert other.hashes("nodes") == {"a": "h-a"}
    other.delete("nodes", ["a"])
    assert one.hashes("nodes") == {}
    put(other, b=unit(0, 1))
    one.close()
    other.close()
    again = EmbeddedVectorIndex(settings)
    assert [match.key for match in again.nearest("nodes", unit(0, 1), k=1)] == ["b"]
    again.close()


def test_a_damaged_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    settings = load_settings(tmp_path, environ={})
    settings.data_dir.mkdir()
    (settings.data_dir / "vectors.db").write_bytes(b"no database " * 1_000)
    with pytest.raises(Unavailable, match="move the file away and run smp index"):
        EmbeddedVectorIndex(settings).hashes("nodes")


def test_hashes_of_some_keys_and_the_number_of_all(index: Any) -> None:
    put(index, a=unit(1, 0), b=unit(1, 1), c=unit(0, 1))
    assert index.hashes("nodes", ["b", "unknown", "a"]) == {"a": "h-a", "b": "h-b"}
    assert index.hashes("nodes", []) == {}
    assert index.count("nodes") == 3
    assert index.count("centroids") == 0


def test_many_small_additions_and_removals_keep_every_vector(index: Any) -> None:
    for number in range(40):
        put(index, **{f"k{number:02}": unit(1, number), f"m{number:02}": unit(number, 1)})
        if number % 10 == 9:
            index.delete("nodes", [f"m{one:02}" for one in range(number)])
    assert index.count("nodes") == 41
    found = index.vectors("nodes", [f"k{number:02}" for number in range(40)])
    for number in range(40):
        assert found[f"k{number:02}"] == pytest.approx(unit(1, number))
