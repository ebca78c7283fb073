# Properties that are objects made by a call: in the class body, by a function that makes them, read through the class.
def read(self):
    return Part()


def write(self, value):
    pass


def remove(self):
    pass


def header(name):
    def fget(self):
        return self.find(name)

    def fset(self, value):
        pass

    return property(fget, fset)


class Part:
    def use(self):
        pass


class Message:
    part = property(read, write, remove)
    length = header("Content-Length")
    named = property(fset=write, fget=read)
    plain = dict(a=1)

    def find(self, name):
        return name


def accesses(message: Message):
    message.part.use()
    # -> read [property]
    # -> Part.use [receiver_type]
    # -/> write
    message.part = 1
    # -> write [property]
    # -/> read
    del message.part
    # -> remove [property]
    message.length
    # -> header.fget [property]
    message.length = 3
    # -> header.fset [property]
    # -/> header.fget
    message.named
    # -> read [property]
    message.plain
    # -/> read
    # -/> header.fget
    Message.part
    # -/> read


def through_the_class(message: Message):
    Message.length.fget(message)
    # -> header.fget [flow]
    Message.length.fset(message, 1)
    # -> header.fset [flow]
    # -/> header.fget
