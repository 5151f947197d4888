"""The verification of stories finds no errors in generated stories and every change of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from generation.engine.items import Answer, Item
from generation.engine.verification.checks import Checker
from generation.engine.verification.proof import Flaw, Proof
from generation.engine.worlds import get_maker, get_world
from generation.engine.worlds.babi.languages import LANGUAGES, SHUFFLED, language_of
from generation.engine.worlds.babi.story import Line, Story

WORLD = get_world("babi")


def items(**told: Any) -> tuple[Checker, list[Item]]:
    """Return a checker and some generated items."""
    spec = WORLD.read_spec({"world": "babi", "title": "", "told": told, "splits": {"train": {"questions": 10}}})
    maker = get_maker("babi")
    made = [item for chunk in maker.plan(spec, "train") for item in maker.make(spec, "train", chunk)]
    return Checker(WORLD, spec.for_split("train"), made=True), made


def flaws(checker: Checker, found: list[Item]) -> list[Flaw]:
    """Return all errors in the items."""
    proof = Proof()
    wrong: list[Flaw] = []
    for item in found:
        checker.prove(item, proof)
        wrong += proof.settle()
    return wrong


@pytest.mark.parametrize("faithful", [False, True])
@pytest.mark.parametrize("language", LANGUAGES)
def test_generated_stories_are_valid_in_every_language(language: str, faithful: bool) -> None:
    assert not flaws(*items(language=language, faithful=faithful))


def test_stories_with_a_distance_are_valid() -> None:
    assert not flaws(*items(distance=4, people=6))


def _text(item: Item, story: Story) -> Item:
    lines = (Line("Mary sang in the office.", story.lines[0].events), *story.lines[1:])
    return replace(item, scene=story._replace(lines=lines))


def _event(item: Item, story: Story) -> Item:
    events = (("go", "Mary", "garden"), ("go", "John", "office"))
    return replace(item, scene=story._replace(lines=(story.lines[0]._replace(events=events), *story.lines[1:])))


def _answer(item: Item, story: Story) -> Item:
    asked = item.questions[0]
    assert asked.answer is not None
    return replace(item, questions=(replace(asked, answer=Answer("attic", asked.answer.kind)), *item.questions[1:]))


def _question(item: Item, story: Story) -> Item:
    return replace(item, questions=(replace(item.questions[0], text="Where to?"), *item.questions[1:]))


def _task(item: Item, story: Story) -> Item:
    return replace(item, scene=story._replace(task=story.task % 20 + 1))


CHANGES: dict[str, tuple[Callable[[Item, Story], Item], str]] = {
    "a line's words": (_text, "texts"),
    "a line's events": (_event, "texts"),
    "an answer": (_answer, "answers"),
    "a question's words": (_question, "texts"),
    "the task": (_task, "families"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_an_item_is_found(change: str) -> None:
    checker, found = items()
    make, check = CHANGES[change]
    for item in found:
        assert isinstance(item.scene, Story)
        assert check in {flaw.check for flaw in flaws(checker, [make(item, item.scene)])}


def test_wrong_facts_of_imported_stories_are_found() -> None:
    checker, found = items()
    theirs = Checker(WORLD, checker.prover.spec, made=False)  # type: ignore[union-attr]
    for item in found:
        assert isinstance(item.scene, Story)
        bare = tuple(replace(question, program=None) for question in item.questions)
        wrong = tuple((len(item.scene.lines) - 1, 0) * 6 for _ in bare)
        changed = replace(item, scene=item.scene._replace(supports=wrong), questions=bare)
        assert {flaw.check for flaw in flaws(theirs, [changed])} == {"supports"}


def test_every_shuffled_letter_differs_and_shuffling_can_be_reversed() -> None:
    assert sorted(SHUFFLED) == sorted("abcdefghijklmnopqrstuvwxyz")
    assert all(one != other for one, other in zip("abcdefghijklmnopqrstuvwxyz", SHUFFLED, strict=True))
    language = language_of("shuffled")
    text = "Mary and John went over to the garden."
    assert language.english(language.text(text)) == text
    assert len(language.text(text).split()) == len(text.split())
