"""The page and the picture of a question are small enough for a slow network, whatever pictures a dataset has."""

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
from tests.proof import sample

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MOST = 250_000  # bytes of the page and the picture of a question together
FULL_SIZE: dict[str, Any] = {"images": {}, "splits": {"train": {"scenes": 1}, "val": {"scenes": 3}}}


def picture_of(visitor: Visitor) -> HttpResponse:
    """Return the picture on a visitor's page."""
    found = re.search(r'<img src="([^"]+)"', visitor.page)
    assert found is not None
    response: HttpResponse = visitor.client.get(found[1])
    return response


def noise(width: int, height: int, *, kind: str = "PNG", **options: Any) -> bytes:
    """Return a picture of soft shapes with noise, which hardly compresses."""
    chance = np.random.default_rng(5)
    soft = np.asarray(Image.fromarray(chance.integers(0, 256, (16, 24, 3), np.uint8)).resize((width, height)))
    grain = chance.integers(-12, 13, (height, width, 3))
    file = io.BytesIO()
    Image.fromarray(np.clip(soft + grain, 0, 255).astype(np.uint8)).save(file, kind, **options)
    return file.getvalue()


def replace_pictures(dataset: Dataset, content: bytes) -> None:
    """Replace all pictures of split val by this content."""
    for scene in Scene.objects.filter(split__dataset=dataset, split__name="val").select_related("split"):
        files.drop(pictures.name_of(scene))
        files.put(scene.image, content)


def test_drawn_pictures_are_sent_unchanged_and_are_small_enough() -> None:
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


@pytest.mark.parametrize(("width", "height"), sample([(1024, 683), (2000, 1333)], gate=1))
def test_large_pictures_are_encoded_again_and_look_the_same(shapes: Dataset, width: int, height: int) -> None:
    original = noise(width, height)
    assert len(original) > 1_000_000
    replace_pictures(shapes, original)
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


def test_a_large_picture_is_encoded_once(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_pictures(shapes, noise(1024, 683))
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    first = picture_of(visitor).content
    monkeypatch.setattr(pictures, "light", lambda content: pytest.fail("made again"))
    assert picture_of(visitor).content == first


def test_a_picture_is_sent_even_if_the_disk_is_full(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_pictures(shapes, noise(1024, 683))
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()

    def full(name: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "put", full)
    assert picture_of(visitor).status_code == 200


def test_a_photograph_is_rotated_by_its_exif_orientation() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6  # orientation: a quarter turn to the right
    made = pictures.light(noise(900, 600, kind="JPEG", quality=100, exif=turned))
    with Image.open(io.BytesIO(made)) as image:
        assert image.width < image.height


@pytest.mark.parametrize("content", [b"no picture" * 30_000, noise(1024, 683)[:300_000]])
def test_a_broken_large_picture_gets_404(shapes: Dataset, content: bytes) -> None:
    replace_pictures(shapes, content)
    visitor = Visitor(study_of(shapes))
    visitor.to_questions()
    assert picture_of(visitor).status_code == 404


def test_a_picture_that_a_page_links_to_is_sent_without_a_database_query(
    shapes: Dataset, django_assert_num_queries: Any
) -> None:
    replace_pictures(shapes, noise(120, 80))
    visitor = Visitor(study_of(shapes, questions=4))
    visitor.to_questions()
    ahead = re.search(r'data-ahead="([^"]+)"', visitor.page)
    assert ahead is not None
    visitor.client.get(ahead[1])  # this process reads the vocabulary and the place of the picture only once
    with django_assert_num_queries(0):
        assert picture_of(visitor).status_code == visitor.client.get(ahead[1]).status_code == 200


def test_another_process_finds_the_same_picture(shapes: Dataset) -> None:
    replace_pictures(shapes, noise(120, 80))
    visitor = Visitor(study_of(shapes, questions=4))
    visitor.to_questions()
    named = picture_of(visitor)
    assert named.status_code == 200
    scene_cache._shown.clear()
    assert picture_of(visitor).content == named.content


def test_a_picture_address_with_the_secret_of_another_participant_gets_404(shapes: Dataset) -> None:
    study = study_of(shapes, questions=4)
    one, other = Visitor(study), Visitor(study)
    for visitor in (one, other):
        visitor.to_questions()
    found = re.search(r'<img src="(/s/[^/]+/)([^/]+)(/picture/[^"]+)"', one.page)
    theirs = re.search(r'<img src="/s/[^/]+/([^/]+)/', other.page)
    assert found is not None and theirs is not None and theirs[1] != found[2]
    assert one.client.get(found[1] + theirs[1] + found[3]).status_code == 404


def test_the_cache_of_picture_addresses_has_a_limit(shapes: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene_cache, "MOST", 3)
    split = shapes.splits.get(name="val")
    for number in range(20):
        scene_cache.remember(("code", str(number), "token"), split, 0)
        assert len(scene_cache._shown) <= 3
    assert scene_cache.scene_of(("code", "19", "token")) is not None
