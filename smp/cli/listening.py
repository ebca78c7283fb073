"""Where a server listens."""

from __future__ import annotations

import contextlib
import ipaddress
import socket

from smp.domain.errors import Unavailable


def is_loopback(address: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if address == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    return False


def bind(address: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        Unavailable: The address cannot be had.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address.strip("[]"), port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"cannot listen on {address}:{port}: {error.strerror}; choose another with --port", backend="http"
        ) from error
    return listener
