"""The charts of a dataset: on its overview, and as files."""

import csv
import io
import itertools
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from generation.charts import counts as charts
from generation.charts import drawing
from generation.charts.drawing import DrawingOrder
from generation.engine.items import ChartView
from generation.engine.worlds.clevr.world import ClevrWorld
from generation.models import Dataset, Question, Split
from generation.queue import sandbox
from tests.generation import small

OVERVIEW = "/datasets/shapes/"
FILES = OVERVIEW + "charts/"
OF_ALL = {"types", "answers", "words", "programs", "objects"}
EVERYTHING = OF_ALL | {"seen-texts", "seen-pairs"}  # the train split has no chart of seen texts or pairs
TELLING = {"answers", "objects"}


def text_of(response: HttpResponse) -> str:
    return response.content.decode()


def drawn(orders: Sequence[DrawingOrder]) -> dict[str, bytes | None]:
    """Return a fake drawing for each order; its text is the order's kind and data, with all words and addresses."""
    return {order.digest: f"<svg>{order.kind} {order.spec['data']}</svg>".encode() for order in orders}


@pytest.fixture
def enough(shapes: Dataset, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Dataset:
    """Give the dataset with enough questions for charts; the drawings are fakes and are stored for this test only."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 4)
    monkeypatch.setattr(drawing, "_drawn", drawn)
    return shapes


def charts_on(client: Client, query: str = "") -> dict[str, charts.Chart]:
    """Return the charts on the overview by name."""
    response = client.get(OVERVIEW + query)
    assert response.status_code == 200
    return {shown.chart.view.name: shown.chart for shown in response.context["charts"]}


# What charts count -------------------------------------------------------------------------------------------


def test_every_count_links_to_that_number_of_questions(client: Client, enough: Dataset) -> None:
    found = charts_on(client)
    assert set(found) == EVERYTHING
    for chart in found.values():
        for at, row in enumerate(chart.rows):
            cell = row.cells[at % 2]
            if cell.n:
                assert client.get(cell.address).context["page"].total == cell.n, cell.address


def test_shares_of_a_split_add_up(client: Client, enough: Dataset) -> None:
    for name, chart in charts_on(client).items():
        for at, column in enumerate(chart.columns):
            assert column.n == enough.splits.get(name=column.split).questions
            counted = sum(row.cells[at].n for row in chart.rows)
            assert counted == column.n or (name == "seen-pairs" and counted < column.n)  # some questions name no pair
            assert sum(row.cells[at].share or 0 for row in chart.rows) == pytest.approx(counted / column.n)


def test_words_are_counted_in_bins_without_gaps(client: Client, enough: Dataset) -> None:
    texts = Question.objects.filter(split__dataset=enough, split__name="train").values_list("text", flat=True)
    lengths = Counter(len(text.split()) for text in texts)
    rows = charts_on(client)["words"].rows
    counted = {}
    for row in rows:
        low, _, high = row.value.partition("..")
        counted.update({number: row.cells[0].n for number in range(int(low), int(high) + 1) if lengths[number]})
        assert row.cells[0].n == sum(lengths[number] for number in range(int(low), int(high) + 1))
    assert set(counted) == set(lengths)
    ends = [tuple(map(int, row.value.split(".."))) for row in rows]
    assert all(before[1] + 1 == after[0] for before, after in itertools.pairwise(ends))


def test_the_address_can_select_one_split(client: Client, enough: Dataset) -> None:
    assert [column.split for column in charts_on(client)["types"].columns] == ["train", "val", "test"]
    assert [column.split for column in charts_on(client, "?split=val")["types"].columns] == ["val"]
    page = text_of(client.get(OVERVIEW + "?split=val"))
    assert f'href="{FILES}types.svg?split=val"' in page
    assert '<a href="?split=val#questions" aria-current="true">val</a>' in page


def test_only_the_first_of_many_splits_is_shown(
    client: Client, enough: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "SIDE_BY_SIDE", 2)
    assert [column.split for column in charts_on(client)["types"].columns] == ["train"]


def test_a_view_of_a_facet_that_the_index_lacks_is_left_out(
    client: Client, enough: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ClevrWorld, "views", (*ClevrWorld.views, ChartView("new", "New", "not-there-yet", "of late")))
    assert set(charts_on(client)) == EVERYTHING
    assert client.get(FILES + "new.csv").status_code == 404


# Who may see what --------------------------------------------------------------------------------------------


def test_a_view_without_values_is_left_out(client: Client, enough: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = charts._counts
    monkeypatch.setattr(charts, "_counts", lambda split, facet: {} if facet.name == "words" else counts(split, facet))
    assert set(charts_on(client)) == set(EVERYTHING) - {"words"}


def test_charts_leave_out_withheld_answers_and_say_so(client: Client, as_owner: Client, enough: Dataset) -> None:
    theirs, ours = charts_on(as_owner), charts_on(client)
    for name in OF_ALL:
        assert [column.split for column in theirs[name].columns] == ["train", "val", "test"]
        told = name not in TELLING
        assert [column.split for column in ours[name].columns] == ["train", "val", *(["test"] if told else [])]
        assert ours[name].withheld == ([] if told else ["test"])
    for name in EVERYTHING - OF_ALL:
        assert [column.split for column in ours[name].columns] == ["val", "test"]
    assert text_of(client.get(OVERVIEW)).count("test: answers withheld") == len(TELLING)
    assert "answers withheld" not in text_of(as_owner.get(OVERVIEW))


def test_drawings_for_the_owner_are_shown_to_nobody_else(client: Client, as_owner: Client, enough: Dataset) -> None:
    assert "/datasets/shapes/test/?answer=" in text_of(as_owner.get(OVERVIEW))
    assert as_owner.get(FILES + "answers.svg").status_code == 200
    for address in (OVERVIEW, FILES + "answers.svg", FILES + "answers.pdf", FILES + "answers.csv"):
        response = client.get(address)
        assert response.status_code == 200
        for telling in ("/datasets/shapes/test/?answer=", "/datasets/shapes/test/?objects=", "\ntest,"):
            assert telling not in text_of(response), address


@pytest.mark.parametrize("kind", ["svg", "pdf", "csv"])
@pytest.mark.parametrize("name", sorted(TELLING))
def test_a_chart_of_only_withheld_answers_gets_404(
    client: Client, as_owner: Client, enough: Dataset, name: str, kind: str
) -> None:
    address = f"{FILES}{name}.{kind}?split=test"
    response = client.get(address)
    assert response.status_code == 404
    assert "Answers of test are withheld" in text_of(response)
    assert f"{name}.{kind}?split=test" not in text_of(client.get(OVERVIEW + "?split=test"))
    assert as_owner.get(address).status_code == 200


def test_open_answers_are_counted_for_everybody(client: Client, enough: Dataset) -> None:
    Split.objects.filter(dataset=enough, name="test").update(withheld=False)
    assert charts_on(client)["answers"].withheld == []
    assert client.get(FILES + "answers.svg?split=test").status_code == 200


@pytest.mark.parametrize("who", ["client", "as_stranger"])
@pytest.mark.parametrize("kind", ["svg", "pdf", "csv"])
def test_strangers_get_404_for_charts_of_a_private_dataset(
    request: pytest.FixtureRequest, private: Dataset, who: str, kind: str
) -> None:
    assert request.getfixturevalue(who).get(f"{FILES}types.{kind}").status_code == 404


# As files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "content_type"), [("svg", "image/svg+xml"), ("pdf", "application/pdf"), ("csv", "text/csv; charset=utf-8")]
)
def test_files_are_downloads_that_browsers_cache_and_revalidate(
    client: Client, as_owner: Client, enough: Dataset, kind: str, content_type: str
) -> None:
    response = client.get(f"{FILES}answers.{kind}")
    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert response["Content-Disposition"] == f'attachment; filename="shapes-answers.{kind}"'
    assert response["Cache-Control"] == "private, no-cache"
    assert "Cookie" in response["Vary"]
    again = client.get(f"{FILES}answers.{kind}", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", response["ETag"])
    theirs = as_owner.get(f"{FILES}answers.{kind}", headers={"If-None-Match": response["ETag"]})
    assert theirs.status_code == 200
    assert theirs["ETag"] != response["ETag"]


def test_csv_has_every_number(client: Client, enough: Dataset) -> None:
    lines = list(csv.DictReader(io.StringIO(text_of(client.get(FILES + "types.csv")))))
    kinds = Counter(
        (question.split.name, question.kind)
        for question in Question.objects.filter(split__dataset=enough).select_related("split")
    )
    assert {(line["split"], line["type"]): int(line["n"]) for line in lines if line["n"] != "0"} == dict(kinds)
    for line in lines:
        assert float(line["share"]) == pytest.approx(int(line["n"]) / int(line["questions"]), abs=1e-6)


def test_csv_contains_no_formula() -> None:
    view = ChartView("v", "V", "f", "f")
    row = charts.CountRow("=1+1", "@SUM(A1)", [charts.CountCell(5, 0.5, "/")])
    text = charts.as_csv(charts.Chart(view, False, [charts.CountColumn("a", 10)], [row], []))
    assert text.splitlines()[1] == "a,'=1+1,'@SUM(A1),5,10,0.500000"


def test_links_in_a_file_use_the_public_address_or_are_relative(
    client: Client, enough: Dataset, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    asked: list[DrawingOrder] = []
    monkeypatch.setattr(drawing, "_drawn", lambda orders: asked.extend(orders) or drawn(orders))
    for host in ("localhost", "127.0.0.1", "localhost:443"):
        client.get(FILES + "programs.pdf", headers={"Host": host})
    assert client.get(FILES + "programs.pdf", headers={"Host": "127.0.0.1:4711"}).status_code == 400
    assert [(order.kind, order.site) for order in asked] == [("pdf", "")]
    settings.PUBLIC_URL = "https://horsesense.example.org"
    client.get(FILES + "programs.pdf", headers={"Host": "localhost"})
    assert [order.site for order in asked] == ["", "https://horsesense.example.org"]
    assert asked[0].spec["title"]["subtitle"] == ["Some shapes"]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nothing.svg", "types, answers, words, programs, objects"),
        ("types.svg?split=nothing", ""),
        ("types.png", ""),
        ("types", ""),
        ("types.svg/", ""),
        ("%3Cscript%3E.svg", ""),
    ],
)
def test_an_unknown_chart_gets_404(client: Client, enough: Dataset, address: str, said: str) -> None:
    response = client.get(FILES + address)
    assert response.status_code == 404
    assert said in text_of(response).replace("&#x27;", "'")


def test_other_verbs_are_refused(client: Client, enough: Dataset) -> None:
    assert client.post(FILES + "types.svg").status_code == 405
    assert client.head(FILES + "types.svg").status_code == 200


def test_charts_need_few_queries(client: Client, enough: Dataset, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(2):
        client.get(FILES + "types.csv")


# What can't be drawn -----------------------------------------------------------------------------------------


def test_no_share_is_shown_for_too_few_questions(
    client: Client, shapes: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "run", None)  # drawing would fail
    page = text_of(client.get(OVERVIEW))
    assert page.count("train: too few (n = 16)") == len(OF_ALL)
    assert not re.search(r"\d %", page)
    assert ">too few (n = " in page
    assert "types.svg" not in page
    for kind in ("svg", "pdf"):
        response = client.get(f"{FILES}types.{kind}")
        assert response.status_code == 404
        assert "got train: too few (n = 16)" in text_of(response)
    lines = list(csv.DictReader(io.StringIO(text_of(client.get(FILES + "types.csv")))))
    assert {line["share"] for line in lines} == {""}
    assert sum(int(line["n"]) for line in lines) == 32


def test_a_split_that_is_too_small_is_left_out(
    client: Client, enough: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 10)
    page = text_of(client.get(OVERVIEW))
    assert "val: too few (n = 8)" in page
    assert "/datasets/shapes/train/?type=" in page
    assert re.search(r"\d %", page)


def test_the_table_is_shown_if_drawing_fails(
    client: Client, shapes: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, settings: Any
) -> None:
    settings.VAR_DIR = tmp_path
    tried = []

    def run(*given: Any, **limits: int) -> bytes:
        tried.append(given)
        raise sandbox.Broken("no V8 today")

    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 4)
    monkeypatch.setattr(sandbox, "run", run)
    for _ in range(2):
        response = client.get(OVERVIEW)
        assert response.status_code == 200
        assert text_of(response).count("This chart is not drawn yet") == len(EVERYTHING)
        assert text_of(response).count("<details open><summary>As a table") == len(EVERYTHING)
    assert len(tried) == 1
    response = client.get(FILES + "types.svg")
    assert response.status_code == 404
    assert "Its figures are in the CSV file" in text_of(response).replace("&#x27;", "'")
    for failed in drawing.folder_of("shapes").glob("*.failed"):
        os.utime(failed, (0, 0))
    client.get(OVERVIEW)
    assert len(tried) == 3


def test_splits_with_a_missing_index_have_no_charts(client: Client, enough: Dataset) -> None:
    Split.objects.filter(dataset=enough, name="val").update(index_digest="0" * 64)
    assert [column.split for column in charts_on(client)["types"].columns] == ["train", "test"]
    Split.objects.filter(dataset=enough).update(index_digest="0" * 64)
    assert charts_on(client) == {}


def test_the_pages_of_a_dataset_without_a_complete_split_say_so(client: Client, shapes: Dataset) -> None:
    begun = small.begun("begun")
    page = text_of(client.get(begun.get_absolute_url()))
    assert "No split is complete yet" in page
    response = client.get("/datasets/begun/charts/types.svg")
    assert response.status_code == 404
    assert "it has none yet" in text_of(response)
