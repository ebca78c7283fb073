"""Fields, properties, descriptors: rows 29 to 32."""

from functools import cached_property


class Store:
    def save(self):
        pass


class OtherStore:
    def save(self):
        pass


class Service:
    cache: OtherStore

    def __init__(self, store: Store, plain):
        self.store = store
        self.made = OtherStore()
        self.plain = plain
        self.later: Store = plain

    def run(self):
        self.store.save()
        # -> Store.save [receiver_type]
        # -/> OtherStore.save
        self.made.save()
        # -> OtherStore.save [receiver_type]
        # -/> Store.save
        self.cache.save()
        # -> OtherStore.save
        self.later.save()
        # -> Store.save
        self.plain.save()
        # ?> Store.save
        # -/> Store.save
        self.fresh.save()
        # -> OtherStore.save

    def prepare(self):
        self.fresh = OtherStore()

    @property
    def size(self):
        return Store()

    @size.setter
    def size(self, value):
        pass

    @size.deleter
    def size(self):
        pass

    @cached_property
    def slow(self):
        return OtherStore()


def access(service: Service, other):
    service.size
    # -> Service.size [property]
    # -/> Service.size~2
    service.size = 3
    # -> Service.size~2 [property]
    # -/> Service.size
    del service.size
    # -> Service.size~3 [property]
    service.size.save()
    # -> Store.save
    service.slow.save()
    # -> Service.slow [property]
    # -> OtherStore.save
    other.size
    # -/> Service.size
    service.made
    # -/> Service.size


class Upper:
    def __get__(self, instance, owner):
        return Store()

    def __set__(self, instance, value):
        pass


class Model:
    field = Upper()


def descriptor():
    Model().field.save()
    # -> Upper.__get__ [property]
    # -> Store.save
    Model().field = 1
    # -> Upper.__set__ [property]
