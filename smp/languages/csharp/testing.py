"""What the test runners of C# collect: xUnit, NUnit, MSTest."""

from __future__ import annotations

import re

TESTS = frozenset({"Fact", "Theory", "Test", "TestCase", "TestCaseSource", "TestMethod", "DataTestMethod"})
HOOKS = frozenset(
    {
        "SetUp", "TearDown", "OneTimeSetUp", "OneTimeTearDown", "TestInitialize", "TestCleanup", "ClassInitialize",
        "ClassCleanup", "GlobalSetup", "GlobalCleanup",
    }
)  # fmt: skip
_TEST_PATH = re.compile(r"(^|/)([Tt]ests?|[^/]*\.([Tt]ests?|UnitTests|IntegrationTests|Specs))/|(Tests?|Specs?)\.cs$")


def is_test_path(path: str) -> bool:
    """Whether a file lies or is named as tests do."""
    return _TEST_PATH.search(path) is not None


def attribute_name(text: str) -> str:
    """The name of an attribute as written: without its arguments, its name space and the ending that may be left out."""
    return text.partition("(")[0].strip().rpartition(".")[2].removesuffix("Attribute")
