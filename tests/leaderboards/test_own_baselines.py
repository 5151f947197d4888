"""Baselines that a world has of its own: made in the background, scored and shown as the others are."""

import html
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.test import Client

from generation.engine.errors import BrokenWorld
from generation.engine.items import Item
from generation.engine.worlds import get_world
from generation.engine.worlds.base import Baseline
from generation.making import dataset_jobs
from generation.models import Dataset, Question, Scene, Split
from tests.generation import small
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.models import Method, Score, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SPLITS = {"train": {"questions": 100}, "test": {"questions": 60}, "test-kept": {"questions": 60, "withheld": True}}
PARTS = {"test": (0.5, 0.7), "test-kept": (0.7, 1.0)}


@pytest.fixture(scope="module")
def kept(django_db_setup, django_db_blocker) -> Iterator[int]:
    """Give the key of a dataset of stories that stays for all tests of the file."""
    splits = {name: dict(one) for name, one in SPLITS.items()}
    for name, (low, high) in PARTS.items():
        splits[name]["overrides"] = {"stories": {"low": low, "high": high}}
    with django_db_blocker.unblock():
        key = stories("told", world="babi", tasks=[1], splits=splits)
    yield key
    with django_db_blocker.unblock():
        Dataset.objects.filter(pk=key).delete()


def stories(slug: str, **spec: Any) -> int:
    """Return the key of a complete public dataset of stories."""
    secrets = {name: small.SECRET for name, one in spec["splits"].items() if one.get("withheld")}
    dataset = dataset_jobs.start(spec, slug=slug, visibility="public", secrets=secrets)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset.pk


@pytest.fixture
def told(kept: int) -> dict[str, Split]:
    """Give the splits by name."""
    rows = Split.objects.select_related("dataset", "reference", "parent").filter(dataset=kept)
    return {row.name: row for row in rows}


def make_all() -> None:
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()


def test_they_come_by_themselves_and_once(told) -> None:
    make_all()
    assert baselines.begin() == 0
    for split in told.values():
        found = {row.method.baseline: row for row in Submission.objects.filter(split=split).select_related("method")}
        own = {"babi:last-place", "babi:n-grams"} if split.reference else {"babi:last-place"}
        assert (
            {kind for kind in found if ":" in kind}
            == own
            == {kind for kind in baselines.kinds_of(split) if ":" in kind}
        )
        assert {row.state for row in found.values()} == {Submission.State.DONE}
    learned = Submission.objects.get(split=told["test"], method__baseline="babi:n-grams")
    assert learned.trained_on == told["train"]


def test_their_scores_are_those_of_what_they_say(told) -> None:
    make_all()
    split, right = told["test"], 0
    for scene in Scene.objects.filter(split=split):
        lines = [line["text"] for line in scene.scene_json["lines"]]
        for question in Question.objects.filter(scene=scene):
            right += lines[question.scope - 1].rstrip(".").split()[-1] == question.answer
    score = Score.objects.get(split=split, submission__method__baseline="babi:last-place")
    assert (score.right, score.n) == (right, split.questions) and right


def test_a_board_says_what_they_see_and_on_withheld_answers_only_the_guess_by_type_has_a_figure(told) -> None:
    make_all()
    page = html.unescape(Client().get("/leaderboards/told/test/").content.decode())
    assert "Last place" in page and "N-grams" in page
    assert "It sees the lines before the question. It is fitted on nothing" in page
    assert "Mean" in page and "1: one supporting fact" in page
    rows = Client().get("/leaderboards/told/test-kept/board.json").json()["rows"]
    assert [row["name"] for row in rows if row["accuracy"]["accuracy"] is not None] == ["Q-type mode"]
    assert len(rows) > 4 and all(row["tasks"] is None and row["columns"] == {} for row in rows)


def test_a_split_without_readable_scenes_has_none(told) -> None:
    split = told["test"]
    Scene.objects.filter(split=split).update(data=None)
    assert [kind for kind in baselines.kinds_of(split) if ":" in kind] == []
    while baselines.begin():
        pass
    assert not Submission.objects.filter(split=split, method__baseline__contains=":").exists()


def test_one_that_says_too_little_is_refused_in_words(told, monkeypatch) -> None:
    def short(spec: Any, asked: Iterable[Item], **_: Any) -> Iterator[str]:
        yield "garden"

    world = get_world("babi")
    own = Baseline("short", "Short", "nothing", "nothing", False, short)
    monkeypatch.setattr(type(world), "baselines", (own,))
    with pytest.raises(BrokenWorld, match="Expected 60 answers of Short, got 1"):
        baselines.predictions("babi:short", told["test"], check=lambda: None)


def test_a_baseline_of_a_world_that_is_gone_stays_on_its_boards(told) -> None:
    gone = Method.objects.create(name="Gone", baseline="nowhere:gone", made=Method.Made.BASELINE)
    assert baselines.describe(gone) == "" and baselines.fitted_on(told["test"], "nowhere:gone") is None


def test_people_go_first_while_one_is_made(told) -> None:
    calls: list[int] = []
    baselines.predictions("babi:n-grams", told["test"], check=lambda: calls.append(1))
    assert len(calls) >= 4

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        baselines.predictions("babi:n-grams", told["test"], check=stop)
