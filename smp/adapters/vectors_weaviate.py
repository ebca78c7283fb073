"""Vectors in Weaviate: a collection a model, a tenant a repository.

The `flat` index compares with every vector of the tenant, as the embedded index does: no neighbour is missed, and equal
vectors give equal answers in both profiles. Vectors have length 1, so that the dot product is the cosine.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import logging
import re
import socket
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
import weaviate
from weaviate.classes.config import Configure, DataType, Property, Tokenization, VectorDistances
from weaviate.classes.data import DataObject
from weaviate.classes.init import AdditionalConfig, Auth, GrpcConfig, Timeout
from weaviate.classes.query import Filter, MetadataQuery
from weaviate.classes.tenants import Tenant
from weaviate.collections import Collection
from weaviate.exceptions import UnexpectedStatusCodeError, WeaviateBaseError

from smp.domain.errors import Invalid, Unavailable
from smp.ports.vector_index import Match, Matrix, Vector, VectorIndex
from smp.settings import VectorsSettings

log = logging.getLogger(__name__)

T = TypeVar("T")
Objects = Collection[Any, Any]
DECIMALS = 6
"""Scores are rounded to this, as the embedded index rounds them."""
BATCH = 1_000
"""Keys of one request."""
MOST = 10_000
"""Answers of one request; the server's default bound."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
CALL_S, CONNECT_S = 60, 5
RECONNECT = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1_000),
]
"""gRPC alone waits up to two minutes before it looks again for a server that has been away."""
NAMESPACE = uuid.UUID("6b1f2d0e-52a5-4f0e-9a39-5d9f1f6d1c11")


class WeaviateVectorIndex(VectorIndex):
    """Safe to use from several threads, the server from several hosts.

    Args:
        settings: Where it is and for how long it may be away.
        repository: The tenant.
        model: Of the embedder; vectors of two models never meet.

    Raises:
        Unavailable: It does not answer or refuses the key; likewise from every method.
    """

    def __init__(self, settings: VectorsSettings, repository: str, model: str) -> None:
        self._settings = settings
        self._tenant = repository
        self._model = re.sub(r"\W+", "", model)[:40] + hashlib.sha256(model.encode()).hexdigest()[:8]
        self._known: dict[str, Objects] = {}
        self._dimensions: dict[str, int] = {}
        place = urlsplit(settings.url)
        host, secure = place.hostname or "127.0.0.1", place.scheme == "https"
        self._place = (host, settings.grpc_port)
        self._client = weaviate.WeaviateClient(
            connection_params=weaviate.connect.ConnectionParams.from_params(
                http_host=host,
                http_port=place.port or (443 if secure else 80),
                http_secure=secure,
                grpc_host=host,
                grpc_port=settings.grpc_port,
                grpc_secure=secure,
            ),
            auth_client_secret=Auth.api_key(settings.api_key) if settings.api_key else None,
            additional_config=AdditionalConfig(
                timeout=Timeout(init=5, query=CALL_S, insert=CALL_S),
                grpc_config=GrpcConfig(channel_options=RECONNECT),
            ),
            # the checks ask a package registry for news
            skip_init_checks=True,
        )
        atexit.register(self._client.close)
        self._patiently(self._client.connect)
        self._patiently(self._client.get_meta)

    def close(self) -> None:
        """Close the connections; the index is of no use afterwards."""
        atexit.unregister(self._client.close)
        self._client.close()

    def upsert(self, collection: str, keys: tuple[str, ...], vectors: Matrix, hashes: tuple[str, ...]) -> None:
        if not keys:
            return
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        objects = self._made(collection)
        known = self._dimension(collection, objects)
        if known and known != rows.shape[1]:
            raise Invalid(f"vectors of {rows.shape[1]} numbers in a collection of {known}", path="vectors")
        everything = [
            DataObject(properties={"key": key, "hash": digest}, uuid=_id(key), vector=row.tolist())
            for key, digest, row in zip(keys, hashes, rows, strict=True)
        ]
        for some in _batches(everything):
            answer = self._patiently(functools.partial(objects.data.insert_many, some))
            if answer.has_errors:
                first = next(iter(answer.errors.values()))
                raise Unavailable(f"Weaviate at {self._settings.url}: {first.message[:200]}", backend="weaviate")
        self._dimensions[collection] = rows.shape[1]

    def nearest(
        self, collection: str, query: Vector, *, k: int, within: frozenset[str] | None = None
    ) -> tuple[Match, ...]:
        if k < 1:
            return ()
        if within is not None:
            scores = self.similarities(collection, query, within)
        else:
            scores = self._nearest(collection, query, k)
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:k]
        return tuple(Match(key=key, score=score) for key, score in ranked)

    def _nearest(self, collection: str, query: Vector, k: int) -> dict[str, float]:
        """The k nearest, and all that tie with the last of them: the order of ties is not the server's to choose."""
        objects = self._there(collection)
        if objects is None:
            return {}
        self._check(collection, objects, query)
        asked = k + 1
        while True:
            scores = self._scored(objects, query, min(asked, MOST), None)
            ranked = sorted(scores.values(), reverse=True)
            if len(ranked) < min(asked, MOST) or ranked[-1] < ranked[min(k, len(ranked)) - 1] or asked >= MOST:
                return scores
            asked *= 4

    def similarities(self, collection: str, query: Vector, keys: Iterable[str]) -> dict[str, float]:
        objects, wanted = self._there(collection), sorted(set(keys))
        if objects is None or not wanted:
            return {}
        self._check(collection, objects, query)
        found: dict[str, float] = {}
        for some in _batches(wanted):
            found |= self._scored(objects, query, len(some), some)
        return dict(sorted(found.items()))

    def _scored(self, objects: Objects, query: Vector, limit: int, keys: list[str] | None) -> dict[str, float]:
        chosen = Filter.by_id().contains_any([_id(key) for key in keys]) if keys is not None else None
        answer = self._patiently(
            lambda: objects.query.near_vector(
                near_vector=query.tolist(),
                limit=limit,
                filters=chosen,
                return_properties=["key"],
                return_metadata=MetadataQuery(distance=True),
            )
        )
        return {
            str(one.properties["key"]): round(float(np.clip(-(one.metadata.distance or 0.0), -1.0, 1.0)), DECIMALS)
            for one in answer.objects
        }

    def hashes(self, collection: str, keys: Iterable[str] | None = None) -> dict[str, str]:
        objects = self._there(collection)
        if objects is None:
            return {}
        if keys is None:
            everything = self._patiently(lambda: list(objects.iterator(return_properties=["key", "hash"])))
            return dict(sorted((str(one.properties["key"]), str(one.properties["hash"])) for one in everything))
        found: dict[str, str] = {}
        for one in self._objects(objects, keys, vectors=False):
            found[str(one.properties["key"])] = str(one.properties["hash"])
        return dict(sorted(found.items()))

    def count(self, collection: str) -> int:
        objects = self._there(collection)
        if objects is None:
            return 0
        return self._patiently(lambda: objects.aggregate.over_all(total_count=True)).total_count or 0

    def vectors(self, collection: str, keys: Iterable[str]) -> dict[str, Vector]:
        objects = self._there(collection)
        if objects is None:
            return {}
        found = {
            str(one.properties["key"]): np.array(one.vector["default"], dtype=np.float32)
            for one in self._objects(objects, keys, vectors=True)
        }
        return dict(sorted(found.items()))

    def delete(self, collection: str, keys: Iterable[str]) -> None:
        objects, gone = self._there(collection), sorted(set(keys))
        if objects is None:
            return
        for some in _batches(gone):
            chosen = Filter.by_id().contains_any([_id(key) for key in some])
            self._patiently(functools.partial(objects.data.delete_many, where=chosen))
        self._dimensions.pop(collection, None)

    def _objects(self, objects: Objects, keys: Iterable[str], *, vectors: bool) -> Iterator[Any]:
        for some in _batches(sorted(set(keys))):
            ids = [_id(key) for key in some]
            yield from self._patiently(
                functools.partial(objects.query.fetch_objects_by_ids, ids, limit=len(ids), include_vector=vectors)
            ).objects

    def _dimension(self, collection: str, objects: Objects) -> int:
        """Numbers of a vector of the collection; 0 while it is empty."""
        if collection not in self._dimensions:
            answer = self._patiently(lambda: objects.query.fetch_objects(limit=1, include_vector=True))
            if not answer.objects:
                return 0
            self._dimensions[collection] = len(answer.objects[0].vector["default"])
        return self._dimensions[collection]

    def _check(self, collection: str, objects: Objects, query: Vector) -> None:
        known = self._dimension(collection, objects)
        if known and query.shape[0] != known:
            raise Invalid(f"a query of {query.shape[0]} numbers in a collection of {known}", path="query")

    def _name(self, collection: str) -> str:
        return f"Smp{collection.capitalize()}_{self._model}"

    def _there(self, collection: str) -> Objects | None:
        """A collection, when it has this repository as a tenant."""
        if collection not in self._known:
            name = self._name(collection)
            if not self._patiently(lambda: self._client.collections.exists(name)):
                return None
            shared = self._client.collections.use(name)
            if not self._patiently(lambda: shared.tenants.exists(self._tenant)):
                return None
            self._known[collection] = shared.with_tenant(self._tenant)
        return self._known[collection]

    def _made(self, collection: str) -> Objects:
        """A collection with this repository as a tenant; what other models have left of it goes."""
        there = self._there(collection)
        if there is not None:
            return there
        name = self._name(collection)
        shared = self._patiently(lambda: self._create(name))
        self._patiently(lambda: self._forget_other_models(collection))
        self._patiently(lambda: shared.tenants.create([Tenant(name=self._tenant)]))
        self._known[collection] = shared.with_tenant(self._tenant)
        return self._known[collection]

    def _create(self, name: str) -> Objects:
        try:
            if not self._client.collections.exists(name):
                self._client.collections.create(
                    name,
                    properties=[
                        Property(name="key", data_type=DataType.TEXT, tokenization=Tokenization.FIELD),
                        Property(name="hash", data_type=DataType.TEXT, tokenization=Tokenization.FIELD),
                    ],
                    multi_tenancy_config=Configure.multi_tenancy(enabled=True),
                    vector_config=Configure.Vectors.self_provided(
                        vector_index_config=Configure.VectorIndex.flat(distance_metric=VectorDistances.DOT)
                    ),
                )
        except UnexpectedStatusCodeError:
            # another process has made it meanwhile
            if not self._client.collections.exists(name):
                raise
        return self._client.collections.use(name)

    def _forget_other_models(self, collection: str) -> None:
        prefix, own = f"Smp{collection.capitalize()}_", self._name(collection)
        for name in self._client.collections.list_all():
            if name.startswith(prefix) and name != own:
                self._client.collections.use(name).tenants.remove([self._tenant])

    def _patiently(self, work: Callable[[], T]) -> T:
        """Do it again while the server is away, for as long as the settings allow; every request may be repeated."""
        deadline, pause = time.monotonic() + self._settings.patience_s, FIRST_PAUSE_S
        while True:
            try:
                # the client would sleep for a minute by itself before it says that nobody is there
                socket.create_connection(self._place, timeout=CONNECT_S).close()
                return work()
            except (WeaviateBaseError, OSError) as error:
                status = error.status_code if isinstance(error, UnexpectedStatusCodeError) else 503
                if status < 500 or time.monotonic() + pause > deadline:
                    said = " ".join(str(error).split())[:300]
                    hint = (
                        "set SMP_VECTORS_API_KEY"
                        if status in (401, 403)
                        else "start it (make up) or set SMP_VECTORS_URL"
                    )
                    raise Unavailable(
                        f"Weaviate at {self._settings.url}: {said}; {hint}, then repeat the call", backend="weaviate"
                    ) from error
                log.info("Weaviate does not serve (%s); the call is tried again in %.1f s", type(error).__name__, pause)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)


def _id(key: str) -> uuid.UUID:
    return uuid.uuid5(NAMESPACE, key)


def _batches(values: list[T]) -> Iterator[list[T]]:
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]
