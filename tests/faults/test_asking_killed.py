"""kill -9 of `static/ask.py` while it asks a real site's questions: it goes on, submits, and the board has its row."""

import base64
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.asking.conftest import SCRIPT, records
from tests.asking.model_stub import ModelStub, Pixels, reply_with, serving
from tests.faults.stack import SLUG, Site
from tests.generation import small

QUESTIONS, EACH, AT_ONCE = 500, 10, 16
HOSTILE = "<script>alert(1)</script> \x1b[31m I can't tell."
BEGIN = """
import base64, random
from annotations.results import baseline
from annotations.studies import lifecycle
from tests.annotations.answered import answered
from generation.making import dataset_jobs as jobs
from generation.models import Question
from generation.storage import files
from webapp.leaderboards.models import Method
from webapp.models import ApiToken, User
made = jobs.start(given["spec"], slug=given["slug"], visibility="public")
jobs.work(dataset=made)
owner = User.objects.create_user("mira", "mira@example.org", "x")
Method.objects.create(name="Eye", owner=owner, published="2026-01-01T00:00Z")
rows = Question.objects.filter(split__dataset=made).select_related("scene").order_by("position")
people = answered(made, random.Random(3))
lifecycle.close(people)
baseline.publish(people, by=people.owner_id, seal=baseline.draft(people).seal)
pictures = {row.scene.position: base64.b64encode(files.get(row.scene.image)).decode() for row in rows}
known = [(row.scene.position, row.text, row.answer) for row in rows]
print(json.dumps({"token": ApiToken.objects.make(owner, "here"), "pictures": pictures, "known": known}), end="")
"""


def oracle(found: dict[str, Any]) -> Callable[[str, Pixels], str]:
    """Return a function that knows the answers by the pixels of the picture and the words of the question."""
    pixels = {}
    for scene, content in found["pictures"].items():
        with Image.open(io.BytesIO(base64.b64decode(content))) as image:
            pixels[int(scene)] = image.tobytes()
    known = {(pixels[scene], text): answer for scene, text, answer in found["known"]}

    def reply(prompt: str, image: Pixels) -> str:
        assert image is not None
        return f"Answer: {known[image.tobytes(), prompt.splitlines()[0]]}"

    return reply


def start_asking(site: Site, model: ModelStub, folder: Path, token: str) -> "subprocess.Popen[str]":
    where = [f"http://127.0.0.1:{site.port}", f"{SLUG}/val", "--base-url", model.address, "--model", "eye-1"]
    how = ["--folder", str(folder), "--concurrency", str(AT_ONCE), "--price-in", "1.5", "--price-out", "10"]
    board = ["--submit", "--method", "Eye", "--run", "1", "--resume"]
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *where, *how, *board],
        env={**site.environment, "HORSESENSE_TOKEN": token},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.full
def test_a_killed_run_goes_on_and_the_board_has_its_row(embedded_site: Site, tmp_path: Path) -> None:
    site, folder = embedded_site, tmp_path / "asked"
    images = {"width": 64, "height": 64, "samples": 1}
    spec = {**small.SPEC, "splits": {"val": {"scenes": QUESTIONS // EACH}}, "images": images}
    found = json.loads(site.python(BEGIN, {"spec": {**spec, "questions": {"per_scene": EACH}}, "slug": SLUG}))
    assert len(found["known"]) == QUESTIONS
    site.start("web", "default")
    site.wait_for_web()
    with serving(oracle(found)) as model:
        model.troubles.extend([reply_with("yes", finish="length"), reply_with(HOSTILE), reply_with(None)])
        model.hold_after = QUESTIONS // 2
        with start_asking(site, model, folder, found["token"]) as process:
            model.wait_for(QUESTIONS // 2 + AT_ONCE)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL and len(records(folder)) == QUESTIONS // 2
        model.hold_after = None
        model.released.set()
        with start_asking(site, model, folder, found["token"]) as process:
            out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert len(model.asked) == QUESTIONS + AT_ONCE and len(records(folder)) == QUESTIONS
    right = QUESTIONS - 3
    assert f"right: {right} of {QUESTIONS} ({100 * right / QUESTIONS:.1f} %)" in out
    assert out.endswith(f"{SLUG}/val: n = {QUESTIONS}, accuracy {100 * right / QUESTIONS:.1f} %\n")
    check_pages(site, records(folder))


def check_pages(site: Site, stored: list[dict[str, Any]]) -> None:
    """Check the row of the board, and that the page of a question shows the reply harmlessly."""
    status, body = site.get(f"/api/v1/boards/{SLUG}/val/")
    assert status == 200
    rows = {one["name"]: one for one in json.loads(body)["rows"]}
    row = rows["Eye"]
    assert any(one["made"] == "human" for one in rows.values())  # the row of people is beside it
    assert (row["usage"]["answered"], row["usage"]["asked"]) == (QUESTIONS - 2, QUESTIONS)
    assert row["usage"]["dollars_per_1000_questions"] == pytest.approx(0.2)  # 100 and 5 tokens each
    status, page = site.get(f"/leaderboards/{SLUG}/val/")
    assert status == 200 and "Eye" in page and "$0.20" in page and f"{QUESTIONS - 2} of {QUESTIONS}" in page
    hostile = next(one["question"] for one in stored if one["reply"] == HOSTILE)
    status, page = site.get(f"/leaderboards/{SLUG}/val/questions/{hostile}/?entry={row['key']}")
    assert status == 200 and "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page and "\x1b" not in page
