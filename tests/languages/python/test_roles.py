"""Which Python files count as tests: what defines tests, and what lies among them."""

from __future__ import annotations

import pytest

from smp.domain.ids import FilePath
from smp.indexing.analyse import analyse

TESTS = b"def test_it():\n    assert True\n"
CODE = b"def run():\n    return 1\n"


@pytest.mark.parametrize(
    ("path", "content", "role"),
    [
        ("tests/test_cart.py", TESTS, "test"),
        ("tests/builders.py", CODE, "test"),
        ("tests/unit/deep/data.py", CODE, "test"),
        ("testing/test_cart.py", TESTS, "test"),
        ("testing/tools.py", CODE, "test"),
        ("conftest.py", CODE, "test"),
        ("shop/conftest.py", CODE, "test"),
        ("shop/test_cart.py", TESTS, "test"),
        ("shop/cart_test.py", b"class CartTest(TestCase):\n    pass\n", "test"),
        ("shop/tests/tools.py", CODE, "test"),
        ("shop/tests.py", TESTS, "test"),
        ("packages/shop/test/tools.py", CODE, "test"),
        ("my-app/test/tools.py", CODE, "test"),
        ("shop/test_imports.py", CODE, "source"),
        ("shop/testing.py", CODE, "source"),
        ("shop/testing/client.py", CODE, "source"),
        ("src/shop/testing/client.py", CODE, "source"),
        ("django/test/client.py", CODE, "source"),
        ("django/test/utils/tools.py", CODE, "source"),
        ("shop/testing/tests/test_client.py", TESTS, "test"),
        ("shop/testing/test_client.py", TESTS, "test"),
        ("shop/testimonials/views.py", CODE, "source"),
    ],
)
def test_the_role_of_a_file(path: str, content: bytes, role: str) -> None:
    assert analyse(FilePath(path), content).nodes[0].role == role


def test_functions_of_a_shipped_testing_module_are_functions() -> None:
    source = b"class Client:\n    def test_path(self):\n        pass\n"
    kinds = [node.kind.value for node in analyse(FilePath("shop/testing/client.py"), source).nodes]
    assert kinds == ["File", "Class", "Function"]
