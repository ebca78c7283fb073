"""Embeddings from any endpoint that speaks OpenAI's `POST /embeddings`: hosted services, Ollama, vLLM, llama.cpp, TEI.

Texts go there as they are; nothing is sent but them, the model's name and the key. Whatever goes wrong is `Unavailable`
with the address and the way out: a search never falls back to another model in silence, for vectors of two models
cannot be compared.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import msgspec
import numpy as np
from msgspec import Struct

from smp.domain.errors import Invalid, Unavailable
from smp.ports.embedder import Embedder
from smp.ports.vector_index import Matrix
from smp.settings import EmbeddingSettings

MAX_ANSWER_BYTES = 256_000_000
_SHOWN_CHARS = 200
_PROBE = "dimension"


class _Row(Struct, frozen=True):
    index: int
    embedding: tuple[float, ...]


class _Answer(Struct, frozen=True):
    data: tuple[_Row, ...]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A key goes to the address that was configured, and nowhere else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


class OpenAiEmbedder(Embedder):
    """Asks nothing before it is first used; safe to use from several threads.

    Args:
        settings: `url` up to and without `/embeddings`; `model` as the endpoint knows it.

    Raises:
        Invalid: No address or no model is set, or the address is not http(s).
    """

    def __init__(self, settings: EmbeddingSettings) -> None:
        if urlsplit(settings.url).scheme not in ("http", "https") or not urlsplit(settings.url).hostname:
            raise Invalid(
                f"embedding.url is {settings.url!r}; set the address of the endpoint, such as http://127.0.0.1:11434/v1",
                path="embedding.url",
            )
        if not settings.model:
            raise Invalid("embedding.model is empty; name the model that the endpoint serves", path="embedding.model")
        self._settings = settings
        self._url = settings.url.rstrip("/") + "/embeddings"
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._dimension = 0

    @property
    def model(self) -> str:
        return f"openai:{self._settings.model}"

    @property
    def dimension(self) -> int:
        return self._dimension or int(self.embed([_PROBE]).shape[1])

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Matrix:
        """Rows in the order of `texts`. Equal texts give equal rows as far as the endpoint is deterministic.

        Raises:
            Unavailable: The endpoint cannot be reached, is too slow, refuses, or answers something else.
        """
        rows: list[tuple[float, ...]] = []
        for start in range(0, len(texts), self._settings.batch):
            # an endpoint may refuse an empty text; a space means as little
            rows += self._ask([text or " " for text in texts[start : start + self._settings.batch]])
            if progress is not None:
                progress(len(rows))
        if not rows:
            return np.zeros((0, self._dimension), dtype=np.float32)
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise self._wrong("its vectors differ in length or are empty")
        matrix = np.array(rows, dtype=np.float32)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise self._wrong("a vector is zero or not finite")
        self._dimension = matrix.shape[1]
        unit: Matrix = matrix / norms
        return unit

    def _ask(self, texts: list[str]) -> list[tuple[float, ...]]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._settings.api_key:
            headers["Authorization"] = f"Bearer {self._settings.api_key}"
        body = json.dumps({"model": self._settings.model, "input": texts, "encoding_format": "float"}).encode()
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")  # noqa: S310 - checked above
        timeout = self._settings.timeout_ms / 1000
        try:
            with self._opener.open(request, timeout=timeout) as response:
                raw = response.read(MAX_ANSWER_BYTES + 1)
        except urllib.error.HTTPError as error:
            raise self._refused(error) from error
        except TimeoutError as error:
            raise self._silent(timeout) from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._silent(timeout) from error
            raise Unavailable(
                f"no embeddings from {self._url}: {reason}; start the endpoint or mend embedding.url",
                backend="embedder",
            ) from error
        if len(raw) > MAX_ANSWER_BYTES:
            raise self._wrong(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
        try:
            found = {row.index: row.embedding for row in msgspec.json.decode(raw, type=_Answer).data}
        except msgspec.MsgspecError as error:
            raise self._wrong(str(error)) from error
        if found.keys() != set(range(len(texts))):
            raise self._wrong(f"{len(found)} vectors for {len(texts)} texts")
        return [found[index] for index in range(len(texts))]

    def _refused(self, error: urllib.error.HTTPError) -> Unavailable:
        said = " ".join(error.read(4096).decode("utf-8", "replace").split())[:_SHOWN_CHARS]
        hint = "repeat later" if error.code in (429, 503) else "check embedding.url, embedding.model and the key"
        if self._settings.api_key:
            said = said.replace(self._settings.api_key, "…")
        return Unavailable(f"{self._url} answered {error.code}: {said}; {hint}", backend="embedder")

    def _silent(self, timeout: float) -> Unavailable:
        return Unavailable(
            f"{self._url} did not answer within {timeout:g} s; raise embedding.timeout_ms or lower embedding.batch",
            backend="embedder",
        )

    def _wrong(self, what: str) -> Unavailable:
        return Unavailable(
            f"{self._url} is no embeddings endpoint for {self._settings.model!r}: {what}; check embedding.url and "
            "embedding.model",
            backend="embedder",
        )
