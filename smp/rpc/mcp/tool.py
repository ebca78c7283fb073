"""What a tool is: a parameter struct, a description for the agent's choice, and the protocol calls behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta, Struct, UnsetType


class Call(Protocol):
    """What tools are made of."""

    def __call__(self, method: str, params: Mapping[str, object], /) -> Any:
        """Call a protocol method by name; gives its result struct, raises what the handler raises."""

    def lines(self, file: str, first: int, last: int, *, session_id: str | None) -> str:
        """Present lines of a file, 1-based and inclusive, as the session has it; empty when there is no such file."""


SessionId = Annotated[str, Meta(min_length=1, max_length=200, description="From the tool `session`.")]
FilePath = Annotated[
    str, Meta(min_length=1, max_length=4096, description="Path relative to the repository's root: src/shop/cart.py")
]
Target = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        description="A file path, path#Qualified.name, a node id from another answer, or a bare name where it is unique.",
    ),
]
Budget = Annotated[
    int,
    Meta(ge=200, le=100_000, description="About how many tokens the answer may have; what is left out is counted."),
]
DEFAULT_BUDGET = 4000


class ToolParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all parameters: unknown ones are refused."""


class Tool(Struct, frozen=True, kw_only=True):
    """One tool.

    Attributes:
        params: Its parameters; their docstrings and `Meta` become the schema.
        description: When to use it, and instead of what.
        answer: Makes the protocol calls; gives named results.
        reads: It changes nothing. destroys: it may undo or remove work.
    """

    name: str
    title: str
    params: type[ToolParams]
    description: str
    answer: Callable[[Any, Call], Mapping[str, object]]
    reads: bool = False
    destroys: bool = False

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the parameters, whole: without references to elsewhere."""
        (schema,), components = msgspec.json.schema_components([self.params], ref_template="#/$defs/{name}")
        name = schema["$ref"].rpartition("/")[2]
        top = dict(components.pop(name))
        top.pop("title", None)
        top.pop("description", None)
        return {**top, "$defs": components} if components else top


def given(**values: object) -> dict[str, object]:
    """Parameters of a protocol call: those that were given."""
    return {name: value for name, value in values.items() if value is not None and not isinstance(value, UnsetType)}
