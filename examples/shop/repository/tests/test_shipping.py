"""Tests of shipping. They do not look at the limit itself: a mutant shows that."""

from shop.cart import Cart
from shop.shipping import shipping


def test_small_orders_pay_for_the_parcel() -> None:
    cart = Cart()
    cart.add(100)
    assert shipping(cart) == 490


def test_large_orders_do_not() -> None:
    cart = Cart()
    cart.add(6000)
    assert shipping(cart) == 0
