# Classes that a call makes, what `__new__` gives, and arguments of methods that are overridden.
class Widget:
    def show(self):
        pass


class Gauge:
    def show(self):
        pass


class Meta(type):
    def __call__(cls, *args, **kwargs):
        return type.__call__(cls, *args, **kwargs)


class Form(metaclass=Meta):
    def __init__(self, data=None):
        self.data = data

    def validate(self):
        pass


def make_form(name="F", **members):
    return type(str(name), (Form,), members)


def run():
    made = make_form(first=Widget())
    # -> make_form [lexical]
    form = made()
    # -> Meta.__call__ [protocol]
    # -> Form.__init__ [constructor]
    form.validate()
    # -> Form.validate [receiver_type]
    form.first.show()
    # -> Widget.show [receiver_type]
    # -/> Gauge.show
    made.first.show()
    # -> Widget.show [receiver_type]
    form.second.show()
    # -/> Widget.show
    type(form)().validate()
    # -> Form.validate [receiver_type]


def double(self):
    self.close()
    # -/> Form.validate


Dynamic = type("Dynamic", (Form,), {"double": double, "gauge": Gauge()})
Called = Meta("Called", (Form,), {"gauge": Widget()})


def use():
    Dynamic().double()
    # -> double [flow]
    Dynamic().gauge.show()
    # -> Gauge.show [receiver_type]
    # -/> Widget.show
    Called().gauge.show()
    # -> Widget.show [receiver_type]
    # -/> Gauge.show


# === maker.py
class Unbound:
    def __init__(self, wanted, **kwargs):
        self.wanted = wanted

    def bind(self):
        return self.wanted()
        # -> Field.__init__ [constructor]
        # -> Text.__init__ [constructor]
        # -/> Never.__init__


class Field:
    def __new__(cls, *args, **kwargs):
        if kwargs:
            return super().__new__(cls)
        return Unbound(cls)

    def __init__(self):
        pass

    def check(self):
        pass


class Text(Field):
    def __init__(self):
        pass


class Never(Field):
    def __init__(self):
        pass


class Same:
    def __new__(cls):
        return super().__new__(cls)

    def check(self):
        pass


def run():
    Text().bind()
    # -> Unbound.bind [receiver_type]
    Text(1).check()
    # -> Field.check [hierarchy]
    Same().check()
    # -> Same.check [receiver_type]
    Same().bind()
    # -/> Unbound.bind


# === overridden.py
class Base:
    def __init__(self, app):
        self.app = app

    def call(self, request):
        def next_(request):
            pass

        return self.dispatch(request, next_)
        # -> Base.dispatch [receiver_type]
        # -/> Own.dispatch

    def dispatch(self, request, call_next):
        raise NotImplementedError


class Own(Base):
    def dispatch(self, request, call_next):
        return call_next(request)
        # -> Base.call.next_ [flow]


class Beside:
    def dispatch(self, request, call_next):
        return call_next(request)
        # -/> Base.call.next_


# === inherited_fields.py
class Json:
    def dump(self):
        pass


class Xml:
    def dump(self):
        pass


def as_number(value):
    pass


class Reader:
    KINDS: dict
    writer = None

    def __init__(self):
        self.rules: dict = {}

    def read(self, name):
        rule = self.rules[name]
        rule(name)
        # -> Lines.first [receiver_type]
        self.KINDS.get(name)(name)
        # -> as_number [flow]
        self.writer().dump()
        # -> Json.dump [receiver_type]
        # -/> Xml.dump
        self.Inner().dump()
        # -/> Lines.Inner.dump


class Lines(Reader):
    KINDS = {"number": as_number}
    writer = Json

    class Inner:
        def dump(self):
            pass

    def __init__(self):
        super().__init__()
        self.rules = {"first": self.first}

    def first(self, name):
        pass


class Apart:
    writer = Xml


# === computed.py
class Renderer:
    def _method(self, name: str):
        return getattr(self, name)

    def render(self, token):
        return self._method(token["kind"])(token)
        # -> Plain.title [hierarchy]
        # -/> Html.title
        # -/> Plain.never
        # -/> Html.only

    def own(self, event):
        return getattr(self, event["kind"], self.fallback)(event)
        # -> Renderer.fallback [receiver_type]

    def fallback(self, event):
        pass


class Plain(Renderer):
    def title(self, token):
        pass

    def never(self, token):
        pass


class Html(Renderer):
    def render(self, token):
        return self._method(token["kind"])(token)
        # -> Html.title [receiver_type]
        # -> Html.only [receiver_type]
        # -/> Plain.title

    def title(self, token):
        pass

    def only(self, token):
        pass


def tokens():
    first = {"kind": "title"}
    first["kind"] = "only"
    return [first, {"name": "never"}]
