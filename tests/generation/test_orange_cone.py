"""A spec's own vocabulary works from end to end: the documentation's orange cone is drawn, asked about and stored."""

import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from PIL import Image

from generation.engine.spec import merge
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene
from generation.storage import files
from generation.storage.split_index import SplitIndex
from tests.generation.complete_datasets import finish

PAGE = Path(__file__).resolve().parents[2] / "webapp" / "docs" / "vocabulary.md"


def documented() -> dict[str, Any]:
    """Return the spec that the documentation shows."""
    found = re.search(r"```json file=cone.json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def fewer_others() -> dict[str, Any]:
    """Return the documented spec with fewer other colours and shapes, so that its three scenes have orange cones."""
    dropped = {"colors": ("gray", "green", "brown", "purple", "cyan", "yellow"), "shapes": ("sphere", "cylinder")}
    vocabulary = {part: dict.fromkeys(names) for part, names in dropped.items()}
    return {**documented(), "vocabulary": merge(vocabulary, documented()["vocabulary"]), "questions": {"per_scene": 8}}


@pytest.fixture
def dataset(db: None) -> Dataset:
    return finish(dataset_jobs.start({"world": "clevr", **fewer_others()}, slug="cone"))


def picture(name: str) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(files.get(name))))


def test_the_documentation_adds_an_orange_cone_in_at_most_ten_lines() -> None:
    shown = re.search(r"```json file=cone.json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert shown is not None and len(shown[1].strip().splitlines()) <= 10


def test_the_orange_cone_is_drawn_asked_about_and_stored(dataset: Dataset) -> None:
    cones = [
        (scene, number)
        for scene in Scene.objects.filter(split__dataset=dataset)
        for number, thing in enumerate(scene.scene_json["objects"])
        if (thing["color"], thing["shape"], thing["material"]) == ("orange", "cone", "rubber")
    ]
    assert cones, "the seed gives no orange rubber cone: take another"
    for scene, number in cones:
        seen = picture(scene.image)[picture(scene.ids_image) == number + 1]
        red, green, blue = seen.mean(axis=0)
        assert len(seen) >= 200
        assert red > 1.2 * green > 1.2 * blue, f"the cone looks ({red:.0f}, {green:.0f}, {blue:.0f})"
    texts = " ".join(Question.objects.filter(split__dataset=dataset).values_list("text", flat=True))
    assert re.search(r"\borange\b.*\b(cone|pointed hat)s?\b", texts)
    assert "a orange" not in texts.lower()
    index = SplitIndex.open(dataset.splits.get())
    assert {"orange", "cone"} <= set(index.facets["answer"].values)
    assert index.containing("orange").size > 0


def test_a_split_with_its_own_colours_is_sealed_with_them(db: None) -> None:
    colours = {"red": None, "blue": None, "green": None, "gray": None, "brown": None, "purple": None, "cyan": None}
    test = {"scenes": 16, "overrides": {"vocabulary": {"colors": {**colours, "pink": {"rgb": [255, 130, 180]}}}}}
    spec = {"world": "clevr", "base": "clevr-mini", "splits": {"train": None, "val": None, "test": test}}
    dataset = finish(dataset_jobs.start(spec, slug="pink", images=False))
    answers = set(Question.objects.filter(kind="query_color").values_list("answer", flat=True))
    assert answers == {"pink", "yellow"}
    assert "pink" in SplitIndex.open(dataset.splits.get()).answer_values


def test_names_of_several_words_and_of_any_script_work_from_end_to_end(
    db: None, client: Client, tmp_path: Path
) -> None:
    gone = dict.fromkeys(("red", "blue", "green", "gray", "brown", "purple", "cyan"))
    looks = {"rgb": [20, 30, 120]}
    colors = {**gone, "dark blue": looks, "أحمر": looks, "größer": looks}
    spec = {"world": "clevr", "base": "clevr-mini", "splits": {"train": None, "val": None, "test": {"scenes": 6}}}
    rules = {"scene": {"only": [{"color": ["dark blue", "أحمر", "größer"]}]}}
    finish(
        dataset_jobs.start(
            {**spec, **rules, "vocabulary": {"colors": colors}}, slug="words", images=False, visibility="public"
        )
    )
    for value in ("dark blue", "أحمر", "größer"):
        found = client.get("/datasets/words/test/", {"answer": value})
        assert found.status_code == 200 and value in found.content.decode()
    answers = set(Question.objects.filter(kind="query_color").values_list("answer", flat=True))
    assert answers and answers <= {"dark blue", "أحمر", "größer"}
    asked = next(Question.objects.filter(kind="query_color").order_by("position").iterator())
    shown = client.get(f"/api/v1/datasets/words/splits/test/questions/{asked.position}/").json()
    assert "Answer with one of these answers: dark blue, größer, yellow, أحمر." in str(shown)
    for name in ("clevr", "clevr-generator", "jsonl"):
        call_command("export", "words", "--format", name, "--output", str(tmp_path / name))
    lines = [
        {"question_id": one.position, "answer": f"The answer is {one.answer}."}
        for one in Question.objects.order_by("position")
    ]
    (tmp_path / "replies.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    said = io.StringIO()
    call_command("score", str(tmp_path / "replies.jsonl"), "--split", "words/test", "--json", stdout=said)
    scored = json.loads(said.getvalue())
    assert scored["accuracy_read"] == 1.0
