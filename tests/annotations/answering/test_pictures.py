"""What a question costs a slow network: its page and its picture together, whatever the dataset's pictures are."""

import io
import re
from typing import Any

import numpy as np
import pytest
from django.http import HttpResponse
from PIL import Image

from annotations.answering import pictures, scene_cache
from generation.models import Dataset, Scene
from generation.storage import files
from tests.annotations.visitors import Visitor, study_of
from tests.generation import small

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MOST = 250_000  # bytes for a question
FULL_SIZE: dict[str, Any] = {"images": {}, "splits": {"train": {"scenes": 1}, "val": {"scenes": 3}}}


def picture_of(visitor: Visitor) -> HttpResponse:
    """Return the picture on a visitor's page."""
    found = re.search(r'<img src="([^"]+)"', visitor.page)
    assert found is not None
    response: HttpResponse = visitor.client.get(found[1])
    return response


def noise(width: int, height: int, *, kind: str = "PNG", **options: Any) -> bytes:
    """Return a picture that hardly becomes smaller, with soft shapes in it."""
    chance = np.random.default_rng(5)
    soft = np.asarray(Image.fromarray(chance.integers(0, 256, (16, 24, 3), np.uint8)).resize((width, height)))
    grain = chance.integers(-12, 13, (height, width, 3))
    file = io.BytesIO()
    Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8)).save(file, kind, **options)
    return file.getvalue()


def put(dataset: Dataset, content: bytes) -> None:
    """Let all pictures of the split that is asked about be this one."""
    for scene in Scene.objects.filter(split__dataset=dataset, split__name="val").select_related("split"):
        files.drop(pictures.name_of(scene))
        files.put(scene.image, content)


def test_drawn_pictures_are_sent_as_they_are_and_light_enough() -> None:
    dataset = small.made("drawn", **FULL_SIZE)
    scene = Scene.objects.filter(split__dataset=dataset, split__name="val").first()
    assert scene is not None and (scene.width, scene.height) == (480, 320)
    visitor = Visitor(study_of(dataset, questions=12))
    visitor.to_questions()
    for _ in range(12):
        response = picture_of(visitor)
        assert response["Content-Type"] == "image/png"
        assert len(visitor.page.encode()) + len(response.content) < MOST
        visitor.answer()
    assert "One last thing" in visitor.page


@pytest.mark.parametrize(("width", "height"), [(1024, 683), (2000, 1333)])
def test_heavy_pictures_are_encoded_anew_and_look_the_same(shapes: Dataset, width: int, height: int) -> None:
    original = noise(width, height)
    assert len(original) > 1_000_000
    put(shapes, original)
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    response = picture_of(visitor)
    assert response["Content-Type"] == "image/webp"
    assert len(visitor.page.encode()) + len(response.content) < MOST
    with Image.open(io.BytesIO(response.content)) as image:
        shown = np.asarray(image.convert("RGB").resize((240, 160), Image.Resampling.BOX), np.int64)
        assert image.width >= 1024 * 0.8 and abs(image.width / image.height - width / height) < 0.01
    with Image.open(io.BytesIO(original)) as image:
        there = np.asarray(image.resize((240, 160), Image.Resampling.BOX), np.int64)
    assert np.abs(shown - there).mean() < 2


def test_a_heavy_picture_is_encoded_once(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    put(shapes, noise(1024, 683))
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    first = picture_of(visitor).content
    monkeypatch.setattr(pictures, "light", lambda content: pytest.fail("made again"))
    assert picture_of(visitor).content == first


def test_a_disk_that_takes_nothing_costs_no_picture(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    put(shapes, noise(1024, 683))
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()

    def full(name: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "put", full)
    assert picture_of(visitor).status_code == 200


def test_a_photograph_that_lies_on_its_side_is_put_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6  # orientation: a quarter to the right
    made = pictures.light(noise(900, 600, kind="JPEG", quality=100, exif=turned))
    with Image.open(io.BytesIO(made)) as image:
        assert image.width < image.height


@pytest.mark.parametrize("content", [b"no picture" * 30_000, noise(1024, 683)[:300_000]])
def test_a_broken_heavy_picture_is_missing(shapes: Dataset, content: bytes) -> None:
    put(shapes, content)
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    assert picture_of(visitor).status_code == 404


def test_a_picture_that_a_page_named_is_sent_without_asking_the_database(
    shapes: Dataset, django_assert_num_queries: Any
) -> None:
    put(shapes, noise(120, 80))
    visitor = Visitor(study_of(shapes, questions=4))
    visitor.to_questions()
    ahead = re.search(r'data-ahead="([^"]+)"', visitor.page)
    assert ahead is not None
    visitor.client.get(ahead[1])  # the words and where the picture lies are read once a process
    with django_assert_num_queries(0):
        assert picture_of(visitor).status_code == visitor.client.get(ahead[1]).status_code == 200


def test_another_process_finds_the_same_picture(shapes: Dataset) -> None:
    put(shapes, noise(120, 80))
    visitor = Visitor(study_of(shapes, questions=4))
    visitor.to_questions()
    named = picture_of(visitor)
    assert named.status_code == 200
    scene_cache._shown.clear()
    assert picture_of(visitor).content == named.content


def test_an_address_with_somebody_elses_secret_has_no_picture(shapes: Dataset) -> None:
    study = study_of(shapes, questions=4)
    one, other = Visitor(study), Visitor(study)
    for visitor in (one, other):
        visitor.to_questions()
    found = re.search(r'<img src="(/s/[^/]+/)([^/]+)(/picture/[^"]+)"', one.page)
    theirs = re.search(r'<img src="/s/[^/]+/([^/]+)/', other.page)
    assert found is not None and theirs is not None and theirs[1] != found[2]
    assert one.client.get(found[1] + theirs[1] + found[3]).status_code == 404


def test_no_more_addresses_are_known_than_there_is_room_for(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_cache, "MOST", 3)
    split = shapes.splits.get(name="val")
    for number in range(20):
        scene_cache.remember(("code", str(number), "token"), split, 0)
        assert len(scene_cache._shown) <= 3
    assert scene_cache.scene_of(("code", "19", "token")) is not None
