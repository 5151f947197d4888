"""Studies in the API, for the researchers who run them."""

import json
import random

import pytest
from django.test import Client

from annotations.models import Study
from annotations.results import study_statistics as results
from annotations.results.answer_files import as_csv, as_jsonl, lines
from generation.models import Dataset
from tests.annotations import answered
from tests.webapp.api.conftest import program_of
from webapp.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(shapes: Dataset) -> Study:
    """Give a study of a public split with answers of random participants."""
    return answered.answered(shapes, random.Random(5), split="train")


@pytest.fixture
def rosa(study: Study) -> Client:
    """Give a client that acts for the owner of the study."""
    return program_of(User.objects.get(username="rosa"))


def test_studies_are_listed_for_their_owners(rosa: Client, stranger: Client, client: Client, study: Study) -> None:
    (found,) = rosa.get("/api/v1/studies/").json()["results"]
    assert (found["code"], found["split"], found["state"]) == (study.code, "shapes/train", study.state)
    assert found["answers_in"] == study.slots.filter(answered=True).count()
    assert stranger.get("/api/v1/studies/").json()["results"] == []
    assert client.get("/api/v1/studies/").status_code == 401


def test_figures_are_those_of_the_page(rosa: Client, study: Study) -> None:
    figures = rosa.get(f"/api/v1/studies/{study.code}/").json()["figures"]
    headline = results.headline(results.gather(study))
    assert (figures["people"], figures["answers"], figures["ties"]) == (
        headline.people, headline.answers, headline.ties
    )  # fmt: skip
    assert figures["alpha"] == headline.alpha
    for name, share in (("majority", headline.majority), ("single", headline.single)):
        assert figures[name]["n"] == share.n
        assert ("right" in figures[name]) == (not share.is_too_small)


def test_a_draft_has_no_figures(rosa: Client, study: Study) -> None:
    draft = Study.objects.create(split=study.split, owner=study.owner, title="Later")
    assert "figures" not in rosa.get(f"/api/v1/studies/{draft.code}/").json()


def test_answers_are_those_of_the_files(rosa: Client, study: Study) -> None:
    expected = "".join(as_jsonl(lines(study)))
    got = rosa.get(f"/api/v1/studies/{study.code}/answers.jsonl")
    assert got.getvalue().decode() == expected
    assert {json.loads(line)["split"] for line in expected.splitlines()} == {"shapes/train"}
    assert rosa.get(f"/api/v1/studies/{study.code}/answers.csv").getvalue().decode() == "".join(as_csv(lines(study)))


@pytest.mark.parametrize("file", ["", "answers.jsonl", "answers.csv"])
def test_strangers_get_404(stranger: Client, client: Client, study: Study, file: str) -> None:
    assert stranger.get(f"/api/v1/studies/{study.code}/{file}").status_code == 404
    assert stranger.get(f"/api/v1/studies/nothing/{file}").status_code == 404
    assert client.get(f"/api/v1/studies/{study.code}/{file}").status_code == 401
