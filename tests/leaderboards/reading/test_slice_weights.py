"""Weights of slices: the figure equals a weighted mean of slices, the board is ordered by it, addresses are checked."""

import csv
import io
import random
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotations.results import baseline
from annotations.studies import lifecycle
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.splits.query_string import QueryString
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from tests.proof import sample
from webapp.leaderboards.models import Method
from webapp.leaderboards.ranking.board_rows import BoardRow
from webapp.leaderboards.ranking.slice_weights import SliceWeights, join_weights, read_weights, weights_by
from webapp.models import User

BOARD, API = "/leaderboards/read/val/", "/api/v1/boards/read/val/"
FEW = 8


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small slices have figures."""
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", FEW)


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def rows(val: Split, owner: User) -> list[str]:
    """Give the names of methods: one knows only counts, one everything else, one has two runs."""
    index = SplitIndex.open(val)
    truth, codes = truth_of(index), index.facets["type"].codes
    is_count = codes == index.facets["type"].values.index("count")
    for name, knows in (("Counts", is_count), ("Others", ~is_count)):
        submit(method(owner, name), val, np.where(knows, truth, -1))
    several = method(owner, "Several")
    for seed in (1, 2):
        submit(several, val, noisy(index, 0.5, seed=seed), run=str(seed))
    majority = Method.objects.create(name="Majority", baseline="majority", made="baseline")
    submit(majority, val, np.zeros(index.n, np.int64))
    return ["Counts", "Others", "Several"]


def board_rows(client: Client, query: str) -> list[BoardRow]:
    answer = client.get(f"{BOARD}?{query}")
    assert answer.status_code == 200, answer.content.decode()
    found: list[BoardRow] = answer.context["board"].rows
    return found


def weighted_one_by_one(row: BoardRow, index: SplitIndex, weights: dict[str, float]) -> float:
    """Return the weighted accuracy from the accuracy on each value, question by question."""
    facet, truth = index.facets["type"], truth_of(index).tolist()
    total, sum_of_weights = 0.0, 0.0
    for value, weight in weights.items():
        places = np.flatnonzero(facet.codes == facet.values.index(value)).tolist()
        if len(places) < FEW:
            continue
        right = [run[place] == truth[place] for run in row.entry.runs() for place in places]
        total += weight * sum(right) / len(right)
        sum_of_weights += weight
    return total / sum_of_weights


@pytest.mark.parametrize("given", [{}, {"count": 3.0}, {"count": 0.0, "exist": 0.25}])
def test_the_figure_is_the_weighted_mean_of_slices(
    val: Split, rows: list[str], client: Client, given: dict[str, float]
) -> None:
    index = SplitIndex.open(val)
    weights = {value: given.get(value, 1.0) for value in index.facets["type"].values}
    text = ",".join(f"{value}={number:g}" for value, number in given.items()) or "equal"
    shown = board_rows(client, f"weights=type:{text}")
    for row in shown:
        assert row.weighted is not None and row.weighted.share is not None
        assert row.weighted.share == pytest.approx(weighted_one_by_one(row, index, weights))
        assert row.weighted.low is not None and row.weighted.high is not None
        assert row.weighted.low <= row.weighted.share <= row.weighted.high
    shares = [row.weighted.share for row in shown if row.weighted is not None]
    assert shares == sorted(shares, reverse=True)
    several = next(row for row in shown if row.entry.name == "Several")
    assert several.weighted is not None and several.weighted.deviation is not None


def test_weights_as_in_the_split_give_the_accuracy(val: Split, rows: list[str], client: Client) -> None:
    index = SplitIndex.open(val)
    counts = np.bincount(index.facets["type"].codes, minlength=len(index.facets["type"].values))
    for row in board_rows(client, "weights=type:split"):
        if all(count >= FEW for count in counts if count):
            assert row.weighted is not None and row.weighted.share == pytest.approx(row.accuracy.share)
        assert row.weighted_rank == row.rank or any(0 < count < FEW for count in counts)


def test_weights_change_the_order_and_the_ranks(rows: list[str], client: Client) -> None:
    counts = next(row for row in board_rows(client, "weights=type:count=1000000") if row.entry.name == "Counts")
    assert counts.weighted_rank == 1
    assert counts.rank != 1
    without = board_rows(client, "weights=type:count=0")
    assert without[0].entry.name == "Others" and without[0].weighted_rank == 1
    assert next(row for row in without if row.entry.name == "Counts").weighted_rank == 3
    assert next(row for row in without if row.entry.is_site_baseline).weighted_rank is None
    by_name = board_rows(client, "weights=type:count=0&sort=method")
    assert [row.entry.name for row in by_name] == sorted((row.entry.name for row in by_name), key=str.casefold)
    [only] = board_rows(client, "weights=type:count=0&q=counts")
    assert only.weighted_rank == 3, "ranks are those among all rows"


def test_small_values_do_not_count_and_the_page_names_them(
    rows: list[str], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = client.get(f"{BOARD}?weights=type:equal")
    weights = answer.context["board"].weights
    sizes = sorted(n for n in weights.counts if n)
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", sizes[-2])
    answer = client.get(f"{BOARD}?weights=type:equal")
    left_out = answer.context["board"].weights.left_out
    assert left_out and all(n < sizes[-2] for _, n in left_out)
    assert f"{left_out[0][0]} (n = {left_out[0][1]})" in answer.content.decode()
    assert client.get(f"{API}?weights=type:equal").json()["weights_left_out"] == dict(left_out)


def test_files_and_api_have_the_weighted_accuracy(rows: list[str], client: Client) -> None:
    query = "weights=type:count=2,exist=0.5"
    shown = board_rows(client, query)
    api = client.get(f"{API}?{query}").json()
    assert api["weights"] == "type:count=2,exist=0.5"
    assert [row["key"] for row in api["rows"]] == [row.entry.key for row in shown]
    for told, row in zip(api["rows"], shown, strict=True):
        assert row.weighted is not None
        assert told["weighted"] == row.weighted.to_json() and told["weighted_rank"] == row.weighted_rank
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}board.csv?{query}").content.decode())))
    assert [float(line["weighted"]) for line in lines] == [told["weighted"]["accuracy"] for told in api["rows"]]
    assert b"weights of" in client.get(f"{BOARD}board.tex?{query}").content


@pytest.mark.parametrize("name", ["kind", "-1", "\0", "'", "x" * 5000])
def test_the_form_of_an_unknown_facet_is_refused(name: str, rows: list[str], client: Client) -> None:
    answer = client.get(BOARD, {"weigh": name})
    assert answer.status_code == 400
    assert "Expected weights of one of the facets" in answer.content.decode()


def test_the_form_leads_to_the_address_of_its_weights(rows: list[str], client: Client) -> None:
    page = client.get(f"{BOARD}?weigh=type&show=all")
    names = re.findall(r'type="number" name="(weight\.[^"]+)"', page.content.decode())
    assert "weight.count" in names
    fields = {name: "2" if name == "weight.count" else "1" for name in names}
    answer = client.get(BOARD, {"show": "all", "weigh": "type", **fields})
    assert answer.status_code == 302
    address = urlsplit(answer["Location"])
    assert address.path == BOARD
    assert parse_qs(address.query) == {"show": ["all"], "weights": ["type:count=2"]}
    assert client.get(answer["Location"]).status_code == 200
    equal = client.get(BOARD, {"weigh": "type", **dict.fromkeys(names, "1")})
    assert parse_qs(urlsplit(equal["Location"]).query) == {"weights": ["type:equal"]}
    wrong = client.get(BOARD, {"weigh": "type", "weight.count": "much"}, follow=True)
    assert wrong.status_code == 400 and "got &#x27;much&#x27;" in wrong.content.decode()


@pytest.mark.parametrize(
    "weights",
    sample(
        [
            *(
                "type",
                "type:",
                "type:count",
                "type:count=",
                "type:count=-1",
                "type:count=nan",
                "type:count=1e3",
                ":count=1",
            ),
            *(
                "type:count=1,count=2",
                "type:nothing=1",
                "nothing:count=1",
                "type:count=99999999",
                "type:count=0.1234567",
            ),
            *("type:\0=1", "type:count=٣", "type:<b>=1", "x" * 5000, "type:equal=1", "type:count=1,,"),
        ],
        gate=7,
    ),
)
def test_bad_weights_get_one_message(rows: list[str], client: Client, weights: str) -> None:
    for start in (BOARD, f"{BOARD}board.csv", API):
        answer = client.get(start, {"weights": weights})
        assert answer.status_code == 400, start
        assert "Expected" in answer.content.decode()


def test_weights_without_any_counted_value_are_refused(val: Split, rows: list[str], client: Client) -> None:
    values = SplitIndex.open(val).facets["type"].values
    answer = client.get(BOARD, {"weights": "type:" + ",".join(f"{value}=0" for value in values)})
    assert answer.status_code == 400
    assert "Expected a weight above 0" in answer.content.decode()


@pytest.mark.parametrize("weights", ["equal", "split", "count=2"])
def test_a_facet_without_a_value_of_enough_questions_is_refused(
    rows: list[str], client: Client, monkeypatch: pytest.MonkeyPatch, weights: str
) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 10_000)
    for start in (BOARD, f"{BOARD}board.csv", API):
        answer = client.get(start, {"weights": f"type:{weights}"})
        assert answer.status_code == 400, start
        assert "with at least 10000 questions, got none" in answer.content.decode()


def test_weights_of_withheld_splits_are_refused(withheld: Split, owner: User, client: Client) -> None:
    submit(method(owner, "Sent"), withheld, noisy(SplitIndex.open(withheld), 0.3, seed=1))
    for address in ("/leaderboards/read/test/", "/leaderboards/read/test/board.json", "/api/v1/boards/read/test/"):
        answer = client.get(f"{address}?weights=type:equal")
        assert answer.status_code == 400
        assert "withheld" in answer.content.decode()
    page = client.get("/leaderboards/read/test/?weigh=type").content.decode()
    assert "weight-fields" not in page


def test_people_without_enough_answers_have_no_weighted_figure(val: Split, rows: list[str], client: Client) -> None:
    study = answered.answered(val.dataset, random.Random(4))
    assert lifecycle.close(study)
    baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)
    [people] = [row for row in board_rows(client, "weights=type:equal") if row.entry.is_human]
    assert people.weighted is not None
    assert people.weighted.share is None and people.weighted_rank is None


def test_equal_weights_of_a_facet_with_ranges_use_the_ranges(val: Split, rows: list[str], client: Client) -> None:
    index = SplitIndex.open(val)
    binned = [facet for facet in index.facets.values() if facet.bins]
    assert binned
    for facet in binned:
        weights = weights_by(facet, val.index_digest)
        assert sum(weights.counts) == int((facet.codes < len(facet.values)).sum())
        assert any(".." in value for value in weights.values)


VALUES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), min_size=1, unique=True)


@given(VALUES, st.data())
def test_an_address_of_weights_reads_what_it_writes(values: list[str], data: st.DataObject) -> None:
    numbers = data.draw(
        st.lists(st.integers(0, 10**7).map(lambda n: n / 8), min_size=len(values), max_size=len(values))
    )
    ones = (1,) * len(values)
    equal = SliceWeights("f", "F", values, values, tuple(map(float, ones)), (50,) * len(values), ones)
    wanted = equal._replace(numbers=(*map(float, numbers[:-1]), 3.0))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("webapp.leaderboards.ranking.slice_weights.weights_of_facet", lambda *_: equal)
        assert read_weights(None, None, None, wanted.text).numbers == wanted.numbers  # type: ignore[arg-type]


def test_fields_are_joined_once() -> None:
    asked = QueryString((("weigh", "f"), ("weight.a,b", "2"), ("weight.c", ""), ("q", ""), ("weights", "old:x=1")))
    assert join_weights(asked).pairs == (("weights", "f:a%2Cb=2"),)
    assert join_weights(QueryString((("weigh", "f"),))).pairs == (("weigh", "f"),)


def test_the_board_with_weights_needs_no_more_queries(
    rows: list[str], client: Client, django_assert_max_num_queries: Any
) -> None:
    client.get(f"{BOARD}?weights=type:equal")
    with django_assert_max_num_queries(14):
        client.get(f"{BOARD}?weights=type:equal&ranks=1")
