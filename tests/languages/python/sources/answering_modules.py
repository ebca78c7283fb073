# === tools/__init__.py
from .parts import start


def __getattr__(name):
    return name


# === tools/parts.py
def start():
    pass


# === tools/inner.py
def stop():
    pass


# === main.py
import typing as t

import tools
import tools.inner


def uses():
    tools.start()
    # -> tools/parts.py#start [import]
    tools.inner.stop()
    # -> tools/inner.py#stop [import]
    tools.missing()
    # ?? dynamic


def casts(value):
    t.cast("t.Callable[[], int]", uses)()
    # -> uses
    t.cast("Opened", value).close()
    # -> Opened.close [receiver_type]


class Opened:
    def close(self):
        pass


def entered(manager: t.ContextManager[Opened]):
    with manager as opened:
        opened.close()
        # -> Opened.close [receiver_type]
