"""The palette check: pairs of a dataset's own colours."""

from collections.abc import Callable
from io import BytesIO

import pytest
from PIL import Image

from annotations import palette
from annotations.models import Participant
from annotations.palette import Pair
from tests.worlds.clevr.test_picture import COLOURS

pytestmark = pytest.mark.django_db
Joined = Callable[[], Participant]
CLEVR = {name: rgb for name, rgb in COLOURS.items() if name != "orange"}


def test_half_of_the_pairs_are_the_same(joined: Joined) -> None:
    pairs = palette.pairs_for(joined(), CLEVR)
    assert len(pairs) == palette.PAIRS
    assert sum(pair.is_same for pair in pairs) == palette.PAIRS - palette.DIFFERENT


def test_a_participant_meets_the_same_pairs_again_and_others_meet_others(joined: Joined) -> None:
    one, other = joined(), joined()
    assert palette.pairs_for(one, CLEVR) == palette.pairs_for(one, CLEVR)
    assert palette.pairs_for(one, CLEVR) != palette.pairs_for(other, CLEVR)


def test_what_red_blind_and_green_blind_people_mistake_is_among_them(joined: Joined) -> None:
    pairs = {frozenset(pair) for pair in palette.pairs_for(joined(), CLEVR)}
    for name, other in (("red", "brown"), ("green", "brown"), ("red", "green")):
        assert frozenset((CLEVR[name], CLEVR[other])) in pairs
    assert frozenset((CLEVR["yellow"], CLEVR["blue"])) not in pairs  # whom nobody mistakes


def test_two_colours_are_enough(joined: Joined) -> None:
    pairs = palette.pairs_for(joined(), {"red": (255, 0, 0), "green": (0, 255, 0)})
    assert [pair.is_same for pair in pairs].count(False) == 1 and len(pairs) == palette.PAIRS


def test_mistakes_are_counted_both_ways() -> None:
    red, green = (255, 0, 0), (0, 255, 0)
    pairs = [Pair(red, red), Pair(red, green), Pair(green, green)]
    assert palette.mistakes(pairs, [True, False, True]) == 0
    assert palette.mistakes(pairs, [False, True, True]) == 2


@pytest.mark.parametrize(("mistaken", "expected"), [(None, False), (0, False), (1, False), (2, True), (12, True)])
def test_one_slip_passes(mistaken: int | None, expected: bool) -> None:
    assert palette.is_mistaken(mistaken) is expected


def test_a_pair_is_drawn_as_two_balls() -> None:
    with Image.open(BytesIO(palette.drawn(Pair(CLEVR["red"], CLEVR["cyan"])))) as image:
        assert image.size == (2 * palette.SIZE, palette.SIZE)
        middle = palette.SIZE // 2
        left, right = image.getpixel((middle, middle)), image.getpixel((middle + palette.SIZE, middle))
        assert image.getpixel((0, 0)) == palette.GROUND
    assert isinstance(left, tuple) and left[0] > 2 * left[1]
    assert isinstance(right, tuple) and right[1] > 2 * right[0]
