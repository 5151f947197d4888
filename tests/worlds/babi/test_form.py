"""The form for new datasets accepts the tasks of bAbI as ranges."""

import re

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from tests.clients import client_of
from webapp.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher() -> Client:
    user = User.objects.create_user("ada", "ada@example.org", "x")
    user.groups.add(Group.objects.get_or_create(name="researcher")[0])
    return client_of(user)


def test_tasks_are_entered_as_ranges(researcher: Client) -> None:
    page = researcher.get("/datasets/new/", {"preset": "babi"}).text
    assert re.search(r'<input id="parameter-tasks" name="tasks" value="1-20"', page)
    assert page.count('id="parameter-seed"') == page.count('id="parameter-told.distance"') == 1
