"""Made counting questions for tests."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from generation.engine.items import Item, Question
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.counting.spec import CountingSpec
from generation.engine.worlds.counting.statements import Statement, statement_of

WORLD, MAKER = get_world("counting"), get_maker("counting")


def spec_of(base: str = "clevr-counting-mini", **changes: Any) -> CountingSpec:
    """Return a preset with changes."""
    spec = WORLD.read_spec({"base": base, **changes})
    assert isinstance(spec, CountingSpec)
    return spec


def sized(scenes: int, **changes: Any) -> CountingSpec:
    """Return a preset with one split, train."""
    others = dict.fromkeys(("val", "test", "grounding"))
    return spec_of(splits={"train": {"scenes": scenes}, **others}, **changes)


def make_items(spec: CountingSpec, split: str = "train", **options: Any) -> Iterator[Item]:
    """Yield all items of a split."""
    for chunk in MAKER.plan(spec, split):
        yield from MAKER.make(spec, split, chunk, **options)


@cache
def items(scenes: int) -> list[Item]:
    """Return scenes of the preset's train split."""
    return list(make_items(sized(scenes)))


def scene_of(item: Item) -> ClevrScene:
    assert isinstance(item.scene, ClevrScene)
    return item.scene


def answer_of(question: Question) -> int:
    assert question.answer is not None
    return int(question.answer.text)


def asked_by(question: Question) -> Statement:
    """Return what a made question asks."""
    assert question.program is not None
    statement = statement_of(question.program)
    assert statement is not None
    return statement
