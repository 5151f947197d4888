"""A baseline for microworlds that sees the picture, but uses only the nouns of the caption."""

from collections.abc import Callable, Iterable, Iterator

from generation.engine.errors import BadRecord
from generation.engine.items import Item
from generation.engine.worlds.base import Baseline
from generation.engine.worlds.shapeworld.facets import ANSWERS
from generation.engine.worlds.shapeworld.logical_form import Noun, nouns_of
from generation.engine.worlds.shapeworld.parsing import Parser
from generation.engine.worlds.shapeworld.scene import Entity, FlatScene
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

CHECKED = 200  # microworlds between two calls of `check`


def named_shapes_are_there(
    spec: ShapeWorldSpec, asked: Iterable[Item], *, learned: Iterable[Item], check: Callable[[], None]
) -> Iterator[str]:
    """Yield yes for each caption whose nouns all fit something in the picture, otherwise no.

    Relations, numbers, selectors and connectives are ignored. For a caption that cannot be parsed, yield an empty
    string.
    """
    parser, (yes, no) = Parser(spec.vocabulary), ANSWERS
    for number, item in enumerate(asked):
        if not number % CHECKED:
            check()
        assert isinstance(item.scene, FlatScene)
        for question in item.questions:
            try:
                nouns = nouns_of(parser.parse(question.text))
            except BadRecord:
                yield ""
            else:
                yield yes if all(_is_there(noun, item.scene.entities) for noun in nouns) else no


def _is_there(noun: Noun, entities: Iterable[Entity]) -> bool:
    return any(noun.shape in (None, one.shape) and noun.color in (None, one.color) for one in entities)


BASELINES = (
    Baseline(
        "named-shapes",
        "Named shapes are there",
        "which shapes the picture has, and which ones the caption names",
        "nothing: it says yes where all of them are there",
        False,
        named_shapes_are_there,
    ),
)
