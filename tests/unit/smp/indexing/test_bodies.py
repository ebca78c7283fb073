"""Words of bodies: what full text learns from code beyond names and documentation."""

from __future__ import annotations

from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse
from smp.indexing.bodies import BODY_WORDS
from smp.indexing.records import encode_analysis

SOURCE = b'''"""Module words."""

LIMIT = compute_limit()


class Store:
    """Keeps sessions."""

    backend = RedisBackend()

    def expire(self, key):
        """Drop a session whose lease has run out."""
        # the lease is counted in seconds
        return self.backend.removeLease(key, lease=session_timeout)
'''


def bodies_of(source: bytes, path: str = "shop/store.py") -> dict[str, set[str]]:
    analysis = analyse(FilePath(path), source)
    return {node.rpartition("#")[2]: set(words.split()) for node, words in analysis.bodies.items()}


def test_a_function_has_the_words_of_its_code_beyond_name_signature_documentation_and_comments() -> None:
    words = bodies_of(SOURCE)["Store.expire"]
    assert words == {"backend", "remove", "lease", "session", "timeout"}


def test_a_class_and_a_file_have_the_words_outside_the_definitions_in_them() -> None:
    found = bodies_of(SOURCE)
    assert found["Store"] == {"backend", "redis"}
    assert "limit" in found["file:shop/store.py"]
    assert "redis" not in found["file:shop/store.py"]


def test_a_word_of_the_docstring_counts_when_the_code_says_it_too() -> None:
    source = b'def go(path):\n    """Opens the archive."""\n    return archive(path)\n'
    assert bodies_of(source)["go"] == {"archive"}


def test_a_long_body_is_cut_and_syntax_is_left_out() -> None:
    calls = b"\n".join(b"    return alpha%dq()" % number for number in range(3 * BODY_WORDS))
    words = bodies_of(b"def many():\n" + calls)["many"]
    assert len(words) == BODY_WORDS
    assert "return" not in words


def test_bodies_are_no_part_of_what_is_kept_of_an_analysis() -> None:
    assert b"redis" not in encode_analysis(analyse(FilePath("shop/store.py"), SOURCE)).replace(b"RedisBackend", b"")


def test_other_languages_have_bodies_too() -> None:
    words = bodies_of(b"export function pay(order) { return gateway.chargeCard(order) }\n", "pay.ts")["pay"]
    assert words == {"gateway", "charge", "card"}


def test_halves_of_surrogate_pairs_in_literals_can_be_stored() -> None:
    source = b'def f():\n    """Bad \\udcff."""\n    g("\\udcff")\n    g("\\U0000d800")\n'
    analysis = analyse(FilePath("a.py"), source)
    assert analysis.nodes[1].metadata.docstring == "Bad \ufffd."
    assert encode_analysis(analysis)
    assert encode_analysis(analyse(FilePath("a.ts"), b'export function f() { g("\\udcff", {"\\ud800": 1}) }\n'))
