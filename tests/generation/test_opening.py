"""The update that opens a split's answers."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from generation.opening import open_answers


@pytest.mark.django_db(transaction=True)
def test_of_several_at_once_one_opens(made):
    split = made.splits.get(name="test")

    def press(_: int) -> bool:
        try:
            return open_answers(split)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(press, range(4))) == [False, False, False, True]
    split.refresh_from_db()
    assert not split.withheld
    assert split.secret


def test_what_is_not_complete_stays_withheld(begin):
    split = begin().splits.get(name="test")
    assert not open_answers(split)
    split.refresh_from_db()
    assert split.withheld


def test_what_was_never_withheld_is_not_opened(made):
    assert not open_answers(made.splits.get(name="train"))
