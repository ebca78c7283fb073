"""Options by name, calls that cannot be, tests of kind, computed names, records that are unpacked."""

import functools
import inspect
from typing import Callable, NamedTuple, Optional


def bell():
    pass


def drum():
    pass


def horn():
    pass


def play(sound=None, echo=None):
    sound()
    # -> bell [flow]
    # -/> drum
    echo()
    # -> drum [flow]
    # -/> bell


def loudly(**options):
    play(**options)


def twice(prefix, **options):
    loudly(**options)


def begin():
    twice("x", sound=bell, echo=drum)


def taken(**settings):
    settings.get("first")()
    # -> horn
    # -/> bell
    settings.pop("second", None)()
    # -> bell
    # -/> horn
    merged = {**settings, "third": drum}
    merged["first"]()
    # -> horn
    # -/> drum
    copied = dict(settings, fourth=drum)
    copied["second"]()
    # -> bell
    # -/> drum


def take():
    taken(first=horn, second=bell)


# Arguments that do not fit


def of_one(value):
    pass


def of_two(value, other):
    pass


def of_any(*values, **named):
    pass


def named_only(value, *, wanted):
    pass


def without_default(value, other=None):
    pass


def run_with_one(function):
    function(1)
    # -> of_one [flow]
    # -> of_any [flow]
    # -> without_default [flow]
    # -/> of_two
    # -/> named_only


def run_with_name(function):
    function(1, wanted=2)
    # -> named_only [flow]
    # -> of_any [flow]
    # -/> of_one


def run_all():
    for each in (of_one, of_two, of_any, named_only, without_default):
        run_with_one(each)
    run_with_name(of_one)
    run_with_name(named_only)
    run_with_name(of_any)


# Tests of kind


class Silent:
    pass


class Loud:
    def __call__(self):
        pass


def is_called(thing):
    if callable(thing):
        return thing()
        # -> Loud.__call__ [protocol]
        # -> bell [flow]
    thing()
    # -/> Loud.__call__
    # -/> bell


def is_function(thing):
    if inspect.isfunction(thing):
        thing()
        # -> bell [flow]
        # -/> Silent
    elif inspect.isclass(thing):
        thing()
        # -> Silent [flow]
        # -/> bell


def test_kinds():
    is_called(Silent())
    is_called(Loud())
    is_called(bell)
    is_function(Silent)
    is_function(bell)


async def soon(request):
    pass


def at_once(request):
    return Silent()


async def answer(handler):
    await handler(1)
    # -> soon [flow]
    # -/> at_once


async def answer_all():
    await answer(soon)
    await answer(at_once)


# Computed names


class Walker:
    def visit(self, kind):
        getattr(self, "visit_" + kind)(kind)
        # -> Walker.visit_leaf
        # -> Walker.visit_root
        # -/> Walker.leave_leaf
        name = f"leave_{kind}"
        leave = getattr(self, name, None)
        leave(kind)
        # -> Walker.leave_leaf
        # -/> Walker.visit_leaf
        getattr(self, "_" + kind)(kind)
        # -/> Walker._hidden

    def visit_leaf(self, kind):
        pass

    def visit_root(self, kind):
        pass

    def leave_leaf(self, kind):
        pass

    def _hidden(self, kind):
        pass


# Records that are unpacked


class Plan:
    def __init__(self, maker, extra):
        self.maker = maker
        self.extra = extra

    def __iter__(self):
        return iter((self.maker, self.extra))


class Pair(NamedTuple):
    left: Callable
    right: Callable


def unpacked():
    maker, extra = Plan(bell, drum)
    maker()
    # -> bell [flow]
    # -/> drum
    extra()
    # -> drum [flow]
    # -/> bell
    left, right = Pair(horn, bell)
    left()
    # -> horn [flow]
    # -/> bell
    right()
    # -> bell [flow]
    # -/> horn


# Declared names and parameters keep the functions that they are given


def declared(given):
    kept: Callable[[], None] = given if given else functools.partial(bell)

    def inner():
        kept()
        # -> horn [flow]
        # -> bell [flow]

    return inner


def listed(functions: Optional[list[Callable]] = None):
    for function in functions or ():
        function()
        # -> drum [flow]


def give():
    declared(horn)
    listed([drum])


class Meta(type):
    pass


class Made(metaclass=Meta):
    def __init__(self):
        pass


def of_meta(thing):
    if not isinstance(thing, Meta):
        thing()
        # -> bell [flow]
        # -/> Made.__init__


def make():
    of_meta(Made)
    of_meta(bell)
