"""Metrics of a board of counting questions: figures as slow loops over the records have them, pages, files, access."""

import csv
import io
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from generation.engine.worlds.breakdowns import BoardView, Series
from generation.making import dataset_jobs
from generation.models import Dataset, Split
from generation.splits.count_shifts import CountShift
from generation.storage.split_index import SplitIndex
from tests.generation.complete_datasets import shared
from tests.leaderboards.reading import counts
from tests.leaderboards.reading.counts import KINDS, Record, numbers_of, records_of, split_of
from tests.leaderboards.reading.rows import method
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.models import Submission, Suite
from webapp.models import User

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

BOARD, FILE = "/leaderboards/counts/test/", "/leaderboards/counts/test/board.json"
METRICS, METRICS_FILE = f"{BOARD}metrics/", f"{BOARD}metrics.json"


kept = shared(lambda: counts.make_dataset("counts"))


@pytest.fixture
def split(kept: int, db: None) -> Split:
    return split_of(Dataset.objects.get(pk=kept), "test")


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def board(split: Split, owner: User) -> dict[str, Any]:
    return counts.submit_all(owner, split)


def rows_of(client: Client, address: str = FILE) -> dict[str, dict[str, Any]]:
    """Return the rows of the board's JSON file by the name of their method."""
    return {row["name"]: row for row in json.loads(client.get(address).content)["rows"]}


def slow_figures(split: Split, records: list[Record]) -> dict[str, float]:
    """Return the metrics of records, computed question by question from their definitions."""
    true, given = numbers_of(split), [float(record["answer"]) for record in records]
    rounded = [round(min(max(number, 0), 15)) for number in given]
    errors = [abs(one - other) for one, other in zip(given, true, strict=True)]
    right = [one == other for one, other in zip(rounded, true, strict=True)]
    of_label: dict[int, list[bool]] = {}
    for number, is_right in zip(true, right, strict=True):
        of_label.setdefault(number, []).append(is_right)
    shares = {number: sum(one) / len(one) for number, one in of_label.items()}
    parity = {odd: [r for r, number in zip(right, true, strict=True) if number % 2 == odd] for odd in (0, 1)}
    frequent = frequent_by_type(split_of(split.dataset, "train"))
    index = SplitIndex.open(split)
    kinds = [index.facets["type"].values[code] for code in index.facets["type"].codes]
    wrong = [one == frequent[kind] for one, kind, is_right in zip(rounded, kinds, right, strict=True) if not is_right]
    return {
        "rmse": math.sqrt(sum(error**2 for error in errors) / len(errors)),
        "l1": sum(errors) / len(errors),
        "relative_error": sum(e / max(1, t) for e, t in zip(errors, true, strict=True)) / len(errors),
        "mean_over_labels": sum(shares.values()) / len(shares),
        "odd": sum(parity[1]) / len(parity[1]),
        "even": sum(parity[0]) / len(parity[0]),
        "biased_errors": sum(wrong) / len(wrong) if wrong else math.nan,
    }


def frequent_by_type(train: Split) -> dict[str, int]:
    facet, counted = SplitIndex.open(train).facets["type"], dict[str, Counter[int]]()
    for code, number in zip(facet.codes.tolist(), numbers_of(train), strict=True):
        counted.setdefault(facet.values[code], Counter())[number] += 1
    return {kind: min(n for n in one if one[n] == max(one.values())) for kind, one in counted.items()}


def slow_groundp(split: Split, records: list[Record]) -> float:
    """Return GroundP by painting: each box is cut into cells of an eighth of a pixel."""
    boxes, cells = SplitIndex.open(split).boxes, 8
    assert boxes is not None
    inside = total = 0.0
    for at, record in enumerate(records):
        true = boxes.of(at)
        assert true is not None
        for (left, top, right, bottom), score in zip(record["boxes"], record["scores"], strict=True):
            across, down = (max(1, round((end - start) * cells)) for start, end in ((left, right), (top, bottom)))
            hit = sum(
                any(a <= x <= c and b <= y <= d for a, b, c, d in true.tolist())
                for x in (left + (right - left) * (column + 0.5) / across for column in range(across))
                for y in (top + (bottom - top) * (row + 0.5) / down for row in range(down))
            )
            inside += score * hit / (across * down)
            total += score
    return inside / total


def test_the_board_has_the_metrics_that_the_records_give(board: Any, split: Split, client: Client) -> None:
    rows = rows_of(client)
    for kind in KINDS:
        records = list(records_of(kind, split))
        for name, value in slow_figures(split, records).items():
            found = rows[kind]["metrics"][name]
            if found["value"] is None:
                assert found["n"] < 30
                continue
            assert found["value"] == pytest.approx(value, abs=1e-6), (kind, name)
            assert found["low"] <= found["value"] <= found["high"]
    assert rows["Counts"]["metrics"]["groundp"] is None
    grounded = rows["Boxes"]["metrics"]["groundp"]
    few = slice(0, 40)  # painting takes long
    assert 0 < grounded["low"] <= grounded["value"] <= grounded["high"] < 1
    assert slow_groundp(split, list(records_of("Boxes", split))[few]) == pytest.approx(grounded["value"], abs=0.1)
    assert rows["Boxes"]["metrics"]["ap"]["n"] == sum(number > 0 for number in numbers_of(split))


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_prints_the_metrics_of_a_file(
    kind: str, split: Split, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, path = list(records_of(kind, split)), tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    call_command("score", str(path), "--split", str(split), "--json")
    found = json.loads(capsys.readouterr().out)["metrics"]
    for name, value in slow_figures(split, records).items():
        assert found[name]["value"] == pytest.approx(value, abs=1e-6, nan_ok=True)
    assert found["rmse"]["n"] == len(records)
    assert ("groundp" in found) == (kind == "Boxes")
    call_command("score", str(path), "--split", str(split))
    lines = capsys.readouterr().out.splitlines()
    [rmse] = [line for line in lines if line.startswith("rmse ")]
    assert rmse.split()[1:] == [f"{found['rmse']['value']:.2f}", "objects,", "n", "=", f"{len(records):,}"]
    assert any(line.startswith("groundp ") and " %, n = " in line for line in lines) == (kind == "Boxes")


def test_the_columns_lead_to_their_definitions_and_sort_the_rows(board: Any, split: Split, client: Client) -> None:
    page = client.get(BOARD).content.decode()
    for anchor in ("rmse", "groundp", "ap", "relative-error", "biased-errors"):
        assert f'href="/docs/metrics/#{anchor}"' in page
    best = min(KINDS, key=lambda kind: slow_figures(split, list(records_of(kind, split)))["rmse"])
    assert next(iter(rows_of(client, f"{FILE}?sort=rmse"))) == best  # lower is better
    assert next(iter(rows_of(client, f"{FILE}?sort=groundp"))) == "Boxes"
    [head, *lines] = csv.reader(io.StringIO(client.get(f"{BOARD}board.csv").content.decode()))
    at = head.index("rmse")
    assert head[at : at + 3] == ["rmse", "rmse_n", "rmse_low"]
    assert {line[at] for line in lines} >= {str(rows_of(client)["Misses"]["metrics"]["rmse"]["value"])}
    assert "RMSE" in client.get(f"{BOARD}board.tex").content.decode()
    api = client.get("/api/v1/boards/counts/test/").json()
    assert {row["name"]: row["metrics"] for row in api["rows"]} == {
        name: row["metrics"] for name, row in rows_of(client).items()
    }


def test_a_metric_by_a_facet_has_the_figures_of_each_slice(board: Any, split: Split, client: Client) -> None:
    keys = [rows_of(client)[kind]["key"] for kind in ("Misses", "Repeats")]
    query = f"?metric=l1&by=parity&entry={keys[0]}&entry={keys[1]}"
    found = json.loads(client.get(f"{METRICS_FILE}{query}").content)
    assert found == client.get(f"/api/v1/boards/counts/test/metrics/{query}").json()
    values = {(line["row"], line["slice"]): line for line in found["slices"]}
    true = numbers_of(split)
    errors = {
        kind: [abs(float(one["answer"]) - t) for one, t in zip(records_of(kind, split), true, strict=True)]
        for kind in ("Misses", "Repeats")
    }
    for parity, places in {
        "all": range(len(true)),
        "odd": [at for at, t in enumerate(true) if t % 2],
        "even": [at for at, t in enumerate(true) if t % 2 == 0],
    }.items():
        means = {kind: sum(one[at] for at in places) / len(places) for kind, one in errors.items()}
        for kind, mean in means.items():
            assert values[kind, parity]["value"] == pytest.approx(mean, abs=1e-6)
        difference = values["difference", parity]
        assert difference["value"] == pytest.approx(means["Misses"] - means["Repeats"], abs=1e-6)
        assert difference["low"] < difference["value"] < difference["high"]
    page = client.get(f"{METRICS}{query}").content.decode()
    assert "Misses − Repeats" in page and "Lower is better" in page
    assert client.get(f"{BOARD}metrics.csv{query}").content.startswith(b"metric,row,slice,label,n,runs,value")


def test_two_rows_are_compared_on_every_metric_that_both_have(board: Any, client: Client) -> None:
    rows = rows_of(client)
    page = client.get(f"{BOARD}compare/?entry={rows['Misses']['key']}&entry={rows['Boxes']['key']}").content.decode()
    section = page[page.index("Other metrics") : page.index("is from a paired bootstrap over questions")]
    difference = rows["Misses"]["metrics"]["l1"]["value"] - rows["Boxes"]["metrics"]["l1"]["value"]
    assert f"{difference:.2f}".replace("-", "−") in section and "/docs/metrics/#rmse" in section
    assert "#groundp" not in section  # one of the rows has no boxes


def test_average_precision_falls_with_the_overlap_that_it_asks_for(board: Any, client: Client) -> None:
    key = rows_of(client)["Boxes"]["key"]
    found = json.loads(client.get(f"{METRICS_FILE}?metric=ap&by=&entry={key}").content)
    values = [one["value"] for one in found["average_precision"]]
    assert [one["iou"] for one in found["average_precision"]] == [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    assert values == sorted(values, reverse=True) and values[0] > values[-1]
    assert values[2] == found["slices"][0]["value"] == rows_of(client)["Boxes"]["metrics"]["ap"]["value"]
    assert "Average precision by overlap" in client.get(f"{METRICS}?entry={key}").content.decode()


def test_a_shifted_set_is_measured_on_its_own_questions(board: Any, split: Split, owner: User, client: Client) -> None:
    dataset_jobs.shift_counts(split.dataset, CountShift("odd", 50))
    scoring.add_missing()
    shifted = split_of(split.dataset, "test-odd-even-50")
    positions = SplitIndex.open(shifted).positions
    assert positions is not None
    every = list(records_of("Boxes", split))
    records = [{**every[at], "question_id": place} for place, at in enumerate(positions.tolist())]
    counts.submit(method(owner, "Again"), shifted, records)
    rows = rows_of(client, "/leaderboards/counts/test-odd-even-50/board.json")
    assert rows["Boxes"]["metrics"] == rows["Again"]["metrics"]
    metrics = rows["Again"]["metrics"]
    assert metrics["l1"]["value"] == pytest.approx(slow_l1(shifted, records), abs=1e-6)
    assert (metrics["own_parity"], metrics["opposite_parity"]) == (metrics["odd"], metrics["even"])
    assert 'href="/docs/metrics/#opposite-parity"' in client.get("/leaderboards/counts/test-odd-even-50/").text
    plain = rows_of(client)["Boxes"]["metrics"]
    assert {name: plain.get(name) for name in ("own_parity", "opposite_parity")} == dict.fromkeys(
        ("own_parity", "opposite_parity")
    )


def test_baselines_of_a_shifted_set_learn_from_its_train_set(split: Split, client: Client) -> None:
    """The most frequent answer of train, 0, is rare in the train set of the shift."""
    dataset_jobs.shift_counts(split.dataset, CountShift("odd", 100))
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()
    train, shifted = (split_of(split.dataset, f"{part}-odd-even-100") for part in ("train", "test"))
    assert shifted.reference == train
    frequent = {number for number, n in Counter(numbers_of(train)).items() if number % 2}
    rows = rows_of(client, "/leaderboards/counts/test-odd-even-100/board.json")
    assert frequent and sorted(rows) == ["Chance", "Majority", "Nearest question", "Q-type mode"]
    assert [rows[name]["accuracy"]["accuracy"] for name in ("Majority", "Q-type mode")] == [0, 0]
    assert rows["Majority"]["metrics"]["biased_errors"]["value"] == 1
    assert not baselines.lacking().exists()


def slow_l1(split: Split, records: list[Record]) -> float:
    pairs = zip(records, numbers_of(split), strict=True)
    return sum(abs(float(record["answer"]) - number) for record, number in pairs) / len(records)


def test_several_runs_have_their_mean_and_deviation(split: Split, owner: User, client: Client) -> None:
    made, figures = method(owner, "Misses"), []
    for run in range(3):
        records = list(records_of("Misses", split, seed=run))
        figures.append(slow_figures(split, records)["l1"])
        counts.submit(made, split, records, run=str(run))
    found = rows_of(client)["Misses"]["metrics"]["l1"]
    assert (found["runs"], found["value"]) == (3, pytest.approx(sum(figures) / 3, abs=1e-6))
    mean = sum(figures) / 3
    assert found["deviation"] == pytest.approx(math.sqrt(sum((one - mean) ** 2 for one in figures) / 2), abs=1e-6)


def test_boxes_are_drawn_over_the_question_beside_another_row(board: Any, split: Split, client: Client) -> None:
    at = next(at for at, number in enumerate(numbers_of(split)) if number == 2)
    keys = [rows_of(client)[kind]["key"] for kind in ("Boxes", "Misses")]
    page = client.get(f"{BOARD}questions/{at}/?entry={keys[0]}&entry={keys[1]}").content.decode()
    assert "Right answer: <b>2</b>" in page and "before rounding: " in page and "sum of scores" in page
    assert "These predictions have no boxes." in page
    listed = client.get(f"{BOARD}questions/?entry={keys[0]}").content.decode()
    assert f'href="/leaderboards/counts/test/questions/{at}/?entry={keys[0]}"' in listed or at >= 20
    assert "Answers of methods" in client.get(f"/datasets/counts/test/q/{at}/").content.decode()
    missing = client.get(f"{BOARD}questions/99999/")
    assert missing.status_code == 404 and "Expected a question from 0 to" in missing.content.decode()
    assert client.get(f"{BOARD}questions/0/?entry=m999999").status_code == 404


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?metric=bleu", "Expected one of the metrics rmse"),
        ("?by=colour", "Expected to break down by one of"),
        ("?entry=m999999", "Expected a row of the board"),
        ("?what=1", "what"),
    ],
)
def test_a_bad_address_gets_one_message(board: Any, client: Client, query: str, message: str) -> None:
    refused = client.get(METRICS + query)
    assert refused.status_code in (400, 404) and message in refused.content.decode()
    assert client.get(f"{BOARD}metrics.png").status_code == 404


def test_withheld_answers_have_no_metrics(board: Any, split: Split, client: Client) -> None:
    Dataset.objects.filter(pk=split.dataset_id).update(visibility="private")
    for address in (BOARD, METRICS, METRICS_FILE, f"{BOARD}questions/0/"):
        assert client.get(address).status_code == 404
    assert Submission.objects.count() == len(KINDS)


def test_a_metric_over_k_has_the_figures_of_the_boards(board: Any, split: Split, client: Client) -> None:
    dataset_jobs.shift_counts(split.dataset, CountShift("odd", 50))
    scoring.add_missing()
    suite = Suite.objects.create(slug="shifts", title="Shifts", is_public=True, k_name="percent removed")
    for ordinal, (name, k) in enumerate({"test": 0, "test-odd-even-50": 50}.items()):
        suite.members.create(split=split_of(split.dataset, name), ordinal=ordinal, label=name, k=k)
    found = json.loads(client.get("/suites/shifts/over-k.json?metric=rmse").content)
    assert found["metric"] == "rmse"
    for k, name in ((0, "test"), (50, "test-odd-even-50")):
        rows = rows_of(client, f"/leaderboards/counts/{name}/board.json")
        for kind in KINDS:
            [point] = [one for one in found["points"] if (one["method"], one["k"]) == (kind, k)]
            assert {part: point[part] for part in rows[kind]["metrics"]["rmse"]} == rows[kind]["metrics"]["rmse"]
    page = client.get("/suites/shifts/over-k/?metric=rmse").content.decode()
    assert "RMSE over percent removed" in page and "/docs/metrics/#rmse" in page and "&amp;metric=rmse" in page
    grounded = json.loads(client.get("/suites/shifts/over-k.json?metric=groundp").content)["points"]
    assert {one["method"] for one in grounded if one["value"] is not None} == {"Boxes"}
    assert client.get("/suites/shifts/over-k.svg?metric=rmse").status_code == 200


# Learning curves

CURVES, CURVES_API = f"{BOARD}curves/", "/api/v1/boards/counts/test/curves/"
RUNS = {50: (1, 2), 400: (3,)}  # seeds of the runs, by the number of training examples


@pytest.fixture
def learner(split: Split, owner: User) -> dict[int, list[list[Record]]]:
    """Submit runs of a method with two training sizes; return their records by size."""
    made = method(owner, "Misses")
    found = {size: [list(records_of("Misses", split, seed=seed)) for seed in seeds] for size, seeds in RUNS.items()}
    for size, runs in found.items():
        for number, records in enumerate(runs):
            counts.submit(made, split, records, run=str(number), train_size=size, examples_seen=3 * size)
    return found


def curve_of(client: Client, query: str) -> Any:
    [curve] = client.get(f"{CURVES_API}{query}").json()["curves"]
    return curve


def test_a_curve_has_a_metric_by_the_number_of_examples(learner: Any, split: Split, client: Client) -> None:
    for along, times in (("train-size", 1), ("examples-seen", 3)):
        found = client.get(f"{CURVES_API}?metric=rmse&along={along}").json()
        assert (found["metric"], found["is_better"]) == ("rmse", "lower")
        points = {one["size"]: one for one in found["curves"][0]["points"]}
        for size, runs in learner.items():
            values, one = [slow_figures(split, records)["rmse"] for records in runs], points[times * size]
            assert one["value"] == pytest.approx(sum(values) / len(values), abs=1e-6)
            assert (one["runs"], one["n"]) == (len(runs), split.questions)
            assert one["low"] < one["value"] < one["high"] and "accuracy" not in one
            assert (one["deviation"] is None) == (len(runs) == 1)
    board = rows_of(client, f"{FILE}?show=each")["Misses"]["metrics"]["rmse"]
    assert board in [{name: one[name] for name in board} for one in curve_of(client, "?metric=rmse")["points"]]


def test_the_files_of_a_metric_curve_have_the_figures_of_the_api(learner: Any, client: Client) -> None:
    points = curve_of(client, "?metric=l1")["points"]
    lines = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}curves.csv?metric=l1").content.decode())))
    wanted = [{"metric": "l1", "curve": "Misses", **one} for one in points]
    assert lines == [{name: "" if value is None else str(value) for name, value in one.items()} for one in wanted]
    data = json.loads(client.get(f"{BOARD}curves.json?metric=l1").content)
    assert (data["metric"], data["points"]) == ("l1", [{"curve": "Misses", **one} for one in points])
    latex = client.get(f"{BOARD}curves.tex?metric=l1")
    assert f"Misses & 50 & {points[0]['value']:.2f} & " in latex.content.decode()
    assert "L1 over training examples on counts/test" in latex.content.decode()
    assert 'filename="counts-test-curves-l1.tex"' in latex["Content-Disposition"]
    for kind in ("svg", "pdf"):
        assert client.get(f"{BOARD}curves.{kind}?metric=l1").status_code == 200


def test_the_target_is_an_accuracy_whichever_metric_a_curve_shows(learner: Any, client: Client) -> None:
    plain, curve = curve_of(client, "?target=10"), curve_of(client, "?target=10&metric=rmse")
    assert (curve["reached"], curve["columns"]) == (plain["reached"], plain["columns"]) and plain["reached"] == 50
    page = client.get(f"{CURVES}?target=10&metric=rmse").content.decode()
    for part in ("RMSE by number of examples", "Lower is better", "Accuracy of 10 % reached with", "#rmse"):
        assert part in page
    assert '<td class="num">50</td>' in page and "&amp;metric=rmse" in page
    assert "there is no line for the target, because it is an accuracy" in page
    assert 'value="rmse" selected' in page and 'curves/reached.csv?target=10"' in page
    refused = client.get(f"{BOARD}curves/reached.csv?metric=rmse")
    assert refused.status_code == 400 and "Expected no metric, because the target is an accuracy" in refused.text


def test_a_curve_without_what_a_metric_needs_has_no_figure(
    learner: Any, split: Split, owner: User, client: Client
) -> None:
    page = client.get(f"{CURVES}?metric=groundp").content.decode()
    assert "There is no chart, because no curve has enough questions with what the metric needs" in page
    assert client.get(f"{BOARD}curves.svg?metric=groundp").status_code == 404
    counts.submit(method(owner, "Boxes"), split, list(records_of("Boxes", split)), train_size=50)
    found = client.get(f"{CURVES_API}?metric=groundp").json()["curves"]
    assert {one["label"]: one["points"][0]["value"] is None for one in found} == {"Boxes": False, "Misses": True}
    assert client.get(f"{BOARD}curves.svg?metric=groundp").status_code == 200


def test_each_series_of_a_view_has_its_own_metric_curve(
    learner: Any, split: Split, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = tuple(Series(one, {"parity": (one,)}) for one in ("odd", "even"))
    view = BoardView("parities", "Odd and even", "parity", "parity", series=series)
    monkeypatch.setattr(type(split.dataset.get_world()), "board_views", (view,))
    found = client.get(f"{CURVES_API}?metric=l1&view=parities").json()["curves"]
    true = numbers_of(split)
    for curve, parity in zip(found, (0, 1), strict=True):  # even is the first label
        places = [at for at, number in enumerate(true) if number % 2 == parity]
        for point, runs in zip(curve["points"], learner.values(), strict=True):
            errors = [abs(float(records[at]["answer"]) - true[at]) for records in runs for at in places]
            assert (point["n"], point["value"]) == (len(places), pytest.approx(sum(errors) / len(errors), abs=1e-6))


@pytest.mark.parametrize("address", [CURVES, f"{BOARD}curves.csv", f"{BOARD}curves.tex", CURVES_API])
def test_an_unknown_metric_of_curves_gets_one_message(learner: Any, client: Client, address: str) -> None:
    refused = client.get(f"{address}?metric=bleu")
    assert refused.status_code == 404 and "Expected one of the metrics rmse, " in refused.text
    assert "own_parity" not in refused.text  # only count shifts have it


def test_metric_curves_of_private_and_withheld_splits_are_refused(learner: Any, split: Split, client: Client) -> None:
    addresses = [f"{CURVES}?metric=rmse", f"{BOARD}curves.json?metric=rmse", f"{CURVES_API}?metric=rmse"]
    Split.objects.filter(pk=split.pk).update(withheld=True, secret="s", secret_sha256="d")
    assert [client.get(address).status_code for address in addresses] == [403] * 3
    Dataset.objects.filter(pk=split.dataset_id).update(visibility="private")
    assert [client.get(address).status_code for address in addresses] == [404] * 3


def test_metric_curves_need_no_more_queries_for_many_rows(
    learner: Any, split: Split, owner: User, client: Client, django_assert_max_num_queries: Any
) -> None:
    for seed in range(4):
        counts.submit(
            method(owner, f"m{seed}"), split, list(records_of("Counts", split, seed=seed)), train_size=1 + seed
        )
    client.get(f"{CURVES}?metric=rmse")  # the figures of each row are computed once
    with django_assert_max_num_queries(14):
        client.get(f"{CURVES}?metric=rmse")
