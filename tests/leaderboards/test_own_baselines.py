"""The own baselines of a world: they are made in the background, scored and shown like the other baselines."""

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
from tests.generation.complete_datasets import finish, shared
from webapp.leaderboards import baselines, scoring
from webapp.leaderboards.models import Method, Score, Submission

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SPLITS = {"train": {"questions": 100}, "test": {"questions": 60}, "test-kept": {"questions": 60, "withheld": True}}
PARTS = {"test": (0.5, 0.7), "test-kept": (0.7, 1.0)}


def make_told() -> Dataset:
    splits = {name: dict(one) for name, one in SPLITS.items()}
    for name, (low, high) in PARTS.items():
        splits[name]["overrides"] = {"stories": {"low": low, "high": high}}
    return stories("told", world="babi", tasks=[1], splits=splits)


def stories(slug: str, **spec: Any) -> Dataset:
    """Return a complete public dataset of stories."""
    secrets = {name: small.SECRET for name, one in spec["splits"].items() if one.get("withheld")}
    return finish(dataset_jobs.start(spec, slug=slug, visibility="public", secrets=secrets))


kept = shared(make_told)


@pytest.fixture
def splits(kept: int) -> dict[str, Split]:
    """Give the splits by name."""
    rows = Split.objects.select_related("dataset", "reference", "parent").filter(dataset=kept)
    return {row.name: row for row in rows}


def make_all() -> None:
    while baselines.begin():
        pass
    scoring.RUNNER.take_turn()


def test_own_baselines_are_made_once(splits) -> None:
    make_all()
    assert baselines.begin() == 0
    for split in splits.values():
        found = {row.method.baseline: row for row in Submission.objects.filter(split=split).select_related("method")}
        own = {"babi:last-place", "babi:n-grams"} if split.reference else {"babi:last-place"}
        assert (
            {kind for kind in found if ":" in kind}
            == own
            == {kind for kind in baselines.kinds_of(split) if ":" in kind}
        )
        assert {row.state for row in found.values()} == {Submission.State.DONE}
    learned = Submission.objects.get(split=splits["test"], method__baseline="babi:n-grams")
    assert learned.trained_on == splits["train"]


def test_the_score_of_last_place_is_equal_to_counting(splits) -> None:
    make_all()
    split, right = splits["test"], 0
    for scene in Scene.objects.filter(split=split):
        lines = [line["text"] for line in scene.scene_json["lines"]]
        for question in Question.objects.filter(scene=scene):
            right += lines[question.scope - 1].rstrip(".").split()[-1] == question.answer
    score = Score.objects.get(split=split, submission__method__baseline="babi:last-place")
    assert (score.right, score.n) == (right, split.questions) and right


def test_a_board_describes_them_and_a_withheld_one_has_only_the_guess_by_type(splits) -> None:
    make_all()
    page = html.unescape(Client().get("/leaderboards/told/test/").content.decode())
    assert "Last place" in page and "N-grams" in page
    assert "It sees the lines before the question. It is fitted on nothing" in page
    assert "Mean" in page and "1: one supporting fact" in page
    rows = Client().get("/leaderboards/told/test-kept/board.json").json()["rows"]
    assert [row["name"] for row in rows if row["accuracy"]["accuracy"] is not None] == ["Q-type mode"]
    assert len(rows) > 4 and all(row["tasks"] is None and row["columns"] == {} for row in rows)


def test_a_split_without_readable_scenes_has_no_own_baselines(splits) -> None:
    split = splits["test"]
    Scene.objects.filter(split=split).update(data=None)
    assert [kind for kind in baselines.kinds_of(split) if ":" in kind] == []
    while baselines.begin():
        pass
    assert not Submission.objects.filter(split=split, method__baseline__contains=":").exists()


def test_a_baseline_with_too_few_answers_is_refused_with_a_message(splits, monkeypatch) -> None:
    def short(spec: Any, asked: Iterable[Item], **_: Any) -> Iterator[str]:
        yield "garden"

    world = get_world("babi")
    own = Baseline("short", "Short", "nothing", "nothing", False, short)
    monkeypatch.setattr(type(world), "baselines", (own,))
    with pytest.raises(BrokenWorld, match="Expected 60 answers of Short, got 1"):
        baselines.predictions("babi:short", splits["test"], check=lambda: None)


def test_a_baseline_of_a_removed_world_can_still_be_shown(splits) -> None:
    gone = Method.objects.create(name="Gone", baseline="nowhere:gone", made=Method.Made.BASELINE)
    assert baselines.describe(gone) == "" and baselines.fitted_on(splits["test"], "nowhere:gone") is None


def test_computing_a_baseline_can_be_interrupted_for_submissions_of_people(splits) -> None:
    calls: list[int] = []
    baselines.predictions("babi:n-grams", splits["test"], check=lambda: calls.append(1))
    assert len(calls) >= 4

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        baselines.predictions("babi:n-grams", splits["test"], check=stop)
