"""A small shop: what a cart costs, and what is printed on the receipt."""
