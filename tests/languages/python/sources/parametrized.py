# === shapes.py
class Circle:
    def __init__(self):
        pass

    def area(self):
        pass


class Square:
    def __init__(self):
        pass

    def area(self):
        pass


class Hidden:
    pass


ALL = [Circle, Square]


def hook():
    pass


def other():
    pass


# === test_shapes.py
import pytest

from shapes import ALL, Circle, Hidden, Square, hook, other


@pytest.mark.parametrize("kind", ALL)
def test_each(kind):
    shape = kind()
    # -> shapes.py#Circle
    # -> shapes.py#Square.__init__
    # -/> shapes.py#Hidden
    shape.area()
    # -> shapes.py#Circle.area
    # -> shapes.py#Square.area


@pytest.mark.parametrize(("kind", "function"), [(Circle, hook), pytest.param(Square, hook, id="square")])
def test_pairs(kind, function):
    kind().area()
    # -> shapes.py#Circle.area
    # -> shapes.py#Square.area
    function()
    # -> shapes.py#hook
    # -/> shapes.py#other
    # -/> shapes.py#Circle


@pytest.mark.parametrize("function, kind", [[other, Hidden]])
@pytest.mark.parametrize("number", [1, 2])
def test_texts(function, kind, number):
    function()
    # -> shapes.py#other
    # -/> shapes.py#hook


@pytest.mark.parametrize("made", [Circle], indirect=True)
def test_indirect(made):
    made()
    # -/> shapes.py#Circle
