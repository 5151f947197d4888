"""The form for new datasets accepts the tasks of bAbI as ranges."""

import re

import pytest
from django.test import Client

from tests.clients import client_of, make_researcher

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher() -> Client:
    return client_of(make_researcher())


def test_tasks_are_entered_as_ranges(researcher: Client) -> None:
    page = researcher.get("/datasets/new/", {"preset": "babi"}).text
    assert re.search(r'<input id="parameter-tasks" name="tasks" value="1-20"', page)
    assert page.count('id="parameter-seed"') == page.count('id="parameter-told.distance"') == 1
