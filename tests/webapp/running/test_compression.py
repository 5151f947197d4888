"""Texts are sent compressed, but pages with secrets are not."""

import gzip

import pytest
from django.conf import settings
from django.test import Client

from generation.models import Dataset, Split
from tests.generation import small
from webapp.models import User

pytestmark = pytest.mark.django_db
GZIP = {"Accept-Encoding": "gzip, br"}


@pytest.fixture
def shapes(db: None) -> Dataset:
    return small.made()


@pytest.mark.parametrize("address", ["/docs/", f"{settings.STATIC_URL}app.css", f"{settings.STATIC_URL}js/keys.js"])
def test_a_text_is_sent_compressed_to_clients_that_accept_it(client: Client, address: str) -> None:
    plain, packed = client.get(address), client.get(address, headers=GZIP)
    assert plain.get("Content-Encoding") is None
    assert packed["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed["Vary"]
    assert len(packed.getvalue()) < len(plain.getvalue()) / 2


def test_a_compressed_page_has_the_same_content(client: Client) -> None:
    assert gzip.decompress(client.get("/docs/spec/", headers=GZIP).content) == client.get("/docs/spec/").content


def test_the_length_of_a_compressed_page_is_random(client: Client) -> None:
    assert len({len(client.get("/docs/", headers=GZIP).content) for _ in range(40)}) > 5


def test_json_and_drawings_are_compressed_and_pictures_are_not(client: Client, shapes: Dataset) -> None:
    assert client.get("/api/v1/datasets/shapes/", headers=GZIP)["Content-Encoding"] == "gzip"
    scene = client.get("/datasets/shapes/train/").context["groups"][0]
    assert scene.picture is not None
    assert "Content-Encoding" not in client.get(scene.picture.address, headers=GZIP)


def test_ranges_of_files_are_not_compressed(client: Client, shapes: Dataset) -> None:
    address = f"{settings.STATIC_URL}app.css"
    part = client.get(address, headers=GZIP | {"Range": "bytes=0-999"})
    assert (part.status_code, len(part.getvalue()), part.get("Content-Encoding")) == (206, 1000, None)


def test_a_page_with_a_secret_is_not_compressed(client: Client, shapes: Dataset) -> None:
    owner = User.objects.create_user("owner")
    Dataset.objects.filter(pk=shapes.pk).update(owner=owner)
    assert Split.objects.filter(dataset=shapes, withheld=True).exclude(secret="").exists()
    assert client.get("/datasets/shapes/", headers=GZIP)["Content-Encoding"] == "gzip"
    client.force_login(owner)
    page = client.get("/datasets/shapes/", headers=GZIP)
    assert "Content-Encoding" not in page
    assert "no-transform" in page["Cache-Control"]
    token = client.post("/account/tokens/", {"name": "mine"}, headers=GZIP)
    assert token.context["token"]
    assert "Content-Encoding" not in token
