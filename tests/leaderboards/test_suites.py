"""Suites: access to unlisted ones, the queries of their form, and declaring a grid."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from generation.models import Split
from tests.leaderboards import sent
from webapp.leaderboards.forms import NUMBER
from webapp.leaderboards.models import Suite
from webapp.leaderboards.models.suites import k_text
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def unlisted(val: Split, member: User) -> Suite:
    """Give an unlisted suite of the member."""
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


def test_the_address_with_the_key_opens_an_unlisted_suite(unlisted: Suite, as_member: Client) -> None:
    name = f"{unlisted.slug}-{unlisted.key}"
    assert len(unlisted.key) == 32 and unlisted.get_absolute_url() == f"/suites/{name}/"
    assert statuses(Client(), name) == {200}
    page = Client().get(unlisted.get_absolute_url()).content.decode()
    assert f"?to=suite/{name}" in page
    assert f'href="/suites/{name}/"' in as_member.get("/suites/").content.decode()
    assert Client().post(f"/suites/{name}/delete/").status_code == 302 and Suite.objects.exists()


def test_a_suite_that_becomes_listed_opens_by_its_slug_and_by_its_key(unlisted: Suite) -> None:
    Suite.objects.filter(pk=unlisted.pk).update(is_public=True)
    unlisted.refresh_from_db()
    assert unlisted.get_absolute_url() == "/suites/secret-plan/"
    assert statuses(Client(), unlisted.slug) == statuses(Client(), f"{unlisted.slug}-{unlisted.key}") == {200}


def test_two_suites_have_different_keys(unlisted: Suite, val: Split) -> None:
    assert sent.suite_of("other", val).key != unlisted.key


@pytest.mark.parametrize("lines", [2, 30, 5000])
def test_the_form_looks_up_all_splits_in_one_query(val: Split, as_member: Client, lines: int) -> None:
    fields = {"title": "Many", "slug": "many", "members": "\n".join(f"scored/val{n}" for n in range(lines))}
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = as_member.post("/suites/new/", fields)
    assert answer.status_code == 400 and not Suite.objects.exists()
    asked = [one["sql"] for one in queries if 'FROM "generation_split"' in one["sql"]]
    assert len(asked) == (1 if lines <= 30 else 0)


def test_the_form_names_the_line_without_a_split_and_limits_the_number_of_lines(val: Split, as_member: Client) -> None:
    fields: dict[str, Any] = {"title": "Many", "slug": "many", "members": "scored/val\nscored/nothing"}
    page = as_member.post("/suites/new/", fields).content.decode()
    assert "scored/nothing" in page and "Expected a split" in page
    fields["members"] = "\n".join(["scored/val"] * 31)
    assert "Expected 2 to 30 splits, got 31." in as_member.post("/suites/new/", fields).content.decode()
    fields |= {"members": "scored/val = a\nscored/train = b", "gaps": "\n".join(f"g{n} = a - b" for n in range(31))}
    assert "Expected at most 30 gaps, got 31." in as_member.post("/suites/new/", fields).content.decode()


GRID = {
    "title": "Towns", "slug": "towns", "members": "scored/val = few\nscored/train = many = all",
    "k_name": "entities", "grid": "many = all = 60\nfew = 2.5",
}  # fmt: skip


def test_a_suite_can_become_a_grid_and_stop_being_one(val: Split, as_member: Client) -> None:
    suite_page = as_member.post("/suites/new/", GRID)["Location"]
    suite = Suite.objects.get(slug="towns")
    assert (suite.k_name, list(suite.members.values_list("label", "k"))) == (
        "entities",
        [("few", 2.5), ("many = all", 60.0)],
    )
    assert f"{suite_page}grid/" in as_member.get(suite_page).content.decode()
    found = as_member.get(f"/api/v1{suite_page}").json()
    assert (found["k_name"], found["k"]) == ("entities", {"few": 2.5, "many = all": 60.0})
    form = as_member.get("/suites/towns/edit/").context["form"]
    assert (form["k_name"].value(), form["grid"].value()) == ("entities", "few = 2.5\nmany = all = 60")
    as_member.post("/suites/towns/edit/", {**GRID, "k_name": "", "grid": ""})
    suite.refresh_from_db()
    assert not suite.is_grid and set(suite.members.values_list("k", flat=True)) == {None}
    assert f"{suite_page}grid/" not in as_member.get(suite_page).content.decode()


def test_a_suite_without_k_is_not_a_grid(val: Split, as_member: Client) -> None:
    as_member.post("/suites/new/", {**GRID, "k_name": "", "grid": ""})
    found = as_member.get(f"/api/v1{Suite.objects.get().get_absolute_url()}").json()
    assert (found["k_name"], found["k"]) == ("", {})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k_name": ""}, "Expected what k counts and the k of each heading, or neither, got only the k of headings."),
        ({"grid": ""}, "Expected what k counts and the k of each heading, or neither, got only what k counts."),
        ({"grid": "few = 2"}, "Expected a k for each heading, got none for"),
        ({"grid": "few = 2\nmany = all = 2.0"}, "Expected a different k for each heading, got the same k twice."),
        *(
            ({"grid": f"few = 2\n{line}"}, "such as few = 15, with a number from 0, got")
            for line in ("many = all", "many = all = -3", "many = all = 1e3", "many = all = nan",
                         "many = all = 1234567890", "few = 3", "none = 3", "=", "many = all = ٣")
        ),
        ({"members": "scored/val", "grid": "none"}, "Expected 2 to 30 splits, got 1."),
    ],
)  # fmt: skip
def test_a_bad_grid_is_refused_with_one_message(
    val: Split, as_member: Client, fields: dict[str, str], message: str
) -> None:
    response = as_member.post("/suites/new/", {**GRID, **fields})
    assert response.status_code == 400 and not Suite.objects.exists()
    [(_, [only])] = response.context["form"].errors.items()
    assert message in only


@given(st.integers(1, 10**9 - 1), st.integers(0, 999_999))
def test_the_form_reads_the_k_that_it_shows(whole: int, part: int) -> None:
    text = k_text(float(f"{whole}.{part:06}"))
    assert NUMBER.fullmatch(text) and float(text) == float(f"{whole}.{part:06}")
