"""Declared overloads: a call gives what its arguments choose, not all that the implementation may return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, TypeVar, overload


class Base:
    def text(self):
        pass


class Number(Base):
    def text(self):
        pass


class Truth(Base):
    def text(self):
        pass


class Words(Base):
    def text(self):
        pass


class Row(Base):
    def text(self):
        pass


class Rows(Base):
    def text(self):
        pass


class Inline(Base):
    def text(self):
        pass


class Table(Base):
    def text(self):
        pass


class Day(Base):
    def text(self):
        pass


class Moment(Base):
    def text(self):
        pass


class Run(Base):
    def text(self):
        pass


T = TypeVar("T", bound=Base)


@overload
def item(value: bool) -> Truth: ...
@overload
def item(value: int) -> Number: ...
@overload
def item(value: str) -> Words: ...
@overload
def item(value: datetime) -> Moment: ...
@overload
def item(value: date) -> Day: ...
@overload
def item(value: Sequence[dict[str, Any]]) -> Rows: ...
@overload
def item(value: Sequence[Any]) -> Row: ...
@overload
def item(value: dict[str, Any], parent: Row = ...) -> Inline: ...
@overload
def item(value: dict[str, Any], parent: Base | None = ...) -> Table: ...
@overload
def item(value: Callable[[], None]) -> Run: ...
@overload
def item(value: T) -> T: ...
def item(value: Any, parent: Base | None = None) -> Base:
    if isinstance(value, Base):
        return value
    if isinstance(value, bool):
        return Truth()
    if isinstance(value, int):
        return Number()
    if isinstance(value, datetime):
        return Moment()
    if isinstance(value, date):
        return Day()
    if isinstance(value, dict):
        return Inline() if isinstance(parent, Row) else Table()
    if isinstance(value, list):
        return Rows() if value else Row()
    if callable(value):
        return Run()
    return Words()


def literals():
    item(1).text()
    # -> Number.text [receiver_type]
    # -/> Truth.text
    # -/> Words.text
    # -/> Base.text
    item(True).text()
    # -> Truth.text
    # -/> Number.text
    item("one").text()
    # -> Words.text
    # -/> Row.text
    item([1, 2]).text()
    # -> Row.text
    # -/> Rows.text
    # -/> Words.text
    item([{"a": 1}]).text()
    # -> Rows.text
    # -/> Row.text
    item({"a": 1}).text()
    # -> Table.text
    # -> Inline.text
    # -/> Rows.text


def variables(flag):
    number = 5
    held = item(number)
    held.text()
    # -> Number.text
    # -/> Words.text
    either = 1 if flag else "one"
    item(either).text()
    # -> Number.text
    # -> Words.text
    # -/> Row.text


def values_of_the_library():
    item(datetime(2026, 1, 1)).text()
    # -> Moment.text
    # -/> Day.text
    # -/> Number.text
    item(date(2026, 1, 1)).text()
    # -> Day.text
    # -/> Moment.text
    # -/> Base.text


def what_is_handed_back():
    item(Row()).text()
    # -> Row.text
    # -/> Rows.text
    # -/> Number.text
    item(literals).text()
    # -> Run.text
    # -/> Number.text


def nothing_is_known_of(value):
    item(value).text()
    # -/> Number.text
    # -/> Base.text


class Store:
    @overload
    def get(self, key: int) -> Number: ...
    @overload
    def get(self, key: int, default: Words) -> Number | Words: ...
    @overload
    def get(self, key: str) -> Words: ...
    def get(self, key, default=None):
        return self._all[key]

    @overload
    def at(self, place: int) -> Row: ...
    @overload
    def at(self, place: slice) -> Store: ...
    def at(self, place):
        return self._all[place]


def methods(store: Store):
    store.get(1).text()
    # -> Number.text
    # -/> Words.text
    store.get(1, Words()).text()
    # -> Number.text
    # -> Words.text
    store.get("a").text()
    # -> Words.text
    # -/> Number.text
    store.at(3).text()
    # -> Row.text
    store.at(3).get(1)
    # -/> Store.get
