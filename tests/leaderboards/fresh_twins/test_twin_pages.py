"""The list of a split's complete fresh twins, and what other pages and suites show of them."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.making import dataset_jobs
from generation.models import Dataset, FreshTwin, Split
from generation.splits.split_recipes import read_recipe
from tests.leaderboards.fresh_twins.conftest import finish
from tests.leaderboards.fresh_twins.test_pages import BUTTON, PAGE, text_of
from webapp.leaderboards.fresh_twins.suite import MadeTwins, make_twins_with_suite
from webapp.leaderboards.models import Suite

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


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


def test_more_complete_twins_need_no_more_queries(made: MadeTwins, val: Split) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            text_of(Client(), PAGE)
        return len(queries)

    before = count()
    finish(make_twins_with_suite(val, count=2).twins)
    assert count() == before
