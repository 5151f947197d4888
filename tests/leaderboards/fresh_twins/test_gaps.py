"""The gap between a split and its fresh twins: its interval, what is missing, and what others see of it."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from generation.engine.scoring.figures import Figure, difference_from_mean
from generation.engine.scoring.ladder import climb, least_step
from generation.models import Split
from generation.splits.withheld_answers import open_answers
from tests.leaderboards.disclosure.test_disclosure_budget import with_share_right
from tests.leaderboards.fresh_twins.conftest import finish
from tests.leaderboards.sent import approve, as_zip, right_of, submitted, suite_of, truth_of
from webapp.leaderboards import scoring, uploads
from webapp.leaderboards.disclosure import disclosure_budget
from webapp.leaderboards.entries import Entry
from webapp.leaderboards.fresh_twins.gaps import TwinGap, range_of
from webapp.leaderboards.fresh_twins.suite import MadeTwins, make_twins_with_suite
from webapp.leaderboards.models import Disclosure, Method
from webapp.leaderboards.suites import SuiteRow, board_of
from webapp.leaderboards.uploads import Order
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def staff(db: None) -> User:
    return User.objects.create_superuser("admin", "admin@example.org", "x")


def rows(user: Any, made: MadeTwins) -> dict[str, SuiteRow]:
    return {row.entry.name: row for row in board_of(user, made.suite).rows if not row.entry.is_site_baseline}


def gap_of(user: Any, made: MadeTwins, method: Method) -> TwinGap:
    [gap] = rows(user, made)[method.name].twin_gaps
    return gap


def answer(method: Method, val: Split, twins: list[Split], *, known: float, others: float) -> None:
    """Submit answers that are right for a share of the split, and for another share of each twin."""
    for split, share in ((val, known), *((twin, others) for twin in twins)):
        assert submitted(method, split, with_share_right(split, share)).is_scored


def test_a_method_that_knows_the_split_by_heart_has_a_gap_above_0(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, staff: User
) -> None:
    answer(published, val, twins, known=1.0, others=0.5)
    for user in (staff, AnonymousUser()):
        gap = gap_of(user, made, published)
        assert gap.excludes_zero and gap.interval is not None and gap.interval.low > 0
        assert (gap.answered, gap.missing) == (2, ())


def test_an_honest_method_has_a_gap_whose_interval_contains_0(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, staff: User
) -> None:
    answer(published, val, twins, known=0.7, others=0.7)
    for user in (staff, AnonymousUser()):
        gap = gap_of(user, made, published)
        assert gap.interval is not None and not gap.excludes_zero


def test_the_gap_is_the_accuracy_less_the_mean_and_the_worst_case_is_the_lowest(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, staff: User
) -> None:
    shares = []
    for split, share in zip((val, *twins), (0.9, 0.6, 0.4), strict=True):
        answers = with_share_right(split, share)
        submitted(published, split, answers)
        shares.append(right_of(split, answers) / split.questions)
    gap = gap_of(staff, made, published)
    assert gap.share == pytest.approx(shares[0] - (shares[1] + shares[2]) / 2)
    assert gap.lowest is not None and gap.lowest.share == pytest.approx(shares[2])
    assert (gap.lowest_label, gap.is_rounded) == ("twin 2", False)
    figures = [one for one in rows(staff, made)[published.name].figures if one is not None]
    assert gap.interval == difference_from_mean(figures[0], figures[1:])


def test_others_see_published_figures_and_an_interval_that_holds_every_accuracy_rounded_to_them(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, staff: User
) -> None:
    answer(published, val, twins, known=0.8, others=0.66)
    seen, exact = (gap_of(user, made, published) for user in (AnonymousUser(), staff))
    step = disclosure_budget.plan_of(twins[0]).step
    assert seen.is_rounded and seen.mean == pytest.approx(int(660 // step * step) / 1000)
    assert seen.interval is not None and exact.interval is not None
    assert seen.interval.low <= exact.interval.low and exact.interval.high <= seen.interval.high


def test_two_scores_with_the_same_published_figure_look_the_same_to_others(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, member: User
) -> None:
    other = Method.objects.create(name="Nearly the same", owner=member, published=published.published)
    answer(published, val, twins, known=0.8, others=0.65)
    answer(other, val, twins, known=0.8, others=0.66)
    first, second = (gap_of(AnonymousUser(), made, one) for one in (published, other))
    assert first == second


def test_a_row_states_which_twins_are_not_answered(
    made: MadeTwins, val: Split, twins: list[Split], published: Method
) -> None:
    submitted(published, val, truth_of(val))
    gap = gap_of(AnonymousUser(), made, published)
    assert (gap.answered, gap.share, gap.lowest, gap.missing) == (0, None, None, ("twin 1", "twin 2"))
    submitted(published, twins[1], with_share_right(twins[1], 0.5))
    gap = gap_of(AnonymousUser(), made, published)
    assert gap.share is not None and gap.missing_text == "1 of 2 twins; not yet: twin 1"
    page = Client().get(made.suite.get_absolute_url()).content.decode()
    assert "1 of 2 twins; not yet: twin 1" in page


def test_a_row_without_the_public_split_has_no_gap_but_a_lowest_twin(
    made: MadeTwins, val: Split, twins: list[Split], published: Method
) -> None:
    submitted(published, twins[0], with_share_right(twins[0], 0.5))
    gap = gap_of(AnonymousUser(), made, published)
    assert (gap.share, gap.interval, gap.missing) == (None, None, ("val", "twin 2"))
    assert gap.lowest is not None


def test_opened_answers_make_the_gap_exact_for_everybody(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, staff: User
) -> None:
    answer(published, val, twins, known=0.8, others=0.66)
    for twin in twins:
        assert open_answers(twin)
    assert gap_of(AnonymousUser(), made, published) == gap_of(staff, made, published)


def test_pages_files_and_the_api_show_the_same_gap(
    made: MadeTwins, val: Split, twins: list[Split], published: Method
) -> None:
    answer(published, val, twins, known=1.0, others=0.5)
    gap, client, address = gap_of(AnonymousUser(), made, published), Client(), made.suite.get_absolute_url()
    page = client.get(address).content.decode()
    assert gap.text in page and gap.interval_text in page and "val − fresh twins" in page
    found = client.get(f"/api/v1{address}").json()
    [row] = [one for one in found["rows"] if one["name"] == published.name]
    assert row["fresh_twins"] == {"val": gap.to_json()} and found["fresh_twins"] == {"val": ["twin 1", "twin 2"]}
    assert row == next(
        one for one in client.get(f"{address}board.json").json()["rows"] if one["name"] == published.name
    )
    lines = list(csv.DictReader(io.StringIO(client.get(f"{address}board.csv").content.decode())))
    [line] = [one for one in lines if one["method"] == published.name]
    cells = {
        name: float(line[f"val fresh twins_{name}"]) for name in ("answered", "mean", "gap", "low", "high", "lowest")
    }
    assert cells == {name: pytest.approx(gap.to_json()[name]) for name in cells}
    assert "fresh twins" in client.get(f"{address}board.tex").content.decode()


def test_a_suite_that_somebody_made_shows_the_gap_too(made: MadeTwins, val: Split, twins: list[Split]) -> None:
    own = suite_of("own", val)
    own.members.create(split=twins[1], ordinal=1, label="drawn again")
    [group] = board_of(AnonymousUser(), own).twin_groups
    assert (group.source.label, [one.label for one in group.twins]) == ("val", ["drawn again"])
    assert board_of(AnonymousUser(), suite_of("plain", val)).twin_groups == []


def test_one_zip_archive_answers_the_split_and_its_twins_by_the_headings(
    made: MadeTwins, val: Split, twins: list[Split], published: Method, tmp_path: Path
) -> None:
    names = {"val": val, "twin 1": twins[0], "twin 2": twins[1]}
    path = as_zip(tmp_path, **{name: truth_of(split) for name, split in names.items()})
    with path.open("rb") as file:
        received = uploads.receive(published.owner, Order(published, made.suite), file, path.name)
    scoring.RUNNER.take_turn()
    assert {one.split for one in received.submissions} == set(names.values())
    assert gap_of(AnonymousUser(), made, published).answered == 2


def test_a_withheld_split_can_have_twins_and_its_figures_are_rounded_too(
    withheld: Split, published: Method, member: User, staff: User
) -> None:
    made = make_twins_with_suite(withheld)
    [twin] = finish(made.twins)
    approve(twin, member)
    answer(published, withheld, [twin], known=0.83, others=0.63)
    seen, exact = (gap_of(user, made, published) for user in (AnonymousUser(), staff))
    assert seen.interval is not None and exact.interval is not None and exact.share == pytest.approx(0.2, abs=0.02)
    assert seen.interval.low <= exact.interval.low and exact.interval.high <= seen.interval.high
    assert seen.is_rounded and not exact.is_rounded
    assert open_answers(twin)
    assert gap_of(AnonymousUser(), made, published).is_rounded, "the figure of the source is still rounded"


@given(st.integers(30, 3000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.integers(1, 200))
def test_the_range_of_a_published_figure_contains_the_accuracy_behind_it(counted: tuple[int, int], step: int) -> None:
    n, right = counted
    published = climb(right, n, best=None, step=max(step, least_step(n)))
    entry = Entry("m1", Split(), disclosure=Disclosure(figure=published))
    lowest, highest = range_of(entry, Figure(n, 1, published / 1000), step=step)
    assert lowest.share is not None and highest.share is not None
    assert lowest.share <= right / n <= highest.share
    assert lowest.share == pytest.approx(published / 1000)


def test_several_submissions_stay_in_the_range_of_the_published_figure() -> None:
    n, step, best = 400, 50, None
    for right in (200, 219, 215, 240, 259):
        best = climb(right, n, best=best, step=step)
        entry = Entry("m1", Split(), disclosure=Disclosure(figure=best))
        lowest, highest = range_of(entry, Figure(n, 1, best / 1000), step=step)
        assert lowest.share is not None and highest.share is not None
        assert highest.share >= right / n


def test_the_range_has_the_step_with_which_the_figure_was_published() -> None:
    entry = Entry("m1", Split(), disclosure=Disclosure(figure=climb(236, 400, best=None, step=200), step=200))
    lowest, highest = range_of(entry, Figure(400, 1, 0.4), step=50)
    assert (lowest.share, highest.share) == (pytest.approx(0.4), pytest.approx(0.6))


def test_an_exact_figure_is_its_own_range() -> None:
    found = Figure(100, 1, 0.5, 0.4, 0.6)
    assert range_of(Entry("m1", Split()), found, step=100) == (found, found)
