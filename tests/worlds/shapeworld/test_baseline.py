"""The baseline that only looks whether the named shapes are there: what it says, and what it scores on Spatial."""

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
from tests.worlds.shapeworld.test_item_sampler import made

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
def test_it_says_yes_where_every_noun_names_something(text: str, guess: str) -> None:
    assert list(guesses(iter([Item(PAIR, None, (Question(text),))]))) == [guess]


def test_the_world_has_it() -> None:
    assert get_world("shapeworld").baselines == BASELINES


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("name", ["shapeworld-spatial", "shapeworld-spatial-corrupt"])
def test_it_needs_no_relation_on_spatial_and_tells_nothing_on_the_corrupted_one(name: str, split: str) -> None:
    """Of Spatial's false captions, one in a few thousand is true of another world with the same two shapes."""
    spec = read_spec(PRESETS[name]).for_split(split)
    items = list(islice(made(spec), proof.size(4_000, name=f"{name}, {split}: captions of shapes that are there")))
    answers = [question.answer.text for item in items for question in item.questions if question.answer is not None]
    said = list(guesses(iter(items)))
    if name == "shapeworld-spatial-corrupt":
        assert set(said) == {"yes"}
    else:
        assert sum(one == other for one, other in zip(said, answers, strict=True)) > 0.99 * len(answers)
