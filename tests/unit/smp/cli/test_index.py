"""`smp index`: what it makes beyond the graph when it is asked to."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.bootstrap import build_platform
from smp.domain.ids import NodeId
from smp.indexing.embed import CENTROIDS, NODES
from smp.settings import load_settings
from tests.builders.command_line import Checkout

ONE = NodeId("function:shop/a.py#one")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo", {"shop/a.py": "def one(): ...\n", "shop/b.py": "def two(): ...\n"})


def test_vectors_are_filled_to_the_end_with_ranks_and_communities(checkout: Checkout) -> None:
    said = checkout.run("index", "--vectors").stdout
    assert "communities: 1 coarse, 1 fine" in said
    assert "embedded 4 of 4 nodes" in said
    services = build_platform(load_settings(checkout.root, environ={}))
    assert (services.vectors.count(NODES), services.vectors.count(CENTROIDS)) == (4, 2)
    assert len(services.graph.scores([ONE])) == 1


def test_ranks_alone_embed_nothing_and_neither_is_made_unasked(checkout: Checkout) -> None:
    checkout.run("index")
    services = build_platform(load_settings(checkout.root, environ={}))
    assert services.graph.scores([ONE]) == {}
    assert "communities: 1 coarse" in checkout.run("index", "--ranks").stdout
    assert len(services.graph.scores([ONE])) == 1
    assert services.vectors.count(NODES) == 0
