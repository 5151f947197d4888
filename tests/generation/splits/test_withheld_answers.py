"""Opening the withheld answers of a split."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from generation.splits.withheld_answers import open_answers


@pytest.mark.django_db(transaction=True)
def test_only_one_of_several_requests_opens_the_answers(made):
    split = made.splits.get(name="test")

    def try_to_open(_: int) -> bool:
        try:
            return open_answers(split)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(try_to_open, range(4))) == [False, False, False, True]
    split.refresh_from_db()
    assert not split.withheld
    assert split.secret
    assert abs(timezone.now() - split.opened) < timedelta(minutes=10)
    first = split.opened
    assert not open_answers(split)
    split.refresh_from_db()
    assert split.opened == first


def test_answers_of_an_incomplete_split_stay_withheld(begin):
    split = begin().splits.get(name="test")
    assert not open_answers(split)
    split.refresh_from_db()
    assert split.withheld
    assert split.opened is None


def test_a_withheld_split_has_no_date_of_opening(made):
    with pytest.raises(IntegrityError), transaction.atomic():
        made.splits.filter(name="test").update(opened=timezone.now())


def test_a_split_that_was_never_withheld_is_not_opened(made):
    assert not open_answers(made.splits.get(name="train"))
