"""The baselines of stories: the place that was named last, and the paper's n-gram classifier.

References
----------
Weston et al. 2015, Towards AI-Complete Question Answering, section 5 and table 3.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from generation.engine.items import Item
from generation.engine.language.token_vocabulary import split_words
from generation.engine.scoring import ngram_classifier
from generation.engine.scoring.ngram_classifier import ReadQuestion
from generation.engine.worlds.babi import prompts
from generation.engine.worlds.babi.entities import EVERYWHERE
from generation.engine.worlds.babi.spec import BabiSpec
from generation.engine.worlds.babi.story import Story
from generation.engine.worlds.base import Baseline

CHECKED = 200  # stories between two calls of `check`


def last_place(
    spec: BabiSpec, asked: Iterable[Item], *, learned: Iterable[Item], check: Callable[[], None]
) -> Iterator[str]:
    """Yield, for each question, the last place in its lines that can be an answer, or an empty string."""
    own = {answer for task in spec.tellers for answer in task.answers(spec.told)}
    places = {spec.language.answer(place) for place in own & set(EVERYWHERE)} & set(prompts.answers(spec))
    for number, item in enumerate(asked):
        if not number % CHECKED:
            check()
        named = [next((word for word in reversed(split_words(line)) if word in places), "") for line in _lines(item)]
        for question in item.questions:
            yield next((place for place in reversed(named[: question.scope]) if place), "")


def by_ngrams(
    spec: BabiSpec, asked: Iterable[Item], *, learned: Iterable[Item], check: Callable[[], None]
) -> Iterator[str]:
    """Yield, for each question, the answer of an n-gram classifier that was fitted to the question's task only."""
    known = (
        (read, question.answer.text)
        for item in learned
        for read, question in zip(_read(item), item.questions, strict=True)
        if question.answer is not None
    )
    yield from ngram_classifier.guesses(known, (read for item in asked for read in _read(item)), check=check)


def _read(item: Item) -> Iterator[ReadQuestion]:
    lines = _lines(item)
    for question in item.questions:
        yield ReadQuestion(question.kind, lines[: question.scope], question.text)


def _lines(item: Item) -> Sequence[str]:
    assert isinstance(item.scene, Story)
    return [line.text for line in item.scene.lines]


BASELINES = (
    Baseline(
        "last-place",
        "Last place",
        "the lines before the question",
        "nothing: it says the place named last",
        False,
        last_place,
    ),
    Baseline(
        "n-grams",
        "N-grams",
        "the question and the lines that share a word with it, as a bag of phrases of one to three words",
        "the reference split: a linear classifier for each task",
        True,
        by_ngrams,
    ),
)
