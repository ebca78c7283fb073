"""What the test runners of Java collect: JUnit 3 to 5 and TestNG."""

from __future__ import annotations

import re

import tree_sitter

from smp.languages.nominal.syntax import first_of, text_of

TESTS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory"})
HOOKS = frozenset(
    {
        "Before", "After", "BeforeClass", "AfterClass", "BeforeEach", "AfterEach", "BeforeAll", "AfterAll",
        "BeforeMethod", "AfterMethod", "BeforeTest", "AfterTest", "BeforeSuite", "AfterSuite",
    }
)  # fmt: skip
_TEST_PATH = re.compile(
    r"(^|/)(test|tests|it|integrationTest)/|(Test|Tests|IT|TestCase)\.java$|(^|/)Test[A-Z]\w*\.java$"
)


def is_test_path(path: str) -> bool:
    """Whether a file lies or is named as tests do."""
    return _TEST_PATH.search(path) is not None


def is_old_test(name: str, method: tree_sitter.Node, cls: tree_sitter.Node) -> bool:
    """JUnit 3: `testX()` in a class that extends a `…TestCase`."""
    if not name.startswith("test") or method.type != "method_declaration":
        return False
    base = first_of(cls, "superclass")
    parameters = method.child_by_field_name("parameters")
    return (
        base is not None
        and text_of(base).rstrip().endswith("TestCase")
        and not (parameters and parameters.named_children)
    )
