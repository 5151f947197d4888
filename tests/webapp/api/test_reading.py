"""The API of the pages that analyse a board: it has the same figures and withholds them from the same users."""

import csv
import io
from typing import Any

import numpy as np
import pytest
from django.test import Client

from generation.models import AblationReport, Dataset, Split
from generation.queue import runner
from generation.reports import report_jobs
from generation.storage.split_index import SplitIndex
from tests.leaderboards.conftest import undrawn
from tests.leaderboards.reading.conftest import kept, noisy, shapes, val, withheld
from tests.leaderboards.reading.rows import method, submit
from tests.webapp.api.conftest import program_of
from tests.webapp.api.test_frame import error_of
from webapp.models import User

__all__ = ["kept", "shapes", "undrawn", "val", "withheld"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undrawn")]

API, PAGE = "/api/v1/boards/read", "/leaderboards/read"
PARTS = ("compare", "questions", "steps", "slices", "curves")


@pytest.fixture
def rows(val: Split) -> str:
    """Give two rows of the board of val as the query of an address; one row has three runs."""
    owner = User.objects.create_user("maker", "maker@example.org", "x")
    index, good, bad = SplitIndex.open(val), method(owner, "Good"), method(owner, "Bad")
    for seed in (1, 2, 3):
        submit(good, val, noisy(index, 0.2, seed=seed), run=str(seed), train_size=700)
    submit(bad, val, noisy(index, 0.7, seed=4), outside={0: "=1+1"}, train_size=90)
    submit(method(None, "Majority", baseline="majority", published=None), val, np.zeros(index.n, np.int64))
    return f"entry=m{good.pk}--700-&entry=m{bad.pk}"


def get_part(part: str, query: str = "", *, split: str = "val", by: Client | None = None) -> Any:
    answer = (by or Client()).get(f"{API}/{split}/{part}/?{query}")
    assert answer.status_code == 200, answer.content
    return answer.json()


def lines(address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Client().get(address).content.decode())))


def as_text(line: dict[str, Any]) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in line.items()}


def test_a_comparison_is_that_of_the_page(val: Split, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 10)
    found = get_part("compare", rows)
    assert [as_text(one) for one in (found["whole"], *found["slices"])] == lines(f"{PAGE}/val/compare.csv?{rows}")
    assert (found["first"]["label"], found["second"]["label"]) == ("Good", "Bad")
    assert found["fingerprint"] == val.fingerprint
    few = [one for one in found["slices"] if one["n"] < 10]
    assert few and {one["difference"] for one in few} == {one["only_first"] for one in few} == {None}


def test_curves_are_those_of_the_page(val: Split, rows: str) -> None:
    found = get_part("curves", "target=70")
    flat = [{"curve": one["label"], **point} for one in found["curves"] for point in one["points"]]
    assert [as_text(one) for one in flat] == lines(f"{PAGE}/val/curves.csv?target=70")
    shown = Client().get(f"{PAGE}/val/curves/?target=70").context["curves"]
    assert [one["reached"] for one in found["curves"]] == [one.reached for one in shown] == [None, 700]
    assert (found["along"], found["target"]) == ("train-size", 70)


def test_skipped_steps_are_those_of_the_page(val: Split, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 5)
    found = get_part("steps", rows)
    shown = Client().get(f"{PAGE}/val/steps/?{rows}").context["found"]
    assert (found["state"], [one["label"] for one in found["rows"]]) == ("done", ["Good", "Bad"])
    for row, page in zip(found["rows"], shown, strict=True):
        assert [line["label"] for line in row["baselines"]] == ["Majority"]
        for line, drawn in zip(row["steps"], [one for one in page.steps if one.found.n], strict=True):
            assert line["label"] == drawn.label
            told = "too few" if line["share"] is None else f"{100 * line['share']:.1f} %"
            assert drawn.share_text.startswith(told)


def test_the_api_reports_that_steps_are_being_computed(val: Split, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_jobs, "SMALL_SPLIT", 0)
    monkeypatch.setattr(runner.current_app, "send_task", lambda *args, **options: None)
    assert (get_part("steps", rows)["state"], get_part("steps", rows)["rows"]) == ("waiting", [])
    AblationReport.objects.update(state="failed", message="no such index")
    assert get_part("steps", rows)["state"] == "failed"


@pytest.mark.parametrize("show", ["all", "same-wrong", "first"])
def test_single_questions_are_those_of_the_page(val: Split, rows: str, show: str) -> None:
    query = f"{rows}&show={show}&group=count"
    found, shown = get_part("questions", f"{query}&size=20"), Client().get(f"{PAGE}/val/questions/?{query}").context
    assert (found["count"], found["show"]) == (shown["page"].paginator.count, show)
    assert [one["question_id"] for one in found["results"]] == [one.question.position for one in shown["listed"]]
    keys = [row["key"] for row in found["rows"]]
    for one, row in zip(found["results"], shown["listed"], strict=True):
        assert one["answer"] == row.answer
        assert [[tuple(each.values()) for each in one["given"][key]] for key in keys] == row.given


def test_links_to_next_pages_keep_rows_choice_filters_and_size(val: Split, rows: str) -> None:
    query, seen = f"{API}/val/questions/?{rows}&show=second&q=is&size=3", []
    while query:
        page = Client().get(query).json()
        seen += [one["question_id"] for one in page["results"]]
        query = page["next"]
    whole = get_part("questions", f"{rows}&show=second&q=is&size=1000")["results"]
    assert seen == [one["question_id"] for one in whole] and len(seen) > 3
    assert Client().get(f"{API}/val/questions/?page=99999").status_code == 404


def test_the_api_withholds_the_same_parts_as_the_pages(withheld: Split) -> None:
    owner = User.objects.create_user("maker", "maker@example.org", "x")
    made = method(owner, "Mine")
    submit(made, withheld, noisy(SplitIndex.open(withheld), 0.3, seed=1), train_size=10)
    for part in PARTS:
        answer = program_of(owner).get(f"{API}/test/{part}/?entry=m{made.pk}")
        assert answer.status_code == 403
        assert "withheld" in error_of(answer)["message"]
    staff = program_of(User.objects.create_user("root", "root@example.org", "x", is_staff=True))
    for part in ("questions", "steps"):
        assert get_part(part, split="test", by=staff)["rows"]


@pytest.mark.parametrize("part", PARTS)
def test_strangers_get_404_for_a_private_dataset(val: Split, rows: str, part: str) -> None:
    Dataset.objects.filter(slug="read").update(visibility="private")
    assert Client().get(f"{API}/val/{part}/?{rows}").status_code == 404


@pytest.mark.parametrize(
    ("part", "query", "status"),
    [
        ("compare", "entry=m1", 400),
        ("compare", "entry=m0", 404),
        ("compare", "entry=%00", 404),
        ("questions", "show=nothing", 404),
        ("questions", "size=0", 400),
        ("questions", "nothing=1", 400),
        ("questions", "type=nothing", 400),
        ("curves", "target=nan", 400),
        ("curves", "along=x", 404),
        ("steps", "entry=x", 404),
        ("slices", "by=nothing", 404),
    ],
)
def test_each_error_says_what_was_expected(val: Split, rows: str, part: str, query: str, status: int) -> None:
    answer = Client().get(f"{API}/val/{part}/?{query}")
    assert answer.status_code == status
    assert "xpected" in error_of(answer)["message"]
    assert Client().post(f"{API}/val/{part}/").status_code == 405
