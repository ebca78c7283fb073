"""A small shop and `smp serve` for it, in a process of its own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.builders.command_line import command, environment

MONEY = "def round_half_up(value: float) -> int:\n    return int(value + 0.5)\n"
FILES = {
    "shop/money.py": MONEY,
    "shop/cart.py": (
        "from shop.money import round_half_up\n\n\ndef total(prices: list[float]) -> int:\n"
        '    """What the customer pays."""\n    return round_half_up(sum(prices))\n'
    ),
}


class Server:
    """`smp serve` in a process of its own, that can be ended and started again at the same address."""

    def __init__(self, repo: Path, *, token: str = "", settings: dict[str, str] | None = None) -> None:
        self._repo = repo
        self.token = token
        self._settings = settings or {}
        self.url = ""
        self.start("0")

    def start(self, port: str | None = None) -> None:
        arguments = command("serve", "--port", port or self.url.rstrip("/").rsplit(":", 1)[-1], repo=self._repo)
        self._process = subprocess.Popen(
            arguments, stderr=subprocess.PIPE, text=True, env=environment(SMP_TOKEN=self.token, **self._settings)
        )
        assert self._process.stderr is not None
        lines = iter(self._process.stderr.readline, "")
        self.url = next(match.group() for line in lines if (match := re.search(r"http://\S+/", line)))

    def stop(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=30)
