"""What CLEVR's questions are broken down by."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from generation.engine.items import ChartView, Facet, FacetKind, Needs, Question
from generation.engine.programs.diagnosis import Diagnosis, Topology, demands
from generation.engine.programs.skeleton import pairs, said, skeleton
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.diagnosing import diagnose
from generation.engine.worlds.clevr.functions import object_asked
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
    ChartView("seen-texts", "Questions that train has word for word", "seen_text", "text seen in train"),
    ChartView("seen-pairs", "Pairs of attribute values that train names", "seen_pair", "pairs seen in train"),
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
TRAIN: dict[str, str] = {
    "seen_text": "text seen in train",
    "seen_program": "program seen in train",
    "seen_skeleton": "skeleton seen in train",
    "seen_pair": "attribute pairs seen in train",
}
SEEN_IN_SCENE = frozenset({"objects", "effective", "absolute", "asked_shape"})  # the rest follows from the question
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


def answers(spec: ClevrSpec) -> tuple[str, ...]:
    """Return every answer that questions of a dataset may have."""
    numbers = _numbers(spec.scene.objects_max)
    values = (value for attribute in ATTRIBUTES for value in spec.vocabulary.values(attribute))
    return ("yes", "no", *numbers, *values)


def facets(spec: ClevrSpec) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order that pages show them."""
    return spec.once("facets", lambda: _facets(spec))


def _facets(spec: ClevrSpec) -> tuple[Facet, ...]:
    kinds = (*TYPES, "equal_object")
    most = spec.most
    shapes = spec.vocabulary.values("shape")
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
        Facet("answer", "answer", FacetKind.CATEGORY, answers(spec), reveals=True),
        _number("length", "program length", most=most.steps, step=BIN_STEPS),
        Facet("topology", "topology", FacetKind.CATEGORY, tuple(TOPOLOGIES), False, labels=tuple(TOPOLOGIES.values())),
        _number("spatial", "spatial relations", most=most.spatial),
        _number("same", "same-attribute relations", most=most.same),
        *_skeletons(spec.skeletons),
        _number("words", "question length in words", most=spec.most_words, step=BIN_WORDS),
        Facet("objects", "number of objects", FacetKind.INTEGER, _numbers(spec.scene.objects_max), reveals=True),
        Facet("effective", "shortest equivalent length", FacetKind.INTEGER, _numbers(most.steps), reveals=True),
        Facet("absolute", "absolute position", FacetKind.CATEGORY, tuple(PLACES), True, labels=tuple(PLACES.values())),
        Facet("asked_shape", "shape of the object asked about", FacetKind.CATEGORY, shapes, reveals=True),
        *(_seen(name, label) for name, label in TRAIN.items()),
    )


def _skeletons(found: Sequence[str] | None) -> Iterator[Facet]:
    """Yield the facet of skeletons, where all that programs may have are known."""
    if found is not None:
        labels = tuple(said(one) for one in found)
        yield Facet("skeleton", "program skeleton", FacetKind.CATEGORY, tuple(found), reveals=False, labels=labels)


def _seen(name: str, label: str) -> Facet:
    """Return a facet of what the train split has; the words tell it to whoever has both splits' words."""
    return Facet(name, label, FacetKind.CATEGORY, (SEEN, UNSEEN), False, Needs.TRAIN, labels=("seen", "new"))


def _number(name: str, label: str, *, most: int, step: int = 0) -> Facet:
    """Return a facet of numbers up to `most` that the question's words tell, in bins of so many."""
    bins = tuple(range(0, most + 1, step)) if step else ()
    return Facet(name, label, FacetKind.INTEGER, _numbers(most), reveals=False, bins=bins)


def _stem(source: str) -> str:
    return source.removesuffix(".json").replace("_", " ")


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facet_codes(
    spec: ClevrSpec, scene: Scene | None, view: View, questions: Sequence[Question]
) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each question about a scene; a facet's `values` say what a code means."""
    rows = values_of(spec, scene, view, questions)
    coded = {}
    for facet in facets(spec):
        if facet.needs == Needs.ITEM:
            codes = _codes(facet.values)
            coded[facet.name] = [codes.get(row[facet.name], -1) for row in rows]
    return coded


@lru_cache(maxsize=256)
def _codes(values: tuple[str, ...]) -> Mapping[str | None, int]:
    return {value: code for code, value in enumerate(values)}


Values = Mapping[str, str | None]
"""A question's value of each facet that needs its item alone; None for what isn't known."""


def values_of(spec: ClevrSpec, scene: Scene | None, view: View, questions: Sequence[Question]) -> list[Values]:
    """Return the values of questions about a scene; where that isn't there, what their programs and words tell."""
    if scene is None:
        return [_in_words(question) | _in_program(question) | _in_scene(None, None) for question in questions]
    found = iter(diagnose(spec, scene, view, [one.program for one in questions if one.program is not None]))
    return [
        _in_words(question) | _in_program(question) | _in_scene(scene, next(found) if question.program else None)
        for question in questions
    ]


def train_keys(question: Question) -> Mapping[str, Sequence[str]]:
    """Return what the train split must have of a question, for each facet of what it has."""
    program = question.program
    if program is None:
        return {"seen_text": (question.text,), "seen_program": (), "seen_skeleton": (), "seen_pair": ()}
    return {
        "seen_text": (question.text,),
        "seen_program": (repr([tuple(step) for step in program]),),
        "seen_skeleton": (skeleton(program),),
        "seen_pair": pairs(program),
    }


def _in_words(question: Question) -> dict[str, str | None]:
    """Return what is known of a question without program or scene."""
    return {
        "group": group(question.kind) if question.kind else None,
        "type": question.kind or None,
        "template": None if question.family is None else str(question.family),
        "answer": question.answer.text if question.answer else None,
        "words": str(len(question.text.split())),
    }


def _in_program(question: Question) -> dict[str, str | None]:
    if question.program is None:
        return dict.fromkeys(("length", "topology", "spatial", "same", "skeleton"))
    wanted = demands(tuple([step.function for step in question.program]))
    return {
        "length": str(len(question.program)),
        "topology": wanted.topology,
        "spatial": str(wanted.spatial),
        "same": str(wanted.same),
        "skeleton": skeleton(question.program),
    }


def _in_scene(scene: Scene | None, found: Diagnosis | None) -> dict[str, str | None]:
    values: dict[str, str | None] = dict.fromkeys(sorted(SEEN_IN_SCENE))
    if scene is None:
        return values
    values["objects"] = str(len(scene.objects))
    if found is not None and found.answers:
        is_spatial = any(step.function == "relate" for step in found.program)
        asked = object_asked(found.program, scene)
        values["effective"] = None if found.length is None else str(found.length)
        values["absolute"] = "none" if not is_spatial else "enough" if found.absolute else "not-enough"
        values["asked_shape"] = None if asked is None else scene.objects[asked].shape
    return values
