"""Facets of made questions, which follow from their programs and scenes, and the shares that the spec asks for."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from generation.engine.items import Facet, FacetKind, Item, Question
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.facets import clear_objects
from generation.engine.worlds.clevr.programs import objects_counted
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.vocabulary import RELATIONS
from generation.engine.worlds.counting.spec import CountingSpec
from generation.engine.worlds.counting.statements import PHRASES, THING, Statement, statement_of

NONE = "none"
MOST_ATTRIBUTES = 3
NOT_MADE: Mapping[str, str | None] = dict.fromkeys(("class", "attributes", "relation", "objects", "clear"))
RELATED: Mapping[str, str] = {NONE: "no relation", **{relation: PHRASES[relation][0] for relation in RELATIONS}}


def classes(spec: CountingSpec) -> tuple[str, ...]:
    """Return what questions count: the classes of imported questions, or the shapes of made ones."""
    return tuple(spec.classes) or (*spec.clevr.vocabulary.values("shape"), THING)


def made_facets(most: int) -> Iterator[Facet]:
    """Yield the facets that only made questions have; `most` is the largest number of objects in a scene."""
    attributes = tuple(str(number) for number in range(MOST_ATTRIBUTES + 1))
    objects = tuple(str(number) for number in range(most + 1))
    category, integer = FacetKind.CATEGORY, FacetKind.INTEGER
    yield Facet("attributes", "attributes of what is counted", integer, attributes, reveals=False)
    yield Facet("relation", "relation", category, tuple(RELATED), False, labels=tuple(RELATED.values()))
    yield Facet("objects", "number of objects", integer, objects, reveals=True)
    labels = ("all clearly visible", "some hidden or small")
    yield Facet("clear", "objects that are counted", category, ("yes", "no"), reveals=True, labels=labels)


def made_values(spec: CountingSpec, item: Item) -> list[Mapping[str, str | None]]:
    """Return the value of each facet of `made_facets` for each question of an item; None if it has none."""
    if not isinstance(item.scene, ClevrScene) and all(question.program is None for question in item.questions):
        return [NOT_MADE] * len(item.questions)
    clear = _clear(spec, item)
    return [_of_question(question) | _of_scene(item, question, clear) for question in item.questions]


def _of_question(question: Question) -> dict[str, str | None]:
    statement = statement_for(question)
    if statement is None:
        return {"class": None, "attributes": None, "relation": None}
    return {"class": statement.noun, "attributes": str(statement.attributes), "relation": statement.relation or NONE}


def _of_scene(item: Item, question: Question, clear: Sequence[bool]) -> dict[str, str | None]:
    if not isinstance(item.scene, ClevrScene):
        return {"objects": None, "clear": None}
    counted = None if question.program is None else objects_counted(question.program, item.scene)
    seen = None if counted is None else "yes" if all(clear[number] for number in counted) else "no"
    return {"objects": str(len(item.scene.objects)), "clear": seen}


def _clear(spec: CountingSpec, item: Item) -> Sequence[bool]:
    """Return whether each object of a made scene is clearly visible; nothing for other scenes."""
    if not isinstance(item.scene, ClevrScene) or not isinstance(item.view, View):
        return ()
    found: list[bool] = clear_objects(item.scene, item.view, spec.clevr.vocabulary).tolist()
    return found


def statement_for(question: Question) -> Statement | None:
    """Return the statement of a made question, or None for others."""
    return None if question.program is None else _statement(question.program)


_statement = lru_cache(maxsize=4096)(statement_of)


def expected_shares(spec: CountingSpec) -> Mapping[str, Sequence[float]]:
    """Return the shares of answers in the spec; it has none if the questions are imported."""
    if spec.classes:
        return {}
    shares = [*spec.questions.shares, *([0.0] * spec.most)]
    return {"answer": shares[: spec.most + 1]}
