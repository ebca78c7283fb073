"""Whether a project's tests are run by something that the gate can drive. Which one it is, is found out in the box."""

from __future__ import annotations

import json
import re

_IMPORTED = re.compile(rb"""['"](?:node:test|vitest|@jest/globals)['"]""")
_DECLARED = ("vitest", "jest", "mocha")
_OWN = re.compile(r"\bnode\b.*\s--test\b")


def has_known_runner(test: bytes | None, package: bytes | None) -> bool:
    """Whether a test file imports vitest, jest or Node's own runner, or `package.json` names one of them or mocha.

    Args:
        test: The test file; None asks about the project alone. package: Its `package.json`; None when it has none.
    """
    if test is not None and _IMPORTED.search(test):
        return True
    try:
        described = json.loads(package or b"")
    except ValueError:
        return False
    if not isinstance(described, dict):
        return False
    sections = [described.get(name) for name in ("devDependencies", "dependencies", "scripts")]
    *packages, scripts = [section if isinstance(section, dict) else {} for section in sections]
    return any(name in section for name in _DECLARED for section in packages) or any(
        _OWN.search(str(script)) for script in scripts.values()
    )
