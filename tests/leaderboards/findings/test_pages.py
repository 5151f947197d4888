"""The pages of findings: for everybody, without and with a record, with bad addresses, and with few queries."""

import json
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from generation.engine.scoring.statements import Inequality, StatementOutcome
from generation.engine.spec import read
from generation.models import Dataset
from tests.generation import small
from tests.leaderboards.findings.made_findings import SMALL, record_of, small_definition
from tests.proof import sample
from webapp.leaderboards.findings import pages, records
from webapp.leaderboards.findings.chart import describe_marks, left_out, spec_of
from webapp.leaderboards.findings.definitions import Definition, FindingTable, load, names
from webapp.leaderboards.findings.pages import demand_text, number_text
from webapp.leaderboards.findings.records import FindingRecord

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("undrawn")]

NAME = "clevr-diagnosis"
REPOSITORY = records.FOLDER  # as it is before a fixture replaces it


@pytest.fixture
def record(own_records: Path) -> FindingRecord:
    """Give a record of a finding whose figures are made up."""
    made = record_of(NAME, "mini", load(NAME))
    records.write(made, folder=own_records)
    return made


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_everybody_sees_the_list_with_every_finding(client: Client) -> None:
    page = text_of(client, "/findings/")
    assert all(f'href="/findings/{name}/"' in page for name in names())
    assert page.count("not recorded") == 2 * len(names())
    assert 'href="/findings/"' in text_of(client, "/leaderboards/")


@pytest.mark.parametrize("name", names())
def test_a_finding_without_a_record_shows_the_paper_and_the_command(client: Client, name: str) -> None:
    page = text_of(client, f"/findings/{name}/")
    assert "Not recorded yet" in page
    assert f"python manage.py finding {name} --size mini" in page
    assert page.count('<th scope="row">') >= len(load(name).statements_of("mini"))
    assert 'class="chip good"' not in page


def test_a_record_is_shown_in_words_and_beside_the_paper(client: Client, record: FindingRecord) -> None:
    page = text_of(client, f"/findings/{NAME}/")
    for outcome in ("held", "not held", "undecided"):
        assert re.search(rf">{outcome}</span>", page), outcome
    assert re.search(r"<b>50\.0</b>.*?40\.0–60\.0.*?paper 60\.0", page, re.DOTALL)
    assert "abababababababab" in page and record.machine["processor"] in page
    assert "definition has changed" not in page
    listed = text_of(client, "/findings/")
    held = sum(one.outcome == StatementOutcome.HELD for one in record.statements)
    assert f">{held} held" in listed and "2 Jan 2030" in listed


def test_the_list_has_time_machine_and_command_of_each_record(
    client: Client, record: FindingRecord, own_records: Path
) -> None:
    changes = {"machine": {"processor": "AMD EPYC", "cores": "2"}, "command": "python manage.py finding x --size mini"}
    records.write(record.model_copy(update=changes), folder=own_records)
    page = text_of(client, "/findings/")
    assert page.count("13 min on 2 cores of AMD EPYC") == 1
    assert page.count("python manage.py finding x --size mini") == 1
    assert "The definition has changed" not in page
    records.write(record.model_copy(update={"definition": "0" * 64}), folder=own_records)
    assert text_of(client, "/findings/").count("The definition has changed") == 1


@pytest.mark.parametrize(
    ("machine", "text"),
    [({"processor": "Z80", "cores": "1"}, "13 min on 1 core of Z80"), ({"cores": "2"}, "13 min"), ({}, "13 min")],
)
def test_a_machine_is_in_words(record: FindingRecord, machine: dict[str, str], text: str) -> None:
    assert pages.describe_effort(record.model_copy(update={"machine": machine})) == text


def test_a_record_of_an_older_definition_says_so(client: Client, record: FindingRecord, own_records: Path) -> None:
    older = record.model_copy(update={"definition": "0" * 64, "statements": record.statements[1:]})
    records.write(older, folder=own_records)
    page = text_of(client, f"/findings/{NAME}/")
    assert "definition has changed" in page
    assert page.count(">not recorded yet</span>") == 1
    assert page.count(">not recorded</span>") == 1, "the other size"


@pytest.mark.parametrize(
    "change", [{"at_least": 0.123}, {"at_most": 7.0}, {"minus": ("a/b/c",)}, {"plus": ("a/b/c",)}, {"divisor": 17}]
)
def test_an_outcome_of_another_bound_or_sum_is_not_shown(
    client: Client, record: FindingRecord, own_records: Path, change: dict[str, object]
) -> None:
    first, *others = record.statements
    changed = (first.model_copy(update=change), *others)
    records.write(record.model_copy(update={"definition": "0" * 64, "statements": changed}), folder=own_records)
    page = text_of(client, f"/findings/{NAME}/")
    assert "definition has changed" in page
    assert page.count(">not recorded yet</span>") == 1
    held = sum(one.outcome == StatementOutcome.HELD for one in others)
    assert f"{held} held" in page and f"{held} held" in text_of(client, "/findings/")


def test_an_outcome_stays_if_only_the_words_changed(client: Client, record: FindingRecord, own_records: Path) -> None:
    reworded = tuple(one.model_copy(update={"says": f"Reworded: {one.says}"}) for one in record.statements)
    records.write(record.model_copy(update={"definition": "0" * 64, "statements": reworded}), folder=own_records)
    page = text_of(client, f"/findings/{NAME}/")
    assert ">not recorded yet</span>" not in page and ">held</span>" in page


def test_a_training_by_other_code_than_the_record_says_which(
    client: Client, record: FindingRecord, own_records: Path
) -> None:
    def page_with(code_version: str) -> str:
        trainings = (record.trainings[0].model_copy(update={"code_version": code_version}),)
        records.write(record.model_copy(update={"trainings": trainings}), folder=own_records)
        return text_of(client, f"/findings/{NAME}/")

    assert "code: 0.1, engine 1" in page_with("0.1, engine 1")
    assert "code: " not in page_with(record.versions["horsesense"])


@pytest.mark.parametrize(
    ("config", "text"),
    [
        ({"epochs": 6, "height": 32, "filters": [16, 32]}, "epochs 6, height 32, filters [16, 32]"),
        ({}, "–"),
        (None, "not recorded"),
    ],
)
def test_a_training_shows_its_changed_settings(
    client: Client, record: FindingRecord, own_records: Path, config: dict[str, object] | None, text: str
) -> None:
    trainings = (record.trainings[0].model_copy(update={"config": config}),)
    records.write(record.model_copy(update={"trainings": trainings}), folder=own_records)
    assert f"<td>Words</td><td>{text}</td>" in text_of(client, f"/findings/{NAME}/")


def test_a_record_without_settings_can_be_read(record: FindingRecord, own_records: Path) -> None:
    path = records.path_of(NAME, "mini", folder=own_records)
    data = json.loads(path.read_text(encoding="utf-8"))
    for one in data["trainings"]:
        del one["config"]
    path.write_text(json.dumps(data), encoding="utf-8")
    assert records.read_record(path) == record
    assert record.trainings[0].config is None


def test_the_newer_one_of_two_records_counts(record: FindingRecord, own_records: Path) -> None:
    older = record.model_copy(update={"date": "2029-01-01T00:00:00+00:00"})
    records.write(older, folder=records.FOLDER)
    assert records.load_latest(NAME, "mini") == record
    records.write(record.model_copy(update={"date": "2031-01-01T00:00:00+00:00"}), folder=records.FOLDER)
    found = records.load_latest(NAME, "mini")
    assert found is not None and found.date.startswith("2031")


@pytest.mark.parametrize("is_own", [True, False])
def test_a_record_of_the_present_definition_counts_before_a_newer_one(
    record: FindingRecord, own_records: Path, is_own: bool
) -> None:
    newer = {"definition": "0" * 64, "date": "2031-01-01T00:00:00+00:00"}
    present, outdated = (own_records, records.FOLDER) if is_own else (records.FOLDER, own_records)
    records.write(record, folder=present)
    records.write(record.model_copy(update=newer), folder=outdated)
    assert records.load_latest(NAME, "mini") == record


DAMAGED = [
    b"",
    b"{",
    b"[]",
    b"\xff",
    b'{"finding": 5}',
    b"[" * 100_000,
    *(json.dumps({"date": date}).encode() for date in ("yesterday", "2030-01-02T03:04:00")),
]


@pytest.mark.parametrize("content", sample(DAMAGED, gate=4), ids=range(len(DAMAGED)))
@pytest.mark.parametrize("is_own", [True, False])
def test_pages_work_beside_a_damaged_record(
    client: Client, own_records: Path, caplog: pytest.LogCaptureFixture, content: bytes, is_own: bool
) -> None:
    good, bad = (records.FOLDER, own_records) if is_own else (own_records, records.FOLDER)
    made = record_of(NAME, "mini", load(NAME))
    records.write(made, folder=good)
    path = records.path_of(NAME, "mini", folder=bad)
    path.parent.mkdir(parents=True)
    if content.startswith(b'{"date"'):
        content = json.dumps(made.model_dump(mode="json") | json.loads(content)).encode()
    path.write_bytes(content)
    for address in ("/findings/", f"/findings/{NAME}/", f"/findings/{NAME}/mini.json"):
        text_of(client, address)
    assert f"{NAME}-mini.json" in caplog.text and (records.STORED if is_own else str(bad)) in caplog.text
    assert records.load_latest(NAME, "mini") == made


def test_every_record_of_the_repository_can_be_read() -> None:
    read = [records.read_record(path) for path in sorted(REPOSITORY.glob("*.json"))]
    assert {f"{one.finding}-{one.size}.json" for one in read if one is not None} == {
        path.name for path in REPOSITORY.glob("*.json")
    }
    assert all(one is not None and one.finding in names() for one in read)


def test_the_command_comes_with_its_needs_and_its_time(
    client: Client, record: FindingRecord, own_records: Path
) -> None:
    records.write(record.model_copy(update={"machine": {"processor": "Z80", "cores": "1"}}), folder=own_records)
    page = text_of(client, f"/findings/{NAME}/")
    assert "<code>make torch</code>" in page
    assert "The recorded run took 13 min on 1 core of Z80." in page
    unrecorded = text_of(client, f"/findings/{NAME}/?size=paper")
    assert "<code>make torch</code>" in unrecorded and "The recorded run took" not in unrecorded


def test_only_networks_need_pytorch() -> None:
    assert pages.needs_torch(load("babi-tasks"), "mini")
    assert not pages.needs_torch(small_definition(), "mini"), "a bag of words"


def test_the_size_is_in_the_address(client: Client, record: FindingRecord) -> None:
    page = text_of(client, f"/findings/{NAME}/?size=paper")
    assert "Not recorded yet" in page and "--size paper" in page


def test_datasets_with_the_same_content_are_links(client: Client, record: FindingRecord, own_records: Path) -> None:
    made = small.made("shapes", with_images=False)

    def is_linked(content_hash: str, visibility: str) -> bool:
        Dataset.objects.filter(pk=made.pk).update(visibility=visibility)
        [dataset] = record.datasets
        changed = dataset.model_copy(update={"content_hash": content_hash})
        records.write(record.model_copy(update={"datasets": (changed,)}), folder=own_records)
        page = text_of(client, f"/findings/{NAME}/")
        return 'href="/datasets/shapes/"' in page and 'href="/leaderboards/shapes/test/"' in page

    assert is_linked(made.fingerprint, "public")
    assert not is_linked("0" * 64, "public")
    assert not is_linked(made.fingerprint, "private")


@pytest.mark.parametrize(("number", "is_folded"), [(8, False), (9, True)])
def test_many_splits_are_links_in_details(
    client: Client, record: FindingRecord, own_records: Path, number: int, is_folded: bool
) -> None:
    made = small.made("shapes", with_images=False)
    [dataset] = record.datasets
    splits = {f"part-{at}": (10, "ab" * 32) for at in range(number)}
    changed = dataset.model_copy(update={"content_hash": made.fingerprint, "splits": splits})
    records.write(record.model_copy(update={"datasets": (changed,)}), folder=own_records)
    page = text_of(client, f"/findings/{NAME}/")
    assert all(f'href="/leaderboards/shapes/{split}/"' in page for split in splits)
    assert (f"<details><summary>{number} splits</summary>" in page) == is_folded


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/findings/nothing/", 404),
        (f"/findings/{NAME}/?size=huge", 400),
        (f"/findings/{NAME}/?colour=red", 400),
        (f"/findings/{NAME}/paper.json", 404),
        (f"/findings/{NAME}/huge.json", 404),
        ("/findings/nothing/mini.json", 404),
    ],
)
def test_a_bad_address_is_refused(client: Client, record: FindingRecord, address: str, status: int) -> None:
    assert client.get(address).status_code == status


@pytest.mark.parametrize("address", ["/findings/", f"/findings/{NAME}/", f"/findings/{NAME}/mini.json"])
def test_a_wrong_verb_is_refused(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
    assert client.delete(address).status_code == 405


def test_the_record_is_a_file(client: Client, record: FindingRecord) -> None:
    response = client.get(f"/findings/{NAME}/mini.json")
    assert response["Content-Type"] == "application/json"
    assert json.loads(response.content) == record.model_dump(mode="json")


def test_pages_need_few_queries(client: Client, record: FindingRecord) -> None:
    for address, most in (("/findings/", 0), (f"/findings/{NAME}/", 1)):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(address)
        assert len(queries) <= most, address


# Parts of pages


@pytest.mark.parametrize("name", names())
def test_every_table_has_all_its_figures_on_the_page(name: str) -> None:
    definition = load(name)
    record = record_of(name, "mini", definition)
    views = pages.tables_of(definition, "mini", record)
    assert len(views) == len(definition.tables_of("mini"))
    for view in views:
        figures = [one for line in view.lines for one in line.figures if one.n]  # a mean has no number of questions
        assert len(figures) == len(view.table.rows) * len(view.table.columns)
        assert all(one.here and one.n == 1000 for one in figures)
        assert sum(bool(one.paper) for one in figures) == sum(
            figure is not None for row in view.table.paper.values() for figure in row
        )
        assert all(len(line.figures) == len(view.heads) for line in view.lines)


@pytest.mark.parametrize("name", names())
def test_a_chart_draws_both_figures_of_each_place(name: str) -> None:
    definition = load(name)
    record = record_of(name, "mini", definition)
    for table in definition.tables_of("mini"):
        spec = spec_of(table, record.figures, is_share=True)
        assert spec is not None
        values = spec["data"]["values"]
        assert len({(one["color"], one["place"]) for one in values}) == len(values)
        assert all(one["here"] == 0.5 for one in values)
        has_paper = any(figure is not None for row in table.paper.values() for figure in row)
        assert any("paper" in one for one in values) == has_paper
        without = spec_of(table, {}, is_share=True)
        assert (without is not None) == has_paper


@pytest.mark.parametrize(
    ("metrics", "title"),
    [
        (("accuracy", "accuracy"), "accuracy"),
        (("groundp", "groundp"), "GroundP"),
        (("rmse", "rmse"), "RMSE"),
        (("groundp", "accuracy"), None),
    ],
)
@pytest.mark.parametrize("chart", ["bars", "lines"])
def test_an_axis_has_the_name_of_its_metric(metrics: tuple[str, ...], title: str | None, chart: str) -> None:
    [table] = SMALL["tables"]
    columns = [
        {"name": str(at), "label": str(at), "on": "shapes/test", "metric": metric, "at": at + 1}
        for at, metric in enumerate(metrics)
    ]
    changed = {**table, "columns": columns, "chart": chart, "paper": {"words": [0.4, 0.5]}}
    spec = spec_of(read(FindingTable, changed), {}, is_share=True)
    assert spec is not None
    titles = [layer["encoding"][name] for layer in spec["layer"] for name in "xy" if name in layer["encoding"]]
    assert titles and {one["title"] for one in titles} == {title}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"at_least": 0.0, "minus": ("b",)}, "at least 0 points"),
        ({"at_least": -0.05, "minus": ("b",)}, "at least −5 points"),
        ({"at_most": 0.95}, "at most 95 %"),
        ({"at_least": 0.283, "at_most": 0.383}, "28.3 to 38.3 %"),
    ],
)
def test_bounds_are_in_words(changes: dict[str, object], text: str) -> None:
    assert demand_text(Inequality.model_validate({"plus": ("a",), **changes}), unit="%") == text


def test_a_statement_has_the_papers_value_if_the_paper_prints_all_figures(client: Client) -> None:
    every = pages.statements_of(load("counting-shortcuts"), "mini", None)
    [gap] = [one for one in every if one.says == "Q+I falls far below its val accuracy on simple questions."]
    assert gap.paper == "43.5", "61.08 - 17.55"
    page = text_of(client, "/findings/counting-shortcuts/")
    assert '<th scope="col" class="num">Paper</th>' in page
    assert re.search(r'>at least 20 points</td><td class="num"[^>]*>43\.5</td>', page)
    without = pages.statements_of(load("simtown-sample-complexity"), "mini", None)
    assert {one.paper for one in without} == {""}


def with_figure(record: FindingRecord, key: str, **changes: object) -> FindingRecord:
    return record.model_copy(update={"figures": record.figures | {key: record.figures[key].model_copy(update=changes)}})


def test_questions_and_runs_are_below_a_table(client: Client, record: FindingRecord) -> None:
    page = text_of(client, f"/findings/{NAME}/")
    tables = load(NAME).tables_of("mini")
    of_questions = [one for one in tables if {row.of for row in one.rows} == {"questions"}]
    assert page.count("1,000 questions a figure, 1 run each.") == len(tables) - len(of_questions)
    assert page.count("1,000 questions a figure.") == len(of_questions) == 3
    assert "title=" not in "".join(re.findall(r'<div class="table-scroll board".*?</table>', page, re.DOTALL))


def test_columns_have_their_questions_and_rows_their_runs_if_these_differ() -> None:
    definition = load("counting-shortcuts")
    record = record_of("counting-shortcuts", "mini", definition)
    for row in definition.tables[0].rows:
        record = with_figure(record, f"shift/{row.name}/val", n=319)
    for column in definition.tables[0].columns:
        key = f"shift/scn/{column.name}"
        record = with_figure(record, key, runs=(0.5, 0.4, 0.6), n=record.figures[key].n)
    first, second, *_ = pages.tables_of(definition, "mini", record)
    assert first.sample == "319 to 1,000 questions a figure, 1 to 3 runs each"
    assert [head.sample for head in first.heads] == ["1,000 questions", "1,000 questions", "319 questions"]
    samples = {line.head.label: line.head.sample for line in first.lines}
    assert samples["SCN"] == "3 runs" and samples["RCN"] == "1 run"
    assert not any(head.sample for head in (*second.heads, *(line.head for line in second.lines)))


def test_columns_that_became_lines_keep_their_questions() -> None:
    definition = load("babi-tasks")
    record = record_of("babi-tasks", "mini", definition)
    view, *_ = pages.tables_of(definition, "mini", with_figure(record, "tasks/svm/counting", n=900))
    assert view.lines[6].head.sample == "900 to 1,000 questions"
    assert view.lines[5].head.sample == "1,000 questions"


def with_mean(**changes: object) -> Definition:
    [table] = SMALL["tables"]
    says = {"says": "Chance is chance.", "plus": ["all/chance/all"], "at_least": 0.05}
    return small_definition(tables=[{**table, "mean": True, **changes}], statements=[says])


def test_a_mean_is_a_column_without_an_interval() -> None:
    columns = SMALL["tables"][0]["columns"][:3]  # those with the same metric
    definition = with_mean(columns=columns, paper={"words": [0.4, None, 0.3], "mode": [0.4, 0.5, 0.3]})
    record = with_figure(record_of("small", "mini", definition), "all/words/long", value=0.2)
    [view] = pages.tables_of(definition, "mini", record)
    assert [head.label for head in view.heads] == ["All", "The first 40", "Long ones", "Mean"]
    means = {line.head.label: line.figures[-1] for line in view.lines}
    assert (means["Bag of words"].here, means["Bag of words"].paper) == ("40.0", "")
    assert (means["Q-type mode"].here, means["Q-type mode"].paper) == ("50.0", "40.0")
    assert not any(one.interval for one in means.values())
    [without] = pages.tables_of(definition, "mini", None)
    assert [line.figures[-1].here for line in without.lines] == [""] * 4


def test_a_mean_of_many_columns_is_a_line() -> None:
    columns = [{"name": name, "label": name, "on": "shapes/test"} for name in ("all", *"bcdefgh")]
    definition = with_mean(columns=columns, paper={"words": [k / 10 for k in range(8)]})
    [view] = pages.tables_of(definition, "mini", record_of("small", "mini", definition))
    last = view.lines[-1]
    assert last.head.label == "Mean" and len(last.figures) == len(view.heads) == 4
    assert last.figures[0].here == "50.0" and last.figures[0].paper == "35.0"


def test_the_page_says_what_intervals_leave_out_if_a_training_has_one_seed(
    client: Client, record: FindingRecord, own_records: Path
) -> None:
    [words] = record.trainings
    again = words.model_copy(update={"seed": 1})
    other = words.model_copy(update={"name": "other"})

    def page_with(*trainings: records.RecordedTraining) -> str:
        records.write(record.model_copy(update={"trainings": trainings}), folder=own_records)
        return text_of(client, f"/findings/{NAME}/")

    assert "Each method was trained once" in page_with(words, other)
    assert "Some methods were trained with one seed only" in page_with(words, again, other)
    assert "other seeds" not in page_with(words, again)
    assert "other seeds" not in text_of(client, f"/findings/{NAME}/?size=paper")


def terms_of(name: str, words: str, record: FindingRecord | None = None) -> list[tuple[str, ...]]:
    [found] = [one for one in pages.statements_of(load(name), "mini", record) if one.says.startswith(words)]
    return [tuple(one) for one in found.terms]


def test_a_statement_shows_the_figures_of_its_value(client: Client, record: FindingRecord, own_records: Path) -> None:
    records.write(with_figure(record, "types/sa/count", value=0.612), folder=own_records)
    page = text_of(client, f"/findings/{NAME}/")
    assert '<a href="#table-types">CNN+LSTM+SA, Counting</a> <b>61.2</b>' in page
    assert 'id="table-types"' in page


def test_terms_have_signs_and_name_their_tables_if_there_are_several() -> None:
    assert terms_of("counting-shortcuts", "From val to simple questions, SCN loses") == [
        ("", "RCN, Val", "", "shift"),
        ("+", "SCN, Test, simple", "", "shift"),
        ("−", "RCN, Test, simple", "", "shift"),
        ("−", "SCN, Val", "", "shift"),
    ]
    assert [label for _, label, _, _ in terms_of("shapeworld-agreement", "In OneShape, CNN+LSTM is worse")] == [
        "CNN+LSTM, OneShape (Configurations that training has)",
        "CNN+LSTM, OneShape (Configurations that training never has)",
    ]


def test_a_mean_is_one_term() -> None:
    record = record_of("babi-tasks", "mini", load("babi-tasks"))
    assert terms_of("babi-tasks", "On average over the tasks, the LSTM", record) == [
        ("", "LSTM, mean of 20 figures", "50.0", "tasks"),
        ("−", "N-grams, mean of 20 figures", "50.0", "tasks"),
    ]


def test_a_factor_is_shown_unless_the_term_is_a_mean() -> None:
    first, *_ = SMALL["statements"]
    definition = small_definition(statements=[{**first, "plus": ["all/words/all", "all/words/long"], "divisor": 4}])
    [one] = pages.statements_of(definition, "mini", None)
    assert [term.sign for term in one.terms] == ["0.25 ×", "+ 0.25 ×", "− 0.25 ×"]


@pytest.mark.parametrize(
    ("changes", "total"),
    [
        ({"plus": ("a", "b"), "minus": ("c", "c"), "divisor": 2}, -0.35),
        ({"plus": ("a", "a")}, 0.4),
        ({"plus": ("a", "unknown")}, None),
        ({"plus": ("a", "unknown"), "minus": ("unknown",)}, 0.2),
    ],
)
def test_a_sum_needs_each_figure_with_a_weight(changes: dict[str, object], total: float | None) -> None:
    one = Inequality.model_validate({"at_least": 0, **changes})
    found = pages.sum_of(one, {"a": 0.2, "b": 0.5, "c": 0.7})
    assert found == (None if total is None else pytest.approx(total))


def test_numbers_have_the_digits_of_their_unit() -> None:
    assert [number_text(-0.123, unit="%"), number_text(1.234, unit="objects")] == ["−12.3", "1.23"]
    assert [number_text(-0.0001, unit="%"), number_text(-0.001, unit="objects")] == ["0.0", "0.00"]


@pytest.mark.parametrize("name", names())
def test_the_words_below_a_chart_fit_its_marks(name: str) -> None:
    record = record_of(name, "mini", load(name))
    for table in load(name).tables_of("mini"):
        for figures in ({}, record.figures):
            spec = spec_of(table, figures, is_share=True)
            values = [] if spec is None else spec["data"]["values"]
            words = describe_marks(table, figures)
            assert ("are our figures" in words) == bool(figures)
            assert ("of the paper" in words) == any("paper" in value for value in values)
            marks = {mark for value in values for mark in (value["color"], value["place"])}
            absent = [row.label for row in table.rows if row.label not in marks]
            if figures:
                assert (left_out(table) == "") == (not absent)
                assert not any(label in left_out(table).split(", ") for label in absent)


def test_marks_have_the_colours_of_the_legend_with_and_without_figures() -> None:
    table = next(one for one in load(NAME).tables_of("mini") if one.chart == "bars" and one.paper)
    for figures, mark in (({}, "tick"), (record_of(NAME, "mini", load(NAME)).figures, "bar")):
        spec = spec_of(table, figures, is_share=True)
        assert spec is not None
        layers = [layer for layer in spec["layer"] if "color" in layer["encoding"]]
        kinds = [layer["mark"] if isinstance(layer["mark"], str) else layer["mark"]["type"] for layer in layers]
        assert mark in kinds and ("tick" in kinds) == (not figures)
