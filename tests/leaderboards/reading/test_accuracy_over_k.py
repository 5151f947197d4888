"""Accuracy over the number k of a suite's splits: figures, whose runs count, access, and refusals."""

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client

from generation.engine.scoring.figures import Averaged, figure
from generation.models import Dataset, Split
from tests.leaderboards.reading import grids
from tests.leaderboards.reading.grids import N, predictions_with, train
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards import suites
from webapp.leaderboards.models import Suite
from webapp.models import User

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

PAGE = "/suites/towns/over-k/"
RIGHTS = {"five": 40, "fifteen": 30, "sixty": 20}  # of 40 questions
KS = {"five": 0.0, "fifteen": 50.0, "sixty": 100.0}


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def suite(towns: Dataset) -> Suite:
    """Give a suite whose smallest k is 0, as for shifts from which nothing is removed."""
    return grids.grid_of(towns, "towns", **KS)


def find_split(towns: Dataset, name: str) -> Split:
    return towns.splits.select_related("dataset", "parent", "reference").get(name=name)


def points_of(client: Client) -> dict[str, dict[float, Any]]:
    """Return the points of each curve in the JSON file, by k."""
    found: dict[str, dict[float, Any]] = {}
    for one in json.loads(client.get("/suites/towns/over-k.json").content)["points"]:
        found.setdefault(one["method"], {})[one["k"]] = one
    return found


def test_each_method_has_its_accuracy_on_each_split(towns: Dataset, suite: Suite, owner: User, client: Client) -> None:
    made = method(owner, "Net")
    for name, right in RIGHTS.items():
        for run, wrong in enumerate((0, 2)):
            split = find_split(towns, name)
            submit(made, split, predictions_with(split, right - wrong), run=str(run), trained_on=split.reference)
    points = points_of(client)["Net"]
    for name, right in RIGHTS.items():
        wanted = figure(Averaged(N, (right, right - 2)))
        one = points[KS[name]]
        assert (one["split"], one["n"], one["runs"]) == (f"towns/{name}", N, 2)
        assert one["value"] == pytest.approx(wanted.share, abs=1e-6)
        assert (one["low"], one["high"]) == pytest.approx((wanted.low, wanted.high), abs=1e-6)
    rows = list(csv.DictReader(io.StringIO(client.get("/suites/towns/over-k.csv").content.decode())))
    assert [row["k"] for row in rows if row["method"] == "Net"] == ["0.0", "50.0", "100.0"]
    assert r"Net & 97.5 \% & 72.5 \% & 47.5 \% \\" in client.get("/suites/towns/over-k.tex").content.decode()
    page = client.get(PAGE).content.decode()
    assert ">97.5 %</a>" in page and "Accuracy over entities" in page
    assert 'href="/leaderboards/towns/sixty/slices/?entry=m' in page
    assert (
        client.get("/suites/towns/over-k.svg").status_code == client.get("/suites/towns/over-k.pdf").status_code == 200
    )
    assert f'href="{PAGE}"' in client.get("/suites/towns/").content.decode()


def test_the_largest_training_size_counts_and_another_training_split_has_its_own_curve(
    towns: Dataset, suite: Suite, owner: User, client: Client
) -> None:
    made, five = method(owner, "Net"), find_split(towns, "five")
    train(made, five, {100: (20,), 200: (38,)})
    submit(made, five, predictions_with(five, 10), trained_on=find_split(towns, "sixty"))
    found = points_of(client)
    assert {name: one[0.0]["value"] for name, one in found.items() if name.startswith("Net")} == {
        "Net": 0.95,
        "Net, trained on towns/sixty": 0.25,
    }


def test_the_baselines_of_the_site_follow_the_methods(
    towns: Dataset, suite: Suite, owner: User, client: Client
) -> None:
    chance = method(None, "Chance", baseline="chance")
    for name in KS:
        split = find_split(towns, name)
        submit(chance, split, predictions_with(split, 20))
    five = find_split(towns, "five")
    submit(method(owner, "Net"), five, predictions_with(five, 38))
    assert list(points_of(client)) == ["Net", "Chance"]
    assert len(points_of(client)["Chance"]) == 3


def test_withheld_and_private_splits_are_left_out(towns: Dataset, owner: User, client: Client) -> None:
    grids.grid_of(towns, "towns", five=1, hidden=2)
    made = method(owner, "Net")
    for name in ("five", "hidden"):
        split = find_split(towns, name)
        submit(made, split, predictions_with(split, 40))
    assert list(points_of(client)["Net"]) == [1.0]
    assert "The answers of 1 of the suite’s splits are withheld" in client.get(PAGE).content.decode()
    Dataset.objects.update(visibility="private")
    page = client.get(PAGE).content.decode()
    assert "You may not see 2 of the suite’s splits" in page and "No split to show" in page


def test_a_suite_without_k_and_an_unknown_kind_are_explained(
    towns: Dataset, suite: Suite, owner: User, client: Client
) -> None:
    assert "Nothing is scored yet" in client.get(PAGE).content.decode()
    refused = client.get("/suites/towns/over-k.png")
    assert refused.status_code == 404 and "csv, json, tex, svg, pdf" in refused.content.decode()
    for query in ("?metric=rmse", "?what=1"):
        assert client.get(PAGE + query).status_code == client.get(f"/suites/towns/over-k.csv{query}").status_code == 400
    assert "none but the accuracy" in client.get(f"{PAGE}?metric=rmse").content.decode()
    Suite.objects.update(k_name="")
    assert "The splits have no numbers" in client.get(PAGE).content.decode()
    assert "Expected a suite whose splits have a number k" in client.get("/suites/towns/over-k.csv").content.decode()
    assert client.get("/suites/none/over-k/").status_code == 404


def test_a_gap_has_no_interval_if_a_split_has_no_figure(towns: Dataset, suite: Suite, owner: User) -> None:
    few = suite.members.create(split=find_split(towns, "train"), ordinal=9, label="few")
    suite.gaps.create(label="gap", minuend=suite.members.get(label="five entities"), subtrahend=few)
    made = method(owner, "Net")
    for name in ("five", "train"):
        split = find_split(towns, name)
        submit(made, split, predictions_with(split, 5))
    [row] = suites.board_of(owner, suite).rows
    assert (row.gaps[0].share, row.gaps[0].interval, row.gaps[0].text) == (None, None, "")
