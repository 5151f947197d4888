"""Facets of CLEVR's questions, the charts and boards that use them, and figures of the paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from generation.engine.items import ChartView, Facet, FacetKind, Needs, Question
from generation.engine.programs.question_demands import Diagnosis, Topology, demands
from generation.engine.programs.skeleton import describe_skeleton, pairs, skeleton
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.base import HumanBaseline, Published, TextCounts
from generation.engine.worlds.breakdowns import BoardView, Series
from generation.engine.worlds.clevr.camera import View
from generation.engine.worlds.clevr.picture import draw_ids
from generation.engine.worlds.clevr.programs import object_asked
from generation.engine.worlds.clevr.question_demands import diagnose
from generation.engine.worlds.clevr.scene import ClevrScene
from generation.engine.worlds.clevr.spec import ClevrSpec
from generation.engine.worlds.clevr.vocabulary import ATTRIBUTES, ClevrVocabulary

ACROSS = 120  # width in pixels of the picture that is checked; shares need no more
SHARE = 0.8  # of an object, which must be visible
LEAST = 0.002  # of the picture, which an object must cover: 307 pixels of 480 by 320


def is_clear(scene: ClevrScene, view: View, words: ClevrVocabulary) -> bool:
    """Return whether every object is clear, see `clear_objects`."""
    return bool(clear_objects(scene, view, words).all())


def clear_objects(scene: ClevrScene, view: View, words: ClevrVocabulary) -> NDArray[np.bool_]:
    """Return which objects (n,) show at least `SHARE` of their unhidden size, and at least `LEAST` of the picture."""
    small = replace(view, width=ACROSS, height=max(1, round(ACROSS * view.height / view.width)))
    ids = draw_ids(scene.objects, small, words)
    seen = np.bincount(ids.ravel(), minlength=len(scene.objects) + 1)[1:]
    alone = np.array([np.count_nonzero(draw_ids([thing], small, words)) for thing in scene.objects])
    return (seen >= LEAST * ids.size) & (seen >= SHARE * alone)


# Figure 3 of the paper for our data, and charts of answers, programs and scenes.
VIEWS = (
    ChartView("types", "Question types", "type", "question type"),
    ChartView("answers", "Answers", "answer", "answer"),
    ChartView("words", "Question length", "words", "words in the question"),
    ChartView("programs", "Program length", "length", "functions in the program"),
    ChartView("objects", "Objects a scene", "objects", "objects in the scene"),
    ChartView("seen-texts", "Questions that train has word for word", "seen_text", "text seen in train"),
    ChartView("seen-pairs", "Pairs of attribute values that train names", "seen_pair", "pairs seen in train"),
)
BIN_WORDS, BIN_STEPS = 5, 4  # bin widths of words and of program lengths

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
SEEN_IN_SCENE = frozenset({"objects", "effective", "absolute", "asked_shape"})  # others need only the question
PLACES: dict[str, str] = {
    "none": "no spatial relation",
    "enough": "halves of the picture are enough",
    "not-enough": "relations are needed",
}


def group(kind: str) -> str:
    """Return the group of a question type; there are five groups."""
    if kind in ("count", "exist"):
        return kind
    if kind.startswith("query_"):
        return "query"
    return "compare_numbers" if kind in ("equal_integer", "less_than", "greater_than") else "compare_attribute"


def answers(spec: ClevrSpec) -> tuple[str, ...]:
    """Return every answer that a dataset's questions may have."""
    numbers = _numbers(spec.scene.objects_max)
    values = (value for attribute in ATTRIBUTES for value in spec.vocabulary.values(attribute))
    return ("yes", "no", *numbers, *values)


def facets(spec: ClevrSpec) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order of the pages."""
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
        *(_train_facet(name, label) for name, label in TRAIN.items()),
    )


def _skeletons(found: Sequence[str] | None) -> Iterator[Facet]:
    """Yield the facet of skeletons if all skeletons of the dataset are known; otherwise yield nothing."""
    if found is not None:
        labels = tuple(describe_skeleton(one) for one in found)
        yield Facet("skeleton", "program skeleton", FacetKind.CATEGORY, tuple(found), reveals=False, labels=labels)


def _train_facet(name: str, label: str) -> Facet:
    """Return a facet of what the train split has; it reveals no answers, because it needs only questions' words."""
    return Facet(name, label, FacetKind.CATEGORY, (SEEN, UNSEEN), False, Needs.TRAIN, labels=("seen", "new"))


def _number(name: str, label: str, *, most: int, step: int = 0) -> Facet:
    """Return a facet of numbers up to `most` that does not reveal answers, in bins of width `step`; 0 for no bins."""
    bins = tuple(range(0, most + 1, step)) if step else ()
    return Facet(name, label, FacetKind.INTEGER, _numbers(most), reveals=False, bins=bins)


def _stem(source: str) -> str:
    return source.removesuffix(".json").replace("_", " ")


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facet_codes(
    spec: ClevrSpec, scene: ClevrScene | None, view: View, questions: Sequence[Question]
) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each question about a scene; codes are positions in the facet's `values`."""
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
"""A question's value of each facet that needs only its item; None if unknown."""


def values_of(spec: ClevrSpec, scene: ClevrScene | None, view: View, questions: Sequence[Question]) -> list[Values]:
    """Return the facet values of questions about a scene; without a scene, those of programs and words only."""
    if scene is None:
        return [_in_words(question) | _in_program(question) | _in_scene(None, None) for question in questions]
    found = iter(diagnose(spec, scene, view, [one.program for one in questions if one.program is not None]))
    return [
        _in_words(question) | _in_program(question) | _in_scene(scene, next(found) if question.program else None)
        for question in questions
    ]


def train_keys(question: Question) -> Mapping[str, Sequence[str]]:
    """Return, for each facet that needs the train split, the keys that the train split must have."""
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
    """Return the facet values that need neither program nor scene."""
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


def _in_scene(scene: ClevrScene | None, found: Diagnosis | None) -> dict[str, str | None]:
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


GROUPS_BY_LENGTH = ("query", "count", "exist")
STEPS = "functions in the program"
SPATIAL = Series("one spatial relation", {"spatial": ("1",), "same": ("0",)})
SAME = Series("one same-attribute relation", {"spatial": ("0",), "same": ("1",)})
CHAIN = Series("chain", {"topology": (Topology.CHAIN,)})
TREE = Series("tree, joined by and", {"topology": (Topology.TREE_AND,)})
EVERY = Series("all", {})
NEEDED = Series("not answered by halves of the picture", {"absolute": ("none", "not-enough")})


def _views() -> Iterator[BoardView]:
    yield BoardView("types", "Question types (figure 4)", "type", "question type")
    yield BoardView(
        "relations",
        "Spatial against same-attribute relations (figure 5)",
        "group",
        "group",
        {"group": GROUPS_BY_LENGTH},
        (SPATIAL, SAME),
    )
    two = {"group": GROUPS_BY_LENGTH, "spatial": ("2",), "same": ("0",)}
    yield BoardView("topology", "Chain against tree (figure 6)", "group", "group", two, (CHAIN, TREE))
    for number, same, name in ((7, "0", "without"), (11, "1", "with")):
        asked = {"group": ("query",), "same": (same,)}
        told = f"of query questions {name} a same-attribute relation (figure {number})"
        yield BoardView(f"length-{name}", f"Program length {told}", "length", STEPS, asked)
        yield BoardView(f"effective-{name}", f"Shortest equivalent length {told}", "effective", STEPS, asked)
    for group in GROUPS_BY_LENGTH:
        chains = {"group": (group,), "topology": (Topology.ZERO_HOP, Topology.CHAIN), "same": ("0",)}
        title = f"Spatial relations of {group} questions in a chain (figure 8)"
        yield BoardView(f"spatial-{group}", title, "spatial", "spatial relations", chains, (EVERY, NEEDED))
    for attribute in ("color", "material"):
        title = f"{attribute.capitalize()} by shape, in each condition (figure 9)"
        asked = {"type": (f"query_{attribute}",)}
        yield BoardView(f"{attribute}-by-shape", title, "asked_shape", "shape asked about", asked, is_across=True)


BOARD_VIEWS: tuple[BoardView, ...] = tuple(_views())


ATTRIBUTE_SHARES = {"size": 1 / 2, "color": 1 / 8, "material": 1 / 2, "shape": 1 / 3}

PUBLISHED = Published(
    source="Johnson et al. 2017",
    texts={
        "": TextCounts(999_968, 853_554),
        "train": TextCounts(699_989, 608_607),
        "val": TextCounts(149_991, 140_448, 17_338),
        "test": TextCounts(149_988, 140_352, 17_335),
    },
    type_mode={
        "count": 0.35,
        "exist": 0.5,
        **{f"query_{name}": share for name, share in ATTRIBUTE_SHARES.items()},
        **{f"equal_{name}": 0.5 for name in ATTRIBUTES},
    },
    people=HumanBaseline(5500, 3),
)
