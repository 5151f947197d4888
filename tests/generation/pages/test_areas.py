"""The label of an object is within the picture, near the object."""

from hypothesis import given
from hypothesis import strategies as st

from generation.browsing.outlines import ElementPlace, VisibleElement
from generation.browsing.pictures import Picture
from generation.browsing.question import areas_of, text_of, tip_for
from generation.engine.items import Element

PICTURE = Picture("x.png", 480, 320, "")


def seen_at(x, top, bottom):
    return VisibleElement(ElementPlace(x, (top + bottom) / 2, 50), "M0 0Z", top, bottom)


@given(st.integers(0, 480), st.integers(0, 319), st.integers(0, 319), st.integers(1, 50))
def test_a_label_lies_within_the_picture(x, one, other, letters):
    tip = tip_for("m" * letters, seen_at(x, min(one, other), max(one, other)), PICTURE)
    assert tip.x >= -0.1 and tip.x + tip.width <= 480.1
    assert tip.y >= 0 and tip.y + tip.height <= 320.1
    assert tip.y < tip.base < tip.y + tip.height


def test_a_label_is_above_its_object_or_below_if_there_is_no_room():
    above = tip_for("a thing", seen_at(200, 100, 150), PICTURE)
    assert above.y + above.height < 100
    assert tip_for("a thing", seen_at(200, 5, 150), PICTURE).y > 150


def test_a_hidden_object_has_no_area():
    elements = [Element(0, "one"), Element(1, "two")]
    assert [area.element.id for area in areas_of(elements, {1: seen_at(9, 3, 7)}, PICTURE)] == [1]


def test_the_label_adds_the_attributes_that_the_name_lacks():
    assert text_of(Element(3, "small red cube", {"size": "small", "finish": "matte"})) == "3: small red cube, matte"
