"""The site works the same for every world, and each rule about this can fail."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.plugin import DjangoDbBlocker

from annotations.answering import answer_forms
from generation.engine.errors import BadScene
from generation.engine.items import AnswerForm, AnswerKind
from generation.engine.worlds import REGISTRY, get_world, names
from generation.models import Dataset, Question, Split
from tests.leaderboards import sent
from tests.worlds import baskets, marbles
from tests.worlds import site as sites
from tests.worlds.conformance import Case
from tests.worlds.site import RULES, Rule, Site, made

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SMALL = {marbles.NAME: marbles.WHERE, baskets.NAME: baskets.WHERE, "starter": "generation.starter.world:WORLD"}
# Complete proofs of these worlds take long, and other tests cover much of them, like `counting.test_made_site` and
# `generation.test_startworld`.
SLOW = {"babi", "clevr", "counting", "shapeworld", "starter"}
WORLDS = [pytest.param(name, marks=[pytest.mark.full] if name in SLOW else []) for name in sorted({*names(), *SMALL})]


@pytest.fixture(autouse=True, scope="module")
def _small_worlds() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, where in SMALL.items():
            patch.setitem(REGISTRY, name, where)
        yield


@pytest.fixture(scope="module", params=WORLDS)
def kept(
    request: pytest.FixtureRequest, _small_worlds: None, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[tuple[Case, int]]:
    """A world's case and the key of a dataset for all rules. Changes of a rule are rolled back."""
    case = Case(get_world(request.param))
    with django_db_blocker.unblock():
        key = made(case, slug=f"of-{request.param}").pk
    yield case, key
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=key).delete()


@pytest.fixture
def site(kept: tuple[Case, int], tmp_path: Path) -> Site:
    """The site for a rule."""
    return Site(kept[0], Dataset.objects.get(pk=kept[1]), tmp_path)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_site_works_for_every_world(site: Site, rule: Rule) -> None:
    rule(site)


# Errors that a site could have


def make_another(patch: pytest.MonkeyPatch) -> None:
    plain = marbles.MarbleMaker.make

    def make(self: Any, spec: Any, split: str, chunk: Any, *, secret: bytes = b"") -> Any:
        return plain(self, spec, split, chunk._replace(number=chunk.number + 1), secret=secret)

    patch.setattr(marbles.MarbleMaker, "make", make)


def answer_wrongly(patch: pytest.MonkeyPatch) -> None:
    row = Question.objects.filter(split__name="val").first()
    assert row is not None
    Question.objects.filter(pk=row.pk).update(answer="8" if row.answer != "8" else "7")


def lose_elements(patch: pytest.MonkeyPatch) -> None:
    def elements(self: Any, spec: Any, item: Any) -> Any:
        raise BadScene("Expected marbles.")

    patch.setattr(marbles.MarbleWorld, "elements", elements)


def forget_to_withhold(patch: pytest.MonkeyPatch) -> None:
    Split.objects.filter(name="test").update(withheld=False)


def offer_nine(patch: pytest.MonkeyPatch) -> None:
    def form(self: Any, spec: Any, question: Any) -> AnswerForm:
        return AnswerForm(AnswerKind.INTEGER, ("9",), {})

    patch.setattr(marbles.MarbleWorld, "answer_form", form)
    answer_forms._form.cache_clear()


def answer_at_random(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sent, "truth_of", lambda split: ["9"] * split.questions)


BREAKING: list[tuple[Rule, Callable[[pytest.MonkeyPatch], None]]] = [
    (sites.it_is_made_again_the_same, make_another),
    (sites.verifying_finds_nothing_wrong, answer_wrongly),
    (sites.every_question_and_step_is_shown, lose_elements),
    (sites.every_question_and_step_is_shown, answer_wrongly),
    (sites.withheld_answers_are_told_nowhere, forget_to_withhold),
    (sites.it_is_exported_in_every_format_and_read_again, forget_to_withhold),
    (sites.people_are_asked, offer_nine),
    (sites.models_are_ranked, answer_at_random),
]


@pytest.mark.parametrize("kept", [marbles.NAME], indirect=True)
@pytest.mark.parametrize(("rule", "breaks"), BREAKING, ids=lambda one: one.__name__)
def test_a_rule_can_fail(
    site: Site, rule: Rule, breaks: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)
    try:
        with pytest.raises(AssertionError):
            rule(site)
    finally:
        answer_forms._form.cache_clear()


def test_every_rule_is_tested_to_fail() -> None:
    assert {rule for rule, _ in BREAKING} == set(RULES)
