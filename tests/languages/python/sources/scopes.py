"""Names in scopes: rows 1, 2, 3, 4, 5, 6."""


def outer():
    later()
    # -> later [lexical]
    outer()
    # -> outer [lexical]

    def inner():
        helper()
        # -> outer.helper [lexical]
        # -/> helper

    def helper():
        pass

    inner()
    # -> outer.inner [lexical]


def helper():
    pass


def later():
    helper()
    # -> helper [lexical]
    # -/> outer.helper


class Holder:
    def helper(self):
        pass

    def method(self):
        helper()
        # -> helper [lexical]
        # -/> Holder.helper


def a():
    pass


def b():
    pass


def rebinds():
    f = a
    f()
    # -> a
    # -/> b
    f = b
    f()
    # -> b
    # -/> a


def branches(flag):
    if flag:
        f = a
    else:
        f = b
    f()
    # -> a
    # -> b


def returns_early(flag):
    f = a
    if flag:
        f = b
        return f()
        # -> b
        # -/> a
    return f()
    # -> a
    # -/> b


try:
    import fast_json

    def decode():
        pass

except ImportError:

    def decode():
        pass


decode()
# -> decode
# -> decode~2


def twice():
    return 1


def twice():
    return 2


def calls_twice():
    twice()
    # -> twice~2
    # -/> twice


current = a


def switch():
    global current
    current = b


def run_current():
    current()
    # -> a
    # -> b


def nonlocal_():
    f = a

    def change():
        nonlocal f
        f = b

    def call():
        f()
        # -> a
        # -> b

    change()
    call()


def shadows(len):
    len([])
    # ?? dynamic


def loop(items):
    f = a
    for item in items:
        f()
        # -> a
        # -> b
        f = b


def unknown():
    nowhere()
    # ?? not_in_imports


def matcher(value):
    match value:
        case 1:
            f = a
        case _:
            f = b
    f()
    # -> a
    # -> b
