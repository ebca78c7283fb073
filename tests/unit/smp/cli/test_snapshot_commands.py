"""`smp keys`, `smp export --format snapshot`, `smp import`: from one server's hands to another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.command_line import Checkout

FILES = {
    "pkg/__init__.py": "",
    "pkg/a.py": "from pkg.b import two\ndef one():\n    two()\n",
    "pkg/b.py": "def two(): ...\n",
}


@pytest.fixture
def here(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "here" / "repo", FILES)


@pytest.fixture
def there(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "there" / "repo", FILES)


def carried(here: Checkout, folder: Path) -> str:
    return here.run("export", "--format", "snapshot", "--out", str(folder)).stdout.strip()


def test_a_snapshot_of_a_trusted_key_is_taken_over(here: Checkout, there: Checkout, tmp_path: Path) -> None:
    file = carried(here, tmp_path)
    refused = there.run("import", file, check=False)
    assert refused.returncode == 1
    assert "smp keys trust" in refused.stderr
    public = here.run("keys", "export").stdout
    there.run("keys", "trust", "-", stdin=public.encode())
    there.write("pkg/c.py", "def three(): ...\n")
    report = there.answer("import", file, "--json")
    assert (report["signature_verified"], report["re_indexed"]) == (True, ["pkg/c.py"])
    assert "function:pkg/c.py#three" in there.nodes()


def test_a_revoked_key_is_believed_no_longer(here: Checkout, there: Checkout, tmp_path: Path) -> None:
    file = carried(here, tmp_path)
    (key,) = here.answer("keys", "list", "--json")["keys"]
    there.run("keys", "trust", "-", stdin=here.run("keys", "export", key["key_id"]).stdout.encode())
    assert [one["own"] for one in there.answer("keys", "list", "--json")["keys"]] == [False]
    there.run("keys", "revoke", key["key_id"])
    assert there.run("import", file, check=False).returncode == 1
    assert there.run("keys", "list").stdout.startswith("no keys")


def test_what_is_no_snapshot_is_refused_and_leaves_nothing(there: Checkout, tmp_path: Path) -> None:
    (tmp_path / "x.tar.zst").write_bytes(b"no snapshot at all")
    done = there.run("import", str(tmp_path / "x.tar.zst"), check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert not list((there.root / ".smp").glob("snapshots/*"))


def test_of_two_signing_keys_one_is_named(here: Checkout, tmp_path: Path) -> None:
    first, second = (here.run("keys", "new").stdout.split()[0] for _ in range(2))
    refused = here.run("export", "--format", "snapshot", "--out", str(tmp_path), check=False)
    assert first in refused.stderr
    assert second in refused.stderr
    here.run("export", "--format", "snapshot", "--out", str(tmp_path), "--key", second)
