"""Amounts are whole cents."""


def round_half_up(cents: float) -> int:
    """The nearest whole cent; half a cent goes up."""
    return int(cents)


def as_text(cents: int) -> str:
    """An amount as people write it."""
    return f"{cents // 100}.{cents % 100:02d}"
