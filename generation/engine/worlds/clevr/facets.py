"""What CLEVR's questions are broken down by."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from generation.engine.diagnose import Diagnosis, Topology, demands
from generation.engine.worlds import ChartView, Facet, FacetKind, Question
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.diagnosing import diagnose
from generation.engine.worlds.clevr.scene import Scene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES

# Figure 3 of the paper for ours, and what a person asks next: what is answered, by what programs, about how much.
VIEWS = (
    ChartView("types", "Question types", "type", "question type"),
    ChartView("answers", "Answers", "answer", "answer"),
    ChartView("words", "Question length", "words", "words in the question"),
    ChartView("programs", "Program length", "length", "functions in the program"),
    ChartView("objects", "Objects a scene", "objects", "objects in the scene"),
)
BIN_WORDS, BIN_STEPS = 5, 4  # of words and program lengths: they have more values than a chart has room for

TYPES: dict[str, str] = {
    "count": "count",
    "exist": "exist",
    "equal_integer": "equal number",
    "less_than": "fewer",
    "greater_than": "more",
    **{f"query_{name}": f"query {name}" for name in ATTRIBUTES},
    **{f"equal_{name}": f"same {name}" for name in ATTRIBUTES},
}
GROUPS: dict[str, str] = {
    "count": "count",
    "exist": "exist",
    "compare_numbers": "compare numbers",
    "query": "query attribute",
    "compare_attribute": "compare attribute",
}
TOPOLOGIES: dict[str, str] = {
    Topology.ZERO_HOP: "zero-hop",
    Topology.CHAIN: "chain",
    Topology.TREE_AND: "tree, joined by and",
    Topology.TREE_OR: "tree, joined by or",
    Topology.COMPARISON: "comparison",
}
PLACES: dict[str, str] = {
    "none": "no spatial relation",
    "enough": "halves of the picture are enough",
    "not-enough": "relations are needed",
}


def group(kind: str) -> str:
    """Return which of the five groups a question type is in."""
    if kind in ("count", "exist"):
        return kind
    if kind.startswith("query_"):
        return "query"
    return "compare_numbers" if kind in ("equal_integer", "less_than", "greater_than") else "compare_attribute"


def facets(spec: ClevrSpec, answers: Sequence[str]) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order that pages show them."""
    kinds = (*TYPES, "equal_object")
    most = spec.most
    return (
        Facet("group", "group", FacetKind.CATEGORY, tuple(GROUPS), reveals=False, labels=tuple(GROUPS.values())),
        Facet("type", "type", FacetKind.CATEGORY, kinds, reveals=False, labels=(*TYPES.values(), "same object")),
        Facet(
            "template",
            "template",
            FacetKind.CATEGORY,
            tuple(str(family.number) for family in spec.families),
            reveals=False,
            labels=tuple(f"{family.number} {_stem(family.source)}" for family in spec.families),
        ),
        Facet("answer", "answer", FacetKind.CATEGORY, tuple(answers), reveals=True),
        _number("length", "program length", most=most.steps, step=BIN_STEPS),
        Facet("topology", "topology", FacetKind.CATEGORY, tuple(TOPOLOGIES), False, labels=tuple(TOPOLOGIES.values())),
        _number("spatial", "spatial relations", most=most.spatial),
        _number("same", "same-attribute relations", most=most.same),
        _number("words", "question length in words", most=spec.most_words, step=BIN_WORDS),
        Facet("objects", "number of objects", FacetKind.INTEGER, _numbers(spec.scene.objects_max), reveals=True),
        Facet("effective", "shortest equivalent length", FacetKind.INTEGER, _numbers(most.steps), reveals=True),
        Facet("absolute", "absolute position", FacetKind.CATEGORY, tuple(PLACES), True, labels=tuple(PLACES.values())),
    )


def _number(name: str, label: str, *, most: int, step: int = 0) -> Facet:
    """Return a facet of numbers up to `most` that the question's words tell, in bins of so many."""
    bins = tuple(range(0, most + 1, step)) if step else ()
    return Facet(name, label, FacetKind.INTEGER, _numbers(most), reveals=False, bins=bins)


def _stem(source: str) -> str:
    return source.removesuffix(".json").replace("_", " ")


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facet_codes(
    facets: Sequence[Facet], spec: ClevrSpec, scene: Scene, view: View, questions: Sequence[Question]
) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each question about a scene; a facet's `values` say what a code means."""
    programs = [question.program for question in questions]
    found = iter(diagnose(spec, scene, view, [program for program in programs if program is not None]))
    diagnoses = [None if program is None else next(found) for program in programs]
    rows = [_values(*one, objects=len(scene.objects)) for one in zip(questions, diagnoses, strict=True)]
    coded = {}
    for facet in facets:
        codes = _codes(facet.values)
        coded[facet.name] = [-1 if row[facet.name] is None else codes[row[facet.name]] for row in rows]
    return coded


@lru_cache(maxsize=256)
def _codes(values: tuple[str, ...]) -> Mapping[str | None, int]:
    return {value: code for code, value in enumerate(values)}


def _values(question: Question, found: Diagnosis | None, *, objects: int) -> Mapping[str, str | None]:
    """Return the value of every facet; None for what isn't known."""
    values: dict[str, str | None] = {
        "group": group(question.kind),
        "type": question.kind,
        "template": str(question.family),
        "answer": question.answer.text if question.answer else None,
        "words": str(len(question.text.split())),
        "objects": str(objects),
        **dict.fromkeys(("length", "topology", "spatial", "same", "effective", "absolute")),
    }
    if found is not None:
        wanted = demands(tuple([step.function for step in found.program]))
        values["length"] = str(len(found.program))
        values["topology"] = wanted.topology
        values["spatial"] = str(wanted.spatial)
        values["same"] = str(wanted.same)
        values["effective"] = None if found.length is None else str(found.length)
        values["absolute"] = "none" if not wanted.spatial else "enough" if found.absolute else "not-enough"
    return values
