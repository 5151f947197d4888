"""What CLEVR's questions are broken down by."""

from collections.abc import Mapping, Sequence

from generation.engine.families import Op
from generation.engine.worlds import ChartView, Facet, FacetKind, Item, Question
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
STEPS = {Op.FILTER: len(ATTRIBUTES), Op.RELATE_FILTER: len(ATTRIBUTES) + 1}  # of a program, for one operation

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
        _number("length", "program length", most=_longest(spec), step=BIN_STEPS),
        _number("words", "question length in words", most=spec.most_words, step=BIN_WORDS),
        Facet("objects", "number of objects", FacetKind.INTEGER, _numbers(spec.scene.objects_max), reveals=True),
    )


def _number(name: str, label: str, *, most: int, step: int) -> Facet:
    """Return a facet of numbers up to `most` that the question's words tell, in bins of so many."""
    return Facet(name, label, FacetKind.INTEGER, _numbers(most), reveals=False, bins=tuple(range(0, most + 1, step)))


def _longest(spec: ClevrSpec) -> int:
    """Return the length of the longest program that the families can give, every filter set."""
    return max(sum(STEPS.get(operation.op, 1) for operation in family.operations) for family in spec.families)


def _stem(source: str) -> str:
    return source.removesuffix(".json").replace("_", " ")


def _numbers(most: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(most + 1))


def facet_codes(facets: Sequence[Facet], item: Item, objects: int) -> Mapping[str, Sequence[int]]:
    """Return each facet's code for each question of an item; a facet's `values` say what a code means."""
    codes = {facet.name: {value: code for code, value in enumerate(facet.values)} for facet in facets}
    return {name: [codes[name][_value(name, question, objects)] for question in item.questions] for name in codes}


def _value(name: str, question: Question, objects: int) -> str:
    if name == "group":
        return group(question.kind)
    if name == "type":
        return question.kind
    if name == "template":
        return str(question.family)
    if name == "answer":
        return question.answer.text if question.answer else ""
    if name == "words":
        return str(len(question.text.split()))
    return str(len(question.program or ())) if name == "length" else str(objects)
