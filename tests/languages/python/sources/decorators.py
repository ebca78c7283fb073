"""Decorated definitions: rows 56, 57, 60."""

import functools
import contextlib


def plain(function):
    return function


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def arguments(times):
    def decorate(function):
        def again():
            return function()

        return again

    return decorate


@plain
# -> plain
def kept():
    pass


@wrapping
def wrapped():
    pass


@arguments(times=3)
# -> arguments [lexical]
def repeated():
    pass


@functools.lru_cache
def cached():
    pass


kept()
# -> kept [decorated]
wrapped()
# -> wrapped [decorated]
# -> wrapping.wrapper [flow]
repeated()
# -> repeated [decorated]
# -> arguments.decorate.again [flow]
cached()
# -> cached [decorated]


class Registry:
    def register(self, function):
        return function


registry = Registry()


@registry.register
def handler():
    pass


class Wrapper:
    def __init__(self, function):
        self.function = function

    def __call__(self):
        return self.function()


@Wrapper
def replaced():
    pass


replaced()
# -> replaced [decorated]
# -> Wrapper.__call__ [protocol]


@contextlib.contextmanager
def managed():
    yield kept


with managed() as inner:
    inner()
    # -> kept


class Meta(type):
    def __call__(cls):
        pass


class Made(metaclass=Meta):
    pass


Made()
# -> Made
# -> Meta.__call__ [protocol]


class Library:
    def filter(self, name=None, function=None):
        if name is None:

            def dec(inner):
                return self.filter("x", inner)

            return dec
        return function


library = Library()


@library.filter()
def registered():
    pass


registered()
# -> registered [decorated]
# -/> Library.filter.dec
