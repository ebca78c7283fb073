"""Functions that built-ins call, names that other scopes bind again, and generic classes."""

from collections import OrderedDict, defaultdict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


def one(value=None):
    pass


def two(value=None):
    pass


def by_key(value):
    return value


def built_ins(numbers):
    list(map(one, numbers))
    # -> one [flow]
    # -/> two
    [*filter(two, numbers)]
    # -> two [flow]
    sorted(numbers, key=by_key)
    # -> by_key [flow]
    # -/> one
    numbers = [one]
    numbers.sort(key=by_key, reverse=True)
    # -> by_key [flow]


def calls_elements():
    for found in map(lambda handed: handed, [one, two]):
        found()
        # -> one [flow]
        # -> two [flow]


def merged():
    table = {}
    table.update({"one": one}, two=two)
    table["two"]()
    # -> two [flow]


chosen = one


def choose():
    global chosen
    chosen = two


choose()
# -> choose [lexical]
chosen()
# -> one [lexical]
# -> two


def outer():
    inner = None

    def bind():
        nonlocal inner
        inner = two

    bind()
    inner()
    # -> two
    # -/> one


def untouched():
    inner = one
    inner()
    # -> one
    # -/> two


class Leaf:
    def grow(self):
        pass


class Stone:
    def grow(self):
        pass


class Box(Generic[T]):
    def __init__(self, content: T):
        self.content = content

    def get(self) -> T:
        return self.content


class Crate(Box[T]):
    pass


def opened(box: Box[Leaf], crate: "Crate[Stone]"):
    box.get().grow()
    # -> Leaf.grow [receiver_type]
    # -/> Stone.grow
    crate.get().grow()
    # -> Stone.grow [receiver_type]
    # -/> Leaf.grow
    box.content.grow()
    # -> Leaf.grow [receiver_type]
    # -/> Stone.grow


def kept():
    table = defaultdict(list)
    table["x"].append(Leaf())
    for leaf in table["x"]:
        leaf.grow()
        # -> Leaf.grow [receiver_type]
        # -/> Stone.grow
    ordered = OrderedDict()
    ordered["x"] = one
    ordered["x"]()
    # -> one
    # -/> two
    for function in deque([two]):
        function()
        # -> two
        # -/> one
