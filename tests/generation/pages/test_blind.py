"""The shortcuts page, with the accuracy of guesses without the picture: what it shows to whom, waiting, and files."""

import csv
import io
import json

import pytest
from django.test import Client

from generation.engine.errors import BadSpec
from generation.models import BlindReport, Dataset, Heartbeat, Split
from generation.reports import report_jobs
from tests.generation import small

PAGE, PROGRESS, OVERVIEW = "/datasets/shapes/shortcuts/", "/datasets/shapes/shortcuts/progress/", "/datasets/shapes/"
State = BlindReport.State


def text_of(response):
    return response.content.decode()


@pytest.fixture
def many(monkeypatch):
    """Lower the limit so that the small dataset has enough questions for percentages."""
    monkeypatch.setattr("generation.engine.scoring.figures.TOO_FEW", 1)


@pytest.fixture
def large(monkeypatch):
    """Lower the limit so that the small dataset is too large for a report within the request."""
    monkeypatch.setattr(report_jobs, "SMALL_DATASET", 1)


def test_page_shows_each_cue_with_an_interval_and_a_chart(client, shapes, many):
    page = text_of(client.get(PAGE))
    assert page.count("<h1") == 1
    for words in ("the most frequent answer", "Q-type mode", "first three words", "nearest question", "95 % interval"):
        assert words in page, words
    assert 'href="/datasets/shapes/val/?type=count"' in page
    assert "Johnson et al. 2017" in page
    assert "<svg" in page


def test_no_percentage_is_shown_for_too_few_questions(client, shapes):
    page = text_of(client.get(PAGE))
    assert "too few (n = 8)" in page
    assert "<svg" not in page.partition("<main")[2]


def test_the_page_shows_strangers_no_figures_of_a_withheld_split(client, as_owner, shapes, many):
    strangers, owners = (text_of(who.get(PAGE)) for who in (client, as_owner))
    assert "The answers of test or of train are withheld" in strangers
    assert "/shapes/test/?type=" not in strangers
    assert "/shapes/test/?type=" in owners
    assert "are withheld, and these figures" not in owners


def test_figures_from_a_withheld_train_split_are_withheld_too(client, shapes, many):
    secret = {"secret": "0f" * 16, "secret_sha256": "a5" * 32}
    Split.objects.filter(dataset=shapes, name="train").update(withheld=True, **secret)
    page = text_of(client.get(PAGE))
    assert page.count("are withheld, and these figures") == 2
    assert "<svg" not in page.partition("<main")[2]


def test_everybody_sees_the_counts_of_texts(client, shapes):
    page = text_of(client.get(PAGE))
    assert "Repeated questions" in page
    assert "85.4 %" in page and "11.6 %" in page


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "csv"])
def test_files_for_strangers_have_no_figures_of_a_withheld_split(client, as_owner, shapes, many, kind):
    address = f"{PAGE}all.{kind}"
    assert client.get(address).status_code == 404  # the request for a file does not compute the report
    client.get(PAGE)
    answers = {who: browser.get(address) for who, browser in (("stranger", client), ("owner", as_owner))}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert answers["stranger"]["Content-Disposition"] == f'attachment; filename="shapes-shortcuts.{kind}"'
    if kind == "csv":
        rows = {who: list(csv.DictReader(io.StringIO(text_of(answer)))) for who, answer in answers.items()}
        assert {row["split"] for row in rows["stranger"]} == {"val"}
        assert {row["split"] for row in rows["owner"]} == {"val", "test"}
    else:
        assert "/shapes/test/" not in text_of(answers["stranger"])
        assert "/shapes/test/" in text_of(answers["owner"])


def test_a_chart_without_figures_gets_404_with_a_message(client, shapes):
    client.get(PAGE)
    response = client.get(f"{PAGE}all.svg")
    assert response.status_code == 404
    assert "CSV" in text_of(response)


def test_a_dataset_without_a_train_split_says_why_nothing_is_scored(client, db):
    small.made("alone", with_images=False, splits={"val": {"scenes": 2}})
    page = text_of(client.get("/datasets/alone/shortcuts/"))
    assert "No split of this dataset has a reference" in page
    assert "Repeated questions" in page


def test_the_page_of_an_incomplete_dataset_says_so(client, shapes):
    Dataset.objects.filter(pk=shapes.pk).update(state=Dataset.State.MAKING)
    response = client.get(PAGE)
    assert response.status_code == 200
    assert "This dataset isn’t complete" in text_of(response)
    assert not BlindReport.objects.exists()


# Waiting ---------------------------------------------------------------------------------------------------


def test_a_large_dataset_is_not_computed_in_the_request(client, shapes, large):
    page = text_of(client.get(PAGE))
    assert "The report will be computed soon" in page
    assert f'data-progress="{PROGRESS}"' in page and "js/progress.js" in page
    assert BlindReport.objects.get().state == State.WAITING


def test_a_background_process_computes_the_report_and_the_page_shows_it(client, shapes, large):
    client.get(PAGE)
    assert report_jobs.SHORTCUTS.work() == 1
    progress = text_of(client.get(PROGRESS))
    assert 'data-state="done"' in progress and "The report is ready" in progress
    page = text_of(client.get(PAGE))
    assert "Q-type mode" in page and "data-progress" not in page


def test_the_owner_sees_how_to_start_a_background_process_if_none_is_alive(client, as_owner, shapes, large):
    assert "The people who run this site have to start one" in text_of(client.get(PAGE))
    assert "manage.py process default" in text_of(as_owner.get(PAGE))
    Heartbeat.objects.note("one", host="here", pid=1, queues="default")
    assert "No background process" not in text_of(as_owner.get(PAGE))


def test_only_the_owner_sees_a_failure_and_may_try_again(client, as_owner, as_stranger, shapes, large):
    client.get(PAGE)
    BlindReport.objects.update(state=State.FAILED, message="Expected an index, got none.")
    assert "Expected an index" not in text_of(client.get(PAGE))
    assert "Expected an index" in text_of(as_owner.get(PAGE))
    assert as_stranger.post(PAGE).status_code == 404
    assert BlindReport.objects.get().state == State.FAILED
    assert as_owner.post(PAGE).status_code == 302
    assert BlindReport.objects.get().state == State.WAITING


def test_progress_of_a_report_that_nobody_asked_for_gets_404(client, shapes):
    assert client.get(PROGRESS).status_code == 404


# Access and verbs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", [PAGE, PROGRESS, f"{PAGE}all.csv"])
def test_stranger_gets_404(client, as_stranger, as_owner, private, address):
    as_owner.get(PAGE)
    for who in (client, as_stranger):
        assert who.get(address).status_code == 404
    assert as_owner.get(address).status_code == 200


@pytest.mark.parametrize("address", ["/datasets/nothing/shortcuts/", "/datasets/nothing/shortcuts/all.csv"])
def test_an_unknown_dataset_gets_404(client, db, address):
    assert client.get(address).status_code == 404


def test_other_verbs_are_refused(client, shapes):
    assert client.put(PAGE).status_code == 405
    assert client.post(PROGRESS).status_code == 405
    assert client.post(f"{PAGE}all.csv").status_code == 405
    assert Client(enforce_csrf_checks=True).post(PAGE).status_code == 403


def test_a_finished_report_needs_three_queries(client, shapes, django_assert_num_queries):
    client.get(PAGE)
    with django_assert_num_queries(3):
        client.get(PAGE)


def test_no_split_can_be_named_shortcuts(db):
    with pytest.raises(BadSpec, match="Expected another name"):
        small.begun("other", splits={"shortcuts": {"scenes": 1}})


# On the overview ------------------------------------------------------------------------------------------------


def test_overview_links_to_the_page_and_shows_the_share_of_different_questions_once_counted(client, shapes):
    before = text_of(client.get(OVERVIEW))
    assert f'href="{PAGE}"' in before and "Different questions" not in before
    client.get(PAGE)
    after = text_of(client.get(OVERVIEW))
    assert "Different questions" in after and "85.4 %" in after


def test_figures_are_stored_as_json(client, shapes):
    client.get(PAGE)
    assert json.loads(BlindReport.objects.get().figures)["splits"][0]["name"] == "train"
