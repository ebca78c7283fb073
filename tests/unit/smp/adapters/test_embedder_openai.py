"""The OpenAI-compatible embedder against a local HTTP server: what it sends, and what it says when something is wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from smp.adapters.embedder_openai import OpenAiEmbedder
from smp.domain.errors import Invalid, Unavailable
from smp.settings import EmbeddingSettings


class Endpoint:
    """Vectors (length, 1, 0) of texts, in reverse order; `answer` replaces the body, `status` the code."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.status = 200
        self.answer: bytes | None = None
        self.location = ""
        self.silent = threading.Event()
        self.wait = False
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.asked.append(body)
                endpoint.headers.append(dict(self.headers))
                endpoint.paths.append(self.path)
                if endpoint.wait:
                    endpoint.silent.wait(30)
                rows = [{"index": n, "embedding": [len(t), 1.0, 0.0]} for n, t in enumerate(body["input"])]
                sent = endpoint.answer if endpoint.answer is not None else json.dumps({"data": rows[::-1]}).encode()
                self.send_response(endpoint.status)
                if endpoint.location:
                    self.send_header("Location", endpoint.location)
                self.send_header("Content-Length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.silent.set()
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def embedder(endpoint: Endpoint, **changes: Any) -> OpenAiEmbedder:
    settings = EmbeddingSettings(provider="openai", url=endpoint.url, model="m", batch=2)
    return OpenAiEmbedder(structs.replace(settings, **changes))


def test_texts_go_in_batches_and_come_back_as_unit_vectors_in_their_order(endpoint: Endpoint) -> None:
    done: list[int] = []
    matrix = embedder(endpoint, api_key="k1").embed(["aaa", "", "a"], done.append)
    expected = np.array([[3, 1, 0], [1, 1, 0], [1, 1, 0]], dtype=np.float32)
    assert matrix == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert [body["input"] for body in endpoint.asked] == [["aaa", " "], ["a"]]
    assert {body["model"] for body in endpoint.asked} == {"m"}
    assert endpoint.paths == ["/v1/embeddings"] * 2
    assert endpoint.headers[0]["Authorization"] == "Bearer k1"
    assert done == [2, 3]


def test_the_dimension_is_asked_for_once_and_no_key_is_sent_where_none_is_set(endpoint: Endpoint) -> None:
    one = embedder(endpoint)
    assert (one.dimension, one.dimension, one.model) == (3, 3, "openai:m")
    assert len(endpoint.asked) == 1
    assert "Authorization" not in endpoint.headers[0]


@pytest.mark.parametrize(
    ("status", "answer", "says"),
    [
        (401, b'{"error": "bad key k1 given"}', "answered 401: .*bad key … given.*key"),
        (429, b"slow down", "answered 429: slow down; repeat later"),
        (200, b"<html>", "no embeddings endpoint"),
        (200, b'{"data": []}', "0 vectors for 1 texts"),
        (200, b'{"data": [{"index": 0, "embedding": []}]}', "empty"),
        (200, b'{"data": [{"index": 0, "embedding": [0.0, 0.0]}]}', "zero"),
    ],
)
def test_what_is_wrong_with_an_endpoint_is_said(endpoint: Endpoint, status: int, answer: bytes, says: str) -> None:
    endpoint.status, endpoint.answer = status, answer
    with pytest.raises(Unavailable, match=says) as caught:
        embedder(endpoint, api_key="k1").embed(["a"])
    assert "k1" not in str(caught.value)


def test_a_slow_endpoint_is_given_up(endpoint: Endpoint) -> None:
    endpoint.wait = True
    with pytest.raises(Unavailable, match=r"within 0.2 s; raise embedding.timeout_ms"):
        embedder(endpoint, timeout_ms=200).embed(["a"])


def test_an_endpoint_that_is_down_is_named(endpoint: Endpoint) -> None:
    with pytest.raises(Unavailable, match="start the endpoint"):
        embedder(endpoint, url="http://127.0.0.1:9/v1").embed(["a"])


def test_a_redirect_does_not_carry_the_key_away(endpoint: Endpoint) -> None:
    endpoint.status, endpoint.location = 307, endpoint.url + "/elsewhere"
    with pytest.raises(Unavailable, match="answered 307"):
        embedder(endpoint, api_key="k1").embed(["a"])
    assert endpoint.paths == ["/v1/embeddings"]


@pytest.mark.parametrize(
    "settings",
    [
        EmbeddingSettings(provider="openai", model="m"),
        EmbeddingSettings(provider="openai", model="m", url="file:///etc/passwd"),
        EmbeddingSettings(provider="openai", url="http://127.0.0.1:1/v1"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(settings: EmbeddingSettings) -> None:
    with pytest.raises(Invalid, match="embedding"):
        OpenAiEmbedder(settings)
