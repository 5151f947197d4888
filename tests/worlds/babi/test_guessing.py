"""The baselines of bAbI, compared with plain readings of the text."""

import re
from collections.abc import Iterator

import pytest

from generation.engine.items import Item
from generation.engine.worlds import get_world
from generation.engine.worlds.babi.baselines import BASELINES
from generation.engine.worlds.babi.entities import EVERYWHERE
from generation.engine.worlds.base import unanswered
from tests.worlds.marbles import WORLD as MARBLES

WORLD = get_world("babi")
LAST, NGRAMS = BASELINES


def items(split: str, *, questions: int = 60, tasks: tuple[int, ...] = (1,)) -> Iterator[Item]:
    """Yield the items of a split of a small dataset."""
    sized = {"train": {"questions": 100}, "test": {"questions": questions}}
    spec = WORLD.read_spec({"world": "babi", "tasks": list(tasks), "splits": sized})
    assert WORLD.maker is not None
    for chunk in WORLD.maker.plan(spec, split):
        yield from WORLD.maker.make(spec, split, chunk)


def guess_answers(which, asked, learned=()):
    spec = WORLD.read_spec({"world": "babi", "tasks": [1], "splits": {"train": {"questions": 5}}})
    return list(which.guess(spec, map(unanswered, asked), learned=iter(learned), check=lambda: None))


def test_the_last_place_is_the_last_word_that_names_a_place() -> None:
    asked = list(items("test"))
    found = iter(guess_answers(LAST, asked))
    for item in asked:
        lines = [line["text"] for line in item.scene.to_json()["lines"]]
        for question in item.questions:
            words = re.findall(r"\w+", " ".join(lines[: question.scope]))
            assert next(found) == [word for word in words if word in EVERYWHERE][-1]
    assert next(found, None) is None


def test_without_a_named_place_the_guess_is_empty() -> None:
    [item, *_] = items("test")
    question = item.questions[0].__class__("Where is Mary now?", kind="single-supporting-fact", scope=0)
    assert guess_answers(LAST, [Item(item.scene, None, (question,))]) == [""]


def test_the_classifier_learns_only_from_the_reference_and_beats_the_most_frequent_answer() -> None:
    asked, learned = list(items("test")), list(items("train"))
    truth = [question.answer.text for item in asked for question in item.questions]
    found = guess_answers(NGRAMS, asked, learned)
    assert len(found) == len(truth) and set(found) <= set(EVERYWHERE)
    commonest = max(truth.count(answer) for answer in truth)
    assert sum(map(str.__eq__, found, truth)) > commonest
    assert guess_answers(NGRAMS, asked) == [""] * len(truth)
    assert guess_answers(NGRAMS, asked, learned) == found


@pytest.mark.parametrize("which", BASELINES, ids=lambda one: one.name)
def test_the_world_has_these_baselines_and_they_can_be_stopped(which) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    assert WORLD.baselines == BASELINES and MARBLES.baselines == ()
    spec = WORLD.read_spec({"world": "babi", "tasks": [1], "splits": {"train": {"questions": 5}}})
    with pytest.raises(KeyboardInterrupt):
        list(which.guess(spec, items("test"), learned=items("train"), check=stop))


def test_baselines_get_questions_without_answers() -> None:
    [item, *_] = items("test")
    assert all(one.answer is None and one.program is None for one in unanswered(item).questions)
    assert [one.text for one in unanswered(item).questions] == [one.text for one in item.questions]
