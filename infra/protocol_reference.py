"""Write `docs/protocol.md` from the registered methods: their docstrings and the JSON schemas of their structs.

    python infra/protocol_reference.py [--check]

With `--check` nothing is written and the exit code is 1 when the page is not what the code says.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgspec

from smp.rpc.errors import CODES
from smp.rpc.method import RpcMethod
from smp.rpc.methods import METHOD_GROUPS

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, EXAMPLES = DOCS / "protocol.md", DOCS / "examples" / "protocol.json"
HEAD = """# Protocol reference

Written by `python infra/protocol_reference.py` from the code; do not edit. JSON-RPC 2.0 over `POST /rpc`, WebSocket
`/ws` and standard input/output (`smp serve --stdio`); `smp call METHOD PARAMS` runs one method in process. Parameters
go by name; unknown ones are refused. A node may be named by id, file path, `path#qualname` or a unique name.

Every result carries `index_state`: `commit` (checked out when the index was brought up to date), `dirty` (files that differ
from that commit; the answer is of their present text), `stale` (files that have changed since they were indexed; what the
answer says of them is of before), the first hundred of each, with `dirty_count` and `stale_count`.

The examples were run, one after the other, on the repository that `python -m examples.shop DIRECTORY` makes, and are run again in
every test run (`infra/protocol_examples.py`); parameters
first, then the result; `index_state` is left out, long lists and texts end in `…`.
"""


def type_text(schema: dict[str, Any]) -> str:
    """One line for a JSON schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return " \\| ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "anyOf" in schema:
        return " or ".join(type_text(part) for part in schema["anyOf"])
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {type_text(schema.get('items', {}))}"
    return str(kind)


def bounds_text(schema: dict[str, Any]) -> str:
    """The bounds of a value, for the table."""
    names = {"minimum": "≥", "maximum": "≤", "minLength": "length ≥", "maxLength": "length ≤", "minItems": "items ≥"}
    bounds = [f"{sign} {schema[key]}" for key, sign in names.items() if key in schema]
    if "pattern" in schema:
        bounds.append(f"`{schema['pattern']}`".replace("|", "\\|"))
    return ", ".join(bounds)


def method_text(method: RpcMethod, example: dict[str, Any] | None) -> str:
    """The section of a method."""
    (schema,), components = msgspec.json.schema_components([method.params], ref_template="#/{name}")
    body = components[str(schema["$ref"]).rsplit("/", 1)[-1]]
    required = set(body.get("required", ()))
    marks = " *(planned)*" if method.planned else " *(internal)*" if method.internal else ""
    lines = [f"### `{method.name}`{marks}", "", method.doc.strip(), ""]
    if body["properties"]:
        lines += ["| parameter | type | bounds |", "|---|---|---|"]
        for name, part in body["properties"].items():
            shown = f"**{name}**" if name in required else name
            lines.append(f"| {shown} | {type_text(part)} | {bounds_text(part)} |")
        lines.append("")
    if example is not None:
        for part in (example["params"], example["result"]):
            lines += ["```json", json.dumps(part, indent=2, ensure_ascii=False), "```", ""]
    return "\n".join(lines)


def page_text() -> str:
    """The whole page."""
    parts, examples = [HEAD], json.loads(EXAMPLES.read_text("utf-8"))
    for group in METHOD_GROUPS:
        parts.append(f"## {group.__name__.rsplit('.', 1)[-1].capitalize()}\n\n{(group.__doc__ or '').strip()}\n")
        parts += [method_text(method, examples.get(method.name)) for method in group.METHODS]
    parts.append("## Errors\n\n| code | error | meaning |\n|---|---|---|")
    rows = sorted(CODES.items(), key=lambda item: (-item[1], item[0].__name__))
    parts += [f"| {code} | {cls.__name__} | {(cls.__doc__ or '').strip().splitlines()[0]} |" for cls, code in rows]
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write or check the page."""
    text = page_text()
    if "--check" in sys.argv[1:]:
        return 0 if PAGE.exists() and PAGE.read_text("utf-8") == text else 1
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
