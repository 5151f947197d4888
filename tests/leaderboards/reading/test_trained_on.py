"""The training split of a submission is named only to users who may open that split, on every page."""

import re

import pytest
from django.utils import timezone

from generation.models import Dataset, Split
from generation.storage.split_index import SplitIndex
from tests.clients import client_of
from tests.generation import small
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.board_lookup import HIDDEN
from webapp.leaderboards.models import Submission, Suite
from webapp.models import User

pytestmark = pytest.mark.usefixtures("undrawn")

SECRET = "unspoken/train"
BOARD = "/leaderboards/read/val/"
FILES = [f"{BOARD}board.{kind}" for kind in ("csv", "json", "tex")]
PAGES = [BOARD, *(f"{BOARD}{page}" for page in ("?show=all", "slices/", "compare/", "questions/", "curves/", "steps/"))]
PROGRAMS = ["/api/v1/boards/read/val/", "/api/v1/boards/read/val/slices/?by=type", "/api/v1/suites/all/"]
OTHERS = [f"{BOARD}slices.csv?by=type", f"{BOARD}curves.csv", "/suites/all/", "/suites/all/board.json"]


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def learner(db: None) -> User:
    return User.objects.create_user("learner", "learner@example.org", "x")


@pytest.fixture
def unspoken(owner: User) -> Split:
    """Give a split of a private dataset that was started and never made."""
    return small.begun("unspoken", visibility="private", with_images=False, owner=owner).splits.get(name="train")


@pytest.fixture
def row(learner: User, val: Split, unspoken: Split) -> Submission:
    """Give one of two submissions of a public method, each trained on a split of that dataset."""
    index, made = SplitIndex.open(val), method(learner, "Learner")
    submit(made, val, noisy(index, 0.5, seed=2), trained_on=unspoken.dataset.splits.get(name="val"), train_size=700)
    suite = Suite.objects.create(slug="all", title="All", is_public=True)
    suite.members.create(split=val, ordinal=0, label="val")
    return submit(made, val, noisy(index, 0.2, seed=1), trained_on=unspoken, train_size=700)


def addresses(row: Submission) -> list[str]:
    rows = "&".join(f"entry=s{one.pk}" for one in Submission.objects.filter(method=row.method))
    chosen = [f"{BOARD}{page}{rows}" for page in ("slices/?by=type&", "compare/?", "questions/?", "steps/?")]
    own = [f"/submissions/{row.pk}/", f"/api/v1/submissions/{row.pk}/", row.method.get_absolute_url()]
    return [*PAGES, *FILES, *PROGRAMS, *OTHERS, *chosen, *own]


def addresses_that_name_it(user: User | None, row: Submission) -> set[str]:
    """Return the addresses whose responses name the training split of a submission to a user."""
    client, found = client_of(user), set()
    for address in addresses(row):
        response = client.get(address)
        assert response.status_code == 200, address
        if SECRET in response.content.decode():
            found.add(address)
    return found


def test_strangers_and_the_submitter_see_only_that_the_split_is_private(row: Submission, learner: User) -> None:
    assert addresses_that_name_it(None, row) == addresses_that_name_it(learner, row) == set()
    content = client_of(None).get(f"{BOARD}?show=each").content.decode()
    assert content.count(f"trained on {HIDDEN}") == 4  # visible and for screen readers, of both
    assert HIDDEN in client_of(None).get(f"/submissions/{row.pk}/").content.decode()
    assert "trained_on" not in client_of(None).get(f"/api/v1/submissions/{row.pk}/").json()


def test_the_owner_sees_its_name_and_so_does_everybody_after_it_is_public(row: Submission, owner: User) -> None:
    told = addresses_that_name_it(owner, row)
    assert {BOARD, *FILES, f"{BOARD}curves/", "/api/v1/boards/read/val/", f"/submissions/{row.pk}/"} <= told
    Dataset.objects.filter(slug="unspoken").update(visibility="public")
    assert addresses_that_name_it(None, row) == told
    assert client_of(None).get(f"/api/v1/submissions/{row.pk}/").json()["trained_on"] == SECRET


def test_only_the_submitter_sees_the_name_of_a_link_only_split(row: Submission, learner: User) -> None:
    Dataset.objects.filter(slug="unspoken").update(visibility="link")
    assert SECRET not in client_of(None).get(f"{BOARD}?show=each").content.decode()
    assert SECRET in client_of(learner).get(f"{BOARD}?show=each").content.decode()


def test_rows_cannot_be_found_by_a_hidden_name(row: Submission, owner: User) -> None:
    assert client_of(None).get(f"{BOARD}?q=unspoken").context["board"].rows == []
    assert len(client_of(owner).get(f"{BOARD}?q=unspoken").context["board"].rows) == 1


def test_two_private_splits_have_separate_curves(row: Submission) -> None:
    curves = client_of(None).get(f"{BOARD}curves/").context["curves"]
    assert [len(curve.points) for curve in curves] == [1, 1]
    first, second = sorted(curve.label for curve in curves)
    assert second == f"{first} (2)" and re.search(f"trained on {HIDDEN}$", first)


def test_the_page_of_a_baseline_names_the_split_it_learned_from(val: Split, shapes: object) -> None:
    made = method(None, "Q-type mode", baseline="type", published=timezone.now())
    train = val.dataset.splits.get(name="train")
    row = submit(made, val, noisy(SplitIndex.open(val), 0.5, seed=3), trained_on=train)
    assert "read/train" in client_of(None).get(f"/submissions/{row.pk}/").content.decode()
