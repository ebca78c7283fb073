"""How allowed hosts are written."""

from __future__ import annotations

import pytest

from smp.domain.egress import AllowedHost, parse_allowed, public_name
from smp.domain.errors import Invalid


def test_a_name_alone_opens_the_ports_of_the_web() -> None:
    assert [(host.name, host.port, host.dial, host.dial_port, host.pinned) for host in parse_allowed("Repo.Test")] == [
        ("repo.test", 80, "repo.test", 80, False),
        ("repo.test", 443, "repo.test", 443, False),
    ]


@pytest.mark.parametrize(
    ("entry", "dial", "dial_port"),
    [("repo.test:443@10.0.0.5:8443", "10.0.0.5", 8443), ("repo.test:443@10.0.0.5", "10.0.0.5", 443),
     ("repo.test:443@[fd00::1]:8443", "fd00::1", 8443)],
)  # fmt: skip
def test_an_address_after_the_at_is_dialled(entry: str, dial: str, dial_port: int) -> None:
    assert parse_allowed(entry) == (
        AllowedHost(name="repo.test", port=443, dial=dial, dial_port=dial_port, pinned=True),
    )
    assert public_name(entry) == "repo.test:443"


@pytest.mark.parametrize(
    "entry", ["", "https://repo.test", "repo.test:0", "repo.test:70000", "a b", "*.test", "x@", "@y"]
)
def test_what_does_not_read_is_refused(entry: str) -> None:
    with pytest.raises(Invalid, match="no allowed host"):
        parse_allowed(entry)
