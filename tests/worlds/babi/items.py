"""Stories with questions that are generated from small specs."""

from functools import cache
from typing import Any

from generation.engine.items import Item
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.babi.spec import BabiSpec

WORLD = get_world("babi")


def spec_of(*tasks: int, questions: int = 40, splits: tuple[str, ...] = ("train", "test"), **more: Any) -> BabiSpec:
    """Return a spec of the given tasks with `questions` questions of each task in each split."""
    sizes = {split: {"questions": questions} for split in splits}
    spec = WORLD.read_spec({"world": "babi", "tasks": list(tasks), "splits": sizes, **more})
    assert isinstance(spec, BabiSpec)
    return spec


def generate_items(spec: BaseSpec, split: str = "train") -> list[Item]:
    """Return all items of a split."""
    maker = get_maker("babi")
    return [item for chunk in maker.plan(spec, split) for item in maker.make(spec, split, chunk)]


@cache
def sample_items(task: int) -> tuple[BabiSpec, tuple[Item, ...]]:
    """Return the spec and the items of forty questions of a task."""
    spec = spec_of(task)
    return spec, tuple(generate_items(spec))
