"""Which policy a new box gets, and what its client hears of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.domain.errors import Invalid
from smp.domain.sandboxes import EgressPolicy
from smp.sandboxes.egress import choose_policy, wire_allowed, wire_policy
from smp.settings import SandboxSettings, load_settings


def registries() -> tuple[str, ...]:
    return ("index.test", "files.test")


def test_nothing_is_allowed_and_no_client_is_asked_by_default() -> None:
    def unasked() -> tuple[str, ...]:
        raise AssertionError

    policy = choose_policy(SandboxSettings(), unasked)
    assert (policy, wire_policy(policy), wire_allowed(policy)) == (EgressPolicy(), "none", ())


def test_the_registries_of_the_machine_and_named_hosts_are_allowed() -> None:
    settings = SandboxSettings(egress="registry_only", allowed_hosts=("own.test:443@10.0.0.5:8443",))
    policy = choose_policy(settings, registries)
    assert policy.allowed_hosts == ("files.test", "index.test", "own.test:443@10.0.0.5:8443")
    assert (wire_policy(policy), wire_allowed(policy)) == (
        "registry_only",
        ("files.test", "index.test", "own.test:443"),
    )


def test_a_host_that_does_not_read_is_refused() -> None:
    with pytest.raises(Invalid, match="no allowed host"):
        choose_policy(SandboxSettings(allowed_hosts=("https://x",)), registries)


def test_the_environment_opens_ways_out_and_the_repository_does_not(tmp_path: Path) -> None:
    environ = {"SMP_SANDBOX_EGRESS": "registry_only", "SMP_SANDBOX_ALLOWED_HOSTS": "a.test,b.test:443"}
    found = load_settings(tmp_path, environ=environ).sandbox
    assert (found.egress, found.allowed_hosts) == ("registry_only", ("a.test", "b.test:443"))
    for line in ('egress = "registry_only"', 'allowed_hosts = ["evil.test"]'):
        (tmp_path / "smp.toml").write_text(f"[sandbox]\n{line}\n")
        with pytest.raises(Invalid, match="SMP_SANDBOX_"):
            load_settings(tmp_path, environ={})


def test_a_driver_that_does_not_exist_is_refused_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "smp.toml").write_text('[sandbox]\ndriver = "jail"\n')
    with pytest.raises(Invalid, match=r"jail.*sandbox\.driver"):
        load_settings(tmp_path, environ={})
