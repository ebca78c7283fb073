"""Functions as values across files: rows 44 to 47, 56."""

from library import apply, closure, counted, keep, Service


def task():
    pass


def other():
    pass


apply(task)
# -> library.py#apply [import]
# => task
closure(other)()
# -> library.py#closure.inner [flow]
keep(task)()
# -> task
# -/> other


@counted
def job():
    pass


job()
# -> job [decorated]
# -> library.py#counted.wrapper [flow]
Service(task).run()


# -> library.py#Service.run
# === library.py
def apply(function):
    function()
    # -> flow_across.py#task [flow]
    # -/> flow_across.py#other


def closure(callback):
    def inner():
        callback()
        # -> flow_across.py#other [flow]
        # -/> flow_across.py#task

    return inner


def keep(value):
    return value


def counted(function):
    def wrapper():
        return function()
        # -> flow_across.py#job [flow]

    return wrapper


class Service:
    def __init__(self, action):
        self.action = action

    def run(self):
        self.action()
        # -> flow_across.py#task
