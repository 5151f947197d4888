"""What captions are broken down by."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from generation.engine.items import ChartView, Facet, FacetKind, Needs, Question
from generation.engine.program import Program
from generation.engine.programs.skeleton import skeleton
from generation.engine.worlds import SEEN, UNSEEN
from generation.engine.worlds.shapeworld.asking import ANSWERS
from generation.engine.worlds.shapeworld.caption_knobs import ALL_RELATIONS, ALL_SELECTORS, KINDS
from generation.engine.worlds.shapeworld.functions import truth_of
from generation.engine.worlds.shapeworld.meaning import named_together
from generation.engine.worlds.shapeworld.microworld import Microworld
from generation.engine.worlds.shapeworld.phrases import (
    COMPARISONS,
    CONNECTIVES,
    ONLY,
    PLANAR,
    PROXIMITIES,
    QUANTIFIERS,
)
from generation.engine.worlds.shapeworld.scene import Scene
from generation.engine.worlds.shapeworld.spec import HeldOutKnobs, ShapeWorldSpec

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
MOST_WORDS, WORD_STEP = 60, 5  # the longest caption there is has fewer
MOST_STEPS, STEP_STEP = 40, 4
MOST_FLAGS = 16  # values of which any may be there: more have no code
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


class Turned(NamedTuple):
    """A facet of what programs turn on: which functions' values it is about."""

    name: str
    label: str
    functions: frozenset[str]
    values: tuple[str, ...]


TURNED = (
    Turned("quantifier", "quantifier", frozenset({"quantify", "quantify_of"}), tuple(QUANTIFIERS)),
    Turned("relation", "relation", frozenset({"relate", "relate_not", "near", "near_not"}), ALL_RELATIONS),
    Turned("selector", "selector", frozenset({"select", "select_near"}), (*ALL_SELECTORS, ONLY)),
    Turned("comparison", "comparison of numbers", frozenset({"compare"}), tuple(COMPARISONS)),
)


def facets(spec: ShapeWorldSpec) -> tuple[Facet, ...]:
    """Return the facets of a dataset, in the order that pages show them."""
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
    spec: ShapeWorldSpec, scene: Scene | None, questions: Sequence[Question]
) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each caption of a scene; a facet's `values` say what a code means."""
    rows = [_values(spec, scene, question) for question in questions]
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def train_keys(question: Question) -> Mapping[str, Sequence[str]]:
    """Return what the train split must have of a caption, for each facet of what it has."""
    program = question.program
    if program is None:
        return {"seen_text": (question.text,), "seen_program": (), "seen_skeleton": (), "seen_combination": ()}
    return {
        "seen_text": (question.text,),
        "seen_program": (repr([tuple(step) for step in program]),),
        "seen_skeleton": (skeleton(program),),
        "seen_combination": [f"{color} {shape}" for shape, color in named_together(program)],
    }


def _values(spec: ShapeWorldSpec, scene: Scene | None, question: Question) -> dict[str, int]:
    """Return the code of each facet that needs the item alone; -1 for what isn't known."""
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
    """Return the codes of what a program turns on and names."""
    named = {name: values for name, values in (("shapes", shapes), ("colors", colors)) if len(values) <= MOST_FLAGS}
    if program is None:
        return dict.fromkeys([*(one.name for one in TURNED), "connective", "negated", "length", *named], -1)
    codes = {one.name: _code((*one.values, SEVERAL), _turned(program, one)) for one in TURNED}
    relations = [step.function for step in program if step.function.startswith(("relate", "near"))]
    codes["negated"] = -1 if not relations else 0 if any(name.endswith("_not") for name in relations) else 1
    codes["connective"] = _code(CONNECTIVES, program[-1].function)
    codes["length"] = len(program) if len(program) <= MOST_STEPS else -1
    for name, values in named.items():
        said_of = {step.values[0] for step in program if step.function == f"filter_{name[:-1]}"}
        codes[name] = sum(1 << number for number, value in enumerate(values) if value in said_of)
    return codes


def _turned(program: Program, about: Turned) -> str | None:
    """Return the one value of some functions that a program has; `several` where they differ, None for none."""
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


def _in_scene(spec: ShapeWorldSpec, scene: Scene | None, question: Question) -> dict[str, int]:
    if scene is None:
        return dict.fromkeys(OF_SCENE, -1)
    closeness = None if question.program is None else _closeness(spec, scene, question.program)
    return {
        "entities": len(scene.entities) if len(scene.entities) <= spec.most_entities else -1,
        "held_out": _code(tuple(HELD_OUT), _held_out(spec.part(question.family).held_out, scene, question.program)),
        "closeness": _code(tuple(CLOSENESS), closeness),
    }


def _held_out(knobs: HeldOutKnobs, scene: Scene, program: Program | None) -> str:
    """Return what a picture, or the caption, has that is held out from training."""
    combinations = frozenset(knobs.combinations)
    has_combination = bool(combinations) and (
        any((entity.shape, entity.color) in combinations for entity in scene.entities)
        or not combinations.isdisjoint(named_together(program or ()))
    )
    has_count = len(scene.entities) in knobs.counts
    if has_combination:
        return "both" if has_count else "combination"
    return "count" if has_count else "none"


def _closeness(spec: ShapeWorldSpec, scene: Scene, program: Program) -> str:
    """Return up to which multiple of the thresholds a caption stays as true or false as it is."""
    if not _is_measured(program):
        return "none"
    thresholds = spec.captions.thresholds
    truth = truth_of(program, Microworld(scene, thresholds))
    for factor in FACTORS:
        if truth_of(program, Microworld(scene, thresholds.times(factor))) != truth:
            return f"{factor:g}"
    return "over"


def _is_measured(program: Program) -> bool:
    """Return whether a program asks for anything that is measured."""
    for step in program:
        if step.function in ("select", "select_near") or (step.values and step.values[0] in MEASURED):
            return True
    return False


assert set(PLANAR) - MEASURED == {"behind", "front"}  # which are drawn so, or not
