"""The facets of questions."""

from collections.abc import Mapping, Sequence

from generation.engine.worlds import Facet, FacetKind, Item, Question
from generation.engine.worlds.babi import asking
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.tasks import BY_NAME


def facets(spec: BabiSpec) -> tuple[Facet, ...]:
    """Return every facet, in the order pages show them."""
    names = tuple(BY_NAME)
    labels = tuple(f"{task.number}: {task.label}" for task in BY_NAME.values())
    return (
        Facet("type", "task", FacetKind.CATEGORY, names, reveals=False, labels=labels),
        Facet("answer", "answer", FacetKind.CATEGORY, asking.answers(spec), reveals=True),
    )


def facet_codes(spec: BabiSpec, item: Item) -> Mapping[str, Sequence[int]]:
    """Return a code for each facet and each of an item's questions."""
    names = {name: code for code, name in enumerate(BY_NAME)}
    answers = {answer: code for code, answer in enumerate(asking.answers(spec))}
    return {
        "type": [names[question.kind] for question in item.questions],
        "answer": [answers[question.answer.text] if question.answer else -1 for question in item.questions],
    }


def train_keys(question: Question) -> Mapping[str, Sequence[str]]:
    """Return what the train split must have of a question."""
    return {}
