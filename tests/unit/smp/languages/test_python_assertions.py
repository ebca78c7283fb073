"""Which tests reach an assertion with what they get from the target, and which only look as if they did."""

from __future__ import annotations

import textwrap

import pytest

from smp.domain.assertions import TestFlow
from smp.domain.ids import FilePath
from smp.languages.python.gate.assertions import python_support, python_surface, python_test_flows

TARGET = FilePath("src/shop/prices.py")
SOURCE = b"""
LEDGER = []

def net(cents, quantity):
    return cents * (quantity - quantity // 10)

def record(entry):
    LEDGER.append(entry)

def load(path):
    return open(path).read()

class Cart:
    def __init__(self):
        self.lines = []

    def add(self, line):
        self.lines.append(line)

    def total(self):
        return sum(self.lines)

    @classmethod
    def of(cls, lines):
        return cls()
"""


def flows(test: str, **support: str) -> dict[str, TestFlow]:
    files = {FilePath(f"tests/{name}.py"): textwrap.dedent(text).encode() for name, text in support.items()}
    surface = python_surface(TARGET, SOURCE)
    header = "import pytest\nfrom shop.prices import net, record, load, Cart\n"
    return {flow.test: flow for flow in python_test_flows((header + textwrap.dedent(test)).encode(), surface, files)}


def missing(test: str, **support: str) -> set[str]:
    return {name for flow in flows(test, **support).values() for name in flow.called - flow.asserted}


ASSERTING = {
    "directly": "def test_a():\n    assert net(1, 2) == 2",
    "through a variable": "def test_a():\n    x = net(1, 2)\n    y = x\n    assert y",
    "through a tuple": "def test_a():\n    a, b = net(1, 2), net(1, 3)\n    assert a == 2\n    assert b == 3",
    "through an f-string": "def test_a():\n    s = f'{net(1, 2)} cents'\n    assert s == '2 cents'",
    "through containers": "def test_a():\n    d = {'k': [net(1, 2)]}\n    assert d['k'][0] == 2",
    "through a comprehension": "def test_a():\n    got = [net(x, 1) for x in (1, 2)]\n    assert got == [1, 2]",
    "in a loop": "def test_a():\n    for x in [net(1, 2)]:\n        assert x == 2",
    "through the walrus": "def test_a():\n    if (x := net(1, 2)):\n        y = x\n    assert y",
    "by an expected error": "def test_a():\n    with pytest.raises(TypeError):\n        net(1, None)",
    "by an error of what was made": "def test_a():\n    c = net(1, 2)\n    with pytest.raises(TypeError):\n        c['k']",
    "by an expected error of a lambda": "def test_a():\n    pytest.raises(TypeError, lambda: net(1, None))",
    "by an expected error of a reference": "def test_a():\n    pytest.raises(TypeError, record, 1, 2)",
    "by the error's text": """
        def test_a():
            try:
                net(1, None)
            except TypeError as error:
                assert 'None' in str(error)
        """,
    "by failing when nothing is raised": """
        def test_a():
            try:
                net(1, None)
            except TypeError:
                pass
            else:
                pytest.fail('no error')
        """,
    "by failing in the body": """
        def test_a():
            try:
                net(1, None)
                pytest.fail('no error')
            except TypeError:
                pass
        """,
    "by raising under a condition": "def test_a():\n    if net(1, 2) != 2:\n        raise AssertionError",
    "by a mutated argument": "def test_a():\n    book = []\n    record(book)\n    assert book == []",
    "by the receiver": "def test_a():\n    c = Cart()\n    c.add(3)\n    assert c.lines == [3]",
    "by another method": "def test_a():\n    c = Cart()\n    c.add(3)\n    assert c.total() == 3",
    "by a class method": "def test_a():\n    assert Cart.of([]).total() == 0",
    "by captured output": "def test_a(capsys):\n    record(1)\n    assert capsys.readouterr().out == ''",
    "by a global": "def test_a():\n    from shop import prices\n    record(1)\n    assert prices.LEDGER == [1]",
    "by a mock": """
        from unittest.mock import Mock
        def test_a():
            m = Mock()
            record(m)
            m.assert_called_once_with(1)
        """,
    "by a patched name": """
        from unittest.mock import patch
        def test_a():
            with patch('shop.prices.LEDGER') as m:
                record(1)
            m.append.assert_called_once_with(1)
        """,
    "by a helper": """
        def expect_two(value):
            assert value == 2
        def test_a():
            expect_two(net(1, 2))
        """,
    "by a helper that is no assertion by name": """
        def same(value):
            inner(value, 2)
        def inner(a, b):
            if a != b:
                raise AssertionError
        def test_a():
            same(net(1, 2))
        """,
    "by unittest": """
        import unittest
        class TestNet(unittest.TestCase):
            def test_a(self):
                self.assertEqual(net(1, 2), 2)
        """,
    "by a method of the test class": """
        class TestNet:
            def same(self, got):
                assert got == 2
            def test_a(self):
                self.same(net(1, 2))
        """,
    "through set-up": """
        class TestCart:
            def setup_method(self):
                self.cart = Cart()
            def test_a(self):
                self.cart.add(3)
                assert self.cart.total() == 3
        """,
    "through a fixture": """
        @pytest.fixture
        def cart():
            cart = Cart()
            yield cart
        def test_a(cart):
            cart.add(2)
            assert cart.lines
        """,
    "through parametrisation": """
        @pytest.mark.parametrize('call', [net, load])
        def test_a(call):
            assert call(1, 2) == 2
        """,
    "in a match": """
        def test_a():
            match net(1, 2):
                case 2:
                    assert True
                case other:
                    pytest.fail(f'{other}')
        """,
    "after awaiting": "async def test_a():\n    got = await net(1, 2)\n    assert got",
    "in a nested function": """
        def test_a():
            def work():
                return net(1, 2)
            assert work() == 2
        """,
    "through a name of the enclosing function": """
        def test_a():
            seen = None
            def work():
                nonlocal seen
                seen = net(1, 2)
            load(work)
            assert seen == 2
        """,
    "in a function that is handed over": """
        def test_a():
            def work(value):
                assert value == 2
            load(work)
        """,
    "through a decorator that keeps the function": """
        def test_a():
            app = Cart()
            @app.add
            def handler():
                return net(1, 2)
            assert app.total() == 2
        """,
    "through a written file": "def test_a(tmp_path):\n    f = tmp_path / 'x'\n    record(f)\n    assert f.read_text() == 'x'",
}

VACUOUS = {
    "the result is dropped": ("def test_a():\n    net(1, 2)\n    assert True", {"net"}),
    "nothing is asserted": ("def test_a():\n    net(1, 2)", {"net"}),
    "the variable is never read": ("def test_a():\n    x = net(1, 2)\n    assert 1 == 1", {"net"}),
    "the variable is bound anew": ("def test_a():\n    x = net(1, 2)\n    x = 2\n    assert x == 2", {"net"}),
    "the assertion is a tuple": ("def test_a():\n    assert (net(1, 2), 'two')", {"net"}),
    "the assertion is or true": ("def test_a():\n    assert net(1, 2) == 3 or True", {"net"}),
    "a literal argument is asserted": ("def test_a():\n    n = 2\n    record(n)\n    assert n == 2", {"record"}),
    "only the other call is asserted": ("def test_a():\n    net(1, 2)\n    assert net(1, 3) or load('x')", set()),
    "another function is asserted": ("def test_a():\n    net(1, 2)\n    assert Cart().total() == 0", {"net"}),
    "the function itself is asserted": ("def test_a():\n    load('x')\n    assert callable(net)", {"load"}),
    "the error is swallowed": (
        "def test_a():\n    try:\n        net(1, None)\n    except TypeError:\n        pass",
        {"net"},
    ),
    "the helper asserts nothing": (
        "def show(x):\n    str(x)\ndef test_a():\n    show(net(1, 2))\n    assert True",
        {"net"},
    ),
    "the method's effect is never seen": (
        "def test_a():\n    c = Cart()\n    c.add(1)\n    assert True",
        {"Cart", "Cart.add"},
    ),
}


@pytest.mark.parametrize("how", ASSERTING)
def test_a_value_reaches_an_assertion(how: str) -> None:
    assert missing(ASSERTING[how]) == set()


@pytest.mark.parametrize(
    "how",
    sorted(
        ASSERTING.keys() - {"through parametrisation", "by an expected error of a reference", "in a nested function"}
    ),
)
def test_the_calls_of_a_test_are_seen(how: str) -> None:
    assert all(flow.called for flow in flows(ASSERTING[how]).values())


@pytest.mark.parametrize("how", VACUOUS)
def test_a_vacuous_test_is_seen_through(how: str) -> None:
    test, functions = VACUOUS[how]
    assert missing(test) == functions


def test_each_test_is_judged_by_itself() -> None:
    got = flows("def test_a():\n    assert net(1, 2)\ndef test_b():\n    net(1, 2)")
    assert [(name, sorted(flow.called - flow.asserted)) for name, flow in got.items()] == [
        ("test_a", []),
        ("test_b", ["net"]),
    ]


def test_fixtures_and_helpers_are_found_in_files_beside() -> None:
    test = """
        from .checks import same
        def test_a(cart):
            cart.add(2)
            same(cart, [2])
    """
    conftest = "import pytest\nfrom shop.prices import Cart\n@pytest.fixture\ndef cart():\n    return Cart()\n"
    assert missing(test, conftest=conftest, checks="def same(c, lines):\n    assert c.lines == lines\n") == set()
    assert missing(test, conftest=conftest, checks="def same(c, lines):\n    pass\n") == {"Cart.add"}


def test_support_files_are_looked_for_beside_and_above() -> None:
    wanted = python_support(FilePath("tests/unit/test_a.py"), b"from .checks import same\nfrom tests.more import x\n")
    assert {"tests/unit/conftest.py", "conftest.py", "tests/unit/checks.py", "tests/more.py"} <= set(wanted)


def test_a_local_function_of_the_same_name_is_not_the_target() -> None:
    assert missing("def net(a, b):\n    return a\ndef test_a():\n    net(1, 2)") == set()


def test_a_damaged_test_file_is_read_as_far_as_it_goes() -> None:
    got = flows("def test_a():\n    net(1, 2)\ndef test_b(:\n    assert net(1, 2)\n")
    assert "test_a" in got
