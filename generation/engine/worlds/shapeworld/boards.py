"""The columns of ShapeWorld's boards, and the breakdowns of the paper's section 5."""

from collections.abc import Iterator

from generation.engine.items import Column
from generation.engine.worlds.boards import BoardView, Series
from generation.engine.worlds.shapeworld.caption_knobs import KINDS
from generation.engine.worlds.shapeworld.spec import ShapeWorldSpec

LEARNT = Series("nothing held out from training", {"held_out": ("none",)})
NEW = Series("something held out from training", {"held_out": ("combination", "count", "both")})
FITS = Series("captions that fit", {"answer": ("yes",)})
DOES_NOT = Series("captions that don't", {"answer": ("no",)})


def columns(spec: ShapeWorldSpec) -> tuple[Column, ...]:
    """Return the columns of a dataset's boards: seen against unseen, then the caption types it has."""
    held_out = [
        Column("nothing held out", "held_out", "none"),
        Column("combination held out", "held_out", "combination"),
        Column("number held out", "held_out", "count"),
    ]
    kinds = {kind for split in spec.splits for part in spec.for_split(split).parts for kind in part.captions.kinds}
    return (*held_out, *(Column(kind.replace("-", " "), "type", kind) for kind in KINDS if kind in kinds))


def _views() -> Iterator[BoardView]:
    title, apart = "Seen against unseen (figure 5)", (LEARNT, NEW)
    yield BoardView("held-out", title, "held_out", "held out from training", series=apart, is_across=True)
    yield BoardView("types", "Caption types, seen against unseen", "type", "caption type", series=apart)
    yield BoardView("answers", "Captions that fit and such that don't", "answer", "answer", series=apart)
    for name, label in (("quantifier", "Quantifiers"), ("relation", "Relations"), ("selector", "Selectors")):
        yield BoardView(f"{name}s", label, name, name, series=(FITS, DOES_NOT))
    yield BoardView("comparisons", "Comparisons of numbers", "comparison", "comparison", series=(FITS, DOES_NOT))
    yield BoardView("connectives", "Connectives", "connective", "connective", series=(FITS, DOES_NOT))
    yield BoardView("entities", "Shapes in the picture", "entities", "shapes in the picture")
    yield BoardView("words", "Caption length", "words", "words in the caption")
    yield BoardView("closeness", "How close to the threshold", "closeness", "times the threshold")


BOARD_VIEWS: tuple[BoardView, ...] = tuple(_views())
