"""The console's own files: `/` and `/console/…`. They hold no data; what they show comes over `/rpc`, by the reader's token."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

OPEN_PREFIX = "/console/"
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def console_folder() -> Path:
    """Where the files lie: in the package, or beside it in a checkout.

    Raises:
        FileNotFoundError: Neither; the installation is damaged.
    """
    packed = Path(str(files("smp"))) / "console"
    for folder in (packed, packed.parents[1] / "console"):
        if (folder / "index.html").is_file():
            return folder
    raise FileNotFoundError("the console's files are missing; install the package again")


def console_routes() -> list[Route]:
    """The routes; the names are those of the files that are there at the start, so that a path can name nothing else."""
    folder = console_folder()
    names = {path.name for path in folder.iterdir() if path.suffix in _TYPES}

    async def serve(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in names:
            raise HTTPException(404)
        path = folder / name
        return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers=_HEADERS)

    return [Route("/", serve), Route("/console/{name}", serve)]
