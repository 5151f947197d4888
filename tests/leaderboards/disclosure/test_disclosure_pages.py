"""Who may submit to withheld answers and how often, and the owner's page about published figures."""

import io
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from generation.models import Dataset, Split
from tests.clients import client_of
from tests.leaderboards import sent
from webapp.leaderboards.disclosure import disclosure_budget, limits, submitter_approvals
from webapp.leaderboards.models import Disclosure, DisclosureSettings, Method, Submission, SubmitterApproval
from webapp.models import User

BOARD = "/leaderboards/scored/test/"
PAGE, ASK = f"{BOARD}disclosure/", f"{BOARD}approval/"
FORM = "/submissions/new/?to=scored/test"


@pytest.fixture
def newcomer(scored: Dataset, db: None) -> User:
    """Give an account that has no approval."""
    return User.objects.create_user("nina", "nina@example.org", "x")


@pytest.fixture
def owner(scored: Dataset) -> User:
    """Give the account that owns the dataset."""
    found = User.objects.create_user("olga", "olga@example.org", "x")
    Dataset.objects.filter(pk=scored.pk).update(owner=found)
    return found


def text(response: Any) -> str:
    return str(response.content.decode())


def upload(client: Client, split: Split, method: Method) -> Any:
    """Upload right answers through the API and return the response."""
    file = io.BytesIO(sent.as_file(sent.truth_of(split)).getvalue())
    file.name = "a.json"
    return client.post("/api/v1/submissions/", {"file": file, "method": str(method.pk), "split": "scored/test"})


# Who may submit


def test_an_unapproved_account_is_refused_by_page_api_and_command(
    newcomer: User, withheld: Split, tmp_path: Any
) -> None:
    method = Method.objects.create(name="New", owner=newcomer)
    client = client_of(newcomer)
    reply = upload(client, withheld, method)
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "not_approved")
    assert "needs the owner's approval" in reply.json()["error"]["message"]
    file = io.BytesIO(sent.as_file(sent.truth_of(withheld)).getvalue())
    file.name = "a.json"
    page = client.post(FORM, {"file": file, "method": method.pk})
    assert (
        page.status_code == 403 and "Ask the owner for approval" in text(page) and ">Submit</button>" not in text(page)
    )
    path = tmp_path / "a.json"
    path.write_bytes(sent.as_file(sent.truth_of(withheld)).getvalue())
    with pytest.raises(CommandError, match="needs the owner's approval"):
        call_command("submit", str(path), "--split", "scored/test", "--method", "New", "--owner", "nina")
    assert not Submission.objects.filter(method=method).exists()


def test_an_account_may_submit_after_the_owner_approved_it(newcomer: User, owner: User, withheld: Split) -> None:
    method = Method.objects.create(name="New", owner=newcomer)
    client = client_of(newcomer)
    assert client.post(ASK).status_code == 302
    assert client.post(ASK).status_code == 302
    [row] = SubmitterApproval.objects.filter(account=newcomer)
    assert (row.state, row.split) == ("asked", withheld)
    page = text(client.get(FORM))
    assert "You have asked for approval" in page and '<button type="submit">Ask the owner' not in page
    assert "nina" in text(client_of(owner).get(PAGE))
    decided = client_of(owner).post(f"{BOARD}approvals/{row.pk}/approve/")
    assert decided.status_code == 302
    row.refresh_from_db()
    assert (row.state, row.decided_by, row.decided is None) == ("approved", owner, False)
    assert upload(client, withheld, method).status_code == 202
    client_of(owner).post(f"{BOARD}approvals/{row.pk}/refuse/")
    refused = upload(client, withheld, method)
    assert refused.status_code == 403 and "the owner refused yours" in refused.json()["error"]["message"]


def test_a_verified_address_is_enough_if_the_site_verifies_and_the_owner_did_not_refuse(
    newcomer: User, owner: User, withheld: Split, settings: Settings
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"
    address = EmailAddress.objects.create(user=newcomer, email=newcomer.email, verified=False)
    assert not submitter_approvals.may_submit(newcomer, withheld)
    assert "verified e-mail address, or the owner's approval" in submitter_approvals.reason_for(newcomer, withheld)
    EmailAddress.objects.filter(pk=address.pk).update(verified=True)
    assert submitter_approvals.may_submit(newcomer, withheld)
    row = submitter_approvals.ask(newcomer, withheld)
    assert submitter_approvals.may_submit(newcomer, withheld), "asking takes nothing away"
    assert submitter_approvals.decide(withheld, row.pk, by=owner, is_approved=False)
    assert not submitter_approvals.may_submit(newcomer, withheld)


def test_owner_and_staff_need_no_approval_and_open_splits_need_none(
    newcomer: User, owner: User, withheld: Split, val: Split
) -> None:
    withheld = Split.objects.for_browse().get(pk=withheld.pk)
    staff = User.objects.create_user("root", is_staff=True)
    assert [submitter_approvals.may_submit(one, withheld) for one in (owner, staff, newcomer)] == [True, True, False]
    assert submitter_approvals.may_submit(newcomer, val)


def test_only_the_owner_decides_and_only_about_existing_requests(newcomer: User, owner: User, withheld: Split) -> None:
    row = submitter_approvals.ask(newcomer, withheld)
    for user in (newcomer, User.objects.create_user("eve")):
        assert client_of(user).post(f"{BOARD}approvals/{row.pk}/approve/").status_code == 404
    assert client_of(None).post(f"{BOARD}approvals/{row.pk}/approve/").status_code == 302
    client = client_of(owner)
    assert client.get(f"{BOARD}approvals/{row.pk}/approve/").status_code == 405
    assert client.post(f"{BOARD}approvals/99999/approve/").status_code == 404
    assert client.post(f"{BOARD}approvals/{row.pk}/praise/").status_code == 404
    assert client.post(f"/leaderboards/scored/val/approvals/{row.pk}/approve/").status_code == 404
    assert client_of(newcomer).post("/leaderboards/scored/val/approval/").status_code == 404
    row.refresh_from_db()
    assert row.state == "asked"


# How often


def test_all_accounts_together_have_three_published_figures_a_day(
    member: User, owner: User, withheld: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    DisclosureSettings.objects.create(split=withheld, budget=20)
    people = [User.objects.create_user(f"u{number}") for number in range(4)]
    for user in people:
        sent.approve(withheld, user)
    for user in people[:3]:
        sent.submitted(Method.objects.create(name="M", owner=user), withheld, sent.truth_of(withheld))
    last = Method.objects.create(name="M", owner=people[3])
    left = limits.remaining(people[3], withheld)
    assert (left.scores, left.shared, left.published, left.is_open) == (3, 0, 17, False)
    reply = upload(client_of(people[3]), withheld, last)
    assert reply.status_code == 429 and "3 scores a day of all accounts together" in reply.json()["error"]["message"]
    assert reply.json()["error"]["details"]["next_at"] is not None and 0 < int(reply["Retry-After"]) <= 86_400
    DisclosureSettings.objects.update(budget=3)  # no more figures can be published, so submissions reveal nothing
    assert upload(client_of(people[3]), withheld, last).status_code == 202


def test_pages_say_that_figures_after_the_budget_are_shown_later(
    member: User, method: Method, withheld: Split, as_member: Client
) -> None:
    DisclosureSettings.objects.create(split=withheld, budget=0)
    assert "their figure <b>is shown when the answers are opened</b>" in text(as_member.get(FORM))
    row = sent.submitted(method, withheld, sent.truth_of(withheld))
    assert "The figure <b>is shown when the answers are opened</b>" in text(as_member.get(row.get_absolute_url()))
    [score] = as_member.get(f"/api/v1/submissions/{row.pk}/").json()["scores"]
    assert (score["accuracy"], score["disclosure"]["state"], score["disclosure"]["figure"]) == (None, "deferred", None)
    assert 'class="few">shown when the answers are opened<' in text(as_member.get(BOARD))
    Split.objects.filter(pk=withheld.pk).update(withheld=False)
    assert ">100.0<" in text(as_member.get(row.get_absolute_url()))


# The owner's page


def test_the_owner_sees_what_is_published_and_raises_the_budget(method: Method, owner: User, withheld: Split) -> None:
    sent.submitted(method, withheld, sent.truth_of(withheld))
    client = client_of(owner)
    assert PAGE in text(client.get(BOARD))
    page = text(client.get(PAGE))
    assert "<dd>1 of 3</dd>" in page and "Points above guessing" in page
    chosen = {"budget": "50", "step": "12.5", "partition": ""}
    assert client.post(PAGE, chosen).status_code == 302
    assert disclosure_budget.plan_of(withheld) == (125, 50, "")
    assert "<dd>1 of 50</dd>" in text(client.get(PAGE))


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ({"step": "9.1"}, "at least 9.2 points"),
        ({"budget": "-1"}, "greater than"),
        ({"budget": "9" * 30}, "less than"),
        ({"partition": "answer"}, "valid choice"),
    ],
)
def test_bad_settings_are_refused(owner: User, withheld: Split, chosen: dict[str, str], words: str) -> None:
    reply = client_of(owner).post(PAGE, {"budget": "5", "step": "10", "partition": "", **chosen})
    assert reply.status_code == 400 and words in text(reply)
    assert not DisclosureSettings.objects.exists()


def test_parts_are_chosen_before_the_first_figure_and_shown_on_board_and_page(
    method: Method, owner: User, withheld: Split, as_member: Client
) -> None:
    [facet, *_] = [one for one in disclosure_budget.facets_for_partition(withheld) if len(one.values) > 1]
    client = client_of(owner)
    assert client.post(PAGE, {"budget": "40", "step": "9.2", "partition": facet.name}).status_code == 302
    row = sent.submitted(method, withheld, sent.truth_of(withheld))
    parts = disclosure_budget.parts_of(withheld, disclosure_budget.plan_of(withheld))
    [entry] = as_member.get(f"{BOARD}board.json").json()["rows"]
    figures = {label: one["accuracy"] for label, one in entry["columns"].items()}
    assert figures == {part.label: 1000 // part.step * part.step / 1000 for part in parts}
    assert "Published figures by part" in text(as_member.get(row.get_absolute_url()))
    client.post(PAGE, {"budget": "40", "step": "9.2", "partition": ""})
    assert disclosure_budget.plan_of(withheld).partition == facet.name, "it is fixed now"


def test_others_get_404_for_the_page_of_the_owner(owner: User, newcomer: User, withheld: Split) -> None:
    assert client_of(None).get(PAGE).status_code == 302
    assert client_of(newcomer).get(PAGE).status_code == 404
    assert PAGE not in text(client_of(newcomer).get(BOARD))
    assert client_of(owner).get("/leaderboards/scored/val/disclosure/").status_code == 404
    assert client_of(owner).put(PAGE).status_code == 405
    assert client_of(User.objects.create_user("root", is_staff=True)).get(PAGE).status_code == 200
    assert not Disclosure.objects.exists()
