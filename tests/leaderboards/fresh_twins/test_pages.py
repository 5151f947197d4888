"""The page of a split's fresh twins: its form, its list, and the notes and the button on other pages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.making import dataset_jobs
from generation.models import Dataset, FreshTwin, Split
from generation.splits.split_recipes import read_recipe
from tests.leaderboards.fresh_twins.conftest import finish
from webapp.leaderboards.fresh_twins.suite import MadeTwins, make_twins_with_suite
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


def test_each_account_has_its_own_suite_of_its_own_twins(
    as_researcher: Client, admin_client: Client, made: MadeTwins
) -> None:
    as_researcher.post(PAGE, {"seeds": "1"})
    admin_client.post(PAGE, {"seeds": "1"})
    labels = {suite.slug: list(suite.members.values_list("label", flat=True)) for suite in Suite.objects.order_by("pk")}
    assert labels == {
        "fresh-twins-of-scored-val": ["val", "twin 1", "twin 2"],
        "fresh-twins-of-scored-val-2": ["val", "twin 3"],
        "fresh-twins-of-scored-val-3": ["val", "twin 4"],
    }


def test_a_deleted_suite_is_made_again_with_all_twins_of_the_account(made: MadeTwins, val: Split) -> None:
    made.suite.delete()
    again = make_twins_with_suite(val).suite
    assert list(again.members.values_list("label", flat=True)) == ["val", "twin 1", "twin 2", "twin 3"]


def test_a_label_that_is_in_use_gets_another_one(made: MadeTwins, val: Split) -> None:
    made.suite.members.filter(label="val").update(label="twin 3")
    make_twins_with_suite(val)
    assert "twin 3, scored-val-fresh-3" in made.suite.members.values_list("label", flat=True)


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


def test_visitors_and_members_see_the_list_but_no_form(made: MadeTwins, as_member: Client) -> None:
    for client in (Client(), as_member):
        page = text_of(client, PAGE)
        assert "scored-val-fresh-1/val" in page and 'name="seeds"' not in page
        assert BUTTON not in text_of(client, "/datasets/scored/val/")
        assert client.post(PAGE, {"seeds": "1"}).status_code == 403
    assert FreshTwin.objects.count() == 2


def test_strangers_get_404_for_a_private_dataset(
    made: MadeTwins, as_member: Client, as_researcher: Client, scored: Dataset
) -> None:
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.PRIVATE)
    for client in (Client(), as_member, as_researcher):
        for address in (PAGE, f"{PAGE}progress/"):
            assert client.get(address).status_code == 404
        assert client.post(PAGE, {"seeds": "1"}).status_code == 404


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


def test_a_question_set_and_a_twin_say_why_they_have_no_twin(
    admin_client: Client, made: MadeTwins, twins: list[Split], val: Split
) -> None:
    dataset_jobs.derive(val, name="few", recipe=read_recipe({"parent": "val", "first": 40}))
    for address in ("/datasets/scored/few/", f"/datasets/{twins[0].dataset.slug}/val/"):
        assert BUTTON not in text_of(admin_client, address)
        page = text_of(admin_client, f"{address}fresh-twins/")
        assert "No further twin can be made." in page and 'name="seeds"' not in page
        assert admin_client.post(f"{address}fresh-twins/", {"seeds": "1"}).status_code == 409
    assert FreshTwin.objects.count() == 2


def test_pages_say_what_a_twin_is_a_twin_of(made: MadeTwins, twins: list[Split]) -> None:
    for address in (twins[0].get_absolute_url(), twins[0].dataset.get_absolute_url()):
        assert "Fresh twin 1 of scored/val" in text_of(Client(), address)
    for address in ("/datasets/scored/", "/datasets/scored/val/"):
        assert f'href="{PAGE}">2 fresh twins</a>' in text_of(Client(), address)
    assert "scored/train" in text_of(Client(), twins[0].dataset.get_absolute_url())  # the reference


def test_pages_do_not_name_a_source_that_is_private_now(made: MadeTwins, twins: list[Split], scored: Dataset) -> None:
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.PRIVATE)
    Dataset.objects.filter(splits__in=twins).update(title="", description="")
    for address in (twins[0].get_absolute_url(), twins[0].dataset.get_absolute_url()):
        page = text_of(Client(), address)
        assert "scored/val" not in page and "scored/train" not in page


def test_the_api_says_what_a_twin_is_a_twin_of(made: MadeTwins, twins: list[Split], scored: Dataset) -> None:
    twin, source = (f"/api/v1/datasets/{slug}/splits/val/" for slug in (twins[0].dataset.slug, "scored"))
    assert Client().get(source).json()["fresh_twins"] == [str(split) for split in twins]
    found = Client().get(twin).json()
    assert (found["twin_of"], found["fresh_twins"], found["reference"]) == ("scored/val", [], None)
    Dataset.objects.filter(pk=twins[1].dataset_id).update(visibility=Dataset.Visibility.PRIVATE)
    assert Client().get(source).json()["fresh_twins"] == [str(twins[0])]
    Dataset.objects.filter(pk=scored.pk).update(visibility=Dataset.Visibility.PRIVATE)
    assert Client().get(twin).json()["twin_of"] is None


def test_a_private_twin_is_not_listed_for_others(made: MadeTwins, twins: list[Split], admin_client: Client) -> None:
    Dataset.objects.filter(pk=twins[0].dataset_id).update(visibility=Dataset.Visibility.PRIVATE)
    assert twins[0].dataset.slug not in text_of(Client(), PAGE)
    assert "1 fresh twin<" in text_of(Client(), "/datasets/scored/val/")
    assert twins[0].dataset.slug in text_of(admin_client, PAGE)


def test_the_owner_can_open_and_delete_a_twin(made: MadeTwins, twins: list[Split], admin_client: Client) -> None:
    first, second = twins
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


def test_more_complete_twins_need_no_more_queries(made: MadeTwins, val: Split) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            text_of(Client(), PAGE)
        return len(queries)

    before = count()
    finish(make_twins_with_suite(val, count=2).twins)
    assert count() == before


def test_a_page_without_background_processes_says_so(as_researcher: Client, val: Split) -> None:
    as_researcher.post(PAGE, {"seeds": "1"})
    assert "No background process is running." in text_of(as_researcher, PAGE)
