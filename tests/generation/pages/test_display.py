"""How pages show a world: small pictures are enlarged with each pixel as a square, and people get an instruction."""

import io
import re
from collections.abc import Iterator

import numpy as np
import pytest
from django.test import Client
from PIL import Image
from pytest_django.plugin import DjangoDbBlocker

from annotations.models import Study
from generation.browsing.outlines import svg_path_of
from generation.engine.worlds import REGISTRY
from generation.making import dataset_jobs
from generation.models import Dataset
from generation.storage.pictures import shrunk
from tests.annotations.visitors import Visitor, study_of
from tests.worlds import marbles

SHOWN = f'class="crisp" width="{36 * 8}" height="{4 * 8}"'
ASKED = "Count the marbles of the row."


@pytest.fixture(scope="module")
def key(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[int]:
    """Give the primary key of a dataset of rows of marbles, whose pictures are 36 pixels wide."""
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock():
        patch.setitem(REGISTRY, marbles.NAME, marbles.WHERE)
        spec = {"world": marbles.NAME, "splits": {"train": {"scenes": 6}, "val": {"scenes": 3}}}
        dataset = dataset_jobs.start(spec, slug="rows", visibility="public", images=True)
        dataset_jobs.work(dataset=dataset)
        yield dataset.pk
        Study.objects.filter(split__dataset=dataset).delete()
        Dataset.objects.filter(pk=dataset.pk).delete()


@pytest.fixture
def rows(key: int, db: None) -> Dataset:
    """Give the dataset of rows of marbles."""
    dataset = Dataset.objects.get(pk=key)
    assert dataset.state == Dataset.State.COMPLETE, dataset.error
    return dataset


@pytest.mark.parametrize(
    "address", ["/datasets/", "/datasets/rows/", "/datasets/rows/train/", "/datasets/rows/val/q/1/"]
)
def test_every_page_enlarges_each_pixel_to_a_square(client: Client, rows: Dataset, address: str) -> None:
    pictures = re.findall(r'<img src="/datasets/rows/[^>]*>', client.get(address).text)  # the list also has others
    assert pictures
    assert all(SHOWN in picture for picture in pictures)


def test_smooth_pictures_are_shown_in_their_own_size(client: Client, shapes: Dataset) -> None:
    page = client.get("/datasets/shapes/train/").text
    assert 'width="120" height="80"' in page and "crisp" not in page


def test_outlines_follow_the_pixels(client: Client, rows: Dataset) -> None:
    page = client.get("/datasets/rows/val/q/1/?step=0").text
    assert 'viewBox="0 0 36 4"' in page
    assert 'd="M0 0L1 0L2 0L3 0L4 0L4 1' in page


def test_an_exact_outline_has_every_corner_of_the_mask() -> None:
    assert svg_path_of(np.ones((1, 2), bool), smooth=False) == "M0 0L1 0L2 0L2 1L1 1L0 1Z"


def test_small_versions_of_tiny_pictures_change_no_pixel() -> None:
    rgb = np.random.default_rng(3).integers(0, 256, (64, 64, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, "PNG")
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(shrunk(file.getvalue())))), rgb)


def test_a_question_shows_the_instruction_for_people(client: Client, rows: Dataset) -> None:
    assert ASKED in client.get("/datasets/rows/val/q/1/").text


def test_participants_see_enlarged_pictures_and_the_instruction(rows: Dataset) -> None:
    visitor = Visitor(study_of(rows, questions=4, practice=1))
    visitor.to_questions()
    page = visitor.look()
    assert SHOWN in page
    assert ASKED in page
    feedback = visitor.answer()
    assert SHOWN in feedback and ASKED in feedback


def test_an_attention_item_is_shown_without_the_instruction(rows: Dataset) -> None:
    visitor = Visitor(study_of(rows, questions=4, attention=1))
    page = visitor.to_questions()
    while "please press" not in page:
        page = visitor.answer()
    assert ASKED not in page
