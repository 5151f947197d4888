"""Generated items: their captions are as true as their answers say, with the configured share of true ones."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import pytest

from generation.engine.errors import Exhausted
from generation.engine.items import Item
from generation.engine.program import execute
from generation.engine.seeding import Stage
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.shapeworld.item_sampler import MicroworldSampler
from generation.engine.worlds.shapeworld.logical_form import named_together
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import PRESETS, ShapeWorldSpec, read_spec
from tests import proof
from tests.worlds.shapeworld.pictured import chance

WORLD, MAKER = get_world("shapeworld"), get_maker("shapeworld")
ALL = 100_000  # number of items for the properties of all presets together


def generate(spec: ShapeWorldSpec, *, index: int = 0) -> Iterator[Item]:
    """Yield items without end, in batches like those of a split."""
    while True:
        making = MicroworldSampler(spec, worlds=chance(index), words=chance(index, stage=Stage.QUESTIONS))
        yield from (making.item(where="test") for _ in range(256))
        index += 1


def scene_of(item: Item) -> FlatScene:
    assert isinstance(item.scene, FlatScene)
    return item.scene


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_training_has_no_held_out_things_and_the_configured_share_of_true_captions(name: str) -> None:
    spec = read_spec(PRESETS[name]).for_split("train")
    count = proof.size(ALL // len(tuple(PRESETS)), name="instances without what is held out, in their ratio", most=70)
    right = 0
    for item in islice(generate(spec), count):
        [question] = item.questions
        part = spec.part(question.family)
        held_out = set(part.held_out.combinations)
        assert not {entity[:2] for entity in scene_of(item).entities} & held_out
        assert len(scene_of(item).entities) not in part.held_out.counts
        assert not held_out.intersection(named_together(question.program or ())), question.text
        right += question.answer is not None and question.answer.text == "yes"
    share = spec.captions.correct
    assert abs(right - share * count) < 4.5 * (share * (1 - share) * count) ** 0.5


@pytest.mark.parametrize("name", tuple(PRESETS))
def test_answers_of_captions_equal_the_outputs_of_their_programs(name: str) -> None:
    spec = read_spec(PRESETS[name]).for_split("test")
    table = WORLD.functions(spec)
    assert table is not None
    for item in islice(generate(spec), proof.size(1_000)):
        for question in item.questions:
            assert question.program is not None
            assert question.answer is not None
            assert execute(question.program, item.scene, table=table)[-1].value == question.answer.text


def test_the_parts_of_a_mixture_have_the_configured_frequencies() -> None:
    spec = read_spec(PRESETS["shapeworld-mixer"]).for_split("test")
    families = Counter(item.questions[0].family for item in islice(generate(spec), 1_200))
    assert [round(families[number] / 200) for number in range(4)] == [1, 1, 2, 2]


def test_several_captions_of_a_microworld_are_different() -> None:
    data = {"base": "shapeworld-existential", "captions": {"per_scene": 4}, "splits": {"train": {"scenes": 30}}}
    spec = WORLD.read_spec(data)
    [chunk] = MAKER.plan(spec, "train")
    assert chunk.questions == 120
    for item in MAKER.make(spec, "train", chunk):
        assert len({question.text for question in item.questions}) == 4


def test_impossible_parameters_cause_an_error_with_the_number_of_tries() -> None:
    spec = read_spec(
        {"splits": {"train": {"scenes": 1}}, "scene": {"entities_max": 1}, "captions": {"kinds": {"relational": 1.0}}}
    )
    with pytest.raises(Exhausted, match="500") as given_up:
        next(generate(spec))
    assert given_up.value.where == "test"
