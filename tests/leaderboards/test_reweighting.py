"""The reweighted accuracy on boards and submissions: equal to a count from the rows, shown only for open answers."""

import csv
import io
import random
import re
import statistics
from collections import Counter

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotations.results import baseline
from annotations.studies import lifecycle
from generation.engine.scoring.weights.proportional_fitting import fit_margins
from generation.engine.worlds.simtown.programs import words_of
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Split
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.generation.complete_datasets import finish, shared
from tests.leaderboards.sent import approve, noisy, submitted, truth_of
from webapp.leaderboards.boards import board_of
from webapp.leaderboards.models import Method
from webapp.leaderboards.ranking.board_rows import REWEIGHTED, BoardRequest, BoardRow
from webapp.models import User

SPLITS = {
    "train": {"scenes": 200},
    "val": {"scenes": 300},
    "few": {"scenes": 20},
    "test": {"scenes": 60, "withheld": True},
}


def make_street() -> Dataset:
    spec = {"world": "simtown", "entities": 5, "splits": SPLITS}
    secrets = {"test": "11" * 16}
    return finish(dataset_jobs.start(spec, slug="street", visibility="public", images=False, secrets=secrets))


kept_street = shared(make_street)


@pytest.fixture
def street(kept_street: int, db: None) -> Dataset:
    return Dataset.objects.get(pk=kept_street)


def pairs_of(split: Split) -> list[tuple[str, str]]:
    """Return the subject and the object of each question, read from the stored programs."""
    found = [words_of(one.steps or ()) for one in Question.objects.filter(split=split).order_by("position")]
    return [(words[0], words[2]) for words in found if words is not None]


def weights_of(split: Split, train: Split) -> list[float]:
    """Return the weight of each question, computed only from the rows."""
    names = sorted({name for pair in pairs_of(train) for name in pair})
    counts = [Counter(pair[side] for pair in pairs_of(train)) for side in (0, 1)]
    margins = [np.array([one[name] for name in names]) / 200 for one in counts]
    expected = fit_margins(*margins, possible=~np.eye(len(names), dtype=bool))
    return [1 / expected[names.index(one), names.index(two)] for one, two in pairs_of(split)]


def weighted_mean(is_right: list[bool], weights: list[float]) -> float:
    return sum(weight * one for weight, one in zip(weights, is_right, strict=True)) / sum(weights)


def row_of(user: User, split: Split) -> BoardRow:
    """Return the only row whose method is not a baseline of the site."""
    [row] = [one for one in board_of(user, split).rows if one.entry.method and not one.entry.is_site_baseline]
    return row


def test_it_is_the_weighted_mean_over_the_questions(street: Dataset, method: Method, member: User) -> None:
    split, train = street.splits.get(name="val"), street.splits.get(name="train")
    weights, wanted = weights_of(split, train), []
    for run in ("1", "2", "3"):
        answers = noisy(split, wrong=0.3, seed=int(run))
        wanted.append(
            weighted_mean([one == other for one, other in zip(answers, truth_of(split), strict=True)], weights)
        )
        submitted(method, split, answers, run=run)
    found = row_of(member, split).reweighted
    assert found is not None
    assert found.share == pytest.approx(statistics.mean(wanted))
    assert found.deviation == pytest.approx(statistics.stdev(wanted))
    assert (found.n, found.runs) == (300, 3)
    assert found.low is not None and found.high is not None and found.low < min(wanted) < max(wanted) < found.high


def test_the_figure_of_people_uses_only_the_questions_that_they_were_asked(
    street: Dataset, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    study = answered.answered(street, random.Random(4))
    assert lifecycle.close(study)
    arrays = baseline.load(baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal))
    split, train = street.splits.get(name="val"), street.splits.get(name="train")
    index = SplitIndex.open(split)
    asked, is_right = arrays.asked.tolist(), (arrays.predictions == index.answers).tolist()
    weights = [weight * is_asked for weight, is_asked in zip(weights_of(split, train), asked, strict=True)]
    [row] = [one for one in board_of(member, split).rows if one.entry.is_human]
    assert row.reweighted is not None
    assert row.reweighted.n == sum(asked) < 300
    assert row.reweighted.share == pytest.approx(weighted_mean(is_right, weights))


def test_board_files_and_api_have_the_figure(street: Dataset, method: Method, member: User, as_member: Client) -> None:
    split = street.splits.get(name="val")
    submitted(method, split, noisy(split, wrong=0.3))
    wanted = row_of(member, split).reweighted
    assert wanted is not None and wanted.share is not None
    address = reverse("board", args=["street", "val"])
    page = as_member.get(address).content.decode()
    assert re.search(r"<th [^>]*>Reweighted</th>", page)
    assert f'<td class="num" title="{wanted.said}">{wanted.points}</td>' in page
    rows = list(csv.DictReader(io.StringIO(as_member.get(f"{address}board.csv").content.decode())))
    [mine] = [one for one in rows if one["method"] == method.name]
    assert float(mine["reweighted"]) == round(wanted.share, 6)
    assert mine["reweighted_n"] == "300"
    assert all(len(one) == len(rows[0]) and None not in one for one in rows)
    for where in (f"{address}board.json", "/api/v1/boards/street/val/"):
        [found] = [one for one in as_member.get(where).json()["rows"] if one["name"] == method.name]
        assert found["reweighted"] == wanted.to_json()
    assert "Reweighted" in as_member.get(f"{address}board.tex").content.decode()


def test_rows_can_be_sorted_by_the_figure(street: Dataset, method: Method, member: User) -> None:
    split = street.splits.get(name="val")
    other = Method.objects.create(owner=member, name="Other")
    for one, wrong in ((method, 0.4), (other, 0.2)):
        submitted(one, split, noisy(split, wrong=wrong))
    rows = board_of(member, split, BoardRequest(sort=REWEIGHTED)).rows
    shares = [one.reweighted.share for one in rows if one.reweighted and one.reweighted.share is not None]
    assert shares == sorted(shares, reverse=True) and len(shares) == 2


def test_the_page_shows_the_figure_beside_the_accuracy(street: Dataset, method: Method, as_member: Client) -> None:
    split = street.splits.get(name="val")
    page = as_member.get(submitted(method, split, truth_of(split)).get_absolute_url()).content.decode()
    assert re.search(r">Accuracy</th><th[^>]*>Reweighted</th>", page)
    assert page.count("<b>100.0</b>") == 2
    assert "/docs/reading-boards/#reweighted-accuracy" in page


def test_few_questions_have_no_figure(street: Dataset, method: Method, member: User) -> None:
    split = street.splits.get(name="few")
    submitted(method, split, truth_of(split))
    found = row_of(member, split).reweighted
    assert found is not None and found.is_missing


def test_withheld_answers_have_no_figure(street: Dataset, method: Method, as_member: Client, member: User) -> None:
    split = street.splits.get(name="test")
    approve(split, member)
    page = as_member.get(submitted(method, split, noisy(split, wrong=0.5)).get_absolute_url()).content.decode()
    assert "eweighted" not in page
    assert "eweighted" not in as_member.get(reverse("board", args=["street", "test"])).content.decode()


def test_a_world_without_frequencies_has_no_figure(val: Split, method: Method, as_member: Client, member: User) -> None:
    made = submitted(method, val, truth_of(val))
    assert row_of(member, val).reweighted is None
    assert "eweighted" not in as_member.get(reverse("board", args=[val.dataset.slug, "val"])).content.decode()
    assert "eweighted" not in as_member.get(made.get_absolute_url()).content.decode()
