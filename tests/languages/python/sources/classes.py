"""Classes, construction and hierarchy: rows 20 to 28, 33."""

from dataclasses import dataclass


class Base:
    def __init__(self, name):
        self.name = name

    def shared(self):
        self.hook()
        # -> Base.hook
        # -/> Child.hook

    def hook(self):
        pass

    @classmethod
    def make(cls):
        return cls("x")
        # -> Base [receiver_type]

    @staticmethod
    def plain():
        pass

    def __call__(self):
        pass


class Child(Base):
    def hook(self):
        super().hook()
        # -> Base.hook [hierarchy]
        # -/> Child.hook

    def own(self):
        pass


class NoInit(Child):
    pass


Base("a")
# -> Base [lexical]
# -> Base.__init__ [constructor]
NoInit("b")
# -> NoInit [lexical]
# -> Base.__init__ [constructor]
# -/> Child


def instance():
    x = Child("c")
    x.own()
    # -> Child.own [receiver_type]
    x.shared()
    # -> Base.shared [hierarchy]
    x.hook()
    # -> Child.hook [receiver_type]
    # -/> Base.hook
    x()
    # -> Base.__call__ [protocol]
    x.missing()
    # -/> Base.hook
    # ?? dynamic


def by_class():
    Child.shared(Child("d"))
    # -> Base.shared
    Child.make().own()
    # -> Base.make
    # -> Child.own
    Base.make().own()
    # -/> Child.own
    Child.plain()
    # -> Base.plain


class Left(Base):
    def side(self):
        pass


class Right(Base):
    def side(self):
        pass

    def only_right(self):
        pass


class Both(Left, Right):
    pass


def diamond():
    Both("e").side()
    # -> Left.side [hierarchy]
    # -/> Right.side
    Both("f").only_right()
    # -> Right.only_right [hierarchy]


class Mixin:
    def use(self):
        self.provided()
        # ?> User.provided
        # -/> User.provided


class User(Mixin):
    def provided(self):
        pass


@dataclass
class Point:
    x: int

    def __post_init__(self):
        pass


Point(1)
# -> Point [decorated]
# -> Point.__post_init__ [constructor]


class Outer:
    class Inner:
        def run(self):
            pass


Outer.Inner().run()
# -> Outer.Inner
# -> Outer.Inner.run


class Chain:
    def step(self):
        return self

    def end(self):
        pass


Chain().step().step().end()
# -> Chain.step
# -> Chain.end


class SubChain(Chain):
    def extra(self):
        pass


SubChain().step().extra()
# -> SubChain.extra


class Fixtures:
    class Shared(Base):
        pass


class Suite(Fixtures):
    class Near(Base):
        pass

    renamed = Base

    def near(self):
        class Local(self.Near):
            pass

        Local("d").shared()
        # -> Base.__init__ [constructor]
        # -> Base.shared [hierarchy]

    def inherited(self):
        class Local(self.Shared):
            pass

        Local("e").shared()
        # -> Base.shared [hierarchy]

    @classmethod
    def by_another_name(cls):
        class Local(cls.renamed):
            pass

        Local("f").shared()
        # -> Base.shared [hierarchy]

    def filled(self):
        class Local(self.nowhere):
            pass

        Local("g").shared()
        # -/> Base.shared
