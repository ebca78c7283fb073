"""What may not get into a pull request does not, and what may be said is said within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from smp.handoff.clean_text import MAX_CHARACTERS, bounded, issue_line, prose, without_secrets


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -H 'Authorization: Bearer abcdef123456'", "abcdef123456"),
        ("GITHUB_TOKEN=planted123 make", "planted123"),
        ("x --api-key=planted123", "planted123"),
        ("password: planted123", "planted123"),
        ("git clone https://joe:planted123@host/x", "planted123"),
        ("echo ghp_" + "a" * 36, "ghp_a"),
        ("glpat-" + "b" * 20, "bbbb"),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
    ],
)
def test_what_looks_like_a_credential_is_hidden(text: str, secret: str) -> None:
    cleaned = without_secrets(text, ())
    assert secret not in cleaned
    assert "***" in cleaned


@pytest.mark.parametrize(
    "text", ["tokens: 3 passed", "`function:src/auth.py#token`", "def password(self): ...", "a secret b"]
)
def test_words_about_secrets_stay(text: str) -> None:
    assert without_secrets(text, ()) == text


def test_folders_of_this_machine_are_named_not_shown() -> None:
    folders = (Path("/home/joe"), Path("/home/joe/shop"), Path("/"))
    assert (
        without_secrets("cd /home/joe/shop/src && ls /home/joe /home/joey", folders)
        == "cd <shop>/src && ls <joe> /home/joey"
    )


def test_prose_calls_nobody_and_brings_no_markup() -> None:
    assert prose("ask @all\nof <b>us</b>, mail a@b.org") == "ask @\u200ball of &lt;b&gt;us&lt;/b&gt;, mail a@b.org"


def test_issues_are_linked_where_a_host_can() -> None:
    assert issue_line(("#12", "13", "acme/shop#4")) == "Fixes #12, Fixes #13, Fixes acme/shop#4"
    assert (
        issue_line(("https://h.example/a/b/issues/5", "PROJ-1"))
        == "Fixes https://h.example/a/b/issues/5; Issues: PROJ-1"
    )


def test_the_longest_sections_go_first_and_the_head_stays() -> None:
    sections = [["head"], ["## Long", "x" * MAX_CHARACTERS], [], ["## Short", "kept"]]
    text = bounded(sections)
    assert text.startswith("head\n\n## Long\n\n_Left out")
    assert text.endswith("## Short\n\nkept\n".replace("\n\nkept", "\nkept"))
    assert len(bounded([["y" * (2 * MAX_CHARACTERS)], ["## A", "b"]])) == MAX_CHARACTERS
    assert bounded([["a"], ["## B", "c"]]) == "a\n\n## B\nc\n"
