"""Small pictures: made once, stored, and small enough for a page of fifty."""

import io
import re
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from PIL import Image

from generation.browsing.pictures import picture_of, strips
from generation.browsing.sidebar import PER_PAGE
from generation.models import Dataset, Scene
from generation.storage import files
from generation.storage.pictures import name_of, shrunk
from tests.generation import small

MB = 1_000_000


def scene_of(dataset, split="train"):
    return Scene.objects.select_related("split__dataset").get(split__dataset=dataset, split__name=split, position=1)


def address_of(dataset, split="train"):
    scene = scene_of(dataset, split)
    return picture_of(scene, scene.split, small=True).address


def test_a_small_picture_is_webp_and_may_be_cached_for_ever(client, shapes):
    response = client.get(address_of(shapes))
    image = Image.open(io.BytesIO(response.content))
    assert (image.format, image.size) == ("WEBP", (120, 80))
    assert response["Content-Type"] == "image/webp"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"


def test_a_small_picture_is_made_once(client, shapes, monkeypatch):
    first = client.get(address_of(shapes)).content
    assert files.get(name_of(scene_of(shapes).image)) == first
    monkeypatch.setattr("generation.storage.pictures.shrunk", lambda picture: pytest.fail("made again"))
    assert client.get(address_of(shapes)).content == first


def test_wide_pictures_are_shrunk_and_keep_their_shape():
    file = io.BytesIO()
    Image.new("RGB", (1024, 512), "red").save(file, "PNG")
    assert Image.open(io.BytesIO(shrunk(file.getvalue()))).size == (480, 240)


def test_a_small_picture_is_sent_even_if_the_disk_is_full(client, shapes, monkeypatch):
    default_storage.delete(name_of(scene_of(shapes).image))

    def full(name, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "put", full)
    assert client.get(address_of(shapes)).status_code == 200


@pytest.mark.parametrize("content", [None, b"no picture"])
def test_a_missing_or_broken_picture_gets_404(client, shapes, content):
    name = f"broken/{'lost' if content is None else 'broken'}.png"
    if content is not None:
        files.put(name, content)
    Scene.objects.filter(pk=scene_of(shapes).pk).update(image=name)
    assert client.get(address_of(shapes)).status_code == 404


def test_strangers_get_404_for_a_private_dataset(client, as_stranger, as_owner, private):
    address = address_of(private)
    for who in (client, as_stranger):
        assert who.get(address).status_code == 404
    assert as_owner.get(address)["Cache-Control"].startswith("private,")


def test_small_pictures_of_a_withheld_split_are_shown(client, shapes):
    assert client.get(address_of(shapes, "test")).status_code == 200


@pytest.mark.parametrize("path", ["1/small/0000.webp", "99/small/{version}.webp", "x/small/{version}.webp"])
def test_an_unknown_small_picture_gets_404(client, shapes, path):
    version = address_of(shapes).rpartition("/")[2].removesuffix(".webp")
    assert client.get(f"/datasets/shapes/train/scene/{path.format(version=version)}").status_code == 404


def test_other_verbs_are_refused(client, shapes):
    assert client.post(address_of(shapes)).status_code == 405


def test_lists_show_small_pictures_and_questions_show_full_ones(client, shapes):
    assert all(
        source.endswith(".webp")
        for source in re.findall(r'<img src="([^"]+)"', client.get("/datasets/shapes/train/").content.decode())
    )
    assert ".png" in client.get("/datasets/shapes/train/q/5/").content.decode()


def test_small_pictures_are_deleted_with_their_dataset(client, db):
    from generation.making.deletion import remove

    dataset = small.made("passing", splits={"train": {"scenes": 2}})
    name = name_of(scene_of(dataset).image)
    client.get(address_of(dataset))
    assert default_storage.exists(name)
    remove(dataset)
    assert not default_storage.exists(name)


@pytest.mark.full
@pytest.mark.slow
def test_a_page_of_fifty_questions_with_fifty_pictures_stays_under_one_megabyte(client, db):
    """The pictures have full size and one sample per pixel; the noise makes their files larger than usual."""
    small.made(
        "many",
        splits={"train": {"scenes": PER_PAGE}},
        questions={"per_scene": 2},
        images={"width": 480, "height": 320, "samples": 1},
    )
    split = Dataset.objects.get(slug="many").splits.get()
    assert split.questions == 2 * PER_PAGE
    pages = [client.get(f"/datasets/many/train/?page={number}").content for number in (1, 2)]
    addresses = {page: re.findall(r'<img src="([^"]+)"', page.decode()) for page in pages}
    assert sum(map(len, addresses.values())) == PER_PAGE
    pictures = sum(len(client.get(address).content) for page in pages for address in addresses[page])
    assert pictures > PER_PAGE * 500
    assert pictures + max(map(len, pages)) + own_files(pages[0]) < MB


def own_files(page: bytes) -> int:
    """Return the size in bytes of all style sheets and scripts that a page links to."""
    from django.contrib.staticfiles import finders

    names = set(re.findall(r'(?:src|href)="/static/[0-9a-f]{16}/([^"]+)"', page.decode()))
    found = [finders.find(name) for name in sorted(names)]
    assert len(found) > 3
    return sum(Path(path).stat().st_size for path in found)


def test_strips_have_small_pictures(shapes, django_user_model):
    from django.contrib.auth.models import AnonymousUser

    strip = strips([shapes], user=AnonymousUser(), pictures=3)[shapes.pk]
    assert len(strip) == 3
    assert all(picture.address.endswith(".webp") for picture in strip)
