"""The script `submit.py` submits predictions to a real site."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.generation import small
from tests.leaderboards import sent
from tests.webapp.commands import ROOT
from webapp.leaderboards import scoring
from webapp.leaderboards.models import Method
from webapp.models import ApiToken, User

pytestmark = [pytest.mark.slow, pytest.mark.full, pytest.mark.django_db(transaction=True)]

SPLITS = {"train": {"scenes": 4}, "val": {"scenes": 12}}


def test_the_script_downloads_checks_submits_waits_and_prints(live_server: Any, tmp_path: Path) -> None:
    val = small.made("scored", with_images=False, splits=SPLITS).splits.get(name="val")
    ada = User.objects.create_user("ada", "ada@example.org", "x")
    Method.objects.create(name="Oracle with noise", owner=ada)
    answers = sent.noisy(val, wrong=0.4)
    (tmp_path / "answers.json").write_bytes(sent.as_file(answers).getvalue())
    token = ApiToken.objects.make(ada, "script")

    def run(*arguments: str) -> str:
        command = [sys.executable, str(ROOT / "static/submit.py"), "--site", live_server.url, *arguments]
        options = {"cwd": tmp_path, "env": {"HORSESENSE_TOKEN": token}, "text": True}
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as started:
            while started.poll() is None:
                scoring.RUNNER.take_turn()
                time.sleep(0.05)
            said, complained = started.communicate()
        assert started.returncode == 0, complained
        return said

    assert "bytes" in run("questions", "scored/val")
    call = ("answers.json", "--split", "scored/val", "--method", "Oracle with noise")
    assert json.loads(run("check", *call))["checked"][0]["n"] == val.questions
    printed = run("send", *call, "--by", "type")
    share = 100 * sent.right_of(val, answers) / val.questions
    assert f"scored/val: n = {val.questions}\n  accuracy       {share:5.1f} %" in printed
    assert f"n = {val.questions})" in printed
    assert "\ntype\n" in printed
