"""The baseline that only checks whether the named shapes occur: its answers, and its score on Spatial."""

from collections.abc import Iterator
from itertools import islice

import pytest

from generation.engine.items import Item, Question
from generation.engine.worlds import get_world
from generation.engine.worlds.base import unanswered
from generation.engine.worlds.shapeworld.baselines import BASELINES
from generation.engine.worlds.shapeworld.scene import Entity
from generation.engine.worlds.shapeworld.spec import PRESETS, read_spec
from tests import proof
from tests.worlds.shapeworld.pictured import scene_of
from tests.worlds.shapeworld.test_item_sampler import generate

[NAMED] = BASELINES
SPEC = read_spec(PRESETS["shapeworld-spatial"])
PAIR = scene_of(
    Entity("square", "red", 0.0, 0.2, 0.5, 0.1, 0.1, 0.0), Entity("cross", "blue", 0.0, 0.8, 0.5, 0.1, 0.1, 0.0)
)


def guesses(items: Iterator[Item]) -> Iterator[str]:
    yield from NAMED.guess(SPEC, map(unanswered, items), learned=(), check=lambda: None)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("The red square is to the left of the blue cross.", "yes"),
        ("The red square is to the right of the blue cross.", "yes"),
        ("The red square is to the left of the red cross.", "no"),
        ("No square is red.", "yes"),
        ("There is a square that is blue.", "yes"),
        ("There is a blue square.", "no"),
        ("There is a circle or there is a cross.", "no"),
        ("Red squares like crosses.", ""),
    ],
)
def test_the_baseline_says_yes_if_every_noun_fits_an_entity(text: str, guess: str) -> None:
    assert list(guesses(iter([Item(PAIR, None, (Question(text),))]))) == [guess]


def test_the_world_has_this_baseline() -> None:
    assert get_world("shapeworld").baselines == BASELINES


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("name", ["shapeworld-spatial", "shapeworld-spatial-corrupt"])
def test_the_baseline_solves_spatial_but_not_spatial_with_corrupted_captions(name: str, split: str) -> None:
    """A few in a thousand false captions of Spatial come from another world with the same two shapes."""
    spec = read_spec(PRESETS[name]).for_split(split)
    items = list(islice(generate(spec), proof.size(4_000, name=f"{name}, {split}: captions of shapes that are there")))
    answers = [question.answer.text for item in items for question in item.questions if question.answer is not None]
    said = list(guesses(iter(items)))
    if name == "shapeworld-spatial-corrupt":
        assert set(said) == {"yes"}
    else:
        assert sum(one == other for one, other in zip(said, answers, strict=True)) > 0.99 * len(answers)
