"""Frequencies of SimTown as a file that is chosen on the page for new datasets."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from generation.engine.worlds.simtown.spec import NAMES
from generation.models import Dataset
from tests.generation.pages.drafting import NEW, sent, text

pytestmark = pytest.mark.django_db
SPEC = {"base": "simtown-k5", "questions": {"shares": "shares.json"}, "splits": {"train": {"scenes": 4}}}
ROWS = [{"name": name, "subject": 0.2, "object": 0.3 if not number else 0.175} for number, name in enumerate(NAMES[:5])]


def test_shares_of_a_chosen_file_become_part_of_the_dataset(researcher: Client) -> None:
    file = SimpleUploadedFile("shares.json", json.dumps(ROWS).encode())
    answer = researcher.post(NEW, sent(SPEC, action="create", files=file))
    assert answer.status_code == 302, text(answer)
    shares = json.loads(Dataset.objects.get().spec)["questions"]["shares"]
    assert shares == {row["name"]: {"subject": row["subject"], "object": row["object"]} for row in ROWS}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS[:4], ("no shares of", NAMES[4])),
        ([{**row, "subject": 0.3} for row in ROWS], ("subject shares that sum to 1", "1.5")),
        (7, ("list of objects with name, subject and object",)),
    ],
)
def test_a_wrong_file_is_refused_and_nothing_is_made(researcher: Client, rows: object, words: tuple[str, ...]) -> None:
    file = SimpleUploadedFile("shares.json", json.dumps(rows).encode())
    answer = researcher.post(NEW, sent(SPEC, action="create", files=file))
    assert answer.status_code == 400
    assert [word for word in words if word not in text(answer)] == []
    assert not Dataset.objects.exists()


def test_without_the_file_the_page_asks_for_it(researcher: Client) -> None:
    answer = researcher.post(NEW, sent(SPEC, action="create"))
    assert answer.status_code == 400
    assert "the name of a file with them" in text(answer)
    assert not Dataset.objects.exists()
