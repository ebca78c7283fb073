"""What the customer takes home on paper."""

from shop.cart import Cart
from shop.money import as_text


def receipt(cart: Cart) -> str:
    """One line a price, and the total."""
    lines = [as_text(cents) for cents in cart.prices]
    return "\n".join([*lines, f"total {as_text(cart.total())}"])
