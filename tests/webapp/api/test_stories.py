"""Stories in the API: the lines that a question sees, and the prompt with these lines."""

import pytest
from django.test import Client

from generation.models import Question
from tests.generation.complete_datasets import shared
from tests.worlds import baskets, told
from tests.worlds.baskets import LINES, SCOPES, WORLD

pytestmark = pytest.mark.django_db


tales = shared(told.made, world=baskets, autouse=True)


@pytest.mark.parametrize("split", ["val", "test"])
def test_questions_have_the_lines_that_they_see(split: str) -> None:
    base = f"/api/v1/datasets/tales/splits/{split}/questions/"
    listed = Client().get(base).json()["results"]
    for row in Question.objects.filter(split__name=split).select_related("scene").order_by("position"):
        lines = list(WORLD.story(WORLD.read_scene(row.scene.scene_json or {})))
        full = Client().get(f"{base}{row.position}/").json()
        assert full["story"] == listed[row.position]["story"] == lines[: SCOPES[row.kind]]
        numbered = "\n".join(f"{number} {line}" for number, line in enumerate(full["story"], 1))
        assert full["prompt"] == f"{numbered}\n\n{row.text}\nAnswer with words joined by commas."
        assert ("answer" in full) is ("program" in full) is (split == "val")


def test_scenes_have_all_lines_and_withheld_scenes_have_only_lines() -> None:
    for split in ("val", "test"):
        scene = Client().get(f"/api/v1/datasets/tales/splits/{split}/scenes/0/").json()
        assert len(scene["story"]) == LINES
        assert ("data" in scene) is (split == "val")


def test_a_page_of_questions_needs_few_queries(django_assert_max_num_queries: object) -> None:
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        Client().get("/api/v1/datasets/tales/splits/train/questions/")
