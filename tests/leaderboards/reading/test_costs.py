"""Accuracy against cost: points are those of the board, and the front has exactly the methods that none beats."""

import csv
import io
import json
import random
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotations.results import baseline
from annotations.studies import lifecycle
from generation.charts import drawing
from generation.charts.drawing import DrawingOrder
from generation.charts.vega import ELSEWHERE, OF_PAPER, OF_THE_PAGE
from generation.models import Split
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.costs import table_of
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.analysis.charts import costs_chart
from webapp.leaderboards.analysis.costs import AXES
from webapp.leaderboards.entries import entries_of
from webapp.leaderboards.models import Method, Score
from webapp.leaderboards.replies.reply_figures import usage_of
from webapp.models import User

BOARD, API = "/leaderboards/read/val/", "/api/v1/boards/read/val/"
# The share of random answers of each method, and its cost, tokens and latency.
METHODS = {
    "Cheap": (0.6, 0.01, 100, 0.5),
    "Good": (0.1, 1.0, 400, 2.0),
    "Beaten <b>": (0.5, 2.0, 900, 3.0),
    "Local": (0.3, None, 300, 1.0),
}


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def rows(val: Split, owner: User) -> dict[str, str]:
    """Give the keys of methods with figures of their replies, one without a cost, one without any, and a baseline."""
    index, found = SplitIndex.open(val), {}
    for name, (share, cost, tokens, latency) in METHODS.items():
        made = method(owner, name)
        sent = submit(made, val, noisy(index, share, seed=7))
        Score.objects.filter(submission=sent).update(
            answered=index.n, right_answered=1, cost=cost, tokens=tokens, latency=latency
        )
        found[name] = f"m{made.pk}"
    submit(method(owner, "Plain"), val, noisy(index, 0.2, seed=8))
    majority = Method.objects.create(name="Majority", baseline="majority", made="baseline")
    submit(majority, val, np.zeros(index.n, np.int64))
    return found


@pytest.mark.parametrize("along", list(AXES))
def test_the_front_has_the_methods_that_none_beats(
    val: Split, owner: User, rows: dict[str, str], client: Client, along: str
) -> None:
    data = client.get(f"{API}costs/?along={along}").json()
    shown = {entry.key: entry for entry in entries_of(owner, val)}
    assert [row["value"] for row in data["rows"]] == sorted(row["value"] for row in data["rows"])
    for row in data["rows"]:
        entry = shown[row["key"]]
        usage = usage_of(entry)
        assert usage is not None
        assert row["value"] == getattr(usage, along)
        assert row["accuracy"] == entry.figure.to_json()["accuracy"]
        beaten = any(
            one["value"] <= row["value"]
            and one["accuracy"] >= row["accuracy"]
            and (one["value"], one["accuracy"]) != (row["value"], row["accuracy"])
            for one in data["rows"]
        )
        assert row["on_front"] == (not beaten)
    named = {row["row"] for row in data["rows"]} | set(data["without"])
    assert named == {*METHODS, "Plain"}
    assert ("Local" in data["without"]) == (along == "cost")
    assert not next(row["on_front"] for row in data["rows"] if row["row"].startswith("Beaten"))


def test_the_page_lists_front_points_and_rows_without_figures(
    rows: dict[str, str], client: Client, undrawn: None
) -> None:
    page = client.get(f"{BOARD}costs/")
    text = page.content.decode()
    assert page.status_code == 200
    table = page.context["table"]
    assert table.axis.name == "cost"
    assert [point.label for point in table.front] == ["Cheap", "Good"]
    assert set(table.without) == {"Plain", "Local"}
    assert "$0.01" in text and "Beaten &lt;b&gt;" in text and "Beaten <b>" not in text
    assert client.get(table.points[0].address).status_code == 200
    assert "<svg/>" in text
    assert 'href="/leaderboards/read/val/costs/"' in client.get(BOARD).content.decode()


def test_people_have_a_time_and_are_not_compared(
    val: Split, rows: dict[str, str], client: Client, undrawn: None
) -> None:
    study = answered.answered(val.dataset, random.Random(4))
    assert lifecycle.close(study)
    people = baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)
    taken = json.loads(people.figures)["seconds"]
    table = client.get(f"{BOARD}costs/?along=latency").context["table"]
    mine = [point for point in table.points if point.is_human]
    if taken:
        assert [point.value for point in mine] == [taken]
        assert not mine[0].is_on_front
    else:
        assert not mine and "People" in table.without
    assert "People" in client.get(f"{BOARD}costs/?along=cost").context["table"].without


def test_files_have_the_figures_of_the_page(rows: dict[str, str], client: Client) -> None:
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}costs.csv?along=tokens").content.decode())))
    data = client.get(f"{BOARD}costs.json?along=tokens").json()
    assert data == client.get(f"{API}costs/?along=tokens").json()
    assert [(line["row"], float(line["tokens"])) for line in lines] == [
        (row["row"], row["value"]) for row in data["rows"]
    ]
    assert [line["on_front"] for line in lines] == [str(row["on_front"]).lower() for row in data["rows"]]


@pytest.mark.parametrize(
    ("address", "status"),
    [("?along=money", 404), ("?along=%00", 404), ("?by=cost", 400), (".exe", 404), (".csv?along=x", 404)],
)
def test_a_bad_address_gets_a_message(rows: dict[str, str], client: Client, address: str, status: int) -> None:
    there = f"{BOARD}costs{address}" if address.startswith(".") else f"{BOARD}costs/{address}"
    answer = client.get(there)
    assert answer.status_code == status
    assert "Expected" in answer.content.decode()


def test_a_board_without_replies_says_so(val: Split, owner: User, client: Client) -> None:
    submit(method(owner, "Plain"), val, noisy(SplitIndex.open(val), 0.2, seed=8))
    page = client.get(f"{BOARD}costs/")
    assert page.status_code == 200 and "No costs yet" in page.content.decode()
    for address in (f"{BOARD}costs.csv", f"{BOARD}costs.json", f"{BOARD}costs.svg", f"{API}costs/"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "Expected rows with replies" in answer.content.decode()


def test_withheld_answers_show_no_costs(withheld: Split, owner: User, client: Client) -> None:
    sent = submit(method(owner, "Sent"), withheld, noisy(SplitIndex.open(withheld), 0.3, seed=1))
    Score.objects.filter(submission=sent).update(answered=5, right_answered=1, cost=1.0)
    for address in ("/leaderboards/read/test/costs/", "/leaderboards/read/test/costs.csv"):
        assert client.get(address).status_code == 403
    assert client.get("/api/v1/boards/read/test/costs/").status_code == 403


def test_only_reading_is_allowed(rows: dict[str, str], client: Client) -> None:
    assert client.post(f"{BOARD}costs/").status_code == 405
    assert client.get("/leaderboards/read/nothing/costs/").status_code == 404


def test_the_page_needs_few_queries(
    rows: dict[str, str], client: Client, undrawn: None, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(10):
        client.get(f"{BOARD}costs/")


def test_the_axis_is_logarithmic_if_values_differ_much() -> None:
    assert costs_chart.is_logarithmic(table_of([0.01, 1.0]))
    assert not costs_chart.is_logarithmic(table_of([0.0, 1.0]))
    assert not costs_chart.is_logarithmic(table_of([1.0, 20.0]))
    assert costs_chart.spec_of(table_of([]), colors=OF_THE_PAGE) is None


@pytest.mark.slow
def test_the_chart_is_drawn_with_a_link_for_each_point() -> None:
    table = table_of([0.01, 0.1, 1.0])
    page = costs_chart.spec_of(table, colors=OF_THE_PAGE)
    paper = costs_chart.spec_of(table, colors=OF_PAPER, title="read/val")
    assert page is not None and paper is not None
    drawn, svg = drawing.drawings(
        "drawn", [DrawingOrder(page), DrawingOrder(paper, kind="svg", site="https://a.example")]
    )
    assert drawn is not None and svg is not None
    for value in page["data"]["values"]:
        assert f'href="{value["address"].removeprefix(ELSEWHERE)}"'.encode() in drawn
    assert b"Pareto front" in svg
