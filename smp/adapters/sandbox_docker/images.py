"""Which image a box is made from: the one asked for, pulled where a registry is reachable, else a base of our own.

The base is a Debian trixie root (CPython 3.13, git) that debootstrap makes once in the cache, imported as it is: no registry
and no Dockerfile. Its name carries the layout's number, so that an older one is not taken for a newer one.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import docker
import msgspec
from docker.errors import DockerException, ImageNotFound
from msgspec.structs import replace

from smp.adapters.sandbox_bubblewrap.interpreters import ASK, Interpreter, trixie_root
from smp.adapters.sandbox_docker.daemon import docker_errors
from smp.domain.errors import SandboxFailed

BASE = "smp-box:trixie-1"
LABEL = "smp.driver"
# What differs between two runs of debootstrap, and what a box has no use for.
_LEFT_OUT = (
    "./var/cache/apt/*",
    "./var/lib/apt/lists/*",
    "./var/log/*",
    "./usr/share/doc/*",
    "./usr/share/man/*",
    "./dev/*",
)


def find_image(api: docker.APIClient, asked: str | None, cache_dir: Path, progress: Callable[[str], None]) -> str:
    """Id of the image of a box.

    Raises:
        SandboxFailed: It is not here and cannot be had; the message says what can.
    """
    name = asked or BASE
    with docker_errors("Docker does not show its images"):
        try:
            return _image_id(api, name)
        except ImageNotFound:
            if asked is None:
                _make_base(api, cache_dir, progress)
            else:
                _pull(api, asked, progress)
        return _image_id(api, name)


def _image_id(api: docker.APIClient, name: str) -> str:
    return str(api.inspect_image(name)["Id"])  # type: ignore[no-untyped-call] # the stubs leave it out


def _pull(api: docker.APIClient, name: str, progress: Callable[[str], None]) -> None:
    progress(f"pulling {name}")
    try:
        api.pull(name if ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest")
    except DockerException as error:
        raise SandboxFailed(
            f"the image {name!r} is not here and cannot be pulled ({error}); load it (docker load), or leave `image` out "
            "for the platform's own"
        ) from error


def _make_base(api: docker.APIClient, cache_dir: Path, progress: Callable[[str], None]) -> None:
    if shutil.which("debootstrap") is None:
        raise SandboxFailed(
            "the base image is made by debootstrap, which is missing; install it: apt-get install debootstrap"
        )
    said: list[str] = []
    root = trixie_root(cache_dir, said.append)
    if root is None:
        raise SandboxFailed(f"the base image cannot be made: {said[-1]}; run as root, with a Debian mirror in reach")
    progress(f"importing {BASE} (once)")
    repository, tag = BASE.split(":")
    command = ["tar", "--sort=name", "--mtime=@0", "--numeric-owner", *(f"--exclude={name}" for name in _LEFT_OUT)]
    with subprocess.Popen([*command, "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as tar:
        api.import_image_from_stream(tar.stdout, repository=repository, tag=tag, changes=[f"LABEL {LABEL}=docker"])
    if tar.returncode:
        api.remove_image(BASE)
        raise SandboxFailed(f"{root} cannot be read whole; remove it and try again")


def ask_image(api: docker.APIClient, image: str, python: str) -> Interpreter | None:
    """The Python of an image, asked in a container without a network; None when it has none.

    Args:
        python: Its name or path in the image.
    """
    with docker_errors("the image's Python cannot be asked"):
        made = api.create_container(
            image,
            ["-c", 'exec "$0" -I -S -c "$1"', python, ASK],
            entrypoint=["/bin/sh"],
            labels={LABEL: "docker"},
            network_disabled=True,
            host_config=api.create_host_config(network_mode="none", cap_drop=["ALL"], mem_limit=256 << 20),
        )
        try:
            api.start(made)
            if api.wait(made)["StatusCode"]:
                return None
            told = api.logs(made, stdout=True, stderr=False)
        finally:
            api.remove_container(made, force=True, v=True)
    try:
        return replace(msgspec.json.decode(told, type=Interpreter), root=image)
    except msgspec.DecodeError:
        return None
