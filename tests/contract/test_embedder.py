"""What every embedder must do; the model that is shipped, and what it is good for."""

from __future__ import annotations

import numpy as np
import pytest

from smp.adapters.embedder_minilm import DIMENSION, MiniLmEmbedder
from smp.ports.embedder import Embedder

TEXTS = (
    "",
    "wrap text to a width",
    "delete a user",
    "parse http header\nparseHeader(raw: bytes)",
    "x " * 4000,
    "日本語",
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return MiniLmEmbedder(threads=1)


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: Embedder) -> None:
    matrix = embedder.embed(TEXTS)
    assert matrix.shape == (len(TEXTS), embedder.dimension)
    assert matrix.dtype == np.float32
    assert np.linalg.norm(matrix, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)


def test_a_text_has_one_vector_in_any_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    for position, text in enumerate(TEXTS):
        assert embedder.embed([text])[0].tobytes() == together[position].tobytes()
    assert embedder.embed(TEXTS[::-1])[::-1].tobytes() == together.tobytes()


def test_nothing_gives_nothing(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, DIMENSION)


def test_progress_counts_up_to_all(embedder: Embedder) -> None:
    seen: list[int] = []
    embedder.embed(TEXTS, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == len(TEXTS)


def test_a_description_is_nearest_to_what_it_describes(embedder: Embedder) -> None:
    code = embedder.embed(
        [
            "send mail\nsend_mail(to, subject, body)\nDeliver a message over SMTP.",
            "hash password\nhash_password(plain)\nDerive a salted hash.",
            "read csv\nread_csv(path)\nRows of a comma separated file.",
        ]
    )
    for position, question in enumerate(("email someone", "protect the secret of a login", "load a spreadsheet")):
        assert int(np.argmax(code @ embedder.embed([question])[0])) == position
