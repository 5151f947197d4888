"""Suites: who opens one that is not listed, and what their form asks of the database."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.models import Split
from tests.leaderboards import sent
from webapp.leaderboards.models import Suite
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def unlisted(val: Split, member: User) -> Suite:
    """Give a suite of a member that lists do not show."""
    made = sent.suite_of("secret-plan", val)
    Suite.objects.filter(pk=made.pk).update(is_public=False, owner=member)
    made.refresh_from_db()
    return made


def statuses(client: Client, name: str) -> set[int]:
    addresses = [f"/suites/{name}/", f"/suites/{name}/board.csv", f"/api/v1/suites/{name}/"]
    return {client.get(address).status_code for address in addresses}


def test_a_guessed_slug_opens_no_unlisted_suite(unlisted: Suite, as_member: Client, admin_client: Client) -> None:
    other = Client()
    other.force_login(User.objects.create_user("noor", password="x"))
    for stranger in (Client(), other):
        assert statuses(stranger, unlisted.slug) == {404}
        assert statuses(stranger, f"{unlisted.slug}-") == {404}
        assert statuses(stranger, f"{unlisted.slug}-{'0' * 32}") == {404}
    assert other.get(f"/submissions/new/?to=suite/{unlisted.slug}").status_code == 404
    assert statuses(as_member, unlisted.slug) == statuses(admin_client, unlisted.slug) == {200}


def test_whoever_has_the_address_with_the_key_opens_it(unlisted: Suite, as_member: Client) -> None:
    name = f"{unlisted.slug}-{unlisted.key}"
    assert len(unlisted.key) == 32 and unlisted.get_absolute_url() == f"/suites/{name}/"
    assert statuses(Client(), name) == {200}
    page = Client().get(unlisted.get_absolute_url()).content.decode()
    assert f"?to=suite/{name}" in page
    assert f'href="/suites/{name}/"' in as_member.get("/suites/").content.decode()
    assert Client().post(f"/suites/{name}/delete/").status_code == 302 and Suite.objects.exists()


def test_a_listed_suite_keeps_its_address_and_its_key_goes_on_opening_it(unlisted: Suite) -> None:
    Suite.objects.filter(pk=unlisted.pk).update(is_public=True)
    unlisted.refresh_from_db()
    assert unlisted.get_absolute_url() == "/suites/secret-plan/"
    assert statuses(Client(), unlisted.slug) == statuses(Client(), f"{unlisted.slug}-{unlisted.key}") == {200}


def test_two_suites_have_different_keys(unlisted: Suite, val: Split) -> None:
    assert sent.suite_of("other", val).key != unlisted.key


@pytest.mark.parametrize("lines", [2, 30, 5000])
def test_the_form_asks_for_all_splits_at_once(val: Split, as_member: Client, lines: int) -> None:
    fields = {"title": "Many", "slug": "many", "members": "\n".join(f"scored/val{n}" for n in range(lines))}
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = as_member.post("/suites/new/", fields)
    assert answer.status_code == 400 and not Suite.objects.exists()
    asked = [one["sql"] for one in queries if 'FROM "generation_split"' in one["sql"]]
    assert len(asked) == (1 if lines <= 30 else 0)


def test_the_form_names_the_line_that_is_no_split(val: Split, as_member: Client) -> None:
    fields: dict[str, Any] = {"title": "Many", "slug": "many", "members": "scored/val\nscored/nothing"}
    page = as_member.post("/suites/new/", fields).content.decode()
    assert "scored/nothing" in page and "Expected a split" in page
    fields["members"] = "\n".join(["scored/val"] * 31)
    assert "Expected 2 to 30 splits, got 31." in as_member.post("/suites/new/", fields).content.decode()
    fields |= {"members": "scored/val = a\nscored/train = b", "gaps": "\n".join(f"g{n} = a - b" for n in range(31))}
    assert "Expected at most 30 gaps, got 31." in as_member.post("/suites/new/", fields).content.decode()
