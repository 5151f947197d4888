"""Facets of counting questions, and the charts and boards that use them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from generation.engine.items import ChartView, Facet, FacetKind, Item, Needs, Question
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.breakdowns import BoardView
from generation.engine.worlds.counting.imported_facets import imported_facets, imported_values
from generation.engine.worlds.counting.made_facets import classes, made_facets, made_values
from generation.engine.worlds.counting.spec import CountingSpec
from generation.engine.worlds.counting.statements import COMPLEX, SIMPLE

UNKNOWN = "unknown"
KINDS = (SIMPLE, COMPLEX, UNKNOWN)
PARITIES = ("even", "odd")

VIEWS = (
    ChartView("types", "Types", "type", "type"),
    ChartView("answers", "Answers (figure 2)", "answer", "answer"),
    ChartView("parities", "Even and odd answers", "parity", "parity"),
    ChartView("classes", "Classes", "class", "class"),
    ChartView("attributes", "Attributes of what is counted", "attributes", "attributes besides the shape"),
    ChartView("relations", "Relations", "relation", "relation"),
    ChartView("objects", "Objects a scene", "objects", "objects in the scene"),
    ChartView("clear", "Visibility of what is counted", "clear", "objects that are counted"),
    ChartView("sources", "Sources of pictures", "source", "source"),
    ChartView("first-words", "First words of questions", "first_words", "first words"),
    ChartView("seen-texts", "Questions that train has word for word", "seen_text", "text seen in train"),
)
BOARD_VIEWS = (
    BoardView("types", "By type", "type", "type"),
    BoardView("answers", "Each answer (figure 4)", "answer", "answer"),
    BoardView("parities", "Even and odd answers", "parity", "parity"),
    BoardView("classes", "By class", "class", "class"),
    BoardView("attributes", "Attributes of what is counted", "attributes", "attributes besides the shape"),
    BoardView("relations", "By relation", "relation", "relation"),
    BoardView("objects", "Objects in the scene", "objects", "objects in the scene"),
    BoardView("clear", "Visibility of what is counted", "clear", "objects that are counted"),
    BoardView("sources", "Source of the picture", "source", "source"),
    BoardView("first-words", "First words", "first_words", "first words"),
)


def answers(spec: CountingSpec) -> tuple[str, ...]:
    """Return every answer that questions may have: 0 to `most`."""
    return _numbers(spec.most)


@lru_cache(maxsize=16)
def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facets(spec: CountingSpec) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order of the pages."""
    return _facets(answers(spec), classes(spec), spec.scene.objects_max)


@lru_cache(maxsize=16)
def _facets(numbers: tuple[str, ...], nouns: tuple[str, ...], objects: int) -> tuple[Facet, ...]:
    category = FacetKind.CATEGORY
    return (
        Facet("type", "type", category, KINDS, reveals=False),
        Facet("answer", "answer", FacetKind.INTEGER, numbers, reveals=True),
        Facet("parity", "parity of the answer", category, PARITIES, reveals=True),
        Facet("class", "class of what is counted", category, nouns, reveals=False),
        *made_facets(objects),
        *imported_facets(),
        Facet("seen_text", "text seen in train", category, (SEEN, UNSEEN), False, Needs.TRAIN, ("seen", "new")),
    )


def facet_codes(spec: CountingSpec, item: Item) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each question of an item; codes are positions in the facet's `values`."""
    parts = zip(item.questions, made_values(spec, item), imported_values(item, spec.classes), strict=True)
    rows = [{**_values(question), **made, **imported} for question, made, imported in parts]
    codings = _codings(answers(spec), classes(spec), spec.scene.objects_max)
    return {name: [codes.get(row[name], -1) for row in rows] for name, codes in codings}


@lru_cache(maxsize=16)
def _codings(
    numbers: tuple[str, ...], nouns: tuple[str, ...], objects: int
) -> tuple[tuple[str, Mapping[str | None, int]], ...]:
    """Return the name of each facet that needs the item alone, and the code of each of its values."""
    return tuple(
        (facet.name, {value: code for code, value in enumerate(facet.values)})
        for facet in _facets(numbers, nouns, objects)
        if facet.needs == Needs.ITEM
    )


def _values(question: Question) -> dict[str, str | None]:
    answer = question.answer.text if question.answer else None
    parity = None if answer is None else PARITIES[int(answer) % 2]
    return {"type": question.kind or UNKNOWN, "answer": answer, "parity": parity}
