"""Who may see what, for every visitor, every visibility and every kind of content."""

import importlib
from dataclasses import dataclass, field
from itertools import product

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser, Group

from generation.access import (
    RESEARCHERS,
    What,
    is_researcher,
    may_list,
    may_mention,
    may_open,
    may_see,
    may_see_facet,
    recorded,
)
from webapp.models import User

OWNER, MEMBER, STAFF = User(pk=1), User(pk=2), User(pk=3, is_staff=True)
VISITORS = {"visitor": AnonymousUser(), "member": MEMBER, "owner": OWNER, "staff": STAFF}


@dataclass
class Dataset:
    visibility: str = "public"
    owner_id: int | None = 1
    archived: str | None = None
    images_visible: bool = True


@dataclass
class Split:
    withheld: bool = False
    dataset: Dataset = field(default_factory=Dataset)


@dataclass
class Facet:
    reveals: bool


def split(visibility: str, *, withheld: bool) -> Split:
    return Split(withheld=withheld, dataset=Dataset(visibility=visibility))


@pytest.mark.parametrize("who", ["owner", "staff"])
@pytest.mark.parametrize("what", What)
def test_owner_and_staff_see_everything(who: str, what: What) -> None:
    for visibility, withheld in product(("private", "link", "public"), (False, True)):
        assert may_see(VISITORS[who], split(visibility, withheld=withheld), what)


@pytest.mark.parametrize("who", ["visitor", "member"])
@pytest.mark.parametrize("what", What)
def test_others_see_nothing_of_a_private_dataset(who: str, what: What) -> None:
    assert not may_see(VISITORS[who], split("private", withheld=False), what)


@pytest.mark.parametrize("who", ["visitor", "member"])
@pytest.mark.parametrize("what", What)
@pytest.mark.parametrize("visibility", ["link", "public"])
def test_others_see_everything_of_an_open_split(who: str, what: What, visibility: str) -> None:
    assert may_see(VISITORS[who], split(visibility, withheld=False), what)


@pytest.mark.parametrize("who", ["visitor", "member"])
@pytest.mark.parametrize("visibility", ["link", "public"])
def test_others_see_only_image_story_and_question_of_a_withheld_split(who: str, visibility: str) -> None:
    seen = {what for what in What if may_see(VISITORS[who], split(visibility, withheld=True), what)}
    assert seen == {What.IMAGE, What.STORY, What.QUESTION}


@pytest.mark.parametrize("who", ["visitor", "member"])
def test_facets_that_reveal_nothing_stay_open_on_a_withheld_split(who: str) -> None:
    withheld = split("public", withheld=True)
    assert may_see_facet(VISITORS[who], withheld, Facet(reveals=False))
    assert not may_see_facet(VISITORS[who], withheld, Facet(reveals=True))


@pytest.mark.parametrize(
    ("visibility", "listed", "opened"),
    [("private", False, False), ("link", False, True), ("public", True, True)],
)
def test_strangers_list_public_datasets_and_open_link_only_ones_too(
    visibility: str, listed: bool, opened: bool
) -> None:
    for stranger in (AnonymousUser(), MEMBER):
        assert may_list(stranger, Dataset(visibility=visibility)) is listed
        assert may_open(stranger, Dataset(visibility=visibility)) is opened


def test_an_archived_dataset_still_opens_and_is_listed_only_for_owner_and_staff() -> None:
    archived = Dataset(archived="2026-01-01")
    assert {name for name, user in VISITORS.items() if may_list(user, archived)} == {"owner", "staff"}
    assert all(may_open(user, archived) for user in VISITORS.values())


@pytest.mark.parametrize(("visibility", "known"), [("private", False), ("link", False), ("public", True)])
def test_other_pages_mention_only_public_datasets_to_others(visibility: str, known: bool) -> None:
    dataset = Dataset(visibility=visibility)
    told = {name for name, user in VISITORS.items() if may_mention(user, dataset)}
    assert told == {"owner", "staff"} | ({"visitor", "member"} if known else set())


def test_a_dataset_without_owner_belongs_to_staff_alone() -> None:
    orphan = Dataset(visibility="private", owner_id=None)
    nobody = User()  # not saved: its key is None too
    assert not may_open(AnonymousUser(), orphan)
    assert not may_open(nobody, orphan)
    assert may_open(STAFF, orphan)


def test_an_unknown_visibility_shows_nothing() -> None:
    assert not may_see(MEMBER, split("hidden", withheld=False), What.IMAGE)


# Researchers ------------------------------------------------------------------------------------------------


@pytest.fixture
def group(db: None) -> Group:
    """Give the group that the migration makes; make it again if a transactional test has emptied its table."""
    importlib.import_module("webapp.migrations.0002_researchers").make_group(apps, None)
    return Group.objects.get_or_create(name=RESEARCHERS)[0]


def test_members_of_the_group_and_staff_are_researchers(group: Group) -> None:
    people = {
        name: User.objects.create_user(name, password="x", is_staff=name == "staff")
        for name in ["member", "staff", "ada"]
    }
    people["ada"].groups.add(group)
    researchers = {name for name, user in people.items() if is_researcher(user)}
    assert researchers == {"staff", "ada"}
    assert not is_researcher(AnonymousUser())


def test_another_group_makes_no_researcher(group: Group) -> None:
    user = User.objects.create_user("ada", password="x")
    user.groups.add(Group.objects.create(name="gardeners"))
    assert not is_researcher(user)


def test_a_researcher_sees_no_more_of_others_datasets_than_a_member(group: Group) -> None:
    user = User.objects.create_user("ada", password="x")
    user.groups.add(group)
    assert not may_open(user, Dataset(visibility="private", owner_id=0))
    assert not may_see(user, Split(withheld=True, dataset=Dataset(owner_id=0)), What.ANSWER)


# Access checks are recorded ------------------------------------------------------------------------------------


def test_access_checks_are_recorded_only_inside_the_block() -> None:
    withheld = split("public", withheld=True)
    may_see(MEMBER, withheld, What.ANSWER)
    with recorded() as asked:
        may_see_facet(MEMBER, withheld, Facet(reveals=True))
        may_list(MEMBER, withheld.dataset)
    may_see(MEMBER, withheld, What.ANSWER)
    assert {(one.split is withheld, one.what) for one in asked} == {(True, What.FACET), (False, None)}


@pytest.mark.parametrize("withheld", [False, True])
def test_hidden_pictures_are_seen_only_by_owner_and_staff(withheld: bool) -> None:
    split = Split(withheld=withheld, dataset=Dataset(images_visible=False))
    seeing = {who for who, visitor in VISITORS.items() if may_see(visitor, split, What.IMAGE)}
    assert seeing == {"owner", "staff"}
    assert all(may_see(visitor, split, What.QUESTION) for visitor in VISITORS.values())
