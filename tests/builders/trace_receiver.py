"""A receiver of OTLP traces over HTTP: keeps every span that is sent to it."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Receiver:
    """`url` is the root that senders are told."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Span] = []

    def named(self, name: str) -> list[Span]:
        """Spans of this name, as they came."""
        return [span for span in self.spans if span.name == name]

    def path(self, span: Span) -> list[str]:
        """Names from the root of its trace to a span, as far as they were received."""
        by_id = {one.span_id: one for one in self.spans if one.trace_id == span.trace_id}
        names = [span.name]
        while span.parent_span_id in by_id:
            span = by_id[span.parent_span_id]
            names.append(span.name)
        return names[::-1]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Listens on a free port until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if self.path == "/v1/traces":
                sent = ExportTraceServiceRequest.FromString(body)
                made.spans += [
                    span for resource in sent.resource_spans for scope in resource.scope_spans for span in scope.spans
                ]
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made = Receiver(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
