# A class statement calls the metaclass and the hook of the class above it.
class Meta(type):
    def __new__(mcs, name, bases, namespace):
        return super().__new__(mcs, name, bases, namespace)
        # -/> Meta.__new__

    def __init__(cls, name, bases, namespace):
        pass


class Model(metaclass=Meta):
    # -> Meta.__new__ [protocol]
    # -> Meta.__init__ [protocol]
    # -/> Model.__init_subclass__
    def __init_subclass__(cls):
        pass

    def __init__(self):
        pass


class Book(Model):
    # -> Meta.__new__ [protocol]
    # -> Model.__init_subclass__ [protocol]
    # -/> Model.__init__
    pass


class Plain:
    # -/> Meta.__new__
    # -/> Model.__init_subclass__
    pass


class Other(Plain):
    # -/> Meta.__new__
    # -/> Model.__init_subclass__
    pass
