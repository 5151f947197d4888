"""Items and statements of SimTown for its tests."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from generation.engine.items import Item
from generation.engine.seeding import Stage, stream
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.simtown.item_sampler import ItemSampler, QuestionPlan
from generation.engine.worlds.simtown.scene import SimTownScene
from generation.engine.worlds.simtown.spec import SimTownSpec

WORLD, MAKER = get_world("simtown"), get_maker("simtown")
BASES = tuple(f"simtown-k{count}{third}" for count in (5, 15, 60) for third in ("", "-distractor"))
RANDOM_BASES = tuple(f"simtown-k{count}-random-distractor" for count in (5, 15, 60))
ALL_RELATIONS = {"questions": {"relations": ["left", "right", "front", "behind"]}}


def spec_of(base: str = "simtown-mini", **changes: Any) -> SimTownSpec:
    """Return a preset with changes."""
    spec = WORLD.read_spec({"base": base, **changes})
    assert isinstance(spec, SimTownSpec)
    return spec


def sized(base: str, *, train: int, test: int = 1, **changes: Any) -> SimTownSpec:
    """Return a preset with other numbers of scenes."""
    return spec_of(base, splits={"train": {"scenes": train}, "test": {"scenes": test}}, **changes)


def make_items(spec: SimTownSpec, split: str, **options: Any) -> Iterator[Item]:
    """Yield all items of a split."""
    for chunk in MAKER.plan(spec, split):
        yield from MAKER.make(spec, split, chunk, **options)


@cache
def items(base: str, count: int) -> Mapping[str, list[Item]]:
    """Return items of a preset: half of train, with Zipf's law, and half of test, with uniform frequencies."""
    spec = sized(base, train=count - count // 2, test=max(count // 2, 1))
    return {split: list(make_items(spec, split)) for split in ("train", "test")}


def scene_of(item: Item) -> SimTownScene:
    assert isinstance(item.scene, SimTownScene)
    return item.scene


def words_asked_of(item: Item) -> tuple[str, str, str]:
    """Return subject, relation and object of an item's question, read from its program's steps."""
    [question] = item.questions
    assert question.program is not None
    steps = {number: step.values for number, step in enumerate(question.program)}
    return steps[3][0], steps[2][0], steps[1][0]


def says_yes(item: Item) -> bool:
    [question] = item.questions
    assert question.answer is not None
    return question.answer.text == "yes"


def sampler(spec: SimTownSpec, *, index: int = 0) -> ItemSampler:
    scenes, choices, words = (
        stream(seed=7, split="statements", index=index, stage=stage)
        for stage in (Stage.SCENE, Stage.QUESTIONS, Stage.WORDS)
    )
    return ItemSampler(spec, scenes=scenes, choices=choices, words=words)


def statements(spec: SimTownSpec, count: int, *, index: int = 0) -> Iterator[tuple[QuestionPlan, bool]]:
    """Yield statements, and whether they are true: half of them. No scene is made, so this is fast."""
    making = sampler(spec, index=index)
    for number in range(count):
        yield making._statement(number % 2 == 0), number % 2 == 0
