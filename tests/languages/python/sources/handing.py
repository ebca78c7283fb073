# === callbacks.py
# A table of functions, each handed over by name, has all of them as targets; how many does not matter.
HANDLERS = {}


def register(name, handler):
    HANDLERS[name] = handler


def run(name):
    return HANDLERS[name]()
    # -> one [flow]
    # -> two [flow]
    # -> six [flow]


def one():
    pass


def two():
    pass


def three():
    pass


def four():
    pass


def five():
    pass


def six():
    pass


def never():
    pass


register("one", one)
register("two", two)
register("three", three)
register("four", four)
register("five", five)
register("six", six)


def still(name):
    return HANDLERS[name]()
    # -/> never


# === wrappers.py
# What is handed on by a call through a value is one of many: with more than a few it is a candidate.
class Server:
    def __init__(self, app):
        self.app = app

    def serve(self, send):
        self.app(send)
        # -> app_one [flow]


def app_one(send):
    send()
    # ?> send_one
    # -/> send_one


def app_two(send):
    send()
    # -/> send_six


def send_one():
    pass


def send_two():
    pass


def send_three():
    pass


def send_four():
    pass


def send_five():
    pass


def send_six():
    pass


def all_of_them():
    one, two = Server(app_one), Server(app_two)
    one.serve(send_one)
    one.serve(send_two)
    one.serve(send_three)
    two.serve(send_four)
    two.serve(send_five)
    two.serve(send_six)


# === factories.py
# What a decorator is made by returns, when it may also be used bare: the function is meant, not what a bare use gives.
class Command:
    def __init__(self, callback):
        self.callback = callback

    def __call__(self):
        return self.callback()


def command(name=None):
    def decorator(function):
        return Command(function)

    if callable(name):
        return decorator(name)
        # -> command.decorator [lexical]
    return decorator


def group(name=None):
    return command(name)


@command("one")
# -> command [lexical]
# -> command.decorator [flow]
# -/> Command.__call__
def first():
    pass


@group("two")
# -> group [lexical]
# -> command.decorator [flow]
# -/> Command.__call__
def second():
    pass


@command
# -> command [lexical]
def third():
    pass


# === bare_or_called.py
# A decorator for both uses, by a partial of itself: called first, it gives the partial, not what a bare use decorates.
from functools import partial


def hook(function=None, *, early=False):
    if function is None:
        return partial(hook, early=early)
    return function


@hook
# -> hook
def bare():
    pass


@hook(early=True)
# -> hook
# -/> bare
def called():
    pass
