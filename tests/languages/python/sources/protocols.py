"""Syntax that runs methods: rows 34 to 37."""


class Thing:
    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def __iter__(self):
        return self

    def __next__(self):
        return Item()

    def __contains__(self, item):
        return True

    def __add__(self, other):
        return Item()

    def __radd__(self, other):
        return Item()

    def __getitem__(self, key):
        return Item()

    def __setitem__(self, key, value):
        pass

    def __lt__(self, other):
        return True

    def __len__(self):
        return 0

    def __str__(self):
        return ""


class Item:
    def touch(self):
        pass


def syntax(other):
    thing = Thing()
    with thing as entered:
        # -> Thing.__enter__ [protocol]
        # -> Thing.__exit__ [protocol]
        entered.__len__()
        # -> Thing.__len__
    for item in thing:
        # -> Thing.__iter__ [protocol]
        # -> Thing.__next__ [protocol]
        item.touch()
        # -> Item.touch
    1 in thing
    # -> Thing.__contains__ [protocol]
    (thing + 1).touch()
    # -> Thing.__add__ [protocol]
    # -> Item.touch
    1 + thing
    # -> Thing.__radd__ [protocol]
    # -/> Thing.__add__
    thing[0].touch()
    # -> Thing.__getitem__ [protocol]
    # -> Item.touch
    thing[0] = 1
    # -> Thing.__setitem__ [protocol]
    thing < thing
    # -> Thing.__lt__ [protocol]
    f"{thing}"
    # -> Thing.__str__ [protocol]
    with other:
        # -/> Thing.__enter__
        pass
    other + 1
    # -/> Thing.__add__


def builtins_run_them():
    len(Thing())
    # -> Thing.__len__ [protocol]
    str(Thing())
    # -> Thing.__str__ [protocol]
    len([])
    # -/> Thing.__len__


class Endless:
    def __iter__(self):
        return self

    def step(self):
        for item in self:
            # -> Endless.__iter__ [protocol]
            item.step()
            # -/> Endless.step
