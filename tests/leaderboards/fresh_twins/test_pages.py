"""The page of a split's fresh twins: its form, making twins, and deleting one."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from generation.making import dataset_jobs
from generation.models import Dataset, FreshTwin, Split
from tests.leaderboards.fresh_twins.conftest import finish
from webapp.leaderboards.fresh_twins.suite import make_twins_with_suite
from webapp.leaderboards.models import Suite, SuiteMember
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PAGE = "/datasets/scored/val/fresh-twins/"
BUTTON = "Make a fresh twin"


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_a_researcher_makes_twins_with_the_button(
    as_researcher: Client, researcher: User, val: Split, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    assert f'href="{PAGE}">{BUTTON}</a>' in text_of(as_researcher, "/datasets/scored/val/")
    assert "No fresh twins yet" in text_of(as_researcher, PAGE)
    response = as_researcher.post(PAGE, {"seeds": "2", "questions": ""})
    assert (response.status_code, response["Location"]) == (302, f"{PAGE}#making")
    twins = list(FreshTwin.objects.for_list())
    assert [twin.split.dataset.owner for twin in twins] == [researcher] * 2
    page = text_of(as_researcher, PAGE)
    assert "2 fresh twins will be made." in page and 'data-state="making"' in page
    assert f'data-progress="{PAGE}progress/"' in page
    assert all(twin.split.dataset.slug in page for twin in twins)
    suite = Suite.objects.get()
    assert (suite.title, suite.owner, suite.is_public) == ("Fresh twins of scored/val", researcher, True)
    assert list(suite.members.values_list("label", flat=True)) == ["val", "twin 1", "twin 2"]
    finish(twins)
    after = text_of(as_researcher, f"{PAGE}progress/")
    assert 'data-state="complete"' in after and "withheld" in after
    assert suite.get_absolute_url() in text_of(as_researcher, PAGE)


def test_further_twins_join_the_same_suite(as_researcher: Client, val: Split) -> None:
    for _ in range(2):
        as_researcher.post(PAGE, {"seeds": "1"})
    assert list(SuiteMember.objects.values_list("suite__slug", "label")) == [
        ("fresh-twins-of-scored-val", label) for label in ("val", "twin 1", "twin 2")
    ]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "This field is required."),
        ({"seeds": "0"}, "greater than or equal to 1"),
        ({"seeds": "30"}, "less than or equal to 29"),
        ({"seeds": "<script>"}, "Enter a whole number."),
        ({"seeds": "1", "questions": "29"}, "greater than or equal to 30"),
        ({"seeds": "1", "questions": "9999999"}, "Your quota is"),
    ],
)
def test_bad_input_is_refused_with_one_message_and_makes_nothing(
    as_researcher: Client, val: Split, fields: dict[str, str], message: str
) -> None:
    response = as_researcher.post(PAGE, fields)
    page = response.content.decode()
    assert response.status_code == 400 and (message in page or "This is a limit of the site" in page)
    assert "<script>" not in page.replace('<script type="module"', "").replace("<script src", "")
    assert not FreshTwin.objects.exists() and not Suite.objects.exists()


def test_a_researcher_may_not_make_twins_of_a_link_only_dataset(as_researcher: Client, scored: Dataset) -> None:
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.LINK)
    assert 'name="seeds"' not in text_of(as_researcher, PAGE)
    assert as_researcher.post(PAGE, {"seeds": "1"}).status_code == 403
    assert not FreshTwin.objects.exists()


@pytest.mark.parametrize("address", ["/datasets/scored/none/fresh-twins/", "/datasets/none/val/fresh-twins/"])
def test_an_unknown_split_is_404(as_researcher: Client, val: Split, address: str) -> None:
    assert as_researcher.get(address).status_code == 404


def test_other_verbs_are_refused(admin_client: Client, val: Split) -> None:
    assert admin_client.put(PAGE).status_code == admin_client.delete(PAGE).status_code == 405
    assert admin_client.post(f"{PAGE}progress/").status_code == 405


def test_the_owner_can_open_and_delete_a_twin(val: Split, admin_client: Client) -> None:
    made = make_twins_with_suite(val, count=2)
    first, second = finish(made.twins)
    assert admin_client.post(f"/datasets/{first.dataset.slug}/val/open/").status_code == 302
    assert "open since" in text_of(Client(), PAGE)
    assert first.secret in text_of(Client(), first.dataset.get_absolute_url())
    slug = second.dataset.slug
    assert "A column of 1 suite." in text_of(admin_client, f"/datasets/{slug}/edit/delete/")
    assert admin_client.post(f"/datasets/{slug}/edit/delete/", {"confirm": slug}).status_code == 302
    dataset_jobs.work()
    assert not Dataset.objects.filter(slug=slug).exists()
    assert list(made.suite.members.values_list("label", flat=True)) == ["val", "twin 1"]
    assert text_of(Client(), made.suite.get_absolute_url())


def test_a_page_without_background_processes_says_so(as_researcher: Client, val: Split) -> None:
    as_researcher.post(PAGE, {"seeds": "1"})
    assert "No background process is running." in text_of(as_researcher, PAGE)
