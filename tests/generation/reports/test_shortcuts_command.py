"""`manage.py shortcuts`: the report as text and as JSON."""

import json

import pytest
from django.core.management import CommandError, call_command

from generation.models import BlindReport, Dataset
from generation.reports import shortcuts
from tests.generation import small


@pytest.fixture(scope="module")
def kept(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        key = small.made("plain", with_images=False).pk
    yield key
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=key).delete()


@pytest.fixture
def plain(kept, db):
    return Dataset.objects.get(pk=kept)


def test_it_prints_one_json_document_with_all_splits(plain, capsys):
    call_command("shortcuts", "plain", "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["dataset"] == "plain"
    assert [split["name"] for split in found["splits"]] == ["val", "test"]  # as the owner sees it
    [count] = [one for one in found["splits"][0]["types"] if one["name"] == "count"] or [None]
    assert count is None or count["published"] == 0.35
    majority = found["splits"][0]["cues"][0]
    assert (majority["name"], majority["n"], majority["accuracy"]) == ("majority", 8, None)  # too few
    assert [one["name"] for one in found["texts"]] == ["train", "val", "test", "all"]
    assert found["texts"][1]["published"] == {"questions": 149991, "unique": 140448, "overlap": 17338}


def test_it_prints_a_table_for_people(plain, capsys):
    call_command("shortcuts", "plain")
    found = capsys.readouterr().out
    for words in ("val, after train", "type (Q-type mode)", "too few (n = 8)", "Johnson et al. 2017", "85.4 %"):
        assert words in found, words
    assert max(map(len, found.splitlines())) <= 120


def test_it_computes_at_once_whatever_the_size(plain, monkeypatch, capsys):
    monkeypatch.setattr("generation.reports.report_jobs.SMALL_DATASET", 0)
    call_command("shortcuts", "plain")
    assert BlindReport.objects.get().state == BlindReport.State.DONE


def test_a_dataset_that_is_not_there_is_refused(plain):
    with pytest.raises(CommandError, match=r"Expected a dataset .*got 'nothing'") as refused:
        call_command("shortcuts", "nothing")
    assert refused.value.returncode == 2


def test_one_that_is_not_complete_is_refused(plain):
    Dataset.objects.update(state=Dataset.State.CANCELLED)
    with pytest.raises(CommandError, match="Expected a complete dataset") as refused:
        call_command("shortcuts", "plain")
    assert refused.value.returncode == 2


def test_a_failure_says_why(plain, monkeypatch):
    def broken(*args, **options):
        raise OSError("no such index")

    monkeypatch.setattr(shortcuts, "report", broken)
    with pytest.raises(CommandError, match="no such index") as refused:
        call_command("shortcuts", "plain")
    assert refused.value.returncode == 1
    monkeypatch.undo()
    call_command("shortcuts", "plain")
