"""Grids of suites: the training size that each target needs for each k, access, and refusals."""

import csv
import io
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.charts import drawing
from generation.engine.scoring.figures import Averaged
from generation.engine.scoring.sample_complexity import MeasuredSize, size_interval
from generation.models import Dataset, Split
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from tests.leaderboards.reading import grids
from tests.leaderboards.reading.grids import KS, N, train
from tests.leaderboards.reading.rows import method
from tests.proof import sample
from webapp.leaderboards import deletion
from webapp.leaderboards.analysis.sample_complexity import TARGETS
from webapp.leaderboards.models import Method, Suite
from webapp.models import User

pytestmark = [pytest.mark.usefixtures("undrawn"), pytest.mark.slow]

PAGE, API = "/suites/towns/grid/", "/api/v1/suites/towns/grid/"
FILES = [f"/suites/towns/grid.{kind}" for kind in ("csv", "json", "tex", "svg", "pdf")]
# The targets need 30, 34, 36 and 38 right answers to 40 questions.
RIGHTS = {
    "five": {100: (30, 30), 200: (36, 36), 400: (38, 40)},
    "fifteen": {100: (20, 24), 200: (30, 30), 400: (36, 36)},
    "sixty": {100: (10, 10), 200: (20, 20), 400: (29, 31)},
}


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def suite(towns: Dataset) -> Suite:
    return grids.grid_of(towns)


@pytest.fixture
def net(towns: Dataset, suite: Suite, owner: User) -> Method:
    """Give a method with two runs of three sizes for each k."""
    return train_method(towns, owner, "Net")


@pytest.fixture
def brief_net(towns: Dataset, suite: Suite, owner: User) -> Method:
    """Give a method with one run of one size for each k, which is much faster."""
    return train_method(towns, owner, "Net", {name: {100: (38,)} for name in KS})


def train_method(towns: Dataset, owner: User, name: str, rights: Any = None) -> Method:
    made = method(owner, name)
    for split in splits(towns):
        train(made, split, (rights or RIGHTS)[split.name])
    return made


def splits(towns: Dataset) -> list[Split]:
    """Return the splits of the grid, with the related rows that a submission needs."""
    return list(towns.splits.filter(name__in=KS).select_related("dataset", "parent", "reference").order_by("ordinal"))


def find_split(towns: Dataset, name: str) -> Split:
    return towns.splits.select_related("dataset", "parent", "reference").get(name=name)


def get_json(client: Client, address: str) -> Any:
    response = client.get(address)
    assert response.status_code == 200, response.content[:500]
    return json.loads(response.content)


def lines_of(client: Client, label: str = "Net") -> dict[int, dict[str, Any]]:
    """Return the lines of a method in the JSON file, by target."""
    [found] = [one for one in get_json(client, FILES[1])["methods"] if one["label"] == label]
    return {line["target"]: line for line in found["targets"]}


# Figures


def test_each_target_needs_the_smallest_size_that_reaches_it_for_each_k(net: Method, client: Client) -> None:
    lines = lines_of(client)
    assert {target: [one["reached"] for one in line["sizes"]] for target, line in lines.items()} == {
        75: [100, 200, 400],
        85: [200, 400, None],
        90: [200, 400, None],
        95: [400, None, None],
    }
    slope = np.polyfit(np.log([5, 15, 60]), np.log([100, 200, 400]), 1)[0]
    assert lines[75]["slope"] == pytest.approx(slope, abs=1e-6)
    assert lines[90]["slope"] == pytest.approx(math.log(2) / math.log(3), abs=1e-6)
    low, high = slope, math.log(2) / math.log(3)  # a quarter of the resamples of sixty has 29 right twice
    assert (lines[75]["slope_low"], lines[75]["slope_high"]) == pytest.approx((low, high), abs=1e-6)
    assert lines[90]["slope_low"] == lines[90]["slope_high"] == lines[90]["slope"]
    assert (lines[95]["slope"], lines[95]["slope_low"]) == (None, None)


def test_a_grid_has_the_figures_of_the_curves_of_its_boards(net: Method, client: Client) -> None:
    for target, line in lines_of(client).items():
        for name, one in zip(KS, line["sizes"], strict=True):
            [curve] = get_json(client, f"/api/v1/boards/towns/{name}/curves/?target={target}")["curves"]
            assert (one["k"], one["reached"], one["largest"]) == (KS[name], curve["reached"], 400)
            assert one["highest"] == max(point["accuracy"] for point in curve["points"])


def test_the_interval_of_a_size_is_over_runs(net: Method, client: Client) -> None:
    for target, line in lines_of(client).items():
        for name, one in zip(KS, line["sizes"], strict=True):
            sizes = [MeasuredSize(size, Averaged(N, runs)) for size, runs in RIGHTS[name].items()]
            low, high = size_interval(sizes, Fraction(target, 100)) or (0, 0)
            assert (one["low"], one["high"], one["interval_over"]) == (low, high, "runs")
    ends = [(one["low"], one["high"]) for one in lines_of(client)[75]["sizes"]]
    assert ends == [(100, 100), (200, 200), (400, None)]  # a quarter of the resamples of sixty has 29 right twice
    page = client.get(PAGE).content.decode()
    assert "95 % interval over runs" in page and "asterisk" not in page and "*</span>" not in page


def test_the_interval_of_a_size_is_over_questions_if_a_size_has_a_single_run(
    towns: Dataset, suite: Suite, owner: User, client: Client
) -> None:
    train_method(towns, owner, "Net", {name: {100: (20,), 200: (34, 36), 400: (39,)} for name in KS})
    for target, line in lines_of(client).items():
        [curve] = get_json(client, f"/api/v1/boards/towns/five/curves/?target={target}")["curves"]
        low = [point["size"] for point in curve["points"] if point["high"] >= target / 100]
        high = [point["size"] for point in curve["points"] if point["low"] >= target / 100]
        one = line["sizes"][0]
        ends = (min(low, default=None), min(high, default=None))
        assert (one["low"], one["high"], one["interval_over"]) == (*ends, "questions")
    page = client.get(PAGE).content.decode()
    assert "an asterisk (*)" in page and "200–400*</span>" in page
    rows = list(csv.DictReader(io.StringIO(client.get(FILES[0]).content.decode())))
    assert {row["interval_over"] for row in rows} == {"questions"}
    latex = client.get(FILES[2]).content.decode()
    assert "200 (200--400*)" in latex and "over runs (*: over questions, because some n has a single run); " in latex


def test_files_page_and_api_have_the_same_figures(net: Method, client: Client) -> None:
    data = get_json(client, FILES[1])
    assert data.pop("address").endswith(PAGE) and data == get_json(client, API)
    lines = lines_of(client)
    rows = list(csv.DictReader(io.StringIO(client.get(FILES[0]).content.decode())))
    assert len(rows) == len(TARGETS) * len(KS)
    for row in rows:
        [one] = [one for one in lines[int(row["target"])]["sizes"] if one["k"] == float(row["k"])]
        assert (row["method"], row["reached"]) == ("Net", str(one["reached"] or "FAIL"))
        assert (row["low"], row["high"]) == (str(one["low"] or "FAIL"), str(one["high"] or "FAIL"))
        assert row["slope"] == ("" if row["target"] == "95" else str(lines[int(row["target"])]["slope"]))
    latex = client.get(FILES[2]).content.decode()
    assert r" & 90 \% & 200 (200--200) & 400 (400--400) & FAIL & 0.63 & 0.63 to 0.63 \\" in latex
    assert r"Net & 75 \% & 100 (100--100) & 200 (200--200) & 400 (400--FAIL) & " in latex
    assert "entities; 5: towns/five" in latex and "95 percent intervals over runs; 20" in latex
    page = client.get(PAGE).content.decode()
    assert ">FAIL</a>" in page and "at most 75.0 %" in page and "too few" in page and "k (entities)" in page
    assert '/leaderboards/towns/sixty/curves/?target=90"' in page
    assert [client.get(file).status_code for file in FILES] == [200] * len(FILES)


def test_a_size_that_falls_with_k_has_a_negative_slope(
    towns: Dataset, suite: Suite, owner: User, client: Client
) -> None:
    train_method(towns, owner, "Net", {"five": {200: (38,)}, "fifteen": {100: (38,)}, "sixty": {}})
    assert lines_of(client)[90]["slope"] == pytest.approx(-math.log(2) / math.log(3), abs=1e-6)
    assert "−0.63" in client.get(PAGE).content.decode() and " & $-$0.63 & " in client.get(FILES[2]).content.decode()


def test_a_size_that_is_the_same_for_all_k_has_a_slope_of_zero_without_a_sign(
    towns: Dataset, suite: Suite, owner: User, client: Client
) -> None:
    train_method(towns, owner, "Net", {name: {100: (38, 38)} for name in KS})
    assert {str(lines_of(client)[90][name]) for name in ("slope", "slope_low", "slope_high")} == {"0.0"}
    [*_, row] = csv.DictReader(io.StringIO(client.get(FILES[0]).content.decode()))
    assert (row["slope"], row["slope_low"]) == ("0.0", "0.0")


def test_a_single_run_has_no_interval_of_its_slope(towns: Dataset, suite: Suite, owner: User, client: Client) -> None:
    train_method(towns, owner, "Net", {"five": {100: (38,)}, "fifteen": {100: (20, 20), 200: (38, 38)}, "sixty": {}})
    line = lines_of(client)[90]
    assert (line["slope"], line["slope_low"]) == (pytest.approx(math.log(2) / math.log(3), abs=1e-6), None)
    assert {name for name, value in line["sizes"][2].items() if value is not None} == {"k"}


def test_splits_with_too_few_questions_need_nothing(towns: Dataset, owner: User, client: Client) -> None:
    grids.grid_of(towns, "towns", train=1, five=5)
    made = method(owner, "Net")
    for name in ("train", "five"):
        train(made, find_split(towns, name), {100: (8, 8)})
    few, enough = lines_of(client)[75]["sizes"]
    assert (few["highest"], few["largest"]) == (None, None) and enough["highest"] == 0.2
    assert ">–</td>" in client.get(PAGE).content.decode()


def test_methods_of_two_accounts_with_the_same_name_stay_apart(net: Method, towns: Dataset, client: Client) -> None:
    other = User.objects.create_user("other", "other@example.org", "x")
    train_method(towns, other, "Net", {**RIGHTS, "five": {100: (40, 40)}})
    labels = [one["label"] for one in get_json(client, API)["methods"]]
    assert labels == [f"Net (method {one.pk})" for one in Method.objects.order_by("pk")]
    assert [lines_of(client, label)[95]["sizes"][0]["reached"] for label in labels] == [400, 100]


def test_a_question_set_of_the_training_split_belongs_to_the_same_line(
    net: Method, towns: Dataset, client: Client
) -> None:
    question_sets.create(find_split(towns, "train"), name="part", recipe=Recipe(parent="train", sample=4, seed=2))
    for split in splits(towns):
        split.reference = towns.splits.get(name="part")
        train(net, split, {50: (38, 38)})
    assert [one["label"] for one in get_json(client, API)["methods"]] == ["Net"]
    assert [one["reached"] for one in lines_of(client)[95]["sizes"]] == [50, 50, 50]


def test_runs_trained_on_another_split_are_a_separate_line(
    net: Method, towns: Dataset, client: Client, owner: User
) -> None:
    secret = grids.small.made("secret", with_images=False, visibility="private")
    for split in splits(towns):
        split.reference = secret.splits.get(name="train")
        train(net, split, {100: (40, 40)})
    assert [one["label"] for one in get_json(client, API)["methods"]] == ["Net", "Net, trained on a private split"]
    assert [one["reached"] for one in lines_of(client)[95]["sizes"]] == [400, None, None]
    assert "secret" not in client.get(PAGE).content.decode() + client.get(FILES[1]).content.decode()


# Access


def test_stranger_gets_404_for_an_unlisted_grid(brief_net: Method, suite: Suite, client: Client) -> None:
    Suite.objects.filter(pk=suite.pk).update(is_public=False)
    assert {client.get(address).status_code for address in (PAGE, API, *FILES)} == {404}
    suite.refresh_from_db()
    page = client.get(f"/suites/{suite.address_name}/grid/")
    assert page.status_code == 200 and f"/suites/{suite.address_name}/grid.svg" in page.content.decode()


def test_private_splits_are_left_out(brief_net: Method, towns: Dataset, client: Client) -> None:
    Dataset.objects.filter(pk=towns.pk).update(visibility="private")
    page = client.get(PAGE).content.decode()
    assert "You may not see 3 of the suite’s splits" in page and "Net" not in page and "five" not in page
    found = get_json(client, API)
    assert (found["members"], found["methods"]) == ([], [])


def test_withheld_splits_are_left_out_for_any_answers(
    net: Method, suite: Suite, towns: Dataset, owner: User, client: Client, admin_client: Client
) -> None:
    hidden = find_split(towns, "hidden")
    suite.members.create(split=hidden, ordinal=9, label="hidden", k=100)
    before = [(address, client.get(address).content) for address in (PAGE, API, *FILES[:3])]
    assert "The answers of 1 of the suite’s splits are withheld" in client.get(PAGE).content.decode()
    train(net, hidden, {100: (33, 37), 999: (40, 40)})
    train(method(owner, "Another"), hidden, {100: (11, 12)})
    assert [(address, client.get(address).content) for address, _ in before] == before
    assert [one["k"] for one in lines_of(client)[75]["sizes"]] == [5, 15, 60]
    assert [one["k"] for one in lines_of(admin_client)[75]["sizes"]] == [5, 15, 60, 100]


def test_a_grid_of_withheld_answers_is_refused(towns: Dataset, owner: User, client: Client) -> None:
    grids.grid_of(towns, "towns", hidden=5)
    train(method(owner, "Net"), find_split(towns, "hidden"), {100: (33, 37)})
    for address in (PAGE, API, *FILES):
        response = client.get(address)
        assert response.status_code == 403 and b"withheld" in response.content


def test_private_methods_are_left_out(brief_net: Method, client: Client, owner: User) -> None:
    Method.objects.filter(pk=brief_net.pk).update(published=None)
    assert get_json(client, API)["methods"] == []
    client.force_login(owner)
    assert [one["label"] for one in get_json(client, API)["methods"]] == ["Net"]


# Refusals and missing data


@pytest.mark.parametrize(
    ("query", "status"),
    sample(
        [
            ("target=80", 404),
            ("target=90.0", 404),
            ("target=", 200),
            ("target=95", 200),
            ("method=m0", 404),
            ("method=%00", 404),
            ("chart=m0", 404),
            ("by=type", 400),
            ("&".join(f"method=m{n}" for n in range(6)), 400),
        ],
        gate=4,
    ),
)
def test_bad_parameters_are_refused_with_a_message(brief_net: Method, client: Client, query: str, status: int) -> None:
    for file in (FILES[3], PAGE) if "chart" not in query else FILES[3:]:
        response = client.get(f"{file}?{query}")
        assert response.status_code == status, file
        assert status == 200 or b"Expected" in response.content


def test_a_page_takes_no_parameter_of_its_files(brief_net: Method, client: Client) -> None:
    assert client.get(f"{PAGE}?chart=m{brief_net.pk}").status_code == 400


def test_unknown_kinds_of_files_and_unknown_names_are_refused(brief_net: Method, client: Client) -> None:
    assert client.get("/suites/towns/grid.x").status_code == 404
    assert client.get("/suites/none/grid/").status_code == client.get("/suites/none/grid.csv").status_code == 404
    assert client.get(f"{API}?target=90").status_code == 400


def test_pages_of_grids_are_read_only(brief_net: Method, client: Client) -> None:
    assert {client.post(address).status_code for address in (PAGE, API, *FILES)} <= {403, 405}


def test_the_page_of_a_suite_without_k_explains_grids(
    suite: Suite, brief_net: Method, client: Client, owner: User
) -> None:
    Suite.objects.filter(pk=suite.pk).update(k_name="", owner=owner)
    page = client.get(PAGE)
    assert page.status_code == 200 and "This suite is not a grid" in page.content.decode()
    assert PAGE not in client.get("/suites/towns/").content.decode()
    assert {client.get(address).status_code for address in (API, *FILES)} == {404}
    client.force_login(owner)
    assert "/suites/towns/edit/" in client.get(PAGE).content.decode()


def test_a_grid_without_training_sizes_explains_what_to_submit(suite: Suite, towns: Dataset, client: Client) -> None:
    page = client.get(PAGE).content.decode()
    assert "No training sizes yet" in page and "/submissions/new/?to=suite/towns" in page
    assert {client.get(file).status_code for file in FILES[:3]} == {200}
    assert {client.get(file).status_code for file in FILES[3:]} == {404}
    assert PAGE in client.get("/suites/towns/").content.decode()


# Charts


def test_a_page_has_a_chart_of_all_methods_and_one_of_each(net: Method, client: Client) -> None:
    page = client.get(f"{PAGE}?target=75")
    assert [chart["method"] for chart in page.context["charts"]] == [None, page.context["grid"].methods[0]]
    text = page.content.decode()
    assert "All methods at 75 %" in text and f"grid.svg?target=75&amp;chart=m{net.pk}" in text
    assert "75 %: 100 for k = 5, 200 for k = 15, 400 for k = 60." in text
    assert client.get(f"{FILES[3]}?target=75&chart=m{net.pk}").status_code == 200


def test_at_most_five_methods_are_drawn_and_others_can_be_chosen(
    suite: Suite, towns: Dataset, owner: User, client: Client
) -> None:
    made = [train_method(towns, owner, f"Net {at}", {name: {100: (38,)} for name in KS}) for at in range(6)]
    page = client.get(PAGE)
    assert len(page.context["charts"]) == 6 and "the first 5 of 6 methods" in page.content.decode()
    page = client.get(f"{PAGE}?method=m{made[5].pk}")
    assert [one["method"].label for one in page.context["charts"][1:]] == ["Net 5"]
    assert "the first 5" not in page.content.decode() and page.content.decode().count(" checked") == 1


def test_more_methods_and_runs_need_no_more_queries(suite: Suite, towns: Dataset, owner: User, client: Client) -> None:
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert client.get(PAGE).status_code == 200
        return len(queries)

    train_method(towns, owner, "Net", {name: {100: (38,)} for name in KS})
    first = count_queries()
    for at in range(3):
        train_method(towns, owner, f"Net {at}")
    assert count_queries() == first <= 4 + len(KS)


def test_drawings_are_deleted_with_their_suite_and_with_its_datasets(
    suite: Suite, towns: Dataset, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    other = Suite.objects.create(slug="other", title="Other")
    folder, kept = drawing.folder_of(suite.chart_folder), drawing.folder_of(other.chart_folder)
    for drop in (lambda: deletion.release(towns.splits.filter(name="five")), lambda: deletion.delete_suite(suite)):
        folder.mkdir(parents=True)
        kept.mkdir(parents=True, exist_ok=True)
        drop()
        assert kept.exists() and not folder.exists()


@pytest.mark.parametrize("k", [-1, 15])
def test_the_database_refuses_a_k_that_is_negative_or_not_unique(suite: Suite, towns: Dataset, k: int) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        suite.members.create(split=find_split(towns, "train"), ordinal=9, label="train", k=k)


def test_a_k_of_zero_has_no_place_on_logarithmic_axes(
    brief_net: Method, suite: Suite, towns: Dataset, client: Client
) -> None:
    suite.members.create(split=find_split(towns, "train"), ordinal=9, label="train", k=0)
    assert [one["k"] for one in lines_of(client)[75]["sizes"]] == [5, 15, 60]
