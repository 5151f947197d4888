"""The question on the front page comes from a public dataset and is never withheld."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.test import Client

from generation.models import Dataset, Question, Split
from tests.generation import small
from webapp import front_page_example
from webapp.front_page_example import example_for

pytestmark = pytest.mark.django_db
VISITOR = AnonymousUser()


@pytest.fixture(autouse=True)
def _any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_page_example, "STEPS", range(2, 30))
    cache.clear()


@pytest.fixture
def shapes() -> Dataset:
    return small.made()


def test_a_site_without_datasets_shows_a_drawing(client: Client) -> None:
    assert example_for(VISITOR) is None
    assert 'class="drawing"' in client.get("/").text


def test_the_front_page_shows_a_question_with_its_picture_and_steps(client: Client, shapes: Dataset) -> None:
    found = example_for(VISITOR)
    assert found is not None
    page = client.get("/").text
    assert found.shown.picture is not None
    assert found.shown.picture.address in page
    assert page.count('class="step-call"') == len(found.shown.rows)
    assert f'href="{found.question.get_absolute_url()}?step={found.player.current.number}"' in page  # type: ignore[union-attr]
    assert 'class="over"' in page
    assert 'class="drawing"' not in page


def test_the_example_has_the_largest_outlined_objects_and_stays_the_same(shapes: Dataset) -> None:
    first = example_for(VISITOR)
    assert first is not None
    split = first.question.split
    tried = [front_page_example._example(split, asked, user=VISITOR) for asked in front_page_example._readable(split)]
    sizes = [front_page_example._size_of_what_is_outlined(one) for one in tried if one is not None]
    assert front_page_example._size_of_what_is_outlined(first) == max(sizes) > 0
    again = example_for(VISITOR)
    assert again is not None
    assert again.question == first.question


def test_links_of_the_example_have_targets(client: Client, shapes: Dataset) -> None:
    found = example_for(VISITOR)
    assert found is not None
    for row in found.shown.rows:
        assert client.get(f"{found.question.get_absolute_url()}?step={row.number}").status_code == 200


@pytest.mark.parametrize("visibility", ["private", "link"])
def test_a_dataset_that_is_not_public_gives_no_example(client: Client, shapes: Dataset, visibility: str) -> None:
    Dataset.objects.update(visibility=visibility)
    assert example_for(VISITOR) is None
    assert "/datasets/shapes/" not in client.get("/").text


def test_a_withheld_split_gives_no_example(client: Client, shapes: Dataset) -> None:
    Split.objects.update(withheld=True, secret=small.SECRET, secret_sha256="0" * 64)
    assert example_for(VISITOR) is None
    page = client.get("/").text
    for question in Question.objects.all():
        assert question.text not in page


def test_the_page_has_no_example_if_files_are_missing(client: Client, shapes: Dataset) -> None:
    shutil.rmtree(Path(settings.MEDIA_ROOT, "datasets"))
    assert example_for(VISITOR) is None
    assert client.get("/").status_code == 200


def test_the_page_has_no_example_if_the_world_is_unknown(client: Client, shapes: Dataset) -> None:
    Dataset.objects.update(world="of-tomorrow")
    assert example_for(VISITOR) is None
    assert client.get("/").status_code == 200


def test_the_front_page_needs_few_queries(client: Client, shapes: Dataset, django_assert_max_num_queries: Any) -> None:
    client.get("/")
    with django_assert_max_num_queries(8):
        client.get("/")
