"""Examples from a stream: the items of a spec are made when they are needed, and no dataset is stored."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, islice
from typing import Any

import numpy as np
from PIL import Image

from generation.engine.endless_dataset import EndlessSplit, read
from generation.engine.items import Item, Media
from generation.engine.learners.base import Learner
from generation.engine.learners.example_writer import ItemRegion
from generation.engine.learners.examples import PARTS, Examples, Regions
from generation.engine.learners.visible_parts import (
    VisibleQuestion,
    item_regions,
    scale,
    visible_parts,
    visible_questions,
)
from generation.engine.spec import BaseSpec
from generation.engine.worlds import get_world


def stream_examples(
    spec: BaseSpec | Mapping[str, Any] | str,
    split: str,
    learner: Learner,
    *,
    scenes: int,
    first: int = 0,
    seed: int | None = None,
) -> Examples:
    """Return examples about scenes (or stories) of a stream, with the parts that a learner sees during its training.

    The scenes from 0 on are those that the command `generate` would store for the split if its answers are open, and
    the later scenes are those that would follow if the split were longer. The same arguments give the same examples.
    To validate and test a learner, use other splits, another seed, or scenes that the training examples do not have.

    Parameters
    ----------
    spec : BaseSpec, mapping or str
        A spec, its JSON (with files named relative to the working directory) or a preset's name.
    split : str
        One of the spec's splits.
    learner : Learner
        It decides which parts the examples have, and its config decides the size of the images.
    scenes : int
        The number of scenes. Their images stay in memory.
    first : int
        The first scene, counted from 0.
    seed : int, optional
        Seed that replaces the spec's, 0 .. 2**64-1.

    Returns
    -------
    generation.engine.learners.examples.Examples
        With answers.

    Raises
    ------
    BadSpec
        If the spec is wrong or has no such split, or if its world can only be imported.
    ValueError
        If `scenes` is less than 1 or `first` is less than 0.
    """
    if scenes < 1 or first < 0:
        raise ValueError(f"Expected at least 1 scene, from a scene of at least 0, got {scenes} from scene {first}.")
    endless = EndlessSplit(read(spec, seed=seed), split)
    world, own = get_world(endless.spec.world), endless.spec.for_split(split)
    visible = visible_parts(type(learner), learner.config)
    is_drawn = world.media is Media.IMAGE and (visible.size is not None or visible.regions)
    questions: list[VisibleQuestion] = []
    items, images, regions = [], [], []
    for number, item in enumerate(_scenes(endless, first=first, scenes=scenes)):
        of_item = list(visible_questions(item, visible=visible, world=world))
        questions += of_item
        items += [number] * len(of_item)
        if is_drawn:
            image, ids = endless.render(item)
            if visible.size is not None:
                images.append(scale(Image.fromarray(image), visible.size))
            if visible.regions:
                size = (ids.shape[0], ids.shape[1])
                regions.append(item_regions(item, world=world, spec=own, picture_size=size, ids=ids))
    return Examples(
        name=f"{world.name}/{split}",
        vocabulary=world.answers(own),
        texts=tuple(question.text for question in questions),
        kinds=tuple(question.kind for question in questions),
        items=np.array(items, np.int64),
        images=np.stack(images) if images else None,
        regions=_join(regions),
        most_counted=world.most_counted(own),
        **_parts(questions),
    )


def _scenes(endless: EndlessSplit, *, first: int, scenes: int) -> Iterator[Item]:
    """Yield the items of a number of scenes from the scene `first` on."""
    chunk, skipped = divmod(first, endless.shape.items)
    return islice(chain.from_iterable(map(endless.items, count(chunk))), skipped, skipped + scenes)


def _parts(questions: Sequence[VisibleQuestion]) -> dict[str, Any]:
    """Return the parts that every question has."""
    known = [part for part in PARTS if all(part in question.parts for question in questions)]
    return {part: tuple(question.parts[part] for question in questions) for part in known}


def _join(items: Sequence[Sequence[ItemRegion]]) -> Regions | None:
    """Return the regions of all items as arrays; None if there are none."""
    regions = [region for item in items for region in item]
    if not regions:
        return None
    return Regions(
        starts=np.cumsum([0, *map(len, items)], dtype=np.int64),
        boxes=np.array([region.box for region in regions], np.float32),
        ids=np.array([region.id for region in regions], np.int64),
        labels=tuple(region.label for region in regions),
    )
