"""What a customer pays less."""

from shop.money import round_half_up


class Discount:
    """A rule that takes something off."""

    def off(self, cents: int) -> int:
        """Cents taken off this amount."""
        raise NotImplementedError


class Percent(Discount):
    """A share of the price."""

    def __init__(self, percent: float) -> None:
        self.percent = percent

    def off(self, cents: int) -> int:
        return round_half_up(cents * self.percent / 100)


class Voucher(Discount):
    """A fixed amount, never more than the price."""

    def __init__(self, worth: int) -> None:
        self.worth = worth

    def off(self, cents: int) -> int:
        return min(self.worth, cents)
