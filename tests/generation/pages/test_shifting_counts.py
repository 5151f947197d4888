"""The page that makes question sets of train, val and test with shifted counts."""

import re
import shlex
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client

from generation.making import dataset_jobs
from generation.models import Dataset, Split
from tests.clients import client_of
from tests.generation import fake_world
from tests.generation.complete_datasets import finish, shared
from webapp.models import User

pytestmark = pytest.mark.django_db
PAGE = "/datasets/rows/train/shift-counts/?type=sum&type=largest"
NINETY = {"kept": "odd", "removed": "90", "grouped_by": "", "name": "", "seed": "0"}
SPLITS = {"train": {"scenes": 60}, "val": {"scenes": 30}, "test": {"scenes": 40}}


def make_rows() -> Dataset:
    spec = {**fake_world.PRESET, "splits": SPLITS, "questions_per_scene": 6}
    return finish(dataset_jobs.start(spec, slug="rows", visibility="public", images=False))


kept = shared(make_rows, world=fake_world)


@pytest.fixture
def owner(kept: int, db: None) -> Client:
    """Give the browser of the dataset's owner."""
    user = User.objects.create_user("ada", "ada@example.org", "x")
    Dataset.objects.filter(pk=kept).update(owner=user)
    return client_of(user)


def names_of_sets() -> list[str]:
    return list(Split.objects.filter(kind="derived").order_by("ordinal").values_list("name", flat=True))


def test_the_form_of_a_question_set_links_to_the_page_with_its_filter(owner: Client) -> None:
    page = owner.get("/datasets/rows/train/derive/?type=sum&type=largest").content.decode()
    assert f'href="{PAGE}"' in page.replace("&amp;", "&")


def test_the_page_says_what_it_makes_before_it_makes_it(owner: Client) -> None:
    page = owner.get(PAGE).content.decode()
    assert "It makes 3 question sets" in page and "<b>val-odd-even-90</b>" in page
    assert (
        "with all odd answers and 10 % of each other answer (10 where that is less than one), sampled with seed 0"
        in page
    )
    assert "with all even answers and 10 % of each other answer " in page  # the question set of test
    counted = owner.post(PAGE, {**NINETY, "removed": "50", "name": "half", "action": "count"}).content.decode()
    assert "<b>test-half</b>" in counted and "50 % of each other answer " in counted
    assert names_of_sets() == []


def test_the_button_makes_all_three_and_shows_them(owner: Client) -> None:
    reply = owner.post(PAGE, {**NINETY, "grouped_by": "type"}, follow=True)
    assert reply.redirect_chain == [("/datasets/rows/count-shifts/odd-even-90/", 302)]
    page = reply.content.decode()
    assert "train-odd-even-90, val-odd-even-90, test-odd-even-90 are made." in page
    assert names_of_sets() == ["train-odd-even-90", "val-odd-even-90", "test-odd-even-90"]
    assert {split.state for split in Split.objects.filter(kind="derived")} == {"complete"}
    assert 'href="/datasets/rows/test-odd-even-90/?answer=' in page
    assert "Random (train)" in page and "9.21" in page and "0.9996" in page  # figures of the paper beside ours
    assert "RCN Regression" in page and "37.25" in page and "pictured, scene, see, seen, shown, the" in page
    assert "2,328" not in page  # the paper counts TallyQA
    [command] = re.findall(r"python manage\.py (derive rows .+)", unescape(page))
    train, *others = Split.objects.filter(kind="derived").order_by("ordinal")
    assert [split.reference_id for split in others] == [train.pk, train.pk]
    call_command(*shlex.split(command), "--name", "again")
    again = Split.objects.filter(kind="derived", name__endswith="-again").order_by("ordinal")
    assert [split.fingerprint for split in again] == [split.fingerprint for split in (train, *others)]
    overview = owner.get("/datasets/rows/").content.decode()
    assert "all odd answers and 10 % of each other answer and " in overview
    assert 'href="/datasets/rows/count-shifts/odd-even-90/"' in overview


def test_counts_and_charts_are_files_too(owner: Client) -> None:
    owner.post(PAGE, {**NINETY, "name": "90"})
    [head, *lines] = owner.get("/datasets/rows/count-shifts/90.csv").content.decode().splitlines()
    assert head == "set,answer,before,after"
    before, after = (sum(int(line.split(",")[at]) for line in lines if line.startswith("test-")) for at in (2, 3))
    assert after == Split.objects.get(name="test-90").questions < before
    drawing = owner.get("/datasets/rows/count-shifts/90.svg?set=train")
    assert drawing["Content-Type"] == "image/svg+xml" and b"rows/train-90" in drawing.content
    assert owner.get("/datasets/rows/count-shifts/90.pdf").content.startswith(b"%PDF")
    wrong = owner.get("/datasets/rows/count-shifts/90.svg?set=dev")
    assert wrong.status_code == 404 and "one of the sets train, val, test" in wrong.content.decode()


def test_an_unknown_shift_and_one_of_a_private_dataset_are_not_found(owner: Client, client: Client) -> None:
    assert owner.get("/datasets/rows/count-shifts/odd-even-90/").status_code == 404
    owner.post(PAGE, NINETY)
    assert client.get("/datasets/rows/count-shifts/odd-even-90/").status_code == 200
    Dataset.objects.update(visibility="private")
    for address in ("odd-even-90/", "odd-even-90.csv", "odd-even-90.svg"):
        assert client.get(f"/datasets/rows/count-shifts/{address}").status_code == 404


@pytest.mark.parametrize(
    ("page", "changed", "complaint"),
    [
        (PAGE, {"removed": "101"}, "less than or equal to 100"),
        (PAGE, {"removed": ""}, "This field is required"),
        (PAGE, {"kept": "prime"}, "Select a valid choice"),
        (PAGE, {"grouped_by": "colour"}, "Select a valid choice"),
        (PAGE, {"name": "a b"}, "Expected a letter, then letters, digits"),
        (PAGE, {"seed": "-1"}, "greater than or equal to 0"),
        ("/datasets/rows/train/shift-counts/", {}, "Expected answers that are numbers, got"),
    ],
)
def test_invalid_fields_are_refused_and_nothing_is_made(
    owner: Client, page: str, changed: dict[str, str], complaint: str
) -> None:
    reply = owner.post(page, {**NINETY, **changed})
    assert reply.status_code == 400 and complaint in reply.content.decode()
    assert names_of_sets() == []


def test_a_taken_name_is_marked(owner: Client) -> None:
    owner.post(PAGE, NINETY)
    reply = owner.post(PAGE, NINETY)
    assert reply.status_code == 400 and "Expected a new name" in str(reply.context["form"].errors["name"])
    assert len(names_of_sets()) == 3


def test_strangers_get_404_and_bad_addresses_a_refusal(owner: Client, client: Client) -> None:
    assert client.get(PAGE).status_code == client.post(PAGE, NINETY).status_code == 404
    assert owner.get("/datasets/rows/train/shift-counts/?colour=red").status_code == 400
    owner.post(PAGE, NINETY)
    assert owner.get("/datasets/rows/train-odd-even-90/shift-counts/").status_code == 409
    assert owner.put(PAGE).status_code == 405
