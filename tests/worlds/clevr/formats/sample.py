"""A small CLEVR dataset for the tests of export formats, in memory: three open splits and one withheld split."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.engine.content_hash import Fingerprint
from generation.engine.formats import ExportItem
from generation.engine.items import Facet, Item, Needs
from generation.engine.spec import BaseSpec
from generation.engine.worlds.clevr.world import WORLD, ClevrMaker
from tests.engine.formats.sample import Dataset, withhold

PER_SCENE = 5
SPLITS: dict[str, dict[str, Any]] = {
    "train": {"scenes": 4},
    "val": {"scenes": 2},
    "test": {"scenes": 2},
    "hidden": {"scenes": 1, "withheld": True},
}
COGENT: dict[str, dict[str, Any]] = {name: {"scenes": 1} for name in ("trainA", "valA", "valB", "testA", "testB")}
MAKER = ClevrMaker()


@dataclass(frozen=True)
class Split:
    """A split that is generated and rendered once."""

    name: str
    spec: BaseSpec
    images: bool = True
    reference: str | None = None
    parent: str | None = None
    imported: bool = False
    secret_sha256: str = ""
    secret: str = ""

    @property
    def withheld(self) -> bool:
        return self.spec.splits[self.name].withheld

    @property
    def shows_answers(self) -> bool:
        return not self.withheld

    shows_programs = shows_scenes = shows_answers

    @cached_property
    def made(self) -> list[Item]:
        chunks = MAKER.plan(self.spec, self.name)
        return [item for chunk in chunks for item in MAKER.make(self.spec, self.name, chunk)]

    @cached_property
    def drawn(self) -> list[tuple[NDArray[np.uint8], NDArray[np.uint16]]]:
        return [MAKER.render(self.spec, self.name, item) for item in self.made]

    @property
    def scenes(self) -> int:
        return len(self.made)

    @property
    def questions(self) -> int:
        return PER_SCENE * len(self.made)

    @cached_property
    def fingerprint(self) -> str:
        fingerprint = Fingerprint()
        for item in self.made:
            assert item.scene is not None
            fingerprint.add(item.scene.to_json(), (question.to_json() for question in item.questions))
        return fingerprint.hexdigest()

    @property
    def facets(self) -> tuple[Facet, ...]:
        known = (facet for facet in WORLD.facets(self.spec) if facet.needs == Needs.ITEM)
        return tuple(facet for facet in known if self.shows_answers or not facet.reveals)

    @cached_property
    def codes(self) -> dict[str, list[int]]:
        codes: dict[str, list[int]] = {facet.name: [] for facet in self.facets}
        for item in self.made:
            found = WORLD.facet_codes(self.spec, item)
            for name, column in codes.items():
                column += found[name]
        return codes

    def facet_codes(self, first: int, count: int) -> Mapping[str, NDArray[np.int64]]:
        return {name: np.array(column[first : first + count], np.int64) for name, column in self.codes.items()}

    def items(self) -> Iterator[ExportItem]:
        for position, item in enumerate(self.made):
            image = partial(self.picture, position) if self.images else None
            yield ExportItem(
                position=position,
                item=item if self.shows_answers else withhold(item),
                first_question=PER_SCENE * position,
                image_name=f"{self.name}_{position:06d}.png",
                width=64,
                height=64,
                image=image,
                ids=partial(self.labels, position) if self.images and self.shows_scenes else None,
            )

    def picture(self, position: int) -> bytes:
        content = io.BytesIO()
        Image.fromarray(self.drawn[position][0]).save(content, "PNG")
        return content.getvalue()

    def labels(self, position: int) -> NDArray[np.uint16]:
        return self.drawn[position][1]


def shapes(*, splits: Mapping[str, Mapping[str, Any]] = SPLITS, images: bool = True) -> Dataset:
    """Return a dataset of small pictures."""
    spec = WORLD.read_spec(
        {
            "world": "clevr",
            "splits": splits,
            "images": {"width": 64, "height": 64, "samples": 1},
            "scene": {"min_pixels": 0},
            "questions": {"per_scene": PER_SCENE},
        }
    )
    made = tuple(Split(name, spec, images=images, reference=spec.reference_of(name)) for name in splits)
    return Dataset(
        made,
        slug="shapes",
        title="Some shapes",
        description="Shapes on a plane.",
        citation="@misc{shapes,\n  title={Some shapes}\n}",
        completed=date(2026, 3, 9),
        world=WORLD,
        spec_json=spec.to_json(),
        drawn={},
    )
