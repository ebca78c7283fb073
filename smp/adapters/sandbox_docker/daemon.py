"""Docker's daemon: found as Docker's own tools find it (DOCKER_HOST, else the usual socket), never by `smp.toml`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import docker
from docker.errors import DockerException
from requests.exceptions import RequestException

from smp.domain.errors import SandboxFailed

_TIMEOUT_S = 60


@contextmanager
def docker_errors(what: str) -> Iterator[None]:
    """Turn what the daemon or the way to it says into our own error."""
    try:
        yield
    except (DockerException, RequestException, OSError) as error:
        said = getattr(error, "explanation", None) or error
        raise SandboxFailed(f"{what}: {said}") from error


@contextmanager
def daemon() -> Iterator[docker.APIClient]:
    """A connection of one's own: connections are not shared among threads.

    Raises:
        SandboxFailed: No daemon answers.
    """
    try:
        api = docker.from_env(version="auto", timeout=_TIMEOUT_S).api
    except (DockerException, RequestException, OSError) as error:
        raise SandboxFailed(
            f"no Docker daemon answers ({error}); install one (apt-get install docker.io), start it (systemctl start docker), "
            "or say where it is with DOCKER_HOST"
        ) from error
    try:
        yield api
    finally:
        api.close()
