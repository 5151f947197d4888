"""How much of the time that browsers report counts: never more than the time that passed by the site's clock."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from annotations.answering import exclusion_rules, timing
from annotations.answering.participants import people_of
from annotations.answering.session import QUESTION, SessionItem
from annotations.answering.timing import MILLISECOND, ReportedAnswer, count
from annotations.models import Answer, EasyAnswer, Given, Participant, Showing, Slot, Study
from annotations.results import payment, study_statistics
from annotations.results.answer_files import lines
from annotations.results.payment import PlatformRow, reconcile
from annotations.studies.planning import times_of
from generation.models import Dataset
from tests.annotations.visitors import Visitor, study_of

A_DAY = 86_400_000
LEASE = 600_000
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
STRANGE = [
    "",
    "-1",
    "NaN",
    "nan",
    "Infinity",
    "1e9",
    "1.5",
    "٣",
    "x" * 99,
    "0x10",
    "9" * 15,
    "9" * 4000,
    str(A_DAY + 1),
]


@pytest.fixture
def worker(shapes: Dataset) -> Visitor:
    """Give a participant at the first question of a study that pays by the hour."""
    visitor = Visitor(study_of(shapes, hourly_pay=Decimal(12), per_question=3), "?PROLIFIC_PID=p1&SESSION_ID=v1")
    visitor.to_questions()
    return visitor


def push_back(seconds: float) -> None:
    """Move all stored times back, as if so many seconds had passed since then."""
    span = timedelta(seconds=seconds)
    for model, names in (
        (Answer, ("received", "claimed")),
        (EasyAnswer, ("received",)),
        (Showing, ("at",)),
        (Given, ("at",)),
        (Slot, ("claimed", "lease")),
    ):
        for row in model._base_manager.all():
            moments = {name: getattr(row, name) - span for name in names if getattr(row, name) is not None}
            if moments:
                model._base_manager.filter(pk=row.pk).update(**moments)


def bonus(study: Study, *, seconds: float | None = None) -> Decimal:
    """Return the bonus of an unfinished session; `seconds` is the time taken that the platform exports."""
    row = PlatformRow("v1", "p1", "RETURNED", "", seconds)
    return sum((amount for _, amount in reconcile(study, [row], people_of(study)).bonuses), Decimal(0))


pages = [pytest.mark.django_db, pytest.mark.slow]


class TestAttacks:
    """A client that reports false times."""

    pytestmark = pages

    def test_two_answers_that_report_a_day_each_are_not_paid_as_two_days(self, worker: Visitor) -> None:
        for _ in range(2):
            assert worker.send("answer", answer=worker.choices()[0], visible=str(A_DAY)).status_code == 303
            worker.look()
        assert bonus(worker.study) <= Decimal("0.10")  # without a limit by the clock, it was 576.00

    def test_answers_that_were_replaced_are_not_paid_twice(self, worker: Visitor) -> None:
        push_back(60)
        worker.send("answer", answer=worker.choices()[0], visible=str(A_DAY))
        for _ in range(5):
            worker.look("?again=1")
            push_back(10)
            worker.send("answer", answer=worker.choices()[1], visible=str(A_DAY))
        assert Answer.objects.count() == 6
        assert 110 <= payment.seconds_worked(worker.study)[worker.participant.pk] < 120
        standing = [line for line in lines(worker.study) if not line.superseded]
        assert 110_000 <= sum(line.counted_ms for line in standing) < 120_000
        assert {line.counted_ms for line in lines(worker.study) if line.superseded} == {0}

    def test_an_idle_night_counts_at_most_the_length_of_a_lease(self, worker: Visitor) -> None:
        push_back(8 * 3600)
        worker.send("answer", answer=worker.choices()[0], visible=str(8 * 3_600_000))
        assert payment.seconds_worked(worker.study) == {worker.participant.pk: LEASE / 1000}

    def test_a_false_report_of_a_long_time_does_not_make_a_fast_answer_slow(self, worker: Visitor) -> None:
        for _ in range(6):
            worker.send("answer", answer=worker.choices()[0], visible="20000")
            worker.look()
        [person] = people_of(worker.study)
        assert exclusion_rules.is_too_fast(person.times * 2)
        times = timing.count_time(worker.study)
        assert (study_statistics.median_seconds(study_statistics.gather(worker.study), times) or 0) < 1.5
        assert max(times_of(worker.study)) < 15_000  # 20,000 were reported; a busy machine may need seconds
        assert {line.visible_ms for line in lines(worker.study)} == {20_000}

    @pytest.mark.parametrize("text", STRANGE)
    def test_a_report_that_is_not_a_number_of_milliseconds_is_ignored(self, worker: Visitor, text: str) -> None:
        push_back(20)
        sent = {"visible": text, "idle": text, "answer": worker.choices()[0]}
        assert worker.send("answer", **sent).status_code == 303
        [line] = lines(worker.study)
        assert (line.visible_ms, line.idle_ms) == (None, None)
        assert 20_000 <= line.counted_ms < 30_000  # counted by the site's clock only

    def test_an_honest_report_counts_unchanged(self, worker: Visitor) -> None:
        push_back(20)
        worker.send("answer", answer=worker.choices()[0], visible="7000", idle="13000")
        [line] = lines(worker.study)
        assert (line.visible_ms, line.idle_ms, line.counted_ms) == (7000, 13_000, 7000)

    def test_loading_a_page_again_does_not_restart_its_time(self, worker: Visitor) -> None:
        push_back(20)
        worker.look()
        worker.look("?zoom=2")
        worker.send("answer", answer=worker.choices()[0], visible="15000")
        assert [line.counted_ms for line in lines(worker.study)] == [15_000]

    def test_two_tabs_share_one_time(self, worker: Visitor) -> None:
        first = worker.fields()
        page = worker.page
        worker.send("answer", answer=worker.choices()[0])
        worker.look()
        second, choices = worker.fields(), worker.choices()
        Answer.objects.all().delete()
        Slot.objects.update(answered=False)
        push_back(60)  # now both questions are shown in tabs, and none is answered
        worker.page = page
        for fields in (first, second):
            sent = {**fields, "client": str(uuid.uuid4()), "answer": choices[0], "visible": str(A_DAY)}
            worker.client.post(f"{worker.address}answer/", sent)
        assert payment.seconds_worked(worker.study)[worker.participant.pk] < 70

    def test_an_answer_to_a_question_that_was_never_shown_counts_no_time(self, worker: Visitor) -> None:
        push_back(30)
        Showing.objects.all().delete()
        worker.send("answer", answer=worker.choices()[0], visible="20000")
        assert [line.counted_ms for line in lines(worker.study)] == [0]

    def test_practice_and_checks_count_by_the_same_rule(self, shapes: Dataset) -> None:
        study = study_of(shapes, practice=1, practice_right=0, attention=1, checks=1)
        visitor = Visitor(study, "?PROLIFIC_PID=p1&SESSION_ID=v1")
        visitor.to_questions()
        for _ in range(3):
            visitor.send("answer", answer=visitor.choices()[0], visible=str(A_DAY))
            visitor.look()
        assert payment.seconds_worked(study)[visitor.participant.pk] < 10

    def test_a_question_that_a_script_receives_with_a_reply_is_recorded_as_shown(self, worker: Visitor) -> None:
        for _ in range(3):
            sent = {**worker.fields(), "answer": worker.choices()[0]}
            reply = worker.client.post(f"{worker.address}answer/", sent, headers={"Accept": "application/json"})
            worker.page = reply.json()["page"]
        assert Showing.objects.filter(kind=QUESTION).count() == 4


# Any report


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[ReportedAnswer], dict[SessionItem, datetime]]:
    """Return answers with arbitrary reported times, and when their items were shown by the site's clock."""
    moments = sorted(draw(st.lists(st.integers(0, 5_000_000), min_size=2, max_size=40)))
    shown: dict[SessionItem, datetime] = {}
    rows: list[ReportedAnswer] = []
    turns: dict[SessionItem, int] = {}
    for key, moment in enumerate(moments):
        at = NOON + moment * MILLISECOND
        item = SessionItem(draw(st.sampled_from([QUESTION, "check"])), draw(st.integers(0, 4)))
        if item not in shown or draw(st.booleans()):
            shown.setdefault(item, at)
            continue
        turn = draw(st.integers(0, 3))
        text = draw(st.one_of(st.integers(-5, 10**16).map(str), st.sampled_from(STRANGE), st.text(max_size=5)))
        visible = timing.reported_milliseconds(text)
        rows.append(ReportedAnswer(item, key, turn, visible, at, superseded=turn < turns.get(item, 0)))
        turns[item] = max(turn, turns.get(item, 0))
    return rows, shown


@given(sessions())
def test_paid_time_is_at_most_the_time_by_the_clock_for_any_report(
    session: tuple[list[ReportedAnswer], dict[SessionItem, datetime]],
) -> None:
    rows, shown = session
    times = count(rows, shown, longest=10**9)
    if not rows:
        assert times == {}
        return
    paid, last = sum(times.values()) * MILLISECOND, max(row.received for row in rows)
    assert timedelta(0) <= paid <= last - min(shown.values())
    ended = {row.item: max(one.received for one in rows if one.item == row.item) for row in rows}
    assert paid <= sum((ended[item] - shown[item] for item in times), timedelta(0))
    assert all(times[item] * MILLISECOND <= ended[item] - shown[item] for item in times)
    assert all(time <= 5 for time in count(rows, shown, longest=5).values())


@given(st.text())
def test_a_report_is_a_whole_number_of_at_most_a_day_or_none(text: str) -> None:
    found = timing.reported_milliseconds(text)
    assert found is None or 0 <= found <= A_DAY


@pytest.mark.django_db
def test_the_clock_is_the_database_s(worker: Visitor) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_TIMESTAMP")
    showing = Showing.objects.get()
    assert abs((timezone.now() - showing.at).total_seconds()) < 60
    timing.record_first_showing(worker.participant, SessionItem(showing.kind, showing.number))
    assert Showing.objects.get().at == showing.at


@pytest.mark.django_db
def test_times_of_two_participants_are_counted_separately(shapes: Dataset) -> None:
    study = study_of(shapes, per_question=3)
    visitors = [Visitor(study) for _ in range(2)]
    for visitor in visitors:
        visitor.to_questions()
    push_back(30)
    for visitor in visitors:
        visitor.send("answer", answer=visitor.choices()[0], visible="20000")
    assert set(timing.count_time(study).people.values()) == {20_000}
    one: Participant = visitors[0].participant
    assert set(timing.count_time(study, people=[one.pk]).people) == {one.pk}
