"""The palette check: pairs of colours of the dataset."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from annotations.answering import color_vision
from annotations.answering.answer_forms import swatches_of
from annotations.answering.color_vision import ColourPair
from annotations.models import Participant
from generation.engine.worlds.clevr.world import ClevrWorld
from generation.models import Dataset, Split
from tests.worlds.clevr.test_picture import COLOURS

pytestmark = pytest.mark.django_db
Joined = Callable[[], Participant]
CLEVR = {name: rgb for name, rgb in COLOURS.items() if name != "orange"}


def test_the_fixed_number_of_pairs_has_two_equal_colours(joined: Joined) -> None:
    pairs = color_vision.pairs_for(joined(), CLEVR)
    assert len(pairs) == color_vision.PAIRS
    assert sum(pair.is_same for pair in pairs) == color_vision.PAIRS - color_vision.DIFFERENT


def test_a_participant_gets_the_same_pairs_again_and_others_get_other_pairs(joined: Joined) -> None:
    one, other = joined(), joined()
    assert color_vision.pairs_for(one, CLEVR) == color_vision.pairs_for(one, CLEVR)
    assert color_vision.pairs_for(one, CLEVR) != color_vision.pairs_for(other, CLEVR)


def test_pairs_include_colours_that_red_blind_and_green_blind_people_confuse(joined: Joined) -> None:
    pairs = {frozenset((pair.left, pair.right)) for pair in color_vision.pairs_for(joined(), CLEVR)}
    for name, other in (("red", "brown"), ("green", "brown"), ("red", "green")):
        assert frozenset((CLEVR[name], CLEVR[other])) in pairs
    assert frozenset((CLEVR["yellow"], CLEVR["blue"])) not in pairs  # nobody confuses these two


def test_two_colours_are_enough(joined: Joined) -> None:
    pairs = color_vision.pairs_for(joined(), {"red": (255, 0, 0), "green": (0, 255, 0)})
    assert [pair.is_same for pair in pairs].count(False) == 1 and len(pairs) == color_vision.PAIRS


def test_mistakes_on_equal_and_on_different_pairs_are_counted() -> None:
    red, green = (255, 0, 0), (0, 255, 0)
    pairs = [ColourPair(red, red), ColourPair(red, green), ColourPair(green, green)]
    assert color_vision.mistakes(pairs, [True, False, True]) == 0
    assert color_vision.mistakes(pairs, [False, True, True]) == 2


@pytest.mark.parametrize(("mistaken", "expected"), [(None, False), (0, False), (1, False), (2, True), (12, True)])
def test_one_mistake_is_allowed(mistaken: int | None, expected: bool) -> None:
    assert color_vision.is_mistaken(mistaken) is expected


def open_pair(pair: ColourPair, split: Split) -> NDArray[np.int16]:
    with Image.open(BytesIO(color_vision.draw_pair(pair, split))) as image:
        return np.asarray(image.convert("RGB"), np.int16)


def test_a_pair_shows_two_objects_in_the_material_and_light_of_the_dataset(shapes: Dataset) -> None:
    split = shapes.splits.get(name="val")
    seen = swatches_of(split)
    rubber, metal = (open_pair(ColourPair(seen["red"], seen["green"], which), split) for which in (0, 1))
    assert rubber.shape == (color_vision.SIZE, 2 * color_vision.SIZE, 3)
    side = color_vision.SIZE // 2
    for picture in (rubber, metal):
        left, right = picture[side + 20, side], picture[side + 20, side + color_vision.SIZE]
        assert left[0] > 1.3 * left[1] and right[1] > 1.3 * right[0]
        ground = picture[2, 2]
        assert ground.max() - ground.min() < 12
    assert np.abs(rubber - metal).mean() > 5
    same = open_pair(ColourPair(seen["red"], seen["red"]), split)
    assert (same[:, : color_vision.SIZE] == same[:, color_vision.SIZE :]).all()


def test_plain_balls_are_drawn_if_the_world_draws_no_colours(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    split = shapes.splits.get(name="val")
    seen = swatches_of(split)
    monkeypatch.setattr(ClevrWorld, "draw_colour", lambda *_, **__: None)
    color_vision._draw_pairs.cache_clear()
    picture = open_pair(ColourPair(seen["red"], seen["green"]), split)
    color_vision._draw_pairs.cache_clear()
    middle = color_vision.SIZE // 2
    assert tuple(picture[0, 0]) == color_vision.GROUND
    assert picture[middle, middle][0] > 2 * picture[middle, middle][1]


def test_browsers_that_ask_for_all_pairs_at_once_wait_for_one_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def draw_slowly(split: Split, colour: tuple[int, int, int], which: int) -> NDArray[np.uint8]:
        time.sleep(0.01)
        drawn.append((colour, which))
        return np.full((color_vision.SIZE, color_vision.SIZE, 3), colour, np.uint8)

    def ask(which: int) -> int:
        return len(color_vision.draw_pair(ColourPair(CLEVR["red"], CLEVR["green"], which), Split(index_digest="x")))

    monkeypatch.setattr(color_vision, "sealed_split", lambda key, digest: Split(index_digest=digest))
    monkeypatch.setattr(color_vision, "swatches_of", lambda split: CLEVR)
    monkeypatch.setattr(color_vision, "draw_sample", draw_slowly)
    with ThreadPoolExecutor(6) as pool:
        sizes = set(pool.map(ask, [0, 1] * 6))
    assert len(sizes) == 1
    assert len(drawn) == len(set(drawn)) == len(CLEVR) * color_vision.WAYS


@pytest.mark.parametrize("number", range(1, len(CLEVR) + 1))
def test_each_pair_of_a_participant_is_drawn(joined: Joined, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """A split may have any number of colours; the picture of a pair that was not drawn would be missing on the page."""
    some = dict(list(CLEVR.items())[:number])
    monkeypatch.setattr(color_vision, "sealed_split", lambda key, digest: Split(index_digest=digest))
    monkeypatch.setattr(color_vision, "swatches_of", lambda split: some)
    monkeypatch.setattr(color_vision, "draw_sample", lambda split, colour, which: np.full((2, 2, 3), colour, np.uint8))
    sizes = {
        len(color_vision.draw_pair(pair, Split(index_digest=f"{number} colours")))
        for pair in color_vision.pairs_for(joined(), some)
    }
    assert len(sizes) == 1


def test_pairs_show_both_materials(joined: Joined) -> None:
    assert {pair.which for pair in color_vision.pairs_for(joined(), CLEVR)} == {0, 1}
