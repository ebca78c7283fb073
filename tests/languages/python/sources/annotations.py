"""Declared types: rows 14, 38 to 43."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Optional, Protocol, Self, TypeVar, Union

if TYPE_CHECKING:
    from models import Remote


class Cat:
    def speak(self):
        pass

    def purr(self) -> Cat:
        return self

    def fluent(self) -> Self:
        return self


class Kitten(Cat):
    def speak(self):
        pass


class Dog:
    def speak(self):
        pass


def declared(cat: Cat, maybe: Optional[Cat], text: "Cat | None", either: Union[Cat, Dog], anything: Any):
    cat.speak()
    # -> Cat.speak [receiver_type]
    # -/> Kitten.speak
    # -/> Dog.speak
    maybe.speak()
    # -> Cat.speak
    text.speak()
    # -> Cat.speak
    either.speak()
    # -> Cat.speak
    # -> Dog.speak
    anything.speak()
    # ?? dynamic
    # ?> Cat.speak
    cat.purr().purr().speak()
    # -> Cat.purr
    # -> Cat.speak


def remote(r: Remote):
    r.go()
    # -> models.py#Remote.go


def elements(cats: list[Cat], by_name: dict[str, Dog], many: Iterable[Cat], pair: tuple[Cat, Dog]):
    for cat in cats:
        cat.speak()
        # -> Cat.speak
        # -/> Dog.speak
    by_name["x"].speak()
    # -> Dog.speak
    for dog in by_name.values():
        dog.speak()
        # -> Dog.speak
    for name, dog in by_name.items():
        dog.speak()
        # -> Dog.speak
        name.speak()
        # -/> Dog.speak
    [c.speak() for c in many]
    # -> Cat.speak
    first, second = pair
    first.speak()
    # -> Cat.speak
    # -/> Dog.speak
    second.speak()
    # -> Dog.speak
    # -/> Cat.speak
    cats[0].speak()
    # -> Cat.speak


class Shape(Protocol):
    def area(self): ...


class Square:
    def area(self):
        pass


class Job(ABC):
    @abstractmethod
    def run(self): ...


class Task(Job):
    def run(self):
        pass


def contracts(shape: Shape, job: Job):
    shape.area()
    # -> Shape.area
    # -/> Square.area
    job.run()
    # -> Job.run
    # -/> Task.run


def narrowed(value, animal: Cat | Dog):
    if isinstance(value, Dog):
        value.speak()
        # -> Dog.speak
        # -/> Cat.speak
    if isinstance(animal, Dog):
        animal.speak()
        # -> Dog.speak
        # -/> Cat.speak
    else:
        animal.speak()
        # -> Cat.speak
        # -/> Dog.speak
    if not isinstance(value, Cat):
        return
    value.speak()
    # -> Cat.speak


def matched(value):
    match value:
        case Dog():
            value.speak()
            # -> Dog.speak
        case Cat() as cat:
            cat.speak()
            # -> Cat.speak


def returned() -> Dog:
    return unknown_factory()
    # ?? not_in_imports


returned().speak()
# -> returned
# -> Dog.speak
Cat().fluent().speak()
# -> Cat.speak
T = TypeVar("T", bound=Cat)


def bound(value: T):
    value.speak()
    # -> Cat.speak


# === models.py
class Remote:
    def go(self):
        pass
