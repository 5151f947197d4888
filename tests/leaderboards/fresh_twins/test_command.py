"""`manage.py fresh`: what it prints, what it makes, and how it goes on after a stop."""

import json
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from generation.making import dataset_jobs
from generation.management.console import BAD_INPUT
from generation.models import Dataset, FreshTwin, Split
from generation.splits.split_recipes import read_recipe
from tests.generation import small
from tests.generation.conftest import MANAGE, child_environment
from webapp.leaderboards.fresh_twins.suite import make_twins_with_suite
from webapp.leaderboards.models import Suite

pytestmark = [pytest.mark.slow]


def fresh(*command: str) -> str:
    """Return what the command prints; it makes the twins in this process's database."""
    output = StringIO()
    call_command("fresh", *command, stdout=output)
    return output.getvalue()


def refusal(*command: str) -> str:
    """Return the one-line message with which the command refuses bad input."""
    with pytest.raises(CommandError) as caught:
        fresh(*command)
    assert caught.value.returncode == BAD_INPUT and "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make datasets in this process, because other processes do not see the transaction of the test."""

    def make(command: object, dataset: Dataset, *, workers: int) -> None:
        dataset_jobs.work(dataset=dataset)
        dataset.refresh_from_db()

    monkeypatch.setattr("generation.management.console.WatchingCommand.make", make)


@pytest.mark.django_db
def test_it_makes_twins_and_prints_their_addresses_and_that_of_the_suite(val: Split, pool: None, settings: Any) -> None:
    settings.PUBLIC_URL = "https://horse.example"
    text = fresh("scored/val", "--seeds", "2")
    twins = list(Split.objects.filter(twin__source=val).order_by("pk"))
    for twin in twins:
        assert f"{twin}: 160 questions, answers withheld" in text and twin.fingerprint in text
        assert f"https://horse.example/leaderboards/{twin.dataset.slug}/val/" in text
        assert twin.secret not in text
    assert text.splitlines()[-1] == "Suite with the gap: https://horse.example/suites/fresh-twins-of-scored-val/"
    assert len(twins) == 2 and Suite.objects.get().owner is None


@pytest.mark.django_db
def test_run_again_it_adds_to_the_suite_and_prints_json(val: Split, pool: None) -> None:
    fresh("scored/val")
    found = json.loads(fresh("scored/val", "--questions", "33", "--json"))
    twin = Split.objects.get(dataset__slug="scored-val-fresh-2")
    assert (found["split"], found["suite"]) == ("scored/val", Suite.objects.get().get_absolute_url())
    [row] = found["twins"]
    assert (row["number"], row["split"], row["questions"]) == (2, "scored-val-fresh-2/val", 36)
    assert (row["fingerprint"], row["secret_sha256"]) == (twin.fingerprint, twin.secret_sha256)
    assert Suite.objects.get().members.count() == 3


@pytest.mark.django_db
def test_bad_input_is_refused_with_one_line(val: Split, pool: None) -> None:
    dataset_jobs.derive(val, name="few", recipe=read_recipe({"parent": "val", "first": 40}))
    assert "Expected DATASET/SPLIT, got 'scored'." in refusal("scored")
    assert "Expected a split (train, val, test, few), got 'none'." in refusal("scored/none")
    assert "got few, a question set of scored/val" in refusal("scored/few")
    assert "Expected a fresh twin to continue, got none." in refusal("scored/val", "--resume")
    for option, value in (("--seeds", "0"), ("--seeds", "30"), ("--questions", "29"), ("--seeds", "x" * 50)):
        with pytest.raises(CommandError) as caught:
            fresh("scored/val", option, value)
        assert "expected a number of" in str(caught.value)
    assert not FreshTwin.objects.exists() and not Suite.objects.exists()


@pytest.mark.django_db
def test_with_resume_it_goes_on_and_makes_no_new_twin(val: Split, pool: None) -> None:
    begun = make_twins_with_suite(val, count=2)
    assert dataset_jobs.cancel(begun.twins[1].split.dataset)
    text = fresh("scored/val", "--seeds", "2", "--resume")
    assert FreshTwin.objects.count() == 2 and not FreshTwin.objects.unfinished().exists()
    assert "scored-val-fresh-1/val" in text and "scored-val-fresh-2/val" in text
    assert "scored-val-fresh-2/val" in fresh("scored/val", "--resume")


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_an_interrupted_command_can_be_resumed() -> None:
    val = small.made("shapes", with_images=False, splits={"train": {"scenes": 2}, "val": {"scenes": 1500}})
    command = [sys.executable, MANAGE, "fresh", "shapes/val", "--seeds", "2", "--workers", "1"]
    process = subprocess.Popen(
        command, env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    end = time.monotonic() + 90
    while not Dataset.objects.filter(splits__twin__isnull=False, jobs__state="running").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and "--resume" in errors.decode()
    assert FreshTwin.objects.count() == FreshTwin.objects.unfinished().count() == 2
    secrets = set(Split.objects.filter(twin__isnull=False).values_list("secret", flat=True))
    done = subprocess.run([*command, "--resume"], env=child_environment(), capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert not FreshTwin.objects.unfinished().exists() and FreshTwin.objects.count() == 2
    assert secrets == set(Split.objects.filter(twin__isnull=False).values_list("secret", flat=True))
    assert not any(secret in done.stdout + done.stderr for secret in secrets)
    assert f"Suite with the gap: {Suite.objects.get().get_absolute_url()}" in done.stdout
    assert val.splits.count() == 2
