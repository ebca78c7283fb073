"""Tests of the cart."""

from shop.cart import Cart
from shop.discounts import Percent, Voucher


def test_total_is_the_sum_without_discounts() -> None:
    cart = Cart()
    cart.add(250, 3)
    assert cart.total() == 750


def test_a_voucher_takes_off_no_more_than_the_price() -> None:
    cart = Cart()
    cart.add(300)
    cart.discounts.append(Voucher(500))
    assert cart.total() == 0


def test_a_tenth_off() -> None:
    cart = Cart()
    cart.add(500)
    cart.discounts.append(Percent(10))
    assert cart.total() == 450
