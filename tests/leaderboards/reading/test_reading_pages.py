"""The pages that analyse a board: their figures, access to them, and refusals."""

import csv
import html
import io
import random
import re
from urllib.parse import urlencode

import numpy as np
import pytest
from django.urls import reverse

from annotations.results import baseline
from annotations.studies import lifecycle
from generation.charts import drawing
from generation.engine.items import FacetKind
from generation.engine.scoring.score import NONE
from generation.making import dataset_jobs
from generation.models import AblationReport, Question, Split
from generation.queue import runner
from generation.reports import report_jobs, skipped_steps
from generation.reports.scoring import truth_of
from generation.reports.shortcuts import choices_of
from generation.splits import question_sets
from generation.splits.split_recipes import Recipe
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.generation import small
from tests.leaderboards.reading.conftest import noisy
from tests.leaderboards.reading.rows import method, submit
from webapp.leaderboards import boards
from webapp.leaderboards.models import Method, Score, Submission
from webapp.models import User

pytestmark = pytest.mark.usefixtures("undrawn")

DRAWN = drawing._drawn
PAGES = ("slices", "compare", "pairs", "confusion", "costs", "questions", "curves", "steps")


@pytest.fixture
def owner(db):
    return User.objects.create_user("owner", "owner@example.org", "x")


@pytest.fixture
def board(val, owner):
    """Give the keys of rows on val's board: three runs of one method, one run of another, and a baseline."""
    index = SplitIndex.open(val)
    good, bad = method(owner, "Good"), method(owner, "Bad <b>")
    for seed in (1, 2, 3):
        submit(good, val, noisy(index, 0.2, seed=seed), run=str(seed), train_size=700, trained_on=val)
    submit(bad, val, bad_codes(index), outside={0: "=1+1"})
    baseline = Method.objects.create(name="Majority", baseline="majority", made="baseline")
    submit(baseline, val, np.zeros(index.n, np.int64))
    return {"good": f"m{good.pk}-{val.pk}-700-", "bad": f"m{bad.pk}", "baseline": f"m{baseline.pk}"}


def check_link_to_questions(client, split, key, n):
    """Check that a row's accuracy on the board links to a page with this row and its `n` questions."""
    content = client.get(reverse("board", args=[split.dataset.slug, split.name])).content.decode()
    [address] = re.findall(rf'<a href="([^"]*[?]entry={key})"><b>', content)
    page = client.get(address.replace("&amp;", "&"))
    assert page.context["page"].paginator.count == n
    assert [one.key for one in page.context["contenders"]] == [key]


def bad_codes(index):
    """Return the predictions of the second method; its answer to question 0 is outside the vocabulary."""
    codes = noisy(index, 0.7, seed=4)
    codes[0] = -1
    return codes


def address_of(split, page, **query):
    asked = f"?{urlencode(query, doseq=True)}" if query else ""
    return reverse(f"board_{page}", args=[split.dataset.slug, split.name]) + asked


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response.content.decode()))


@pytest.mark.parametrize("page", PAGES)
def test_each_page_works_with_and_without_chosen_rows(val, board, client, page):
    assert client.get(address_of(val, page)).status_code == 200
    assert client.get(address_of(val, page, entry=[board["good"], board["bad"]])).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_an_empty_board_work(val, client, page):
    assert client.get(address_of(val, page)).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_strangers_get_404_for_a_private_dataset(shapes, val, board, client, page):
    shapes.visibility = "private"
    shapes.save()
    assert client.get(address_of(val, page)).status_code == 404
    assert client.get(address_of(val, "slices") + "../nothing/slices/").status_code == 404
    assert client.post(address_of(val, page)).status_code in (404, 405, 403)


@pytest.mark.parametrize("page", PAGES)
def test_bad_rows_are_refused_with_a_message(val, board, client, page):
    for query in ({"entry": "m999999"}, {"entry": "=x"}, {"entry": [f"m{n}" for n in range(9)]}):
        response = client.get(address_of(val, page, **query))
        if page != "curves":
            assert response.status_code in (400, 404), query
            assert "Expected" in text_of(response)


@pytest.mark.parametrize(
    ("page", "query", "status"),
    [
        ("slices", {"by": "nothing"}, 404),
        ("slices", {"view": "nothing"}, 404),
        ("slices", {"by": ["type", "length", "words"]}, 400),
        ("slices", {"by": "type", "bands": "1..2"}, 400),
        ("slices", {"by": "length", "bands": "5..2"}, 400),
        ("slices", {"by": ["type", "template"]}, 400),
        ("questions", {"show": "people-right"}, 404),
        ("questions", {"type": "nothing"}, 400),
        ("curves", {"along": "nothing"}, 404),
        ("curves", {"target": "nan"}, 400),
        ("curves", {"target": "101"}, 400),
        ("curves", {"target": "1e9"}, 400),
    ],
)
def test_each_bad_parameter_is_refused_with_the_expected_values(val, board, client, page, query, status):
    response = client.get(address_of(val, page, **query))
    assert response.status_code == status
    assert "xpected" in text_of(response)


def test_every_view_and_facet_has_a_page(val, board, client):
    index = SplitIndex.open(val)
    for view in val.dataset.get_world().board_views:
        assert client.get(address_of(val, "slices", view=view.name)).status_code == 200, view.name
    for facet in index.facets:
        assert client.get(address_of(val, "slices", by=facet)).status_code == 200, facet
    assert client.get(address_of(val, "slices", by=["template", "spatial"], entry=board["good"])).status_code == 200


def test_the_figures_of_the_page_are_those_of_the_file(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    query = {"by": "group", "entry": [board["good"], board["bad"]]}
    page = text_of(client.get(address_of(val, "slices", **query)))
    name = reverse("board_slices_file", args=["read", "val", "csv"])
    file = client.get(f"{name}?{urlencode(query, doseq=True)}").content.decode()
    lines = list(csv.DictReader(io.StringIO(file)))
    data = client.get(f"{name.replace('.csv', '.json')}?{urlencode(query, doseq=True)}").json()
    assert (data["split"], data["fingerprint"]) == ("val", val.fingerprint)
    assert [{name: str(value) for name, value in line.items() if value is not None} for line in data["slices"]] == [
        {name: value for name, value in line.items() if value or name in ("value", "label")} for line in lines
    ]
    index = SplitIndex.open(val)
    facet, truth = index.facets["group"], truth_of(index)
    bad = bad_codes(index)
    assert {line["column"] for line in lines} == {"Good", "Bad <b>"}
    for line in lines:
        if line["value"]:
            mine = facet.codes == facet.values.index(line["value"])
            assert int(line["n"]) == mine.sum()
            if line["column"] == "Bad <b>":
                assert int(line["right"]) == ((bad == truth) & mine).sum()
        assert f"{100 * float(line['accuracy']):.1f} %" in page


def test_names_and_answers_are_escaped(val, board, client):
    for page in PAGES:
        content = client.get(address_of(val, page, entry=[board["bad"], board["good"]])).content.decode()
        assert "Bad <b>" not in content
    whole = client.get(address_of(val, "questions", entry=board["bad"])).content.decode()
    assert "“=1+1”" in whole


@pytest.mark.parametrize("show", ["all", "right", "same-wrong", "all-wrong", "first", "second"])
def test_each_choice_shows_the_questions_with_these_answers(val, board, client, show):
    index, truth = SplitIndex.open(val), truth_of(SplitIndex.open(val))
    good = np.mean([noisy(index, 0.2, seed=seed) == truth for seed in (1, 2, 3)], axis=0)
    runs = [noisy(index, 0.2, seed=seed) for seed in (1, 2, 3)] + [bad_codes(index)]
    bad = (runs[3] == truth).astype(float)
    wanted = {
        "all": [True] * index.n,
        "right": [good[q] == bad[q] == 1 for q in range(index.n)],
        "same-wrong": [
            len({int(run[q]) for run in runs}) == 1 and runs[0][q] not in (-1, truth[q]) for q in range(index.n)
        ],
        "all-wrong": [not good[q] and not bad[q] for q in range(index.n)],
        "first": [good[q] > bad[q] for q in range(index.n)],
        "second": [good[q] < bad[q] for q in range(index.n)],
    }[show]
    response = client.get(address_of(val, "questions", show=show, entry=[board["good"], board["bad"]]))
    assert response.context["page"].paginator.count == sum(wanted)
    for row in response.context["listed"]:
        assert wanted[row.question.position]
        asked = Question.objects.get(split=val, position=row.question.position)
        assert (row.question.text, row.answer) == (asked.text, asked.answer)


def test_a_comparison_links_to_the_questions_that_it_counts(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    content = client.get(address_of(val, "compare", entry=[board["good"], board["bad"]], by="type")).content.decode()
    links = re.findall(r'<a href="([^"]*show=(?:first|second)[^"]*)"[^>]*>([\d,]+)</a>', content)
    assert len(links) > 20
    for address, count in links[:2] + links[2::7]:
        page = client.get(address.replace("&amp;", "&"))
        assert page.context["page"].paginator.count == int(count.replace(",", "")), address


def test_each_figure_of_a_board_links_to_the_questions_that_it_counts(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    index = SplitIndex.open(val)
    check_link_to_questions(client, val, board["bad"], index.n)
    content = client.get(reverse("board", args=["read", "val"])).content.decode()
    links = re.findall(
        rf'<td class="num[^"]*" title="n = (\d+)[^"]*"><a href="([^"]*{board["bad"]}&amp;[^"]*)">', content
    )
    facet = index.facets["type"]
    assert len(links) == len({code for code in facet.codes.tolist() if code != facet.none})
    for n, address in links[::4]:
        page = client.get(address.replace("&amp;", "&"))
        assert page.context["page"].paginator.count == int(n)
        [show] = [one for one, _, _ in page.context["shows"] if one.name == "right"]
        right = client.get(f"{address.replace('&amp;', '&')}&show={show.name}").context["page"].paginator.count
        kind = re.search(r"type=(\w+)", address)[1]
        mine = facet.codes == facet.values.index(kind)
        assert right == (mine & (bad_codes(index) == truth_of(index))).sum()


def test_a_board_with_too_few_questions_per_column_shows_a_coarser_facet(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 10)
    index = SplitIndex.open(val)
    shown = client.get(reverse("board", args=["read", "val"]))
    columns = shown.context["board"].columns
    [name] = {column.facet for column in columns}
    counts = {
        one.name: np.bincount(one.codes[one.codes != one.none])
        for one in index.facets.values()
        if one.kind == FacetKind.CATEGORY and not one.reveals
    }
    asked = {key: int((n > 0).sum()) for key, n in counts.items()}
    enough = {
        key: of for key, of in asked.items() if 1 < of <= boards.MOST_COLUMNS and 2 * (counts[key] >= 10).sum() > of
    }
    assert "type" not in enough and len(columns) == enough[name] == max(enough.values())
    assert f"The columns show the facet “{index.facets[name].label}”" in text_of(shown)
    facet, truth = index.facets[name], truth_of(index)
    [bad] = [row for row in shown.context["board"].rows if row.entry.key == board["bad"]]
    [good] = [row for row in shown.context["board"].rows if row.entry.key == board["good"]]
    for column, one, other in zip(columns, bad.columns, good.columns, strict=True):
        mine = facet.codes == facet.values.index(column.value)
        assert one.n == other.n == mine.sum()
        if one.n >= 10:
            runs = [(noisy(index, 0.2, seed=seed) == truth)[mine].mean() for seed in (1, 2, 3)]
            assert one.share == pytest.approx((bad_codes(index) == truth)[mine].mean())
            assert other.share == pytest.approx(np.mean(runs))
    [panel] = client.get(address_of(val, "slices", entry=board["bad"])).context["panels"]
    assert [row.value for row in panel["panel"].rows] == [column.value for column in columns]


def test_cells_are_shaded_by_accuracy(val, board, client):
    shown = client.get(reverse("board", args=["read", "val"]))
    content = shown.content.decode()
    for row in shown.context["board"].rows:
        for one in row.columns:
            if one.share is not None:
                assert f'<td class="num shade-{min(9, int(10 * one.share))}" title="{one.said}">' in content
    assert '<th scope="col" class="method">' in content and content.count('class="num accuracy"') == 4


def test_two_crossed_facets_are_a_map_of_cells(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 5)
    shown = client.get(address_of(val, "slices", by=["group", "length"], entry=[board["good"], board["bad"]]))
    content = shown.content.decode()
    assert content.count('<table class="heat">') == 2 and "<svg" not in content.partition("<main")[2]
    cells = [cell for one in shown.context["panels"] for row in one["panel"].rows for cell in row.cells]
    assert sum(cell.mean is not None for cell in cells) > 3
    for cell in cells:
        if cell.mean is not None:
            assert f'<td class="shade-{min(9, int(10 * cell.mean))}" title="{cell.said}">' in content
            assert f'">{100 * cell.mean:.0f}</a>' in content
    file = reverse("board_slices_file", args=["read", "val", "svg"])
    query = urlencode({"by": ["group", "length"], "entry": board["bad"]}, doseq=True)
    assert client.get(f"{file}?{query}").content == b"<svg/>"


def test_single_questions_are_shown_with_their_pictures(owner, client):
    dataset = small.made("pictured", splits={"val": {"scenes": 2}})
    split = Split.objects.for_browse().get(dataset=dataset, name="val")
    row = submit(method(owner, "Mine"), split, noisy(SplitIndex.open(split), 0.5, seed=1))
    address = address_of(split, "questions", entry=f"m{row.method_id}")
    pictures = re.findall(r'<td class="thumb"><a [^>]*><img src="([^"]+)"', client.get(address).content.decode())
    assert len(pictures) == split.questions and len(set(pictures)) == 2
    assert all(client.get(one)["Content-Type"] == "image/webp" for one in set(pictures))
    dataset.images_visible = False
    dataset.save()
    assert '<td class="thumb">' not in client.get(address).content.decode()


def test_a_comparison_begins_with_a_summary_and_draws_one_facet(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 5)
    keys = {"entry": [board["bad"], board["good"]]}
    shown = client.get(address_of(val, "compare", **keys))
    whole = shown.context["sheet"].whole.compared
    low, high = (100 * end for end in whole.interval)
    lead = f"Good is {-100 * whole.difference:.1f} points better than Bad <b> ({-high:.1f} to {-low:.1f})"
    assert shown.context["told"].startswith(lead)
    assert html.escape(lead) in shown.content.decode()
    found = shown.context["largest"]
    sizes = [abs(one.line.compared.difference) for one in found]
    assert sizes == sorted(sizes, reverse=True) and all(one.line.is_certain for one in found)
    assert shown.content.count(b"<table") == 1 and len(shown.content) < 60_000
    assert shown.context["sheet"].test == "paired permutation test"
    page = text_of(shown)
    assert "Paired permutation test" in page and "McNemar" not in page
    for part in shown.context["sheet"].parts[::4]:
        assert client.get(address_of(val, "compare", **keys, by=part.name)).context["part"].name == part.name


def test_a_board_of_withheld_answers_has_no_links_to_questions(withheld, owner, client):
    submit(method(owner, "Mine"), withheld, noisy(SplitIndex.open(withheld), 0.3, seed=1))
    content = client.get(reverse("board", args=["read", "test"])).content.decode()
    assert "Mine" in content and "/questions/?entry" not in content


def test_strangers_see_only_the_board_of_withheld_answers(withheld, owner, client):
    index = SplitIndex.open(withheld)
    own = method(owner, "Mine")
    submit(own, withheld, noisy(index, 0.3, seed=1), train_size=10)
    for page in PAGES:
        response = client.get(address_of(withheld, page, entry=f"m{own.pk}"))
        assert response.status_code == 403
        assert "is shown when its owner opens them" in text_of(response)
    for name in ("board_compare_file", "board_slices_file", "board_curves_file", "board_reached_file"):
        assert client.get(reverse(name, args=["read", "test", "csv"])).status_code == 403
    staff = User.objects.create_user("root", "r@example.org", "x", is_staff=True)
    client.force_login(staff)
    for page in PAGES:
        assert client.get(address_of(withheld, page)).status_code == 200


@pytest.mark.parametrize("file", ["board.csv", "board.json", "board.tex", "curves.csv", "curves.tex", "slices.csv"])
def test_only_the_browser_may_cache_the_files_of_a_board(val, board, client, file):
    response = client.get(f"/leaderboards/read/val/{file}")
    assert response.status_code == 200
    assert (response["Cache-Control"], "Cookie" in response["Vary"]) == ("private, no-cache", True)


def test_only_the_owner_sees_a_private_method(val, owner, client):
    index = SplitIndex.open(val)
    hidden = method(owner, "Hidden", published=None)
    submit(hidden, val, noisy(index, 0.3, seed=1))
    assert client.get(address_of(val, "slices", entry=f"m{hidden.pk}")).status_code == 404
    assert "Hidden" not in text_of(client.get(address_of(val, "curves")))
    client.force_login(owner)
    assert "Hidden" in text_of(client.get(address_of(val, "slices", entry=f"m{hidden.pk}")))


def test_a_target_is_reached_at_the_smallest_size_whose_mean_reaches_it(val, owner, client):
    index, learner = SplitIndex.open(val), method(owner, "Learner")
    shares = {}
    for size, wrong in ((100, 0.8), (700, 0.3), (3000, 0.1)):
        runs = [noisy(index, wrong, seed=seed + size) for seed in (1, 2)]
        for number, run in enumerate(runs):
            submit(learner, val, run, train_size=size, run=str(number))
        shares[size] = np.mean([(run == truth_of(index)).mean() for run in runs])
    for target in (10, 60, 75, 99.9):
        found = [size for size, share in shares.items() if share >= target / 100]
        page = client.get(address_of(val, "curves", target=target))
        [curve] = page.context["curves"]
        assert curve.reached == (min(found) if found else None)
        assert (f"{min(found):,} training examples" if found else "not reached") in text_of(page)
        assert [round(point.cell.mean, 9) for point in curve.points] == [round(share, 9) for share in shares.values()]


def test_the_chart_of_curves_has_their_full_names(val, owner, client, monkeypatch):
    monkeypatch.setattr(drawing, "_drawn", DRAWN)
    monkeypatch.setattr(drawing, "SECONDS", 60)
    index, name = SplitIndex.open(val), "A learner whose name is rather long, as names are"
    learner = method(owner, name)
    submit(learner, val, noisy(index, 0.3, seed=1), train_size=100)
    charts = re.findall(r"<svg.*?</svg>", client.get(address_of(val, "curves")).content.decode(), re.DOTALL)
    assert any(f">{name}<" in chart for chart in charts)


def test_a_method_that_skips_a_step_is_shown_with_this_step(val, owner, client, monkeypatch):

    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 5)
    index = SplitIndex.open(val)
    names = tuple(one.name for one in val.dataset.get_world().ablations)
    codes = np.random.default_rng(1).integers(-1, len(index.answer_values), (len(names), index.n)).astype(np.int32)
    monkeypatch.setattr(
        skipped_steps, "find", lambda *args, **more: skipped_steps.AblatedQuestions(names, np.arange(index.n), codes)
    )
    row = codes[names.index("relation-last")]
    skipper = method(owner, "Skipper")
    submit(skipper, val, np.where(row >= 0, row, truth_of(index)))
    majority = Method.objects.create(name="Majority", baseline="majority", made="baseline")
    submit(majority, val, np.zeros(index.n, np.int64))
    page = client.get(address_of(val, "steps", entry=f"m{skipper.pk}"))
    [one] = page.context["found"]
    assert one.step is not None and one.step.label.startswith("last spatial relation")
    assert one.step.found.share == 1
    assert [line.label for line in one.baselines] == ["Majority"]
    assert "last spatial relation" in text_of(page)


def test_the_page_explains_why_few_wrong_answers_are_usable(val, owner, client, monkeypatch):
    index = SplitIndex.open(val)
    truth, choices = truth_of(index), choices_of(val, index)
    names = tuple(one.name for one in val.dataset.get_world().ablations)
    codes = np.full((len(names), index.n), -1, np.int32)
    many = np.flatnonzero(choices > 2)
    changed, same = many[:9], many[9:14]
    codes[0, changed[:6]] = (truth[changed[:6]] + 1) % len(index.answer_values)
    codes[1, changed[4:]] = (truth[changed[4:]] + 1) % len(index.answer_values)
    codes[1, same] = truth[same]
    monkeypatch.setattr(
        skipped_steps, "find", lambda *args, **more: skipped_steps.AblatedQuestions(names, np.arange(index.n), codes)
    )
    two = np.flatnonzero(choices <= 2)[:7]
    said = truth.copy()
    said[[*two, *changed, *same]] = -1
    row = submit(method(owner, "Wrong"), val, said)
    page = client.get(address_of(val, "steps", entry=f"m{row.method_id}"))
    [one] = page.context["found"]
    assert (one.wrong, one.of_two, one.unchanged, one.usable, one.most) == (21, 7, 5, 9, 6)
    assert (
        "There are too few usable wrong answers. Of 21 wrong answers, 7 are to questions with two possible answers"
        in text_of(page).replace(" .", ".")
    )
    assert "The other 9 are usable, with at most 6 for the same step; 30 are needed." in text_of(page)


def test_steps_of_a_large_split_wait_for_a_background_process(val, board, owner, client, monkeypatch):
    monkeypatch.setattr(report_jobs, "SMALL_SPLIT", 0)
    monkeypatch.setattr(runner.current_app, "send_task", lambda *args, **options: None)
    assert "The report is being computed" in text_of(client.get(address_of(val, "steps")))
    AblationReport.objects.update(state="failed", message="no such index")
    assert "The report could not be computed" in text_of(client.get(address_of(val, "steps")))
    assert client.post(address_of(val, "steps")).status_code == 404
    val.dataset.owner = owner
    val.dataset.save()
    client.force_login(owner)
    assert "no such index" in text_of(client.get(address_of(val, "steps")))
    assert client.post(address_of(val, "steps")).status_code == 302
    assert AblationReport.objects.get(split=val).state == "waiting"


@pytest.mark.parametrize("page", ["slices", "compare", "curves"])
def test_pages_need_no_more_queries_for_many_rows(val, owner, board, client, django_assert_max_num_queries, page):
    index = SplitIndex.open(val)
    for number in range(6):
        submit(method(owner, f"m{number}"), val, noisy(index, 0.3, seed=number))
    with django_assert_max_num_queries(14):
        client.get(address_of(val, page))


def test_a_comparison_is_equal_to_counting(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    index, truth = SplitIndex.open(val), truth_of(SplitIndex.open(val))
    good = np.mean([noisy(index, 0.2, seed=seed) == truth for seed in (1, 2, 3)], axis=0)
    bad = (bad_codes(index) == truth).astype(float)
    keys = {"entry": [board["bad"], board["good"]]}
    whole = client.get(address_of(val, "compare", **keys)).context["sheet"].whole.compared
    assert (whole.n, whole.only_first, whole.only_second) == (index.n, (bad > good).sum(), (bad < good).sum())
    assert (whole.first, whole.second) == pytest.approx((bad.mean(), good.mean()))
    name = reverse("board_compare_file", args=["read", "val", "csv"])
    file = client.get(f"{name}?{urlencode(keys, doseq=True)}").content.decode()
    lines = list(csv.DictReader(io.StringIO(file)))
    assert int(lines[0]["only_second"]) == whole.only_second
    for line in (line for line in lines if line["facet"] == "type"):
        facet = index.facets["type"]
        mine = facet.codes == facet.labels.index(line["label"])
        assert (int(line["n"]), float(line["first"])) == (mine.sum(), pytest.approx(bad[mine].mean(), abs=1e-6))
        assert int(line["only_first"]) == (bad > good)[mine].sum()


def test_splits_with_the_same_reference_are_shown_together(val, board, owner, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    other = Split.objects.for_browse().get(dataset=val.dataset, name="other")
    index = SplitIndex.open(other)
    codes = noisy(index, 0.5, seed=9)
    submit(Method.objects.get(name="Bad <b>"), other, codes)
    [one] = client.get(address_of(val, "slices", view="color-by-shape", entry=board["bad"])).context["panels"]
    panel = one["panel"]
    assert panel.columns == ["val", "other"]
    for column, found, given in (
        ("val", SplitIndex.open(val), bad_codes(SplitIndex.open(val))),
        ("other", index, codes),
    ):
        place = panel.columns.index(column)
        facets, truth = found.facets, truth_of(found)
        asked = facets["type"].codes == facets["type"].values.index("query_color")
        assert panel.whole.cells[place].n == asked.sum()
        for row in panel.rows:
            mine = asked & (facets["asked_shape"].codes == facets["asked_shape"].values.index(row.value))
            rights = (int(((given == truth) & mine).sum()),) if mine.any() else row.cells[place].averaged.rights
            assert (row.cells[place].n, row.cells[place].averaged.rights) == (mine.sum(), rights)


def test_a_question_set_is_analysed_by_the_answers_of_its_parent(val, board, client):
    question_sets.create(val, name="few", recipe=Recipe(parent="val", sample=40, seed=2))
    dataset_jobs.work(dataset=val.dataset)
    few = Split.objects.for_browse().get(dataset=val.dataset, name="few")
    index, parent = SplitIndex.open(few), SplitIndex.open(val)
    bad = Submission.objects.get(method__name="Bad <b>")
    codes = bad_codes(parent)[index.positions]
    right = int((codes == truth_of(index)).sum())
    Score.objects.create(submission=bad, split=few, n=40, right=right, right_read=right, unreadable=0, columns="{}")
    panel = client.get(address_of(few, "slices", by="type", entry=board["bad"])).context["panels"][0]["panel"]
    assert panel.whole.cells[0].averaged == (40, (right,))
    listed = client.get(address_of(few, "questions", entry=board["bad"])).context["listed"]
    for row in listed:
        code = codes[row.question.position]
        wanted = index.answer_values[code] if code >= 0 else None
        assert wanted in (None, row.given[0][0].text)


def test_a_comparison_with_people_uses_only_the_questions_that_people_were_asked(val, board, client, monkeypatch):
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)
    study = answered.answered(val.dataset, random.Random(4))
    assert lifecycle.close(study)
    row = baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)
    people = baseline.load(row).predictions
    index, truth = SplitIndex.open(val), truth_of(SplitIndex.open(val))
    asked, bad = people != NONE, bad_codes(index)
    keys = [f"h{row.number}", board["bad"]]
    page = client.get(address_of(val, "slices", by="type", entry=keys))
    panel = page.context["panels"][0]["panel"]
    assert [cell.averaged for cell in panel.whole.cells] == [
        (asked.sum(), ((people == truth)[asked].sum(),)),
        (asked.sum(), ((bad == truth)[asked].sum(),)),
    ]
    assert f"on the {asked.sum()} question" in text_of(page)
    whole = client.get(address_of(val, "compare", entry=keys)).context["sheet"].whole.compared
    assert (whole.n, whole.only_first) == (asked.sum(), ((people == truth) & (bad != truth))[asked].sum())
    shown = client.get(address_of(val, "questions", show="people-right", entry=keys))
    assert shown.context["page"].paginator.count == ((people == truth) & (bad != truth)).sum()
    assert "People" in text_of(client.get(address_of(val, "steps", entry=keys)))
    for show, wanted in (("right", people == truth), ("wrong", asked & (people != truth))):
        alone = client.get(address_of(val, "questions", show=show, entry=keys[0]))
        assert alone.context["page"].paginator.count == wanted.sum()
    check_link_to_questions(client, val, keys[0], int(asked.sum()))
