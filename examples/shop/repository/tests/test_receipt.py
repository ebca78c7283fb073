"""Tests of the receipt."""

from shop.cart import Cart
from shop.receipt import receipt


def test_receipt_ends_with_the_total() -> None:
    cart = Cart()
    cart.add(199)
    cart.add(1)
    assert receipt(cart) == "1.99\n0.01\ntotal 2.00"
