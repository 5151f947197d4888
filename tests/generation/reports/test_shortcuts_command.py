"""`manage.py shortcuts`: the report as text and as JSON."""

import json

import pytest
from django.core.management import CommandError, call_command

from generation.models import BlindReport, Dataset
from generation.reports import shortcuts
from tests.generation import small
from tests.generation.complete_datasets import shared

dataset_key = shared(lambda: small.made("plain", with_images=False))


@pytest.fixture
def dataset(dataset_key, db):
    return Dataset.objects.get(pk=dataset_key)


def test_it_prints_one_json_document_with_all_splits(dataset, capsys):
    call_command("shortcuts", "plain", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["dataset"] == "plain"
    assert [split["name"] for split in found["splits"]] == ["val", "test"]  # all splits, as the owner sees them
    [count] = [one for one in found["splits"][0]["types"] if one["name"] == "count"] or [None]
    assert count is None or count["published"] == 0.35
    majority = found["splits"][0]["cues"][0]
    assert (majority["name"], majority["n"], majority["accuracy"]) == ("majority", 8, None)  # too few questions
    assert [one["name"] for one in found["texts"]] == ["train", "val", "test", "all"]
    assert found["texts"][1]["published"] == {"questions": 149991, "unique": 140448, "overlap": 17338}


def test_it_prints_a_table_for_people(dataset, capsys):
    call_command("shortcuts", "plain")
    found = capsys.readouterr().out
    for words in ("val, after train", "type (Q-type mode)", "too few (n = 8)", "Johnson et al. 2017", "85.4 %"):
        assert words in found, words
    assert max(map(len, found.splitlines())) <= 120


def test_it_computes_large_reports_at_once(dataset, monkeypatch, capsys):
    monkeypatch.setattr("generation.reports.report_jobs.SMALL_DATASET", 0)
    call_command("shortcuts", "plain")
    assert BlindReport.objects.get().state == BlindReport.State.DONE


def test_an_unknown_dataset_is_refused(dataset):
    with pytest.raises(CommandError, match=r"Expected a dataset .*got 'nothing'") as refused:
        call_command("shortcuts", "nothing")
    assert refused.value.returncode == 2


def test_an_incomplete_dataset_is_refused(dataset):
    Dataset.objects.update(state=Dataset.State.CANCELLED)
    with pytest.raises(CommandError, match="Expected a complete dataset") as refused:
        call_command("shortcuts", "plain")
    assert refused.value.returncode == 2


def test_the_message_of_a_failure_has_its_reason(dataset, monkeypatch):
    def raise_error(*args, **options):
        raise OSError("no such index")

    monkeypatch.setattr(shortcuts, "report", raise_error)
    with pytest.raises(CommandError, match="no such index") as refused:
        call_command("shortcuts", "plain")
    assert refused.value.returncode == 1
    monkeypatch.undo()
    call_command("shortcuts", "plain")
