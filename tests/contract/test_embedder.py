"""What every embedder must do; the model that is shipped, and what it is good for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from smp.adapters.embedder_onnx import MODEL_FILE, TOKENIZER_FILE, OnnxEmbedder, _shipped, shipped_model
from smp.domain.errors import Invalid
from smp.ports.embedder import Embedder

TEXTS = (
    "",
    "wrap text to a width",
    "delete a user",
    "parse http header\nparseHeader(raw: bytes)",
    "x " * 4000,
    "日本語",
)


@pytest.fixture(scope="module", params=["shipped", "folder"])
def embedder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The shipped model, and the same files laid out as an exported sentence-transformers model."""
    if request.param == "shipped":
        return shipped_model()
    folder = tmp_path_factory.mktemp("model")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").symlink_to(_shipped(*MODEL_FILE))
    (folder / "tokenizer.json").symlink_to(_shipped(*TOKENIZER_FILE))
    return OnnxEmbedder(str(folder))


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
    assert embedder.embed([]).shape == (0, embedder.dimension)


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


def test_a_folder_without_a_model_is_refused_at_once(tmp_path: Path) -> None:
    for folder in ("", str(tmp_path)):
        with pytest.raises(Invalid, match=r"embedding\.folder"):
            OnnxEmbedder(folder)


def test_models_have_names_of_their_own(embedder: Embedder) -> None:
    assert embedder.model == embedder.model
    assert embedder.model.startswith(("all-MiniLM-L6-v2-int8/", "onnx:"))
