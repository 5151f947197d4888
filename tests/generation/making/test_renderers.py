"""Datasets whose pictures Blender draws: they are refused without Blender, and errors name the scene."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test import Client
from PIL import Image

from generation.engine.errors import BadSpec, NotDrawn
from generation.engine.render import blender
from generation.engine.worlds import get_world
from generation.making import dataset_jobs
from generation.making.process_pool import Pool
from generation.models import Dataset, Job, Scene
from generation.specs import estimates
from generation.specs.preview_process import preview
from tests.clients import client_of, make_researcher
from tests.generation import small
from tests.generation.pages.drafting import NEW, json_on, sent, text, times_said

BLENDER = {"width": 64, "height": 64, "renderer": "blender", "samples": 2}
ONE: dict[str, Any] = small.SPEC | {"splits": {"train": {"scenes": 2}}, "images": BLENDER}


def draw_nothing(stage: Any, camera: Any, **_: Any) -> Any:
    """Return an empty picture and its empty picture of object ids."""
    return np.zeros((camera.height, camera.width, 3), np.uint8), np.zeros((camera.height, camera.width), np.uint16)


@pytest.fixture
def no_blender() -> Iterator[None]:
    """Make Blender unavailable during the test."""
    blender.configure(blender.Setup(python=Path("/nowhere/python")))
    yield
    blender.configure(blender.Setup())


@pytest.fixture
def fake_blender(tmp_path: Path) -> Iterator[Path]:
    """Give a script that is used like a Python with Blender, and says that it has it."""
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    blender.configure(blender.Setup(python=script))
    yield script
    blender.configure(blender.Setup())


@pytest.fixture
def researcher(db: None) -> Client:
    """Return a client that is logged in as a researcher, who may make datasets."""
    return client_of(make_researcher())


@pytest.fixture
def spec_path(tmp_path: Path) -> str:
    """Write a spec that needs Blender, and return its path."""
    path = tmp_path / "cycles.json"
    path.write_text(json.dumps(ONE))
    return str(path)


@pytest.mark.django_db
@pytest.mark.usefixtures("no_blender")
def test_generate_without_blender_is_refused_in_one_line_and_stores_nothing(spec_path: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("generate", spec_path)
    assert caught.value.returncode == 2
    assert str(caught.value).startswith("images.renderer: Expected Blender on this machine, got none: `make blender` ")
    assert "\n" not in str(caught.value)
    assert not Dataset.objects.exists()


@pytest.mark.django_db
def test_resuming_without_blender_is_refused(spec_path: str, fake_blender: Path) -> None:
    dataset = dataset_jobs.start(get_world("clevr").read_spec(ONE).to_json(), slug="cycles", visibility="public")
    fake_blender.unlink()
    blender.configure(blender.Setup(python=fake_blender))
    with pytest.raises(CommandError, match="make blender"):
        call_command("generate", spec_path, "--name", "cycles", "--resume")
    dataset.refresh_from_db()
    assert dataset.state == "making"


@pytest.mark.django_db
@pytest.mark.usefixtures("no_blender")
def test_a_dataset_without_images_needs_no_blender() -> None:
    dataset = dataset_jobs.start(ONE, slug="cycles", images=False)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    assert dataset.state == "complete"
    with pytest.raises(BadSpec, match="make blender"):
        dataset_jobs.start(ONE, slug="drawn")


@pytest.mark.django_db
def test_the_error_names_the_scene_that_cannot_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blender, "check", lambda: None)
    dataset = dataset_jobs.start(ONE, slug="cycles")

    def fail(*_: Any, **__: Any) -> None:
        raise NotDrawn("Expected a picture from Blender, got none in 3 tries; the last time it hung.")

    monkeypatch.setattr(blender, "render", fail)
    dataset_jobs.work(dataset=dataset)
    dataset.refresh_from_db()
    said = "cycles/train, scene 0: Expected a picture from Blender, got none in 3 tries; the last time it hung."
    assert (dataset.state, dataset.error) == ("failed", said)
    assert dataset.jobs.get(kind="images").message == said


# How long it takes


def test_a_blender_picture_has_a_longer_estimate() -> None:
    read = get_world("clevr").read_spec
    plain = read({"base": "clevr-mini"}).to_json()
    slow = read({"base": "clevr-mini", "images": {"renderer": "blender"}}).to_json()
    rates = estimates.Rates()
    assert rates.drawing(slow, 1) == pytest.approx(96)
    assert rates.drawing(plain, 1) == pytest.approx(0.2)
    assert rates.drawing(slow, 25) == 25 * rates.drawing(slow, 1)


def test_images_of_a_split_are_the_same_from_stored_data_as_from_the_spec() -> None:
    for base in ({}, {"renderer": "blender", "samples": 7}):
        for own in (
            {},
            {"width": 99},
            {"renderer": "blender"},
            {"renderer": "tracer"},
            {"renderer": "blender", "samples": 3},
        ):
            data = {"base": "clevr-mini", "images": base, "splits": {"val": {"overrides": {"images": own}}}}
            spec = get_world("clevr").read_spec(data)
            quick, whole = estimates.pictures_of(spec.to_json(), "val"), spec.for_split("val").to_json()
            assert estimates.samples_of(quick) == estimates.samples_of(whole)
            assert estimates.renderer_of(quick) == estimates.renderer_of(whole)


@pytest.mark.django_db
def test_rates_are_measured_separately_for_each_renderer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blender, "check", lambda: None)
    small.made("plain")
    tracer = estimates.measured_rates("clevr")
    assert tracer.slow_sample == blender.SAMPLE
    split = {"train": {"scenes": 2, "overrides": {"images": {"renderer": "blender", "samples": 2}}}}
    other = dataset_jobs.start(small.SPEC | {"splits": split}, slug="cycles")
    monkeypatch.setattr(blender, "render", draw_nothing)
    dataset_jobs.work(dataset=other)
    other.refresh_from_db()
    assert other.state == "complete", other.error
    job = Job.objects.get(dataset=other, kind="images")
    took = (job.finished - job.started).total_seconds()  # type: ignore[operator]
    rates = estimates.measured_rates("clevr")
    assert rates.slow_sample == pytest.approx(took / (2 * 120 * 80 * 2))
    assert rates.sample == tracer.sample


@pytest.mark.django_db
def test_the_deadline_of_a_blender_job_is_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blender, "check", lambda: None)
    images = {"renderer": "blender"}
    dataset = dataset_jobs.start(small.SPEC | {"splits": {"train": {"scenes": 25}}, "images": images}, slug="cycles")
    chunk = dataset.splits.get().chunks.get()
    job = Job(kind="images", dataset=dataset, split=dataset.splits.get(), chunk=chunk)
    ordinary = 25 * blender.SAMPLE * 480 * 320 * 512
    assert estimates.seconds_for(job) == pytest.approx(estimates.LEAST + estimates.PATIENCE * ordinary)
    one_that_hangs = blender.TRIES * blender.Setup().patience(480 * 320 * 512)
    assert estimates.seconds_for(job) > ordinary + one_that_hangs


# With a real Blender


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("blender")
def test_a_dataset_drawn_by_blender_has_the_content_of_one_drawn_by_the_tracer() -> None:
    drawn = small.made("cycles", splits=ONE["splits"], images=BLENDER)
    traced = small.made("plain", splits=ONE["splits"], images={"width": 64, "height": 64, "samples": 1})
    assert drawn.fingerprint == traced.fingerprint
    drawings = [Scene.objects.filter(split__dataset=dataset).order_by("position") for dataset in (drawn, traced)]
    for ours, theirs in zip(*drawings, strict=True):
        assert (ours.width, ours.height) == (theirs.width, theirs.height) == (64, 64)
        one, other = (np.asarray(Image.open(default_storage.open(scene.ids_image))) for scene in (ours, theirs))
        assert (one == other).mean() > 0.99
    assert blender._STATE.child is not None  # kept for the next dataset


def test_the_path_of_blender_comes_from_the_settings() -> None:
    assert settings.BLENDER_PYTHON == settings.BASE_DIR / ".venv-blender/bin/python"
    assert blender._STATE.setup.python == settings.BLENDER_PYTHON


# On the page


@pytest.mark.django_db
@pytest.mark.usefixtures("no_blender")
def test_the_page_without_blender_shows_an_error_at_the_field_and_stores_nothing(researcher: Client) -> None:
    for action in ("create", "preview"):
        response = researcher.post(NEW, sent(ONE, action=action))
        assert response.status_code == 400
        assert response.context["draft"].refused.where == "images.renderer"
        assert times_said("Expected Blender on this machine, got none", response) == (1, 1)
    assert not Dataset.objects.exists()
    assert researcher.post(NEW, sent({**ONE, "images": {"width": 64}}, action="form")).status_code == 200
    without_images = {name: value for name, value in sent(ONE, action="create").items() if name != "images"}
    assert researcher.post(NEW, without_images).status_code == 302


@pytest.mark.django_db
def test_the_page_shows_the_default_samples_of_the_renderer(
    researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blender, "check", lambda: None)
    plain = {**ONE, "images": {}}
    as_it_was = {"images.samples": "16", "images.denoise": "false"}
    chosen = researcher.post(NEW, sent(plain, action="form", **as_it_was, **{"images.renderer": "blender"}))
    assert json_on(chosen)["images"] == {"renderer": "blender"}
    assert 'name="images.samples" value="512"' in " ".join(text(chosen).split())
    back = researcher.post(
        NEW,
        sent(json_on(chosen), action="form", **{"images.renderer": "tracer", "images.samples": "512"}),
    )
    assert json_on(back)["images"] in ({}, {"renderer": "tracer"})
    assert 'name="images.samples" value="16"' in " ".join(text(back).split())


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("no_blender")
def test_a_preview_needs_no_blender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blender, "check", lambda: None)
    answer = preview({"world": "clevr", "data": ONE, "files": {}, "split": "train", "scenes": 1})
    assert answer["scenes"][0]["image"].startswith("data:image/webp;base64,")


def test_processes_of_a_pool_know_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, *, env: started.append(env))
    Pool(Dataset(slug="shapes"), size=3)
    assert [env["GENERATION_PROCESSES"] for env in started] == ["3", "3", "3"]
