"""What a customer is about to buy."""

from shop.discounts import Discount


class Cart:
    """Prices and discounts, in the order in which they came."""

    def __init__(self) -> None:
        self.prices: list[int] = []
        self.discounts: list[Discount] = []

    def add(self, cents: int, count: int = 1) -> None:
        """Put `count` pieces into the cart."""
        self.prices.extend([cents] * count)

    def total(self) -> int:
        """What is to be paid, in cents."""
        left = sum(self.prices)
        for discount in self.discounts:
            left -= discount.off(left)
        return left
