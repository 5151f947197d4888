"""The published figures of scores on withheld answers: by the Ladder, once per decision, and within the budget."""

import pytest

from generation.making import dataset_jobs, deletion
from generation.models import Dataset, Split
from generation.splits import question_sets
from generation.splits.split_recipes import read_recipe
from generation.splits.withheld_answers import open_answers
from tests.generation import small
from tests.leaderboards.sent import approve, noisy, submitted, truth_of
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.disclosure import disclosure_budget, limits
from webapp.leaderboards.models import Disclosure, DisclosureSettings, Method, Submission
from webapp.models import User


@pytest.fixture
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lift the daily limits of submissions."""
    monkeypatch.setattr("webapp.leaderboards.disclosure.limits.SCORED", 10**6)
    monkeypatch.setattr("webapp.leaderboards.disclosure.limits.SHARED", 10**6)


def change_settings(split: Split, **settings: int | str) -> None:
    """Set how the figures of a split are published, as its owner does."""
    DisclosureSettings.objects.update_or_create(split=split, defaults=settings)


def decisions_on(split: Split) -> list[tuple[str, int | None, bool]]:
    """Return the decisions on a split, in the order in which they were made."""
    rows = Disclosure.objects.filter(split=split).order_by("pk")
    return [(row.state, row.figure, row.is_new) for row in rows]


def with_share_right(split: Split, share: float) -> list[str]:
    """Return answers of which the first `share` are right and the others wrong."""
    right, wrong = truth_of(split), noisy(split, wrong=1.0)
    count = round(share * len(right))
    return [*right[:count], *wrong[count:]]


def test_published_figures_rise_only_in_steps(method: Method, withheld: Split, unlimited: None) -> None:
    change_settings(withheld, budget=100)
    for share in (0.5, 0.55, 0.62, 0.4, 0.72):
        submitted(method, withheld, with_share_right(withheld, share))
    # 120 questions: the step is 0.092
    assert decisions_on(withheld) == [
        ("published", 460, True),
        ("published", 460, False),
        ("published", 552, True),
        ("published", 552, False),
        ("published", 644, True),
    ]


def test_a_figure_keeps_the_step_with_which_it_was_published(method: Method, withheld: Split, unlimited: None) -> None:
    change_settings(withheld, step=300)
    submitted(method, withheld, with_share_right(withheld, 0.55))
    change_settings(withheld, step=100)
    submitted(method, withheld, with_share_right(withheld, 0.75))
    found = Disclosure.objects.filter(split=withheld).order_by("pk")
    assert list(found.values_list("figure", "step")) == [(300, 300), (700, 100)]


def test_every_decision_spends_and_later_ones_are_deferred(method: Method, withheld: Split, unlimited: None) -> None:
    for _ in range(5):
        submitted(method, withheld, with_share_right(withheld, 0.5))
    assert [state for state, _, _ in decisions_on(withheld)] == ["published"] * 3 + ["deferred"] * 2
    assert disclosure_budget.spending_on(withheld)[:3] == (3, 1, 1)
    assert disclosure_budget.room_on(withheld) == 0
    change_settings(withheld, budget=4)
    submitted(method, withheld, with_share_right(withheld, 0.9))
    assert decisions_on(withheld)[-1] == ("published", 828, True)


def test_published_figures_still_count_after_their_account_is_deleted(
    method: Method, withheld: Split, member: User, unlimited: None
) -> None:
    submitted(method, withheld, with_share_right(withheld, 0.5))
    member.delete()
    assert disclosure_budget.spending_on(withheld).figures == 1


def test_a_question_set_spends_its_own_budget_and_that_of_its_source(
    method: Method, withheld: Split, unlimited: None
) -> None:
    sets = [
        dataset_jobs.derive(
            withheld, name=f"part{seed}", recipe=read_recipe({"parent": "test", "sample": 100, "seed": seed})
        )
        for seed in range(3)
    ]
    for one in sets:
        row = Split.objects.for_browse().get(pk=one.pk)
        for _ in range(2):
            submitted(method, row, with_share_right(row, 0.5))
    assert disclosure_budget.spending_on(withheld).figures == 3
    assert [disclosure_budget.spending_on(one).figures for one in sets] == [2, 1, 0]
    submitted(method, withheld, with_share_right(withheld, 0.5))
    assert decisions_on(withheld)[-1][0] == "deferred"


def test_deleting_a_question_set_returns_no_figure_to_its_source(
    method: Method, withheld: Split, unlimited: None
) -> None:
    recipe = read_recipe({"parent": "test", "sample": 100, "seed": 1})
    part = Split.objects.for_browse().get(pk=dataset_jobs.derive(withheld, name="part", recipe=recipe).pk)
    for _ in range(2):
        submitted(method, part, with_share_right(part, 0.5))
    question_sets.remove(part)
    assert not Split.objects.filter(pk=part.pk).exists()
    assert disclosure_budget.spending_on(withheld)[:3] == (2, 1, 1)
    assert limits.remaining(User.objects.create_user("other"), withheld).published == 1


def test_fewer_than_30_questions_have_no_figure_and_spend_nothing(
    method: Method, withheld: Split, unlimited: None
) -> None:
    for size, state in ((29, "deferred"), (30, "published")):
        recipe = read_recipe({"parent": "test", "sample": size, "seed": 1})
        made = dataset_jobs.derive(withheld, name=f"of{size}", recipe=recipe)
        part = Split.objects.for_browse().get(pk=made.pk)
        assert disclosure_budget.submissions_left(part) == (0 if state == "deferred" else 3)
        submitted(method, part, truth_of(part))
        assert [one for one, _, _ in decisions_on(part)] == [state]
    assert disclosure_budget.spending_on(withheld).figures == 1


def test_a_score_on_a_question_set_from_a_submission_to_its_source_is_not_published(
    method: Method, withheld: Split, unlimited: None
) -> None:
    recipe = read_recipe({"parent": "test", "sample": 100, "seed": 1})
    part = dataset_jobs.derive(withheld, name="part", recipe=recipe)
    row = submitted(method, withheld, with_share_right(withheld, 0.5))
    assert row.scores.count() == 2
    assert not Disclosure.objects.filter(split=part).exists()


def test_each_part_has_its_own_ladder_and_counts(method: Method, withheld: Split, unlimited: None) -> None:
    [facet, *_] = [one for one in disclosure_budget.facets_for_partition(withheld) if len(one.values) > 1]
    change_settings(withheld, budget=100, partition=facet.name)
    withheld = Split.objects.for_browse().get(pk=withheld.pk)
    parts = disclosure_budget.parts_of(withheld, disclosure_budget.plan_of(withheld))
    assert parts and all(part.n >= 30 and part.step**2 * part.n >= 1000**2 for part in parts)
    submitted(method, withheld, truth_of(withheld))
    submitted(method, withheld, noisy(withheld, wrong=1.0))
    first, second = Disclosure.objects.filter(split=withheld).order_by("pk")
    assert first.part_figures == {part.value: 1000 // part.step * part.step for part in parts} == second.part_figures
    assert first.cost == second.cost == 1 + len(parts)
    assert disclosure_budget.spending_on(withheld).figures == 2 + 2 * len(parts)


def test_only_the_guess_by_type_of_the_sites_baselines_has_a_figure(withheld: Split) -> None:
    baselines.begin()
    scoring.RUNNER.take_turn()
    found = Disclosure.objects.filter(split=withheld, method__baseline__gt="")
    states = dict(found.values_list("method__baseline", "state"))
    assert states.pop("type") == "published"
    assert set(states.values()) == {"deferred"}
    assert disclosure_budget.spending_on(withheld).figures == 1


def test_scores_from_before_the_ladder_are_decided_in_the_order_of_submission(
    method: Method, withheld: Split, unlimited: None
) -> None:
    for share in (0.5, 0.3, 0.7, 0.9):
        submitted(method, withheld, with_share_right(withheld, share))
    before = decisions_on(withheld)
    Disclosure.objects.all().delete()
    assert disclosure_budget.catch_up() == 4
    assert decisions_on(withheld) == before
    assert disclosure_budget.catch_up() == 0


def test_a_split_with_open_answers_has_no_ladder(
    method: Method, val: Split, withheld: Split, scored: Dataset, unlimited: None
) -> None:
    submitted(method, val, with_share_right(val, 0.5))
    assert open_answers(withheld)
    withheld = Split.objects.for_browse().get(pk=withheld.pk)
    submitted(method, withheld, with_share_right(withheld, 0.5))
    assert not Disclosure.objects.exists()
    assert Submission.objects.scored().count() == 2


def test_a_dataset_is_deleted_with_its_published_figures(member: User, db: None) -> None:
    splits = {"train": {"scenes": 2}, "test": {"scenes": 10, "withheld": True}}
    made = small.made("gone", with_images=False, splits=splits)
    split = Split.objects.for_browse().get(dataset=made, name="test")
    approve(split, member)
    change_settings(split, budget=7)
    submitted(Method.objects.create(name="M", owner=member), split, with_share_right(split, 0.5))
    assert Disclosure.objects.filter(split=split).exists()
    deletion.remove(made)
    assert not Disclosure.objects.exists() and not DisclosureSettings.objects.exists()
