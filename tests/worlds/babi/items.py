"""Stories with their questions, made by a small spec."""

from functools import cache
from typing import Any

from generation.engine.items import Item
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.babi.spec import BabiSpec

WORLD = get_world("babi")


def spec_of(*tasks: int, questions: int = 40, splits: tuple[str, ...] = ("train", "test"), **more: Any) -> BabiSpec:
    """Return a spec of some tasks with so many questions of each in each split."""
    sizes = {split: {"questions": questions} for split in splits}
    spec = WORLD.read_spec({"world": "babi", "tasks": list(tasks), "splits": sizes, **more})
    assert isinstance(spec, BabiSpec)
    return spec


def made(spec: BaseSpec, split: str = "train") -> list[Item]:
    """Return all items of a split."""
    maker = get_maker("babi")
    return [item for chunk in maker.plan(spec, split) for item in maker.make(spec, split, chunk)]


@cache
def some(task: int) -> tuple[BabiSpec, tuple[Item, ...]]:
    """Return forty questions of a task, with their spec."""
    spec = spec_of(task)
    return spec, tuple(made(spec))
