"""The system calls that a container is refused: the bubblewrap driver's own rules, as Docker reads them."""

from __future__ import annotations

import functools
import json

from smp.adapters.sandbox_bubblewrap.filters import Argument, box_rules


@functools.cache
def profile() -> str:
    """A seccomp profile in Docker's format.

    Calls that have no name in libseccomp (open_tree_attr, listmount, statmount) cannot be said in it: without capabilities
    they show the container's own mounts and no others.
    """
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "syscalls": [
                {
                    "names": [rule.call],
                    "action": "SCMP_ACT_ERRNO",
                    "errnoRet": rule.error,
                    "args": [_condition(argument) for argument in rule.arguments],
                }
                for rule in box_rules()
                if isinstance(rule.call, str)
            ],
        }
    )


def _condition(argument: Argument) -> dict[str, int | str]:
    made: dict[str, int | str] = {"index": argument.index, "op": f"SCMP_CMP_{argument.operator}"}
    if argument.operator == "MASKED_EQ":
        return made | {"value": argument.mask, "valueTwo": argument.value}
    return made | {"value": argument.value}
