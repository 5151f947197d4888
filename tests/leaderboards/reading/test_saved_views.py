"""Saved views: names for addresses of a board, whose owner changes them, and which lead nowhere else."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import IntegrityError, transaction
from django.test import Client

from generation.models import Dataset, Split
from generation.storage.split_index import SplitIndex
from tests.clients import client_of
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from tests.proof import sample
from webapp.leaderboards import deletion, forms
from webapp.leaderboards.models import SavedView
from webapp.models import User

pytestmark = pytest.mark.usefixtures("undrawn")

BOARD, VIEWS, API = "/leaderboards/read/val/", "/leaderboards/read/val/views/", "/api/v1/boards/read/val/views/"


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("vera", "vera@example.org", "x")


@pytest.fixture
def key(val: Split, owner: User) -> str:
    """Give the key of a row."""
    made = method(owner, "Good")
    submit(made, val, noisy(SplitIndex.open(val), 0.3, seed=1))
    return f"m{made.pk}"


@pytest.fixture
def vera(owner: User) -> Client:
    """Give a browser in which the owner is signed in."""
    return client_of(owner)


@pytest.fixture
def other(db: None) -> Client:
    """Give a browser in which another account is signed in."""
    return client_of(User.objects.create_user("otto", "otto@example.org", "x"))


def save(client: Client, address: str, name: str = "A view", **more: str) -> Any:
    return client.post(VIEWS, {"name": name, "address": address, **more})


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("", ""),
        ("", "?ranks=1&sort=date&q=g%26od"),
        ("slices/", "?by=type&entry={key}"),
        ("pairs/", ""),
        ("confusion/", "?entry={key}&most=5"),
        ("questions/", "?show=right&type=count&entry={key}"),
        ("questions/3/", "?entry={key}"),
        ("curves/", ""),
    ],
)
def test_a_saved_view_opens_the_same_page(val: Split, key: str, vera: Client, page: str, query: str) -> None:
    address = f"{BOARD}{page}{query.format(key=key)}"
    before = vera.get(address)
    assert before.status_code == 200
    answer = save(vera, address)
    assert answer.status_code == 302
    [view] = SavedView.objects.all()
    assert answer["Location"] == view.get_absolute_url()
    after = vera.get(answer["Location"])
    assert after.status_code == 200
    assert after.templates[0].name == before.templates[0].name
    assert sorted(after.wsgi_request.GET.lists()) == sorted(before.wsgi_request.GET.lists())
    assert f'href="{view.get_absolute_url()}"'.replace("&", "&amp;") in vera.get(VIEWS).content.decode()


@pytest.mark.parametrize(
    "address",
    sample(
        [
            *("", "https://elsewhere.example/leaderboards/read/val/", "//elsewhere.example/leaderboards/read/val/"),
            *(
                "/leaderboards/read/test/",
                "/leaderboards/",
                "/datasets/read/",
                "/leaderboards/read/val/views/",
                "slices/",
            ),
            *(
                "/leaderboards/read/val/board.csv",
                "javascript:alert(1)",
                "/leaderboards/read/val/nothing/",
                "http://[/",
            ),
            *("/leaderboards/read/val/../test/", f"{BOARD}?q=" + "x" * 5000, f"{BOARD}?q=%00", "\0"),
        ],
        gate=6,
    ),
)
def test_other_addresses_are_refused(val: Split, vera: Client, address: str) -> None:
    answer = save(vera, address)
    assert answer.status_code == 400
    assert "xpected" in answer.content.decode() or "Null characters" in answer.content.decode()
    assert not SavedView.objects.exists()


def test_own_and_public_views_are_listed(val: Split, key: str, vera: Client, other: Client) -> None:
    save(vera, f"{BOARD}?sort=date", "Mine <b>")
    save(vera, f"{BOARD}pairs/", "For all", is_public="on")
    assert [view.name for view in vera.get(VIEWS).context["page"]] == ["For all", "Mine <b>"]
    for client, names in ((vera, {"For all", "Mine <b>"}), (other, {"For all"}), (Client(), {"For all"})):
        assert {view.name for view in client.get(VIEWS).context["page"]} == names
        assert {view.name for view in client.get(BOARD).context["saved_views"]} == names
        text = client.get(VIEWS).content.decode() + client.get(BOARD).content.decode()
        assert ("Mine" in text) == ("Mine <b>" in names) and "Mine <b>" not in text
    assert "by vera" in other.get(BOARD).content.decode()
    found = Client().get(API).json()
    assert found["count"] == 1
    [view] = found["results"]
    assert (view["name"], view["owner"], view["page"]) == ("For all", "vera", "All pairs")
    assert Client().get(view["address"]).status_code == 200


def test_its_owner_renames_publishes_and_deletes_it(val: Split, vera: Client, other: Client) -> None:
    save(vera, BOARD)
    [view] = SavedView.objects.all()
    edit = f"{VIEWS}{view.pk}/"
    assert 'value="A view"' in vera.get(edit).content.decode()
    assert vera.post(edit, {"name": " New   name ", "is_public": "on"}).status_code == 302
    view.refresh_from_db()
    assert (view.name, view.is_public) == ("New name", True)
    for client, status in ((other, 404), (Client(), 302)):
        for address in (edit, f"{edit}delete/"):
            assert client.get(address).status_code == status
            assert client.post(address, {"name": "Theirs"}).status_code == status
    assert SavedView.objects.get().name == "New name"
    assert vera.get(f"{edit}delete/").status_code == 200
    assert SavedView.objects.exists(), "the page only asks"
    answer = vera.post(f"{edit}delete/")
    assert answer["Location"] == VIEWS
    assert [str(one) for one in get_messages(answer.wsgi_request)][-1] == "The view “New name” is deleted."
    assert not SavedView.objects.exists()
    assert vera.get(edit).status_code == vera.post(f"{edit}delete/").status_code == 404


def test_a_view_is_changed_only_on_its_board(val: Split, vera: Client) -> None:
    save(vera, BOARD)
    [view] = SavedView.objects.all()
    assert vera.get(f"/leaderboards/read/other/views/{view.pk}/").status_code == 404


def test_staff_change_public_views_only(val: Split, vera: Client, admin_client: Client) -> None:
    save(vera, BOARD, "Own")
    save(vera, BOARD, "Rude", is_public="on")
    own, rude = SavedView.objects.order_by("name")
    assert admin_client.get(f"{VIEWS}{own.pk}/").status_code == 404
    assert admin_client.post(f"{VIEWS}{rude.pk}/delete/").status_code == 302
    assert list(SavedView.objects.all()) == [own]


def test_the_owner_of_the_dataset_only_deletes_public_views(val: Split, vera: Client, other: Client) -> None:
    save(vera, BOARD, "Own")
    save(vera, BOARD, "Rude", is_public="on")
    own, rude = SavedView.objects.order_by("name")
    assert other.post(f"{VIEWS}{rude.pk}/delete/").status_code == 404
    Dataset.objects.filter(pk=val.dataset_id).update(owner=User.objects.get(username="otto"))
    page = other.get(VIEWS).content.decode()
    assert f"{VIEWS}{rude.pk}/delete/" in page and f'{VIEWS}{rude.pk}/"' not in page
    assert other.post(f"{VIEWS}{rude.pk}/", {"name": "Polite"}).status_code == 404
    assert other.post(f"{VIEWS}{own.pk}/delete/").status_code == 404
    assert other.post(f"{VIEWS}{rude.pk}/delete/").status_code == 302
    assert list(SavedView.objects.all()) == [own]


def test_visitors_are_asked_to_sign_in(val: Split) -> None:
    answer = save(Client(), BOARD)
    assert answer.status_code == 302 and "login" in answer["Location"]
    assert not SavedView.objects.exists()
    assert "Save this view" not in Client().get(BOARD).content.decode()


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\0b"])
def test_a_bad_name_is_refused_and_the_address_stays(val: Split, vera: Client, name: str) -> None:
    answer = save(vera, f"{BOARD}?sort=date", name)
    assert answer.status_code == 400
    assert f'value="{BOARD}?sort=date"' in answer.content.decode()
    assert not SavedView.objects.exists()


def test_names_are_different(val: Split, vera: Client, other: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    save(vera, BOARD)
    answer = save(vera, f"{BOARD}pairs/")
    assert answer.status_code == 400 and "another view of yours" in answer.content.decode()
    assert save(other, BOARD).status_code == 302
    monkeypatch.setattr(forms.SavedViewForm, "clean_name", lambda self: self.cleaned_data["name"])
    assert save(vera, BOARD).status_code == 400, "two requests at the same moment"
    assert SavedView.objects.count() == 2
    save(vera, BOARD, "Second")
    second = SavedView.objects.get(name="Second")
    assert vera.post(f"{VIEWS}{second.pk}/", {"name": "A view"}).status_code == 400


def test_an_account_has_a_limit(val: Split, vera: Client, other: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MOST_OF_BOARD", 2)
    assert [save(vera, BOARD, f"View {at}").status_code for at in range(3)] == [302, 302, 400]
    assert "Expected at most 2 views of a board" in save(vera, BOARD, "More").content.decode()
    assert save(other, BOARD).status_code == 302
    first = SavedView.objects.order_by("pk")[0]
    assert vera.post(f"{VIEWS}{first.pk}/", {"name": "Renamed"}).status_code == 302


def test_withheld_boards_list_only_views_of_the_board(withheld: Split, vera: Client, admin_client: Client) -> None:
    there = "/leaderboards/read/test/"
    for name, page in (("Board", ""), ("Slices", "slices/")):
        data = {"name": name, "address": f"{there}{page}", "is_public": "on"}
        assert admin_client.post(f"{there}views/", data).status_code == 302
    assert [view.name for view in vera.get(f"{there}views/").context["page"]] == ["Board"]
    assert [one["name"] for one in vera.get("/api/v1/boards/read/test/views/").json()["results"]] == ["Board"]
    assert {view.name for view in admin_client.get(f"{there}views/").context["page"]} == {"Board", "Slices"}


def test_views_of_a_private_dataset_are_not_shown(val: Split, vera: Client) -> None:
    save(vera, BOARD, is_public="on")
    Dataset.objects.update(visibility="private")
    for address in (VIEWS, API, f"{VIEWS}{SavedView.objects.get().pk}/"):
        assert vera.get(address).status_code == 404


def test_views_go_with_their_split_and_their_account(val: Split, vera: Client, other: Client) -> None:
    save(vera, BOARD)
    save(other, BOARD)
    assert "2 saved views of boards." in list(deletion.losses(Split.objects.filter(pk=val.pk)))
    User.objects.get(username="otto").delete()
    assert [view.owner.get_username() for view in SavedView.objects.all()] == ["vera"]
    with transaction.atomic():
        Split.objects.filter(pk=val.pk).delete()
        assert not SavedView.objects.exists()
        transaction.set_rollback(True)


def test_a_view_with_a_bad_filter_opens_the_message_of_its_page(val: Split, vera: Client) -> None:
    address = save(vera, f"{BOARD}?sort=nothing")["Location"]
    answer = vera.get(address)
    assert answer.status_code == 400
    assert "Expected to sort by one of" in answer.content.decode()


def test_the_database_refuses_what_the_form_does(val: Split, owner: User) -> None:
    right = {"split": val, "owner": owner, "name": "One"}
    SavedView.objects.create(**right)
    for slip in ({}, {"name": ""}, {"name": "Two", "page": "elsewhere"}, {"name": "Two", "position": 3}):
        with pytest.raises(IntegrityError), transaction.atomic():
            SavedView.objects.create(**{**right, **slip})


@pytest.mark.parametrize("part", ["", "1/", "1/delete/"])
def test_other_verbs_and_unknown_boards_are_refused(val: Split, vera: Client, part: str) -> None:
    assert vera.put(f"{VIEWS}{part}").status_code == 405
    assert vera.get(f"/leaderboards/read/nothing/views/{part}").status_code == 404


def test_more_views_need_no_more_queries(val: Split, vera: Client, django_assert_max_num_queries: Any) -> None:
    for at in range(15):
        save(vera, BOARD, f"View {at}", is_public="on")
    with django_assert_max_num_queries(9):
        vera.get(VIEWS)
    with django_assert_max_num_queries(14):
        assert len(vera.get(BOARD).context["saved_views"]) == 12
