"""What is proved of made questions: ours hold, and whatever is changed is found by its own check."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from generation.engine.items import Answer, AnswerKind, Item
from generation.engine.program import Step
from generation.engine.verification.checks import Checker
from generation.engine.verification.proof import Proof
from generation.engine.worlds.counting.statements import Statement, say
from tests import proof
from tests.worlds.counting.made import (
    MAKER,
    WORLD,
    answer_of,
    asked_by,
    make_items,
    scene_of,
    sized,
    spec_of,
)

Change = Callable[[Item], Item]
SPEC = sized(77)


def checks(item: Item) -> set[str]:
    """Return which checks find something wrong with an item."""
    checker, found = Checker(WORLD, SPEC, made=True), Proof()
    checker.begin()
    checker.prove(item, found)
    return {flaw.check for flaw in found.settle()}


def related(item: Item) -> bool:
    first = asked_by(item.questions[0])
    return bool(first.relation) and answer_of(item.questions[0]) > 0


@pytest.fixture(scope="module")
def item() -> Item:
    """The first scene whose first question has a relation that holds for some object."""
    return next(one for one in make_items(sized(400)) if related(one))


def in_question(**changes: Any) -> Change:
    return lambda item: replace(item, questions=(replace(item.questions[0], **changes), *item.questions[1:]))


def in_object(number: Callable[[Item], int], change: Callable[[Any], Any]) -> Change:
    def changed(item: Item) -> Item:
        things, at = list(scene_of(item).objects), number(item)
        things[at] = change(things[at])
        return replace(item, scene=replace(scene_of(item), objects=tuple(things)))

    return changed


def one_counted(item: Item) -> int:
    counted = WORLD.counted(SPEC, item, item.questions[0])
    assert counted
    return counted[0]


def the_anchor(item: Item) -> int:
    anchor = asked_by(item.questions[0]).anchor
    things = scene_of(item).objects
    return next(
        number for number, one in enumerate(things) if all(getattr(one, name) == value for name, value in anchor)
    )


def other(value: str, *values: str) -> str:
    return next(one for one in values if one != value)


def other_color(thing: Any) -> Any:
    return thing._replace(color=other(thing.color, "red", "blue"))


def other_shape(thing: Any) -> Any:
    return thing._replace(shape=other(thing.shape, "cube", "sphere"))


def with_another_text(item: Item) -> Item:
    statement = asked_by(item.questions[0])
    turned = statement._replace(relation=other(statement.relation, "left", "behind"))
    words = SPEC.clevr.vocabulary
    return in_question(text=say(turned, words, _First()))(item)  # type: ignore[arg-type]


class _First:
    """Chooses the first option."""

    def choice(self, options: Any) -> Any:
        return options[0]


def with_the_same_question_twice(item: Item) -> Item:
    return replace(item, questions=(item.questions[0], item.questions[0]))


def with_one_question(item: Item) -> Item:
    return replace(item, questions=item.questions[:1])


CHANGES: dict[str, tuple[Change, set[str]]] = {
    "a wrong answer": (in_question(answer=Answer("14", AnswerKind.INTEGER)), {"programs", "answers"}),
    "a text about another relation": (with_another_text, {"texts"}),
    "a text that is no wording": (in_question(text="How many are there?"), {"texts"}),
    "a program that does not count": (
        in_question(program=(Step("scene"), Step("exist", (0,))), answer=Answer("yes", AnswerKind.YES_NO)),
        {"families"},
    ),
    "no program": (in_question(program=None), {"families"}),
    "a counted object of another shape": (in_object(one_counted, other_shape), {"answers", "programs"}),
    "no start of the relation": (in_object(the_anchor, other_shape), {"rules", "programs"}),
    "an object elsewhere": (
        in_object(one_counted, lambda thing: thing._replace(coords=(9.0, 9.0, thing.coords[2]))),
        {"scenes", "references"},
    ),
    "the same question twice": (with_the_same_question_twice, {"families"}),
    "one question too few": (with_one_question, {"families"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found_by_its_check(name: str, item: Item) -> None:
    change, expected = CHANGES[name]
    assert checks(item) == set()
    assert expected <= checks(change(item))


def test_our_items_are_proved() -> None:
    each = {
        name: {"scenes": proof.size(split.scenes, name=f"scenes of the preset's {name} proved", least=5, most=5)}
        for name, split in spec_of().splits.items()
    }
    for spec in (sized(proof.size(4_000, name="counting scenes proved", most=20)), spec_of(splits=each)):
        for split in spec.splits:
            own = spec.for_split(split)
            checker = Checker(WORLD, own, made=True)
            for chunk in MAKER.plan(spec, split):
                checker.begin()
                for item in MAKER.make(spec, split, chunk):
                    found = Proof()
                    checker.prove(item, found)
                    assert found.settle() == []
                    assert not found.open


def test_an_answer_that_is_too_frequent_in_a_batch_is_found() -> None:
    checker, found = Checker(WORLD, SPEC, made=True), Proof()
    checker.begin()
    rare = 15 if proof.SHARE == 1 else 13  # a split has the first 13 earlier than the first 15
    none = next(one for one in make_items(sized(400)) if answer_of(one.questions[0]) == rare)
    flaws = set()
    for _ in range(6):
        checker.prove(none, found)
        flaws |= {flaw.check for flaw in found.settle()}
    assert flaws == {"balance"}
    checker.begin()
    checker.prove(none, found)
    assert found.settle() == []


def test_a_relation_that_leaves_no_object_out_is_found(item: Item) -> None:
    """Without the objects on the other side, the relation would not be needed."""
    statement = asked_by(item.questions[0])
    described = [number for number, thing in enumerate(scene_of(item).objects) if _fits(thing, statement)]
    counted = set(WORLD.counted(SPEC, item, item.questions[0]) or ())
    changed = item
    for number in set(described) - counted:
        changed = in_object(lambda _, at=number: at, other_shape)(changed)  # type: ignore[misc]
    assert "rules" in checks(changed)


def _fits(thing: Any, statement: Statement) -> bool:
    return all(getattr(thing, name) == value for name, value in statement.counted)


def test_pictures_are_proved(item: Item) -> None:
    rgb, ids = MAKER.render(SPEC, "train", item)
    checker, found = Checker(WORLD, SPEC, made=True), Proof()
    checker.prove_pictures(item, rgb, ids, found)
    assert found.settle() == []
    checker.prove_pictures(item, rgb[:, ::-1], np.ascontiguousarray(ids[:, ::-1]), found)
    assert {flaw.check for flaw in found.settle()} >= {"images", "masks"}


def test_nothing_is_proved_of_imported_questions() -> None:
    assert WORLD.prover(SPEC, made=False) is None
