"""Pages of a dataset of stories: lines, the lines of a step, and what is hidden until the answer is asked for."""

import html
import json
import re
from dataclasses import replace

import pytest
from django.test import Client

from generation.browsing import stories
from generation.browsing.keyboard import OF_STORY
from generation.engine import worlds
from generation.engine.items import Chunk
from generation.models import Dataset, Question, Scene
from generation.queue import sandbox
from generation.specs import preview_process
from tests.generation.complete_datasets import shared
from tests.worlds import baskets, told
from tests.worlds.baskets import LINES, SCOPES, WINDOW, WORLD, BasketWorld
from webapp.models import User

SPEC = {"world": "baskets", "splits": {"train": {"scenes": 4}}}
LINE = re.compile(r'<li id="line-(\d+)" value="\d+"( class="pointed")?><(?:mark|span)>(.*?)</')


kept = shared(told.made, world=baskets)


@pytest.fixture
def tales(kept: int, db: None) -> Dataset:
    """Give the dataset of stories."""
    return Dataset.objects.get(pk=kept)


def question_of(tales: Dataset, split: str, kind: str) -> Question:
    return Question.objects.filter(split__dataset=tales, split__name=split, kind=kind).select_related("scene")[0]


def lines_of(question: Question) -> tuple[str, ...]:
    return WORLD.story(WORLD.read_scene(question.scene.scene_json or {}))


def shown(page: str) -> list[tuple[int, bool, str]]:
    """Return the unfolded lines of a page: the number, whether the step points at the line, and the text."""
    return [(int(number), bool(pointed), html.unescape(text)) for number, pointed, text in LINE.findall(page)]


@pytest.mark.parametrize("kind", list(SCOPES))
def test_a_question_shows_the_lines_before_it_and_folds_the_later_ones(tales: Dataset, kind: str) -> None:
    question = question_of(tales, "val", kind)
    page = Client().get(question.get_absolute_url()).text
    lines = lines_of(question)
    assert shown(page) == [(number, False, line) for number, line in enumerate(lines[: SCOPES[kind]], 1)]
    later = page.partition('<details class="later">')[2].partition("</details>")[0]
    assert re.findall(r"<span>(.*?)</span>", later) == list(lines[SCOPES[kind] :])
    assert "no picture" not in page and 'id="objects"' not in page


def test_a_step_points_at_the_lines_that_it_used(tales: Dataset) -> None:
    question = question_of(tales, "val", "first")
    page = Client().get(f"{question.get_absolute_url()}?step=1").text
    first = lines_of(question)[0]
    assert shown(page)[0] == (1, True, first)
    assert [number for number, pointed, _ in shown(page) if pointed] == [1, 2]
    assert '<span class="chip">line 1</span>' in page


def test_a_link_leads_to_the_step_with_the_supporting_lines(tales: Dataset) -> None:
    question = question_of(tales, "val", "count")
    page = Client().get(question.get_absolute_url()).text
    [address] = re.findall(r'id="supports"[^>]*href="([^"]*)"', page)
    assert address == "?step=2"
    assert 'id="supports"' not in Client().get(question.get_absolute_url() + address).text


def test_a_key_shows_the_supporting_lines(tales: Dataset) -> None:
    page = Client().get(question_of(tales, "val", "inside").get_absolute_url()).text
    assert page.count('data-key="l"') == 1
    assert page.count("<kbd>") == len(OF_STORY)


def test_published_supporting_lines_are_shown_only_with_the_answer(
    tales: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    stating = type("Stating", (BasketWorld,), {"supports": lambda self, scene, number: (number,)})()
    monkeypatch.setitem(worlds._LOADED.worlds, stating.name, stating)
    Question.objects.filter(split__dataset=tales).update(program=None)
    for number, kind in enumerate(SCOPES):
        address = question_of(tales, "val", kind).get_absolute_url()
        assert f'<a href="#line-{number + 1}">line {number + 1}</a>' in Client().get(address).text
        assert 'id="supports"' not in Client().get(f"{address}?ask=1").text
        assert 'id="supports"' not in Client().get(question_of(tales, "test", kind).get_absolute_url()).text


def test_no_supporting_lines_are_shown_before_the_answer(tales: Dataset) -> None:
    page = Client().get(f"{question_of(tales, 'val', 'inside').get_absolute_url()}?ask=1").text
    assert len(shown(page)) == SCOPES["inside"]
    assert 'id="supports"' not in page and 'class="steps' not in page and 'class="pointed' not in page


def test_a_withheld_question_shows_only_its_story(tales: Dataset) -> None:
    for kind in SCOPES:
        question = question_of(tales, "test", kind)
        page = Client().get(question.get_absolute_url()).text
        assert [text for _, _, text in shown(page)] == list(lines_of(question)[: SCOPES[kind]])
        assert 'id="supports"' not in page and 'class="steps' not in page and "supporting lines" in page
        assert Client().get(f"{question.get_absolute_url()}?step=1").status_code == 400


def test_lists_and_cards_show_the_beginnings_of_stories(tales: Dataset) -> None:
    question = question_of(tales, "train", "inside")
    first = lines_of(question)[: stories.BEGINNING]
    for address in ("/datasets/", tales.get_absolute_url(), f"{tales.get_absolute_url()}train/"):
        page = Client().get(address).text
        assert all(f"<span>{line}</span>" in page for line in first), address
        assert f"and {LINES - stories.BEGINNING} more lines" in page
        assert "no picture" not in page and "made without" not in page


def test_a_list_reads_all_stories_in_one_query(tales: Dataset, django_assert_max_num_queries: object) -> None:
    split = tales.splits.select_related("dataset").get(name="train")
    scenes = list(Scene.objects.filter(split=split))
    with django_assert_max_num_queries(1):  # type: ignore[operator]
        assert len(stories.beginnings(scenes, split)) == len(scenes)


def test_others_see_no_story_of_a_private_dataset(tales: Dataset) -> None:
    Dataset.objects.filter(pk=tales.pk).update(visibility=Dataset.Visibility.PRIVATE)
    line = lines_of(question_of(tales, "train", "inside"))[0]
    assert line not in Client().get("/datasets/").text
    assert Client().get(f"{tales.get_absolute_url()}train/").status_code == 404


def test_the_page_for_a_new_dataset_of_stories_offers_no_pictures_and_previews_lines(
    tales: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(module: str, given: bytes, *, seconds: int, memory: int) -> bytes:
        return json.dumps(preview_process.preview(json.loads(given))).encode()

    monkeypatch.setattr(sandbox, "run", run)
    client = Client()
    client.force_login(User.objects.create_user("ada", "ada@example.org", "x", is_staff=True))
    page = client.get("/datasets/new/?preset=baskets").text
    assert "Draw pictures" not in page
    spec = json.dumps(SPEC)
    page = client.post("/datasets/new/", {"spec": spec, "last": "json", "shown": spec, "action": "preview"}).text
    assert page.count('class="story-box"') == WINDOW  # the number of scenes in a chunk
    assert "into the basket." in page and "after line 3" in page


def test_a_preview_of_stories_shows_different_types_of_questions_first(kept: int) -> None:
    items = list(WORLD.maker.make(WORLD.read_spec(SPEC), "train", Chunk(0, 0, 3, 0, 9)))  # type: ignore[union-attr]
    asking = [replace(items[at % 3], questions=(items[0].questions[kind],)) for at, kind in enumerate((0, 0, 0, 1, 2))]
    shown = preview_process._varied(asking, 4)
    assert [item.questions[0].kind for item in shown] == ["inside", "first", "count", "inside"]
