"""The packages whose public history the questions come from: chosen before anything was measured, never swapped.

Six to tune on, six to report on; none of them is part of a published benchmark of code search or issue resolution that
this project knows of. A later round of work may add packages at the end of the list, and says which figures are new.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from platformdirs import user_cache_path


class Package(Struct, frozen=True, kw_only=True):
    """A package with its history.

    Attributes:
        repository: Owner and name where it is published.
        head: Newest commit that questions are taken from.
        source: Folder of the package itself; what lies outside answers no question.
        held_out: Reported, never tuned on.
    """

    name: str
    repository: str
    head: str
    source: str
    held_out: bool

    @property
    def history(self) -> Path:
        """Where the bare clone is expected."""
        return user_cache_path("smp") / "bench" / "history" / f"{self.name}.git"


PACKAGES = tuple(
    Package(name=name, repository=repository, head=head, source=source, held_out=held_out)
    for held_out, name, repository, head, source in (
        (False, "click", "pallets/click", "2c8cd3ac958a7eb316d67f2d316c27086c4c0369", "src/click"),
        (False, "httpx", "encode/httpx", "ae1b9f66238f75ced3ced5e4485408435de10768", "httpx"),
        (False, "jinja", "pallets/jinja", "5ef70112a1ff19c05324ff889dd30405b1002044", "src/jinja2"),
        (False, "kombu", "celery/kombu", "9ee8595b835c77b4f04cfb54b40b5d446f985a35", "kombu"),
        (False, "rich", "Textualize/rich", "42899d8a0a96b121a514516f4be9db44ff7aeaf3", "rich"),
        (False, "urllib3", "urllib3/urllib3", "6a8536b6e1b0cbe69ae801337c599951e527ae29", "src/urllib3"),
        (True, "aiohttp", "aio-libs/aiohttp", "495e778360d1924da63e16dba0f0d76baf56a56a", "aiohttp"),
        (
            True,
            "marshmallow",
            "marshmallow-code/marshmallow",
            "341b927f219205704728c05cd61f04d7e9727523",
            "src/marshmallow",
        ),
        (True, "paramiko", "paramiko/paramiko", "8697158113a3eab25ed1d1d541ebe2cad10169a7", "paramiko"),
        (True, "starlette", "encode/starlette", "cb8f84f5284dc301ca7a31eb732b9e140769dd48", "starlette"),
        (True, "tornado", "tornadoweb/tornado", "e530031405e2154654dedc4c84d5656b557ea310", "tornado"),
        (True, "werkzeug", "pallets/werkzeug", "1b00618e787f40dfb21eba29caf8f8be7c8e1d93", "src/werkzeug"),
    )
)
