"""Prepared queries, whose SQL is compiled once, give the same rows as the query sets that they are made of."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from annotations.answering import slot_assignment
from annotations.answering.prepared_statements import Prepared, PreparedUpdate, ask_together
from annotations.models import Given, Participant, Slot, Study
from generation.models import from_now
from tests.annotations.answered import claims_of

pytestmark = pytest.mark.django_db
Joined = Callable[[], Participant]


def slots_of(who: int, *, seconds: float) -> "QuerySet[Slot, tuple[Any, ...]]":
    rows = Slot.objects.filter(participant=who).order_by("pk").annotate(is_sure=Q(lease__gt=from_now(seconds)))
    return rows.values_list("pk", "claimed", "answered", "is_sure")


def test_a_prepared_query_gives_the_rows_of_its_query_set_for_each_participant(study: Study, joined: Joined) -> None:
    people = [joined() for _ in range(3)]
    for person in people:
        claims_of(person)
    prepared = Prepared(slots_of)
    for person in [*people, people[0]]:
        for seconds in (0.0, 1e6):
            found = prepared.ask(person.pk, seconds=seconds)
            assert found == list(slots_of(person.pk, seconds=seconds)) and len(found) == 1
            assert found[0][3] is (seconds == 0.0)


def test_texts_are_values_and_never_sql(study: Study) -> None:
    prepared = Prepared(lambda code, number: Study.objects.filter(code=code, pk=number).values_list("pk", "title"))
    assert prepared.ask(study.code, study.pk) == [(study.pk, study.title)]
    for hostile in ("' OR 1=1 --", "%s", "7654321000000", ""):
        assert prepared.ask(hostile, study.pk) == []


def test_an_update_returns_the_number_of_changed_rows(study: Study, joined: Joined) -> None:
    first, second = joined(), joined()
    prepared = PreparedUpdate(
        lambda slot, who: (Slot.objects.free().filter(pk=slot), {"participant": who, "claimed": Now()})
    )
    one, other = study.slots.all()[:2]
    assert [prepared.run(one.pk, first.pk), prepared.run(other.pk, second.pk), prepared.run(0, first.pk)] == [1, 1, 0]
    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.participant, other.participant) == (first, second) and one.claimed is not None


def test_sql_is_compiled_once(study: Study, joined: Joined) -> None:
    made = []

    def build(who: int) -> "QuerySet[Slot, tuple[Any, ...]]":
        made.append(who)
        return slots_of(who, seconds=0.0)

    prepared, person = Prepared(build), joined()
    for _ in range(3):
        prepared.ask(person.pk)
    assert len(made) == 1


def test_an_update_and_a_new_row_are_stored_together_or_not_at_all(study: Study, joined: Joined) -> None:
    first, second = joined(), joined()
    hold = PreparedUpdate(
        lambda slot, who: (Slot.objects.free().filter(pk=slot), {"participant": who, "claimed": Now()})
    )
    slot, other = study.slots.filter(number=0)[:2]
    mine = Given(participant=first, question_id=slot.question_id)
    assert hold.run_and_store(mine, slot.pk, first.pk)
    assert Given.objects.get() == mine
    Slot.objects.filter(pk=slot.pk).update(lease=from_now(60))
    late = Given(participant=second, question_id=slot.question_id)
    assert not hold.run_and_store(late, slot.pk, second.pk)
    with pytest.raises(IntegrityError):
        hold.run_and_store(Given(participant=first, question_id=slot.question_id), other.pk, first.pk)
    other.refresh_from_db()
    assert (other.participant, Given.objects.count()) == (None, 1)


def test_queries_asked_together_give_the_same_rows_as_one_by_one(study: Study, joined: Joined) -> None:
    person = joined()
    claims_of(person)
    several = (
        slot_assignment.asking_given(person),
        slot_assignment.asking_held(person),
        slot_assignment.asking_given(joined()),
    )
    assert ask_together(*several) == [one.rows() for one in several]
    assert len(ask_together(*several)[0]) == 1
