"""Which code host a repository has, and where a token may go."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.bootstrap import build_forge
from smp.cli.doctor import forge
from smp.domain.errors import ForgeFailed, Invalid
from smp.domain.handoffs import BranchChange
from smp.domain.ids import FilePath
from smp.domain.sandboxes import ChangedFile
from smp.handoff.code_hosts import HostKind, find_host, read_token
from smp.settings import ForgeSettings, load_settings
from tests.builders.folder_boxes import git, make_repository

GUESS = ForgeSettings()


@pytest.mark.parametrize(
    ("url", "kind", "api", "project"),
    [
        ("git@github.com:acme/shop.git", "github", "https://api.github.com", "acme/shop"),
        ("https://joe:pw@github.com/acme/shop", "github", "https://api.github.com", "acme/shop"),
        ("ssh://git@ssh.github.com:443/acme/shop.git", "github", "https://api.github.com", "acme/shop"),
        (
            "https://github.acme.example:8443/acme/shop.git",
            "github",
            "https://github.acme.example:8443/api/v3",
            "acme/shop",
        ),
        ("git@gitlab.com:acme/web/shop.git", "gitlab", "https://gitlab.com", "acme/web/shop"),
        ("ssh://git@gitlab.acme.example:2222/acme/shop.git", "gitlab", "https://gitlab.acme.example", "acme/shop"),
        ("https://code.example/acme/shop.git", "git", "", ""),
        ("https://notgithub.com/acme/shop.git", "git", "", ""),
        ("https://github.com/acme", "git", "", ""),
        ("/srv/git/github.com/shop.git", "git", "", ""),
        ("file:///srv/gitlab.com/shop.git", "git", "", ""),
        (None, "git", "", ""),
    ],
)
def test_the_remote_tells_the_host(url: str | None, kind: str, api: str, project: str) -> None:
    found = find_host(GUESS, url, {})
    assert (found.kind, found.api_url, found.project, found.explicit) == (kind, api, project, False)
    assert bool(found.missing) is (kind != "git")


def test_settings_go_before_the_remote() -> None:
    given = ForgeSettings(kind="gitlab", project="acme/other")
    found = find_host(given, "git@code.example:acme/shop.git", {"SMP_GITLAB_TOKEN": "t"})
    assert (found.kind, found.api_url, found.project, found.missing) == (
        "gitlab",
        "https://code.example",
        "acme/other",
        "",
    )
    assert find_host(ForgeSettings(kind="git"), "git@github.com:acme/shop.git", {}).kind is HostKind.GIT


def test_a_committed_file_does_not_decide_where_a_token_goes() -> None:
    elsewhere = ForgeSettings(kind="github", url="https://thief.example/api/v3")
    with pytest.raises(Invalid, match="SMP_FORGE_URL"):
        find_host(elsewhere, "git@github.com:acme/shop.git", {"GITHUB_TOKEN": "t"})
    agreed = find_host(elsewhere, "git@github.com:acme/shop.git", {"SMP_FORGE_URL": elsewhere.url})
    assert (agreed.api_url, agreed.is_remote) == (elsewhere.url, False)


@pytest.mark.parametrize("url", ["http://code.example", "https://joe:pw@code.example", "https://code.example/?a=b"])
def test_an_address_that_would_leak_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        find_host(ForgeSettings(kind="gitlab", url=url), "git@code.example:acme/shop.git", {"SMP_FORGE_URL": url})
    assert caught.value.path == "forge.url"


def test_an_explicit_host_needs_a_project() -> None:
    with pytest.raises(Invalid, match="project"):
        find_host(ForgeSettings(kind="github"), "/srv/shop.git", {})


def test_tokens_come_from_the_environment_or_a_secret_file(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("from-file\n")
    place = {"SMP_GITHUB_TOKEN_FILE": str(file), "GITHUB_TOKEN": "general"}
    assert read_token(HostKind.GITHUB, place) == "from-file"
    assert read_token(HostKind.GITHUB, {**place, "SMP_GITHUB_TOKEN": "own"}) == "own"
    assert read_token(HostKind.GITHUB, {"GITHUB_TOKEN": "general"}) == "general"
    assert read_token(HostKind.GITLAB, place) == ""


@pytest.mark.parametrize("content", ["", "two words", "x" * 5000])
def test_a_secret_file_with_something_else_is_not_shown(tmp_path: Path, content: str) -> None:
    file = tmp_path / "secret"
    file.write_text(content)
    with pytest.raises(Invalid) as caught:
        read_token(HostKind.GITLAB, {"SMP_GITLAB_TOKEN_FILE": str(file)})
    assert not content or content not in caught.value.message
    with pytest.raises(Invalid, match="No such file"):
        read_token(HostKind.GITLAB, {"SMP_GITLAB_TOKEN_FILE": str(tmp_path / "none")})


def test_a_guessed_host_without_a_token_is_a_plain_remote_and_a_named_one_is_refused(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    base = make_repository(repo, {"a.txt": "1\n"})
    git(repo, "remote", "add", "origin", "git@github.com:acme/shop.git")
    settings = load_settings(repo, environ={})
    assert type(build_forge(settings, {})).__name__ == "GitForge"
    assert type(build_forge(settings, {"GITHUB_TOKEN": "t"})).__name__ == "GithubForge"
    named = build_forge(load_settings(repo, environ={"SMP_FORGE_KIND": "github"}), {})
    change = BranchChange(branch="smp/ses_1", base_sha=base, title="t", body="", author="a", files=())
    with pytest.raises(ForgeFailed, match="SMP_GITHUB_TOKEN"):
        named.publish(change, (ChangedFile(path=FilePath("a.txt"), content=b"2\n"),))
    assert git(repo, "for-each-ref", "refs/heads/smp") == ""


def test_doctor_says_which_forge_and_what_is_missing(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    make_repository(repo, {"a.txt": "1\n"})
    assert "plain git" in forge(load_settings(repo, environ={}), {}).seen
    git(repo, "remote", "add", "origin", "https://gitlab.com/acme/shop.git")
    settings = load_settings(repo, environ={})
    bare = forge(settings, {})
    assert (bare.good, "GitLab acme/shop" in bare.seen, "SMP_GITLAB_TOKEN" in bare.mend) == (True, True, True)
    ready = forge(settings, {"SMP_GITLAB_TOKEN": "planted"})
    assert (ready.good, ready.mend, "planted" in str(ready)) == (True, "", False)
    named = load_settings(repo, environ={"SMP_FORGE_KIND": "gitlab"})
    assert (forge(named, {}).good, forge(named, {"SMP_GITLAB_TOKEN": "t"}).good) == (False, True)
    stray = forge(load_settings(repo, environ={"SMP_FORGE_URL": "https://x.example", "SMP_FORGE_KIND": "gitlab"}), {})
    assert (stray.good, "SMP_FORGE_URL" in stray.mend) == (False, True)
