"""Confusion of answers: counts equal those of looking at each answer, and each cell opens exactly its questions."""

import csv
import io
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotations.results import baseline
from annotations.studies import lifecycle
from generation.models import Split
from generation.reports.scoring import truth_of
from generation.splits.query_string import BadAddress, QueryString
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards.analysis.confusion import AnswerFilter, order_of_answers
from webapp.leaderboards.models import Method
from webapp.models import User

BOARD, API = "/leaderboards/read/val/", "/api/v1/boards/read/val/"


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def codes(val: Split) -> list[np.ndarray]:
    """Give the answers of two runs; a few of each are no words."""
    found = [noisy(SplitIndex.open(val), 0.6, seed=seed) for seed in (1, 2)]
    for run in found:
        run[[3, 17, 40, 41]] = -1
    return found


@pytest.fixture
def row(val: Split, owner: User, codes: list[np.ndarray]) -> str:
    """Give the key of a method with two runs; some answers are empty and some are outside the vocabulary."""
    made = method(owner, "<i>Two</i> runs")
    for seed, run in enumerate(codes):
        places = np.flatnonzero(run < 0).tolist()
        outside = {place: " " if at % 2 else '"><script>' for at, place in enumerate(places)}
        submit(made, val, run, outside=outside, run=str(seed))
    return f"m{made.pk}"


def pairs_one_by_one(val: Split, codes: list[np.ndarray]) -> Counter[tuple[str, str, str]]:
    """Return how often each right answer gets each given answer."""
    index = SplitIndex.open(val)
    found: Counter[tuple[str, str, str]] = Counter()
    for run in codes:
        missing = np.flatnonzero(run < 0).tolist()
        for place, (code, right) in enumerate(zip(run.tolist(), truth_of(index).tolist(), strict=True)):
            if right < 0:
                continue
            given = index.answer_values[code] if code >= 0 else ""
            unread = "" if code >= 0 else ("none" if missing.index(place) % 2 else "outside")
            found[index.answer_values[right], given, unread] += 1
    return found


def test_counts_equal_those_of_looking_at_each_answer(
    val: Split, row: str, codes: list[np.ndarray], client: Client
) -> None:
    data = client.get(f"{API}confusion/?entry={row}").json()
    told = {(line["right"], line["given"], line["unread"]): line["times"] for line in data["answers"]}
    assert told == dict(pairs_one_by_one(val, codes))
    assert {unread for _, _, unread in told} == {"", "none", "outside"}
    assert data["runs"] == 2
    assert data["right"] == sum(times for (right, given, _), times in told.items() if right == given)
    for line in data["answers"]:
        assert line["share"] == (pytest.approx(line["times"] / 2 / line["n"], abs=1e-6) if line["n"] >= 30 else None)
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}confusion.csv?entry={row}").content.decode())))
    assert [int(line["times"]) for line in lines] == [line["times"] for line in data["answers"]]
    assert client.get(f"{BOARD}confusion.json?entry={row}").json() == data


@pytest.mark.parametrize("most", [1, 3, 60])
def test_each_cell_opens_its_questions(
    val: Split, row: str, codes: list[np.ndarray], client: Client, most: int
) -> None:
    table = client.get(f"{BOARD}confusion/?entry={row}&most={most}").context["table"]
    assert sum(cell.times for line in table.rows for cell in line.cells) == 2 * table.questions
    assert sum(line.n for line in table.rows) == table.questions
    assert sum(line.right for line in table.rows) == table.right
    opened = 0
    for line in table.rows:
        assert sum(cell.times for cell in line.cells) == 2 * line.n
        for cell in line.cells:
            if not cell.times:
                assert cell.address == ""
                continue
            page = client.get(cell.address)
            shown = page.context["page"].paginator.count
            assert cell.times / 2 <= shown <= cell.times  # some questions get this answer from both runs
            opened += 1
            if opened > 25:
                return
    assert opened > most


def test_a_cell_of_one_run_has_as_many_questions_as_it_counts(
    val: Split, owner: User, codes: list[np.ndarray], client: Client
) -> None:
    made = method(owner, "One run")
    submit(made, val, codes[0], outside={int(np.flatnonzero(codes[0] < 0)[0]): ""})
    page = client.get(f"{BOARD}confusion/?entry=m{made.pk}&most=2")
    for cell in [cell for line in page.context["table"].rows for cell in line.cells if cell.times]:
        found = client.get(cell.address).context
        assert found["page"].paginator.count == cell.times
        assert found["conditions"][0].startswith("Right answer: ")
        rest = client.get(cell.address.replace("/leaderboards/", "/api/v1/boards/", 1)).json()
        assert rest["count"] == cell.times


def test_filters_of_the_address_stay_in_links_and_forms(row: str, client: Client) -> None:
    everything = client.get(f"{API}confusion/?entry={row}").json()
    query = f"entry={row}&type=count"
    data = client.get(f"{API}confusion/?{query}").json()
    assert 0 < data["questions"] < everything["questions"]
    page = client.get(f"{BOARD}confusion/?{query}")
    assert page.context["table"].questions == data["questions"]
    for cell in page.context["mistakes"]:
        assert "type=count" in cell.address
        assert client.get(cell.address).context["page"].paginator.count <= cell.times


def test_hostile_names_and_answers_are_escaped(row: str, client: Client) -> None:
    page = client.get(f"{BOARD}confusion/?entry={row}")
    assert page.status_code == 200
    assert b"<script>" not in page.content.replace(b"<script type", b"").replace(b"<script src", b"")
    assert b"<i>Two" not in page.content and b"&lt;i&gt;Two" in page.content


def test_people_are_counted_on_the_questions_that_they_were_asked(val: Split, client: Client) -> None:
    study = answered.answered(val.dataset, random.Random(4))
    assert lifecycle.close(study)
    people = baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)
    data = client.get(f"{API}confusion/?entry=h{people.number}").json()
    assert data["questions"] == people.asked
    assert data["right"] == people.right
    page = client.get(f"{BOARD}confusion/?entry=h{people.number}")
    for cell in [cell for line in page.context["table"].rows for cell in line.cells if cell.times][:5]:
        assert client.get(cell.address).context["page"].paginator.count == cell.times


def test_without_a_row_the_first_method_is_shown(row: str, client: Client) -> None:
    page = client.get(f"{BOARD}confusion/")
    assert page.context["entry"].key == row
    Method.objects.all().delete()
    assert "No rows yet" in client.get(f"{BOARD}confusion/").content.decode()
    assert client.get(f"{BOARD}confusion.csv").status_code == 400


def test_chance_has_no_answers(val: Split, client: Client) -> None:
    index = SplitIndex.open(val)
    chance = Method.objects.create(name="Chance", baseline="chance", made="baseline")
    submit(chance, val, np.full(index.n, -1002))
    answer = client.get(f"{BOARD}confusion/?entry=m{chance.pk}")
    assert answer.status_code == 404
    assert "which has no answers to single questions" in answer.content.decode()


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("most=0", 400),
        ("most=61", 400),
        ("most=x", 400),
        ("entry=m99999999", 404),
        ("type=nothing", 400),
        ("given=2", 400),
        ("method=5", 400),
        ("q=%00", 400),
    ],
)
def test_a_bad_address_gets_a_message(row: str, client: Client, query: str, status: int) -> None:
    for start in (f"{BOARD}confusion/", f"{API}confusion/", f"{BOARD}confusion.csv"):
        answer = client.get(f"{start}?{query}")
        assert answer.status_code == status, start
        assert "xpected" in answer.content.decode()


@pytest.mark.parametrize(
    "query", ["right=nothing", "given=nothing", "unread=blank", "given=%00", "right=" + "x" * 5000]
)
def test_a_bad_filter_by_answers_gets_a_message(row: str, client: Client, query: str) -> None:
    for start in (BOARD, API):
        answer = client.get(f"{start}questions/?entry={row}&{query}")
        assert answer.status_code == 400
        assert "xpected" in answer.content.decode()


def test_only_reading_is_allowed(row: str, client: Client) -> None:
    assert client.post(f"{BOARD}confusion/").status_code == 405
    assert client.get(f"{BOARD}confusion.exe").status_code == 404


def test_withheld_answers_show_no_confusion(withheld: Split, owner: User, client: Client) -> None:
    made = method(owner, "Sent")
    submit(made, withheld, noisy(SplitIndex.open(withheld), 0.3, seed=1))
    there, api = "/leaderboards/read/test/", "/api/v1/boards/read/test/"
    for address in (f"{there}confusion/", f"{there}confusion.csv", f"{api}confusion/", f"{there}questions/?right=2"):
        assert client.get(address).status_code == 403, address


def test_numbers_come_first_in_their_order(val: Split) -> None:
    index = SplitIndex.open(val)
    order = [index.answer_values[code] for code in order_of_answers(index, index.facets["type"])]
    assert sorted(order) == sorted(index.answer_values)
    numbers = [word for word in order if word.isdigit()]
    assert order[: len(numbers)] == sorted(numbers, key=int)
    assert len(numbers) > 2


def test_a_choice_of_answers_reads_what_it_writes() -> None:
    vocabulary = ("a&b", "2", "=", "outside")
    wanted = AnswerFilter((0, 2), (1, 3, -1, -3))
    pairs = QueryString(tuple(wanted.pairs(vocabulary)))
    assert AnswerFilter.read(pairs, vocabulary) == wanted
    assert wanted.described(vocabulary, "Me") == [
        "Right answer: a&b or =",
        "Answer of Me: 2 or outside or outside the vocabulary or a tie",
    ]
    assert AnswerFilter.read(QueryString(), vocabulary).is_empty
    with pytest.raises(BadAddress, match="at most 100 answers"):
        AnswerFilter.read(QueryString(tuple(("given", str(at)) for at in range(101))), vocabulary)


def test_the_page_needs_few_queries(row: str, client: Client, django_assert_max_num_queries: Any) -> None:
    client.get(f"{BOARD}confusion/")
    with django_assert_max_num_queries(10):
        client.get(f"{BOARD}confusion/?entry={row}")
