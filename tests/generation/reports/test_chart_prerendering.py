"""Charts are drawn before the first visit of their pages."""

from typing import Any

import pytest
from django.test import Client

from generation import tasks
from generation.charts import drawing
from generation.models import BlindReport, Dataset
from generation.queue import runner, wakeups
from generation.reports import chart_prerendering, report_jobs, shortcuts
from tests.generation import small
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def shapes(db: None, settings: Any, tmp_path: Any) -> Dataset:
    settings.VAR_DIR = tmp_path
    settings.CHART_SECONDS = 0  # pages do not wait for drawings
    return small.made()


@pytest.fixture
def dataset_with_charts(db: None, settings: Any, tmp_path: Any) -> Dataset:
    """Give a dataset with enough questions for charts."""
    settings.VAR_DIR = tmp_path
    settings.CHART_SECONDS = 0
    return small.made(splits={"train": {"scenes": 12}}, with_images=False)


def count_drawings() -> int:
    return len(list(drawing.folder_of("shapes").glob("*")))


def test_the_task_draws_the_charts_of_a_split(client: Client, dataset_with_charts: Dataset) -> None:
    tasks.draw(dataset_with_charts.splits.get(name="train").pk)
    assert count_drawings() > 3
    charts = client.get("/datasets/shapes/").context["charts"]
    assert any(chart.is_drawable for chart in charts)
    assert all(chart.drawing for chart in charts if chart.is_drawable)


def test_a_report_is_drawn_with_its_dataset(client: Client, shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    Dataset.objects.filter(pk=shapes.pk).update(owner=User.objects.create_user("owner"))
    report_jobs.begin_shortcuts(shapes, shortcuts.complete_splits(shapes))
    monkeypatch.setattr(wakeups, "is_in_worker", lambda: True)
    monkeypatch.setattr(runner.current_app, "send_task", lambda name, args, **_: tasks.draw(*args))
    report_jobs.SHORTCUTS.take_turn()
    assert BlindReport.objects.get().state == "done"
    found = client.get("/datasets/shapes/shortcuts/").context
    assert (found["drawing"].wide and found["drawing"].narrow) or not found["shown"].drawn
    before = count_drawings()
    chart_prerendering.draw(shapes)
    assert count_drawings() == before


def test_drawing_charts_of_a_deleted_split_causes_no_error(db: None) -> None:
    tasks.draw(12345)


def test_charts_are_requested_only_from_a_background_process(monkeypatch: pytest.MonkeyPatch, shapes: Dataset) -> None:
    sent: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(runner.current_app, "send_task", lambda name, args, **_: sent.append((name, args)))
    split = shapes.splits.get(name="train")
    chart_prerendering.ask(split)
    assert sent == []
    monkeypatch.setattr(wakeups, "is_in_worker", lambda: True)
    chart_prerendering.ask(split)
    assert sent == [("generation.tasks.draw", [split.pk])]
