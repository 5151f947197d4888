"""The reweighted accuracy of a submission: computed again from the rows, and shown only where answers are open."""

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from generation.engine.scoring.proportional_fitting import fit_margins
from generation.engine.worlds.simtown.programs import words_of
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from tests.leaderboards.sent import noisy, submitted, truth_of
from webapp.leaderboards.analysis.reweighting import reweighted_figure
from webapp.leaderboards.disclosure import submitter_approvals
from webapp.leaderboards.models import Method
from webapp.models import User

SPLITS = {
    "train": {"scenes": 200},
    "val": {"scenes": 300},
    "few": {"scenes": 20},
    "test": {"scenes": 60, "withheld": True},
}


@pytest.fixture(scope="module")
def kept_street(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Give the key of a dataset that stays for all tests of the file."""
    spec = {"world": "simtown", "entities": 5, "splits": SPLITS}
    with django_db_blocker.unblock():
        dataset = dataset_jobs.start(
            spec, slug="street", visibility="public", images=False, secrets={"test": "11" * 16}
        )
        dataset_jobs.work(dataset=dataset)
        dataset.refresh_from_db()
        assert dataset.state == Dataset.State.COMPLETE, dataset.error
    yield dataset.pk
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=dataset.pk).delete()


@pytest.fixture
def street(kept_street: int, db: None) -> Dataset:
    return Dataset.objects.get(pk=kept_street)


def pairs_of(split: Split) -> list[tuple[str, str]]:
    """Return subject and object of each question, from the stored programs."""
    found = [words_of(one.steps or ()) for one in Question.objects.filter(split=split).order_by("position")]
    return [(words[0], words[2]) for words in found if words is not None]


def test_it_is_the_weighted_mean_over_the_questions(street: Dataset, method: Method) -> None:
    split, train = street.splits.get(name="val"), street.splits.get(name="train")
    answers = noisy(split, wrong=0.3, seed=3)
    names = sorted({name for pair in pairs_of(train) for name in pair})
    counts = [Counter(pair[side] for pair in pairs_of(train)) for side in (0, 1)]
    margins = [np.array([one[name] for name in names]) / 200 for one in counts]
    expected = fit_margins(*margins, possible=~np.eye(len(names), dtype=bool))
    weights = [1 / expected[names.index(one), names.index(two)] for one, two in pairs_of(split)]
    right = [one == other for one, other in zip(answers, truth_of(split), strict=True)]
    wanted = sum(weight * one for weight, one in zip(weights, right, strict=True)) / sum(weights)
    found = reweighted_figure(submitted(method, split, answers), split)
    assert found is not None
    assert found.share == pytest.approx(wanted)
    assert found.n == 300


def test_the_page_shows_it_beside_the_accuracy(street: Dataset, method: Method, as_member: Client) -> None:
    split = street.splits.get(name="val")
    page = as_member.get(submitted(method, split, truth_of(split)).get_absolute_url()).content.decode()
    assert re.search(r">Accuracy</th><th[^>]*>Reweighted</th>", page)
    assert page.count("<b>100.0</b>") == 2
    assert "/docs/reading-boards/#reweighted-accuracy" in page


def test_of_few_questions_no_figure_is_shown(street: Dataset, method: Method) -> None:
    split = street.splits.get(name="few")
    found = reweighted_figure(submitted(method, split, truth_of(split)), split)
    assert found is not None and found.is_missing


def test_withheld_answers_have_none(street: Dataset, method: Method, as_member: Client, member: User) -> None:
    split = street.splits.get(name="test")
    submitter_approvals.approve(split, member, by=None)
    page = as_member.get(submitted(method, split, noisy(split, wrong=0.5)).get_absolute_url()).content.decode()
    assert "eweighted" not in page


def test_a_world_without_frequencies_has_none(val: Split, method: Method, as_member: Client) -> None:
    made = submitted(method, val, truth_of(val))
    assert reweighted_figure(made, val) is None
    assert "eweighted" not in as_member.get(made.get_absolute_url()).content.decode()
