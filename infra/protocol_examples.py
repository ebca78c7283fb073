"""Run the example calls of `infra/protocol_steps.py` and keep what they answer in `docs/examples/protocol.json`.

    python infra/protocol_examples.py [--check]

An example whose answer still has the recorded shape keeps its recorded values (ids, times), so that a new run changes only
what the code has changed. With `--check` nothing is written; the exit code is 1 when a call fails or a shape differs.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from examples.shop.making import make_shop  # noqa: E402 - examples are not installed
from infra.protocol_steps import STEPS  # noqa: E402
from smp.bootstrap import build_platform  # noqa: E402
from smp.rpc.dispatcher import Dispatcher  # noqa: E402
from smp.rpc.methods import METHOD_GROUPS  # noqa: E402
from smp.rpc.registry import MethodRegistry  # noqa: E402
from smp.settings import load_settings  # noqa: E402

RECORD = ROOT / "docs" / "examples" / "protocol.json"
MOST_ITEMS = 2
MOST_CHARACTERS = 240

Example = dict[str, Any]


def run(folder: Path) -> dict[str, Example]:
    """Method → `{"params": …, "result": …}`, from real calls on a shop made in the folder.

    Raises:
        SystemExit: A call failed; the message has its error.
    """
    make_shop(folder / "shop")
    services = build_platform(load_settings(folder / "shop"))
    services.indexer.refresh()
    dispatcher = Dispatcher(MethodRegistry(METHOD_GROUPS), services)
    kept: dict[str, Any] = {}
    found: dict[str, Example] = {}
    for step in STEPS:
        params = filled(step.params, kept)
        request = {"jsonrpc": "2.0", "id": 1, "method": step.method, "params": params}
        answer = json.loads(dispatcher.handle_bytes(json.dumps(request).encode()) or b"{}")
        if "result" not in answer:
            raise SystemExit(f"error: {step.method} {json.dumps(params)}: {answer.get('error')}")
        kept |= {name: part_at(answer["result"], path) for name, path in step.keep.items()}
        if step.shown:
            shown = json.loads(json.dumps(answer["result"]).replace(str(folder), "/home/ada"))
            shown.pop("index_state", None)
            found[step.method] = {"params": params, "result": shortened(shown)}
    return found


def filled(value: Any, kept: dict[str, Any]) -> Any:
    """Parameters with each `$name` replaced."""
    if isinstance(value, str):
        return kept[value[1:]] if re.fullmatch(r"\$\w+", value) else value
    if isinstance(value, dict):
        return {key: filled(part, kept) for key, part in value.items()}
    return [filled(part, kept) for part in value] if isinstance(value, list) else value


def part_at(result: Any, path: str) -> Any:
    """The part of a result that a dotted path leads to."""
    for key in path.split("."):
        result = result[int(key)] if key.isdigit() else result[key]
    return result


def shortened(value: Any) -> Any:
    """The first entries of lists and the beginning of texts, as a page has room for them."""
    if isinstance(value, dict):
        return {key: shortened(part) for key, part in value.items()}
    if isinstance(value, list):
        return [*(shortened(part) for part in value[:MOST_ITEMS]), *(["…"] if len(value) > MOST_ITEMS else [])]
    return value[:MOST_CHARACTERS] + "…" if isinstance(value, str) and len(value) > MOST_CHARACTERS else value


def shape(value: Any) -> Any:
    """Names and kinds without values: what two runs of the same code have in common."""
    if isinstance(value, dict):  # some are keyed by ids, which are new in each run
        return [(re.sub(r"^[a-z]{3}_.+", "id", key), shape(part)) for key, part in value.items()]
    if isinstance(value, list):
        return [shape(part) for part in value]
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def recorded() -> dict[str, Example]:
    """The examples on record; none where there is no record."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def main() -> int:
    """Run, then write or compare."""
    before = recorded()
    with tempfile.TemporaryDirectory(prefix="smp-examples-") as folder:
        found = run(Path(folder))
    changed = [
        method for method in found.keys() | before.keys() if shape(found.get(method)) != shape(before.get(method))
    ]
    if "--check" in sys.argv[1:]:
        for method in sorted(changed):
            print(f"{method} no longer answers as documented; run: .venv/bin/python infra/protocol_examples.py")
        return 1 if changed else 0
    kept = {method: example if method in changed else before[method] for method, example in found.items()}
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{len(kept)} examples, {len(changed)} of them new or changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
