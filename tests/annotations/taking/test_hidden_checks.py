"""Checks stay hidden from somebody who knows their address, the code of this site and every public file."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from PIL import Image

from annotations.answering import color_vision, questions
from annotations.answering.answer_forms import swatches_of
from annotations.answering.session import QUESTION, SessionItem, Sitting
from annotations.models import EasyAnswer, Participant, Study
from annotations.studies import sampling
from generation.models import Dataset
from tests.annotations.visitors import Visitor, answer_pairs, study_of
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
CHECKS = {"questions": 8, "checks": 2, "attention": 2, "per_session": 8}
AHEAD = re.compile(r'data-ahead="([^"]*)"')
PICTURE = re.compile(r'<img[^>]* src="([^"]*/picture/[^"]*)"')


def guessed_places(visitor: Visitor, *, asked_at_most: int) -> list[tuple[int, SessionItem]]:
    """Return the places that checks would have if they were drawn from the address alone."""
    secret = visitor.address.split("/")[3]
    items = [SessionItem("check", 0), SessionItem("check", 1), SessionItem("attention", 0), SessionItem("attention", 1)]
    chance = random.Random(f"places {secret}")
    chance.shuffle(items)
    return [(1 + int((index + chance.random()) * (asked_at_most - 1) / 4), item) for index, item in enumerate(items)]


def guessed_pairs(visitor: Visitor, study: Study) -> dict[str, str]:
    """Return the answers to the pairs of colours if the pairs were drawn from the address alone."""
    chance = random.Random(f"palette {visitor.address.split('/')[3]}")
    colours = sorted(set(swatches_of(study.split).values()))
    pairs: list[Any] = [chance.sample(pair, 2) for pair in color_vision.hardest(colours)]
    pairs += [(one, one) for one in chance.choices(colours, k=color_vision.PAIRS - len(pairs))]
    chance.shuffle(pairs)
    return {f"pair-{number}": "same" if one == two else "different" for number, (one, two) in enumerate(pairs)}


def find_check_places(visitor: Visitor) -> list[tuple[int, SessionItem]]:
    """Answer everything and return each check with the number of answers before it."""
    visitor.to_questions()
    found, answered = [], 0
    while visitor.choices():
        before = questions.next_items(Sitting(visitor.participant))[0]
        if before.kind == QUESTION:
            answered += 1
        else:
            found.append((answered, before))
        visitor.answer()
    return found


def test_places_of_checks_cannot_be_guessed_from_the_address(shapes: Dataset) -> None:
    study = study_of(shapes, **CHECKS, per_question=30)
    right = 0
    for _ in range(6):
        visitor = Visitor(study)
        guessed = guessed_places(visitor, asked_at_most=8)
        right += [item for _, item in find_check_places(visitor)] == [item for _, item in guessed]
    assert right <= 2  # a guess is right in one of 24 orders


def test_answers_to_colour_pairs_cannot_be_guessed_from_the_address(shapes: Dataset) -> None:
    study = study_of(shapes)
    mistaken = 0
    for _ in range(8):
        visitor = Visitor(study)
        visitor.look()
        visitor.go_on()
        visitor.go_on(**guessed_pairs(visitor, study))
        mistaken += color_vision.is_mistaken(visitor.participant.mistaken)
    assert mistaken >= 7  # a guess has all pairs right in one of 924 orders


def test_pairs_differ_only_in_the_content_of_their_pictures(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    page = visitor.go_on()
    answers = [visitor.client.get(f"{visitor.address}pair/{number}/") for number in range(color_vision.PAIRS)]
    assert {len(answer.content) for answer in answers} == {len(answers[0].content)}
    assert len({str(sorted(answer.headers.items())) for answer in answers}) == 1
    fields = [part.split("</fieldset>")[0] for part in page.split('<fieldset class="pair">')[1:]]
    assert len(fields) == color_vision.PAIRS
    assert len({re.sub(r"Pair \d+|pair-\d+|/pair/\d+", "", part) for part in fields}) == 1


def test_a_padded_picture_can_still_be_read(shapes: Dataset, tmp_path: Any) -> None:
    split = shapes.splits.get(name="val")
    red, green = (swatches_of(split)[name] for name in ("red", "green"))
    for number, pair in enumerate((color_vision.ColourPair(red, red), color_vision.ColourPair(red, green))):
        (tmp_path / f"{number}.png").write_bytes(color_vision.draw_pair(pair, split))
        with Image.open(tmp_path / f"{number}.png") as image:
            image.load()
            assert image.size == (2 * color_vision.SIZE, color_vision.SIZE)


def pages(visitor: Visitor) -> Iterator[tuple[SessionItem, str]]:
    """Answer everything until the session ends, and yield each item with its page."""
    visitor.to_questions()
    while visitor.choices():
        yield questions.next_items(Sitting(visitor.participant))[0], visitor.page
        visitor.answer()


def test_the_prefetched_picture_does_not_reveal_whether_the_next_item_is_a_check(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes, **CHECKS, per_question=30))
    announced, seen = "", 0
    for item, page in pages(visitor):
        if item.kind == EasyAnswer.Kind.ATTENTION:
            continue
        found = PICTURE.search(page)
        assert found is not None
        assert announced in ("", found[1])
        ahead = AHEAD.search(page)
        announced = ahead[1] if ahead is not None else ""
        seen += item.kind == EasyAnswer.Kind.CHECK
    assert seen == CHECKS["checks"]


def test_participants_who_began_before_the_update_keep_their_checks(shapes: Dataset) -> None:
    study = study_of(shapes, **CHECKS)
    visitor = Visitor(study)
    Participant.objects.update(drawing=Participant.Drawing.BY_ADDRESS)
    visitor.look()
    visitor.go_on()
    visitor.go_on(**guessed_pairs(visitor, study))
    assert visitor.participant.mistaken == 0
    assert find_check_places(visitor) == guessed_places(visitor, asked_at_most=8)


@pytest.mark.django_db(transaction=True)
def test_the_migration_marks_participants_who_joined_before_it(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    try:
        MigrationExecutor(connection).migrate([("annotations", "0001_initial")])
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes("annotations"))
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())
    assert visitor.participant.drawing == Participant.Drawing.BY_ADDRESS
    assert Visitor(visitor.study).participant.drawing == Participant.Drawing.BY_KEY


def test_pairs_depend_on_the_key_of_the_site(shapes: Dataset, settings: Any) -> None:
    visitor = Visitor(study_of(shapes))
    person, swatches = visitor.participant, swatches_of(visitor.study.split)
    before = color_vision.pairs_for(person, swatches)
    assert color_vision.pairs_for(person, swatches) == before
    settings.SECRET_KEY = "another"
    assert color_vision.pairs_for(person, swatches) != before


def test_the_order_in_which_questions_are_given_does_not_follow_from_the_seed(shapes: Dataset) -> None:
    rosa, _ = User.objects.get_or_create(username="rosa")
    val = shapes.splits.get(name="val")
    one, other = (Study(split=val, owner=rosa, wanted=8, seed=5) for _ in range(2))
    assert (sampling.draw(one).positions == sampling.draw(other).positions).all()
    assert sampling.draw(one).ranks != sampling.draw(other).ranks
    assert sampling.draw(one).ranks == sampling.draw(one).ranks


def test_right_answers_pass_the_palette_check(shapes: Dataset) -> None:
    visitor = Visitor(study_of(shapes))
    visitor.look()
    visitor.go_on()
    visitor.go_on(**answer_pairs(visitor.participant))
    assert visitor.participant.mistaken == 0
