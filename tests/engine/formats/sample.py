"""Small datasets of marbles for the tests of export formats: made in memory, with or without withheld contents."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from generation.engine.formats import ExportItem, ExportSplit
from generation.engine.items import Facet, FacetKind, Item
from generation.engine.spec import BaseSpec
from generation.engine.worlds import World
from tests.worlds.marbles import COLORS, MOST, MarbleWorld, Row

FLAGS = Facet("has", "colours that occur", FacetKind.FLAGS, COLORS, reveals=True)
PER_ITEM = 2


class Marbles(MarbleWorld):
    """Marbles with a facet of flags that reveals the scene, and a facet whose name is also the name of a column."""

    def facets(self, spec: BaseSpec) -> tuple[Facet, ...]:
        asked, answer = super().facets(spec)
        return (asked, answer, FLAGS, replace(asked, name="split", label="colour once more"))


WORLD: World = Marbles()


@dataclass(frozen=True)
class Split:
    """A split of marbles."""

    name: str
    spec: BaseSpec
    shows: bool = True
    images: bool = True
    reference: str | None = None
    imported: bool = False
    parent: str | None = None
    fingerprint: str = "f" * 64

    @property
    def shows_answers(self) -> bool:
        return self.shows

    shows_programs = shows_scenes = shows_answers

    @property
    def withheld(self) -> bool:
        return not self.shows

    @property
    def scenes(self) -> int:
        return len(self.made)

    @property
    def questions(self) -> int:
        return PER_ITEM * len(self.made)

    @cached_property
    def made(self) -> list[Item]:
        maker = WORLD.maker
        assert maker is not None
        chunks = maker.plan(self.spec, self.name)
        return [item for chunk in chunks for item in maker.make(self.spec, self.name, chunk)]

    @property
    def facets(self) -> tuple[Facet, ...]:
        return tuple(facet for facet in WORLD.facets(self.spec) if self.shows or not facet.reveals)

    def facet_codes(self, first: int, count: int) -> Mapping[str, NDArray[np.int64]]:
        codes = [self._codes(number) for number in range(first, first + count)]
        return {facet.name: np.array([code[facet.name] for code in codes], np.int64) for facet in self.facets}

    def _codes(self, number: int) -> dict[str, int]:
        scene = self.made[number // PER_ITEM].scene
        assert isinstance(scene, Row)
        color = number % PER_ITEM
        has = sum(1 << bit for bit, name in enumerate(COLORS) if name in scene.marbles)
        answer = scene.marbles.count(COLORS[color])
        return {"color": color, "answer": answer, "has": has, "split": -1 if number == 0 else color}

    def items(self) -> Iterator[ExportItem]:
        for position, item in enumerate(self.made):
            shown = item if self.shows else withhold(item)
            name = f"{self.name}_{position:06d}.png"
            image = (lambda number=position: picture(number)) if self.images else None
            yield ExportItem(position, shown, PER_ITEM * position, name, 4 * MOST, 4, image)


def withhold(item: Item) -> Item:
    """Return a copy of the item without its scene, view, answers and programs."""
    questions = tuple(replace(question, answer=None, program=None) for question in item.questions)
    return replace(item, scene=None, view=None, questions=questions)


def picture(number: int) -> bytes:
    """Return a PNG file whose pixels depend on the number."""
    rng = np.random.default_rng(number)
    content = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (4, 4 * MOST, 3), dtype=np.uint8)).save(content, "PNG")
    return content.getvalue()


@dataclass(frozen=True)
class Dataset:
    """A dataset; by default one of marbles."""

    splits: tuple[ExportSplit, ...]
    slug: str = "marbles"
    title: str = "Marbles | in <rows>"
    description: str = "Marbles lie in a row.\n\nHow many are of a colour?"
    authors: tuple[str, ...] = ("Ada Example", "Bob Example")
    licence: str = "CC BY 4.0"
    version: str = "1.2"
    citation: str = "Example and Example, Marbles, 2026."
    completed: date = date(2026, 11, 21)
    fingerprint: str = "c" * 64
    engine_version: str = "1"
    release: str = "0.1.0"
    url: str = ""
    world: World = WORLD
    spec_json: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    drawn: Mapping[str, bytes] = field(default_factory=lambda: {"colors.svg": b"<svg/>"})

    def figures(self) -> Mapping[str, bytes]:
        return self.drawn


def marbles(
    *,
    scenes: int = 7,
    hides: frozenset[str] = frozenset(),
    images: bool = True,
    names: tuple[str, ...] = ("train", "val"),
    imported: frozenset[str] = frozenset(),
) -> Dataset:
    """Return a dataset. The splits in `hides` are withheld: they show no answers, programs or scenes."""
    sizes = {name: {"scenes": scenes if number == 0 else 3} for number, name in enumerate(names)}
    spec = WORLD.read_spec({"world": "marbles", "splits": sizes})
    splits = tuple(
        Split(
            name,
            spec,
            shows=name not in hides,
            images=images,
            reference=spec.reference_of(name),
            imported=name in imported,
        )
        for name in names
    )
    return Dataset(splits, spec_json=spec.to_json())
