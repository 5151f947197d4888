"""Networks from the command to the page that compares them, with the real training process and PyTorch.

`make torch` installs PyTorch and runs these tests.
"""

import json
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from generation.engine.learners import training_process
from generation.models import Dataset
from tests.generation import small
from tests.skips import Unshared
from webapp.leaderboards.models import Method, Training
from webapp.leaderboards.training import process
from webapp.models import User

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db]

SPLITS = {"train": {"scenes": 8}, "val": {"scenes": 10}}


@pytest.fixture
def drawn(member: User, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Give a small dataset with pictures, owned by the member."""
    if not settings.TRAINING_PYTHON.exists():
        raise Unshared("no PyTorch: `make torch` installs it, and runs this")
    monkeypatch.setattr(process, "PROGRAM", training_process.__name__)  # conftest.py names the process of the toy
    return small.made("drawn", splits=SPLITS, owner=member)


def test_networks_are_trained_by_the_command_and_compared_on_the_board(
    drawn: Dataset, as_member: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "settings.json"
    config.write_text(json.dumps({"epochs": 1}))
    order = ("--on", "drawn/train", "--val", "drawn/val", "--test", "drawn/val", "--size", "mini", "--owner", "mira")
    for method in ("lstm", "cnn-lstm"):
        call_command("train", method, *order, "--config", str(config), "--device", "cpu", "--json")
        document = json.loads(capsys.readouterr().out)
        assert [(row["split"], row["n"]) for row in document["scores"]] == [("drawn/val", 40)]
        assert document["examples_seen"] == 32
    assert set(Training.objects.values_list("state", flat=True)) == {Training.State.DONE}
    names = list(Method.objects.filter(owner=drawn.owner).order_by("pk").values_list("name", flat=True))
    assert names == ["LSTM", "CNN+LSTM"]

    board = as_member.get(reverse("board", args=["drawn", "val"])).text
    keys = [key for name in names for key in re.findall(rf'value="([^"]+)" aria-label="{re.escape(name)}[",]', board)]
    assert len(keys) == 2 and "Compare two" in board
    compared = as_member.get(reverse("board_compare", args=["drawn", "val"]), {"entry": keys}).text
    assert "<h1>LSTM and CNN+LSTM</h1>" in compared
    assert "<dt>Questions</dt><dd>40</dd>" in compared
