"""Functions as values: rows 44 to 53, 55, 57 to 59."""

from functools import partial


def one():
    pass


def two():
    pass


def apply(function):
    return function()
    # -> one [flow]
    # -/> two


apply(one)
# -> apply [lexical]
# => one


def by_keyword(*, action=two):
    action()
    # -> one [flow]
    # -> two [flow]


by_keyword(action=one)


def forward(*args, **kwargs):
    return target(*args, **kwargs)
    # -> target


def target(first, second=None, third=None):
    first()
    # -> one
    # -/> two
    third()
    # -> two
    # -/> one


forward(one, third=two)


def factory():
    def made():
        pass

    return made


factory()()
# -> factory
# -> factory.made [flow]


def identity(value):
    return value


identity(one)()
# -> one
# -/> two
identity(two)()
# -> two
# -/> one


def closure(callback):
    def inner():
        callback()
        # -> two [flow]

    return inner


closure(two)()
# -> closure.inner


def make(kind):
    class Local:
        def run(self):
            pass

    return Local()


make(1).run()
# -> make.Local.run

handlers = [one, two]
handlers[0]()
# -> one
# -/> two
table = {"a": one, "b": two}
# => one
table["b"]()
# -> two
# -/> one


def pick(name):
    table[name]()
    # -> one
    # -> two


queue = []
queue.append(one)
# x> builtins.list.append
for job in queue:
    job()
    # -> one
    # -/> two

x, y = one, two
x, y = y, x
x()
# -> two
# -/> one
(z := one)()
# -> one
for position, job in enumerate([one]):
    job()
    # -> one
for left, right in zip([one], [two]):
    left()
    # -> one
    # -/> two


def generate():
    yield one


for job in generate():
    job()
    # -> one
bound = partial(target, one)
bound(two)
# -> target
later = lambda: one()
# -> one
sorted([], key=lambda item: two())
# -> two


class Runner:
    def work(self):
        pass

    def start(self, pool):
        pool.submit(self.work)
        # => Runner.work
        getattr(self, "work")()
        # -> Runner.work
        getattr(self, pool)()
        # ?? dynamic
        # -/> Runner.work


def get():
    pass


def plain(values: dict, text: str):
    values.get("x")
    # x> builtins.dict.get
    # -/> get
    text.get()
    # -/> get
    {}.get("x")
    # x> builtins.dict.get
    "a".join([])
    # x> builtins.str.join


async def fetch():
    pass


async def wait():
    await fetch()
    # -> fetch [lexical]


def not_called(callback):
    return callback


not_called(one)
# -/> one
# => one
