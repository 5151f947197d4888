"""The plan of a study: its sessions, minutes, cost and intervals."""

from decimal import Decimal
from typing import Any

import pytest

from annotations.models import Study
from annotations.studies import planning, sampling
from annotations.studies.planning import plan
from generation.engine.scoring.figures import Share
from generation.models import Dataset
from webapp.models import User


def draft(**options: Any) -> Study:
    """Return a study that is not stored, without practice, checks and attention items."""
    return Study(**({"practice": 0, "checks": 0, "attention": 0} | options))


def test_the_numbers_of_the_paper_need_16500_answers_in_413_sessions() -> None:
    planned = plan(draft(wanted=5500, per_question=3, per_session=40))
    assert (planned.questions, planned.answers, planned.sessions) == (5500, 16_500, 413)


def test_minutes_and_cost_follow_from_the_number_of_items_in_a_session() -> None:
    planned = plan(draft(wanted=500, per_question=3, per_session=40, practice=6, checks=2, attention=2, hourly_pay=12))
    assert planned.asked == 50
    assert planned.minutes == pytest.approx((120 + 50 * 12) / 60)
    assert planned.sessions == 38
    assert (planned.pay, planned.cost) == (Decimal("2.40"), Decimal("91.20"))


def test_a_stated_pay_for_a_session_is_its_cost_and_is_compared_with_the_hourly_pay() -> None:
    asked = {"wanted": 500, "per_question": 3, "per_session": 40, "practice": 6, "checks": 2, "attention": 2}
    planned = plan(draft(**asked, hourly_pay=12, reward=Decimal("2.39")))
    assert (planned.pay, planned.cost, planned.worth) == (Decimal("2.39"), Decimal("90.82"), Decimal("2.40"))
    assert planned.pays_too_little
    assert not plan(draft(**asked, hourly_pay=12, reward=Decimal("2.40"))).pays_too_little
    assert not plan(draft(**asked, hourly_pay=12)).pays_too_little


def test_a_session_asks_no_more_questions_than_there_are() -> None:
    planned = plan(draft(wanted=10, per_question=3, per_session=40))
    assert (planned.asked, planned.sessions) == (10, 3)


def test_pay_is_never_below_the_hourly_pay() -> None:
    assert planning.pay_of(Decimal(10), 1.0) == Decimal("0.17")
    assert planning.pay_of(Decimal(12), 5.0) == Decimal("1.00")


def test_the_median_time_is_used_if_there_are_enough_answers() -> None:
    few, many = plan(draft(), times=[4000] * 29), plan(draft(), times=[4000] * 20 + [90_000] * 10)
    assert (few.seconds, few.is_measured) == (12.0, False)
    assert (many.seconds, many.is_measured) == (4.0, True)


def test_the_interval_is_wilsons_at_the_expected_accuracy() -> None:
    low, high = plan(draft(wanted=500)).interval
    assert (low, high) == (pytest.approx(0.8929, abs=1e-4), pytest.approx(0.9407, abs=1e-4))  # of 460 of 500
    assert plan(draft(wanted=500)).interval_text == "89.3 to 94.1 %"


def test_the_plan_shows_no_interval_that_results_do_not_show() -> None:
    for n in (1, 12, 20, 29, 30, 31):
        is_shown = not Share(n // 2, n).is_too_small
        assert (plan(draft(wanted=n)).interval_text != f"too few (n = {n})") is is_shown is (n >= 30)
    assert planning.SampleSlice("red", 29, planning.expected_interval(29)).text == "too few (n = 29)"


SHORT = {"wanted": 12, "per_session": 12, "practice": 3, "checks": 2, "attention": 2, "per_question": 3}  # 5.8 minutes


@pytest.mark.parametrize(
    ("text", "warned"),
    [
        ("It takes about {minutes} minutes. You may stop at any time.", False),
        ("It takes about 6 minutes.", False),
        ("It takes 5 to 10 min.", False),
        ("Half an hour a day is {minutes} minutes here.", False),
        ("You are paid 12 pounds an hour.", False),
        ("", False),
        ("It takes about 12 minutes.", True),
        ("Sie brauchen etwa 12 Minuten.", True),
        ("A twelve-question study of ten minutes", True),
        ("It takes 10–15 minutes.", True),
        ("It takes half an hour.", True),
        ("It takes 1.5 hours.", True),
        ("About 2 minutes", True),
    ],
)
@pytest.mark.parametrize("field", ["consent", "instructions"])
def test_a_text_that_states_another_duration_is_detected(text: str, warned: bool, field: str) -> None:
    study = draft(**SHORT, **{field: text})
    found = planning.contradictions(study, plan(study))
    assert [name for name, _ in found] == ([field] if warned else [])
    assert not warned or "a session takes about 5.8 minutes" in found[0][1]


@pytest.mark.django_db
def test_slices_of_each_facet_have_all_questions_of_the_sample(shapes: Dataset) -> None:
    study = draft(split=shapes.splits.get(name="train"), owner=User(), wanted=16)
    found = planning.breakdowns(study, sampling.draw(study))
    by_label = {one.label: one for one in found}
    assert "Type" in by_label or "type" in by_label
    for one in found:
        assert len(one.slices) > 1
        assert 0 < sum(part.n for part in one.slices) <= 16
