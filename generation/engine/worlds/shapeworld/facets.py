"""Facets of ShapeWorld's questions, the charts and boards that use them, and the forms of questions and answers."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from generation.engine.items import AnswerForm, AnswerKind, ChartView, Column, Facet, FacetKind, Needs, Question
from generation.engine.program import Program
from generation.engine.programs.skeleton import skeleton
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.breakdowns import BoardView, Series
from generation.engine.worlds.shapeworld.caption_parameters import ALL_RELATIONS, ALL_SELECTORS, KINDS
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.logical_form import named_together
from generation.engine.worlds.shapeworld.microworld import Microworld
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    CONNECTIVES,
    ONLY,
    PLANAR,
    PROXIMITIES,
    QUANTIFIERS,
)
from generation.engine.worlds.shapeworld.scene import FlatScene
from generation.engine.worlds.shapeworld.spec import HeldOutParameters, ShapeWorldSpec

ANSWERS = ("yes", "no")
INSTRUCTION = "Does this caption fit the picture?"


def answer_form(question: Question) -> AnswerForm:
    """Return how a person answers: yes or no; the instruction is shown above the caption."""
    return AnswerForm(AnswerKind.YES_NO, ANSWERS, {}, instruction=INSTRUCTION)


LENGTHS: Mapping[str, int] = {"length": 6, "words": 8}
VIEWS = (
    ChartView("types", "Caption types", "type", "caption type"),
    ChartView("answers", "Does the caption fit?", "answer", "answer"),
    ChartView("quantifiers", "Quantifiers", "quantifier", "quantifier"),
    ChartView("relations", "Relations", "relation", "relation"),
    ChartView("selectors", "Selectors", "selector", "selector"),
    ChartView("entities", "Shapes a picture", "entities", "shapes in the picture"),
    ChartView("held-out", "What is held out from training", "held_out", "held out"),
    ChartView("words", "Caption length", "words", "words in the caption"),
    ChartView("closeness", "How close to the threshold", "closeness", "times the threshold"),
)
SEVERAL = "several"
MOST_WORDS, WORD_STEP = 60, 5  # no caption is longer
MOST_STEPS, STEP_STEP = 40, 4
MOST_FLAGS = 16  # facets of more values are left out
FACTORS = (1.25, 1.5, 2.0, 3.0)
CLOSENESS: Mapping[str, str] = {
    "none": "no threshold",
    "1.25": "up to 1.25 times the threshold",
    "1.5": "up to 1.5 times",
    "2": "up to twice",
    "3": "up to three times",
    "over": "over three times",
}
MEASURED = frozenset({"left", "right", "above", "below", "bigger", "smaller", "darker", "lighter", *PROXIMITIES})
HELD_OUT: Mapping[str, str] = {
    "none": "nothing held out",
    "combination": "a combination held out",
    "count": "a number held out",
    "both": "combination and number held out",
}
TRAIN: Mapping[str, str] = {
    "seen_text": "caption seen in train",
    "seen_program": "program seen in train",
    "seen_skeleton": "skeleton seen in train",
    "seen_combination": "named combinations seen in train",
}
OF_SCENE = ("entities", "held_out", "closeness")


class ProgramFacet(NamedTuple):
    """A facet of the values that some functions have in a caption's program."""

    name: str
    label: str
    functions: frozenset[str]
    values: tuple[str, ...]


TURNED = (
    ProgramFacet("quantifier", "quantifier", frozenset({"quantify", "quantify_of"}), tuple(QUANTIFIERS)),
    ProgramFacet("relation", "relation", frozenset({"relate", "relate_not", "near", "near_not"}), ALL_RELATIONS),
    ProgramFacet("selector", "selector", frozenset({"select", "select_near"}), (*ALL_SELECTORS, ONLY)),
    ProgramFacet("comparison", "comparison of numbers", frozenset({"compare"}), tuple(COMPARISONS)),
)


def facets(spec: ShapeWorldSpec) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order of the pages."""
    return tuple(_facets(spec.vocabulary.shapes, tuple(spec.vocabulary.colors), spec.most_entities))


def _facets(shapes: tuple[str, ...], colors: tuple[str, ...], most: int) -> Iterator[Facet]:
    category, flags = FacetKind.CATEGORY, FacetKind.FLAGS
    yield Facet("type", "caption type", category, KINDS, False, labels=tuple(one.replace("-", " ") for one in KINDS))
    yield Facet("answer", "answer", category, ANSWERS, reveals=True)
    for one in TURNED:
        yield Facet(one.name, one.label, category, (*one.values, SEVERAL), reveals=False)
    yield Facet("connective", "connective", category, CONNECTIVES, False, labels=("and", "or", "if", "if and only if"))
    yield Facet("negated", "negated relation", category, ("yes", "no"), reveals=False)
    yield Facet("entities", "shapes in the picture", FacetKind.INTEGER, _numbers(most), reveals=True)
    yield Facet("held_out", "held out from training", category, tuple(HELD_OUT), True, labels=tuple(HELD_OUT.values()))
    for name, values in (("shapes", shapes), ("colors", colors)):
        if len(values) <= MOST_FLAGS:
            yield Facet(name, f"{name} named", flags, values, reveals=False)
    yield _number("words", "caption length in words", most=MOST_WORDS, step=WORD_STEP)
    yield _number("length", "program length", most=MOST_STEPS, step=STEP_STEP)
    labels = tuple(CLOSENESS.values())
    yield Facet("closeness", "how close to the threshold", category, tuple(CLOSENESS), True, labels=labels)
    for name, label in TRAIN.items():
        yield Facet(name, label, category, (SEEN, UNSEEN), False, Needs.TRAIN, labels=("seen", "new"))


def _number(name: str, label: str, *, most: int, step: int) -> Facet:
    return Facet(name, label, FacetKind.INTEGER, _numbers(most), reveals=False, bins=tuple(range(0, most + 1, step)))


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facet_codes(
    spec: ShapeWorldSpec, scene: FlatScene | None, questions: Sequence[Question]
) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each caption of a scene; codes are positions in the facet's `values`."""
    rows = [_values(spec, scene, question) for question in questions]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def train_keys(question: Question) -> Mapping[str, Sequence[str]]:
    """Return, for each facet that needs the train split, the keys that the train split must have."""
    program = question.program
    if program is None:
        return {"seen_text": (question.text,), "seen_program": (), "seen_skeleton": (), "seen_combination": ()}
    return {
        "seen_text": (question.text,),
        "seen_program": (repr([tuple(step) for step in program]),),
        "seen_skeleton": (skeleton(program),),
        "seen_combination": [f"{color} {shape}" for shape, color in named_together(program)],
    }


def _values(spec: ShapeWorldSpec, scene: FlatScene | None, question: Question) -> dict[str, int]:
    """Return the code of each facet that needs only the item; -1 if the value is unknown."""
    words = len(question.text.split())
    found = {
        "type": _code(KINDS, question.kind),
        "answer": _code(ANSWERS, question.answer.text if question.answer else None),
        "words": words if words <= MOST_WORDS else -1,
        **_in_program(question.program, spec.vocabulary.shapes, tuple(spec.vocabulary.colors)),
    }
    return found | _in_scene(spec, scene, question)


def _code(values: Sequence[str], value: str | None) -> int:
    return _codes(tuple(values)).get(value, -1)


@lru_cache(maxsize=64)
def _codes(values: tuple[str, ...]) -> Mapping[str | None, int]:
    return {value: code for code, value in enumerate(values)}


@lru_cache(maxsize=1_000)
def _in_program(program: Program | None, shapes: tuple[str, ...], colors: tuple[str, ...]) -> Mapping[str, int]:
    """Return the codes of the facets that need only the program."""
    named = {name: values for name, values in (("shapes", shapes), ("colors", colors)) if len(values) <= MOST_FLAGS}
    if program is None:
        return dict.fromkeys([*(one.name for one in TURNED), "connective", "negated", "length", *named], -1)
    codes = {one.name: _code((*one.values, SEVERAL), _value_of(program, one)) for one in TURNED}
    relations = [step.function for step in program if step.function.startswith(("relate", "near"))]
    codes["negated"] = -1 if not relations else 0 if any(name.endswith("_not") for name in relations) else 1
    codes["connective"] = _code(CONNECTIVES, program[-1].function)
    codes["length"] = len(program) if len(program) <= MOST_STEPS else -1
    for name, values in named.items():
        said_of = {step.values[0] for step in program if step.function == f"filter_{name[:-1]}"}
        codes[name] = sum(1 << number for number, value in enumerate(values) if value in said_of)
    return codes


def _value_of(program: Program, about: ProgramFacet) -> str | None:
    """Return the value of some functions in a program; `several` if there are different ones, None if there is none."""
    found = []
    for step in program:
        if step.function in about.functions and not (
            about.name == "quantifier" and _is_picked(program, step.inputs[0])
        ):
            found.append(step.values[0])
        elif about.name == "selector" and step.function == "quantify":
            found += [ONLY] * (program[step.inputs[0]].function == "only")
    return None if not found else found[0] if len(set(found)) == 1 else SEVERAL


def _is_picked(program: Program, number: int) -> bool:
    return program[number].function in ("select", "select_near", "only")


def _in_scene(spec: ShapeWorldSpec, scene: FlatScene | None, question: Question) -> dict[str, int]:
    if scene is None:
        return dict.fromkeys(OF_SCENE, -1)
    closeness = None if question.program is None else _closeness(spec, scene, question.program)
    return {
        "entities": len(scene.entities) if len(scene.entities) <= spec.most_entities else -1,
        "held_out": _code(tuple(HELD_OUT), _held_out(spec.part(question.family).held_out, scene, question.program)),
        "closeness": _code(tuple(CLOSENESS), closeness),
    }


def _held_out(parameters: HeldOutParameters, scene: FlatScene, program: Program | None) -> str:
    """Return which held-out things a picture or its caption has: a combination, a count, both or none."""
    combinations = frozenset(parameters.combinations)
    has_combination = bool(combinations) and (
        any((entity.shape, entity.color) in combinations for entity in scene.entities)
        or not combinations.isdisjoint(named_together(program or ()))
    )
    has_count = len(scene.entities) in parameters.counts
    if has_combination:
        return "both" if has_count else "combination"
    return "count" if has_count else "none"


def _closeness(spec: ShapeWorldSpec, scene: FlatScene, program: Program) -> str:
    """Return the first of `FACTORS` by which wider thresholds change a caption's truth, or `over`, or `none`."""
    if not _is_measured(program):
        return "none"
    thresholds = spec.captions.thresholds
    truth = truth_of(program, Microworld(scene, thresholds))
    for factor in FACTORS:
        if truth_of(program, Microworld(scene, thresholds.times(factor))) != truth:
            return f"{factor:g}"
    return "over"


def _is_measured(program: Program) -> bool:
    """Return whether a program depends on a measured quantity."""
    for step in program:
        if step.function in ("select", "select_near") or (step.values and step.values[0] in MEASURED):
            return True
    return False


assert set(PLANAR) - MEASURED == {"behind", "front"}  # these two are drawn, not measured


LEARNT = Series("nothing held out from training", {"held_out": ("none",)})
NEW = Series("something held out from training", {"held_out": ("combination", "count", "both")})
FITS = Series("captions that fit", {"answer": ("yes",)})
DOES_NOT = Series("captions that don't", {"answer": ("no",)})


def columns(spec: ShapeWorldSpec) -> tuple[Column, ...]:
    """Return the columns of a dataset's boards: what is held out, then the dataset's caption types."""
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
