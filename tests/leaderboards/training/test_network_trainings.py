"""Networks from the command or the form to the page that compares them, with the real training process and PyTorch.

`make torch` installs PyTorch and runs these tests.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django import conf
from django.contrib.auth.models import Group
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from generation.access import RESEARCHERS
from generation.engine.learners import training_process
from generation.models import Dataset
from tests.generation import small
from tests.skips import Unshared
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method, Training
from webapp.leaderboards.training import process, training_jobs
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db]

SPLITS = {"train": {"scenes": 8}, "val": {"scenes": 10}}


@pytest.fixture
def drawn(member: User, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Give a small dataset with pictures, owned by the member, who is a researcher."""
    if not conf.settings.TRAINING_PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    monkeypatch.setattr(process, "PROGRAM", training_process.__name__)  # conftest.py names the process of the toy
    member.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
    return small.made("drawn", splits=SPLITS, owner=member)


def test_a_network_that_needs_too_much_memory_is_refused_before_it_starts(
    drawn: Dataset, as_member: Client, settings: Any
) -> None:
    settings.TRAINING_MEMORY_GB = 1.0
    with pytest.raises(CommandError) as caught:
        splits = ("--on", "drawn/train", "--val", "drawn/val", "--test", "drawn/val")
        call_command("train", "film", *splits, "--owner", "mira")
    assert "film: Expected a training that needs at most 1.0 GB of memory" in str(caught.value)
    assert "Reduce batch, " in str(caught.value) and caught.value.returncode == 2
    filled = {"method": "film", "train": "train", "val": "val", "tests": ["val"], "size": "paper", "seed": "0"}
    sent = as_member.post("/trainings/new/?on=drawn/val", filled)
    assert sent.status_code == 400 and "film: Expected a training that needs at most 1.0 GB of memory" in sent.text
    assert not Training.objects.exists()


Train = Callable[[str], None]


@pytest.fixture(params=["command", "page"])
def train(
    request: pytest.FixtureRequest,
    drawn: Dataset,
    as_member: Client,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Train:
    """Give a function that trains a method for one epoch, by the command or by the page."""
    settings_text = json.dumps({"epochs": 1})
    (tmp_path / "settings.json").write_text(settings_text)

    def by_command(method: str) -> None:
        splits = ("--on", "drawn/train", "--val", "drawn/val", "--test", "drawn/val", "--size", "mini")
        rest = ("--owner", "mira", "--config", str(tmp_path / "settings.json"), "--device", "cpu", "--json")
        call_command("train", method, *splits, *rest)
        document = json.loads(capsys.readouterr().out)
        assert [(row["split"], row["n"]) for row in document["scores"]] == [("drawn/val", 40)]

    def by_page(method: str) -> None:
        filled = {"method": method, "train": "train", "val": "val", "tests": ["val"], "size": "mini", "seed": "0"}
        sent = as_member.post("/trainings/new/?on=drawn/val", {**filled, "config": settings_text})
        assert sent.status_code == 302, sent.text
        training_jobs.RUNNER.take_turn()
        scoring.RUNNER.take_turn()
        assert "Trained" in as_member.get(sent.headers["Location"]).text

    return by_command if request.param == "command" else by_page


def test_networks_are_trained_and_compared_on_the_board(train: Train, drawn: Dataset, as_member: Client) -> None:
    for method in ("lstm", "cnn-lstm"):
        train(method)
    made = Training.objects.values_list("state", "examples_seen")
    assert list(made) == [(Training.State.DONE, 32)] * 2
    names = list(Method.objects.filter(owner=drawn.owner).order_by("pk").values_list("name", flat=True))
    assert names == ["LSTM", "CNN+LSTM"]

    board = as_member.get(reverse("board", args=["drawn", "val"])).text
    keys = [key for name in names for key in re.findall(rf'value="([^"]+)" aria-label="{re.escape(name)}[",]', board)]
    assert len(keys) == 2 and "Compare two" in board
    compared = as_member.get(reverse("board_compare", args=["drawn", "val"]), {"entry": keys}).text
    assert "<h1>LSTM and CNN+LSTM</h1>" in compared
    assert "<dt>Questions</dt><dd>40</dd>" in compared
