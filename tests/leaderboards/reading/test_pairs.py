"""All pairs of a board: each pair equals the comparison of its two rows, and boards show the intervals of ranks."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from django.test import Client

from generation.models import Split
from generation.storage.split_index import SplitIndex
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.models import Method
from webapp.models import User

BOARD, API = "/leaderboards/read/val/", "/api/v1/boards/read/val/"


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def rows(val: Split, owner: User) -> dict[str, str]:
    """Give the keys of four methods, one of them with three runs and one of them hostile, and of a baseline."""
    index = SplitIndex.open(val)
    found = {}
    for name, share in (("Best", 0.05), ("Near", 0.1), ("<b>Bad</b>", 0.9)):
        made = method(owner, name)
        submit(made, val, noisy(index, share, seed=len(name)))
        found[name] = f"m{made.pk}"
    several = method(owner, "Several")
    for seed in (1, 2, 3):
        submit(several, val, noisy(index, 0.5, seed=seed), run=str(seed))
    baseline = Method.objects.create(name="Majority", baseline="majority", made="baseline")
    submit(baseline, val, np.zeros(index.n, np.int64))
    return {**found, "Several": f"m{several.pk}", "Majority": f"m{baseline.pk}"}


def test_each_pair_equals_the_comparison_of_both_rows(rows: dict[str, str], client: Client) -> None:
    found = client.get(f"{API}pairs/").json()
    assert [row["label"] for row in found["rows"]] == ["Best", "Near", "Several", "<b>Bad</b>"]
    assert len(found["pairs"]) == 6
    for pair in found["pairs"]:
        whole = client.get(f"{API}compare/?entry={pair['first']}&entry={pair['second']}").json()["whole"]
        for name in ("n", "difference", "low", "high", "only_first", "only_second", "p"):
            assert pair[name] == whole[name], name
        assert (pair["first_accuracy"], pair["second_accuracy"]) == (whole["first"], whole["second"])
        assert pair["p_holm"] >= pair["p"]
    assert found["test"] == "paired permutation test"


def test_the_page_shows_pairs_with_links_and_ranks(rows: dict[str, str], client: Client) -> None:
    page = client.get(f"{BOARD}pairs/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "<b>Bad" not in text and "&lt;b&gt;Bad&lt;/b&gt;" in text
    table = page.context["table"]
    data = client.get(f"{API}pairs/").json()
    assert [row.ranks_text for row in table.rows] == [
        f"{row['low']}–{row['high']}" if row["low"] != row["high"] else str(row["low"]) for row in data["rows"]
    ]
    assert table.rows[-1].ranks_text == "4"
    assert table.rows[0].ranks.high < 4
    first = table.rows[0].cells[1]
    assert client.get(first.address).status_code == 200
    mirror = table.rows[1].cells[0]
    assert mirror.line.compared.difference == -first.line.compared.difference
    assert tuple(mirror.line.compared.interval) == (
        -first.line.compared.interval.high,
        -first.line.compared.interval.low,
    )
    assert {first.kind, mirror.kind} in ({"open"}, {"better", "worse"})


def test_named_rows_are_compared_with_each_other_only(rows: dict[str, str], client: Client) -> None:
    chosen = f"entry={rows['Best']}&entry={rows['Majority']}"
    found = client.get(f"{API}pairs/?{chosen}").json()
    assert [row["label"] for row in found["rows"]] == ["Best", "Majority"]
    assert found["pairs"][0]["p_holm"] == found["pairs"][0]["p"]
    assert client.get(f"{BOARD}pairs/?{chosen}").context["table"].pairs == 1


def test_a_row_that_is_named_by_two_keys_counts_once(
    val: Split, owner: User, rows: dict[str, str], client: Client
) -> None:
    made = method(owner, "Sized")
    submit(made, val, noisy(SplitIndex.open(val), 0.3, seed=9), train_size=700)
    best, short, whole = (f"entry={key}" for key in (rows["Best"], f"m{made.pk}", f"m{made.pk}--700-"))
    once = client.get(f"{API}pairs/?{best}&{whole}").json()
    assert len(once["rows"]) == 2
    assert client.get(f"{API}pairs/?{best}&{whole}&{short}").json() == once
    assert client.get(f"{API}pairs/?{short}&{whole}").status_code == 400


def test_files_have_all_pairs(rows: dict[str, str], client: Client) -> None:
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}pairs.csv").content.decode())))
    data = client.get(f"{BOARD}pairs.json").json()
    assert [line["difference"] for line in lines] == [str(pair["difference"]) for pair in data["pairs"]]
    assert [line["second"] for line in lines] == [pair["second"] for pair in data["pairs"]]


def test_fewer_than_two_rows_get_an_empty_page_and_a_message(val: Split, rows: dict[str, str], client: Client) -> None:
    one = f"?entry={rows['Best']}"
    assert "choose at least two rows" in client.get(f"{BOARD}pairs/{one}").content.decode()
    for address in (f"{BOARD}pairs.csv{one}", f"{BOARD}pairs.json{one}", f"{API}pairs/{one}"):
        answer = client.get(address)
        assert answer.status_code == 400
        assert "at least two rows" in answer.content.decode()
    Method.objects.all().delete()
    assert client.get(f"{BOARD}pairs/").status_code == 200


def test_too_few_questions_show_no_figure(rows: dict[str, str], client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 10_000)
    assert "too few to compare" in client.get(f"{BOARD}pairs/").content.decode()
    found = client.get(f"{API}pairs/").json()
    assert found["pairs"] == [] and {row["accuracy"] for row in found["rows"]} == {None}


def test_withheld_answers_show_no_pairs_and_no_ranks(withheld: Split, owner: User, client: Client) -> None:
    index = SplitIndex.open(withheld)
    for share in (0.1, 0.5):
        submit(method(owner, f"At {share}"), withheld, noisy(index, share, seed=1))
    there, api = "/leaderboards/read/test/", "/api/v1/boards/read/test/"
    for address in (f"{there}pairs/", f"{there}pairs.csv", f"{there}pairs.json", f"{api}pairs/"):
        assert client.get(address).status_code == 403, address
    for address in (f"{there}?ranks=1", f"{there}board.csv?ranks=1", f"{api}?ranks=1"):
        answer = client.get(address)
        assert answer.status_code == 400, address
        assert "withheld" in answer.content.decode()


@pytest.mark.parametrize(
    "query", ["entry=m9999999", "entry=x", "entry=%00", "by=type", "&".join(f"entry=s{at}" for at in range(61))]
)
def test_a_bad_address_gets_a_message(rows: dict[str, str], client: Client, query: str) -> None:
    answer = client.get(f"{BOARD}pairs/?{query}")
    assert answer.status_code in (400, 404)
    assert "xpected" in answer.content.decode()


def test_only_reading_is_allowed(rows: dict[str, str], client: Client) -> None:
    assert client.post(f"{BOARD}pairs/").status_code == 405
    assert client.get(f"{BOARD}pairs.exe").status_code == 404
    assert client.get("/leaderboards/read/nothing/pairs/").status_code == 404


def test_the_board_shows_the_intervals_of_ranks_on_request(rows: dict[str, str], client: Client) -> None:
    assert "Ranks, 95 %" not in client.get(BOARD).content.decode()
    page = client.get(f"{BOARD}?ranks=1")
    assert "Ranks, 95 %" in page.content.decode()
    shown = {row.entry.name: row.ranks for row in page.context["board"].rows}
    data = client.get(f"{API}pairs/").json()
    wanted = {row["label"]: (row["rank"], row["low"], row["high"]) for row in data["rows"]}
    assert shown.pop("Majority") is None
    assert {name: tuple(ranks) for name, ranks in shown.items()} == wanted
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}board.csv?ranks=1").content.decode())))
    told = {line["method"]: (line["rank_low"], line["rank_high"]) for line in lines}
    assert told.pop("Majority") == ("", "")
    assert told["Best"] == tuple(map(str, wanted["Best"][1:]))
    api = client.get(f"{API}?ranks=1").json()["rows"]
    [near] = [tuple(row["ranks"].values()) for row in api if row["name"] == "Near"]
    assert near == wanted["Near"]
    assert b"Ranks" in client.get(f"{BOARD}board.tex?ranks=1").content
    assert client.get(f"{BOARD}?ranks=2").status_code == 400


def test_a_filter_changes_no_interval_of_ranks(rows: dict[str, str], client: Client) -> None:
    everything = {row.entry.key: row.ranks for row in client.get(f"{BOARD}?ranks=1").context["board"].rows}
    [only] = client.get(f"{BOARD}?ranks=1&q=near").context["board"].rows
    assert only.ranks == everything[only.entry.key]


def test_more_rows_need_no_more_queries(
    val: Split, owner: User, rows: dict[str, str], client: Client, django_assert_max_num_queries: Any
) -> None:
    client.get(f"{BOARD}pairs/")
    index = SplitIndex.open(val)
    for seed in range(6):
        submit(method(owner, f"More {seed}"), val, noisy(index, 0.3, seed=seed))
    with django_assert_max_num_queries(10):
        assert client.get(f"{BOARD}pairs/").status_code == 200
