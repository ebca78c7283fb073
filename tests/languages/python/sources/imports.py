"""Imports and re-exports: rows 7 to 13, 15, 16, 17."""

import pkg
import pkg.sub.leaf
import pkg.sub.leaf as leaf
from pkg import exported as renamed
from pkg import sub as submodule
from pkg.stars import *
import importlib
import os.path

pkg.exported()
# -> pkg/impl.py#exported [import]
pkg.sub.leaf.deep()
# -> pkg/sub/leaf.py#deep [import]
leaf.deep()
# -> pkg/sub/leaf.py#deep [import]
renamed()
# -> pkg/impl.py#exported [import]
submodule.leaf.deep()
# -> pkg/sub/leaf.py#deep [import]
starred()
# -> pkg/stars.py#starred [import]
_hidden()
# -/> pkg/stars.py#_hidden
# ?? not_in_imports
unlisted()
# ?? not_in_imports
added()
# -> pkg/stars.py#added [import]
os.path.join("a", "b")
# x> os.path.join
len([])
# x> builtins.len
importlib.import_module("pkg.impl").exported()
# -> pkg/impl.py#exported


def local():
    from pkg.impl import exported

    exported()
    # -> pkg/impl.py#exported [import]


def outside():
    exported()
    # ?? not_in_imports


try:
    from pkg.impl import exported as either
except ImportError:
    from pkg.slow import slow as either

either()
# -> pkg/impl.py#exported
# -> pkg/slow.py#slow
pkg.nothing()
# ?? not_in_imports
# === pkg/__init__.py
from .impl import exported
from . import sub

# === pkg/impl.py
from .cycle import pong


def exported():
    pong()
    # -> pkg/cycle.py#pong [import]


def ping():
    pass


# === pkg/cycle.py
from . import impl


def pong():
    impl.ping()
    # -> pkg/impl.py#ping [import]


# === pkg/slow.py
def slow():
    pass


# === pkg/sub/__init__.py
from ..sub import leaf

# === pkg/sub/leaf.py
from ... import pkg
from ..impl import ping as renamed_ping


def deep():
    renamed_ping()
    # -> pkg/impl.py#ping [import]


# === pkg/stars.py
__all__ = ["starred"]
__all__ += ["added"]


def starred():
    pass


def added():
    pass


def unlisted():
    pass


def _hidden():
    pass


# === scripts/tool.py
import sibling

sibling.help_me()


# -> scripts/sibling.py#help_me [import]
# === scripts/sibling.py
def help_me():
    pass


# === src/lib/space/one.py
from lib.space.two import second

second()


# -> src/lib/space/two.py#second [import]
# === src/lib/space/two.py
def second():
    pass
