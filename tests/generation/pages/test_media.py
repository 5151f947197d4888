"""Pictures that are served under the site's own addresses."""

import io

import numpy as np
import pytest
from PIL import Image

from generation.browsing.pictures import picture_of, version_of
from generation.models import Dataset, Scene
from generation.storage import files
from generation.storage.pictures import name_of
from tests.generation.small import read_ids


def scene_of(dataset, split="train"):
    return Scene.objects.select_related("split__dataset").get(split__dataset=dataset, split__name=split, position=1)


def address_of(dataset, split="train"):
    scene = scene_of(dataset, split)
    return picture_of(scene, scene.split).address


def ids_address_of(dataset, split="train"):
    return f"/datasets/{dataset.slug}/{split}/scene/1/ids/{version_of(dataset)}.png"


def body_of(response):
    return b"".join(response.streaming_content)


def test_a_picture_may_be_cached_for_ever(client, shapes):
    response = client.get(address_of(shapes))
    assert Image.open(io.BytesIO(body_of(response))).size == (120, 80)
    assert response["Content-Type"] == "image/png"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_served_object_ids_are_the_stored_ones(client, shapes):
    served = np.asarray(Image.open(io.BytesIO(body_of(client.get(ids_address_of(shapes))))))
    assert np.array_equal(served, read_ids(scene_of(shapes)))


def test_proxies_do_not_cache_pictures_of_a_private_dataset(as_owner, private):
    assert as_owner.get(address_of(private))["Cache-Control"].startswith("private,")


def test_strangers_get_404_for_a_private_dataset(client, as_stranger, private):
    for who in (client, as_stranger):
        assert who.get(address_of(private)).status_code == 404
        assert who.get(ids_address_of(private)).status_code == 404


def test_a_withheld_split_shows_its_pictures_but_not_its_object_ids(client, as_stranger, as_owner, shapes):
    for who in (client, as_stranger):
        assert who.get(address_of(shapes, "test")).status_code == 200
        assert who.get(ids_address_of(shapes, "test")).status_code == 404
    assert as_owner.get(ids_address_of(shapes, "test")).status_code == 200


def test_another_dataset_of_the_same_name_has_other_addresses(client, shapes):
    address = address_of(shapes)
    Dataset.objects.filter(pk=shapes.pk).update(created="2020-01-01T00:00:00Z")
    assert client.get(address).status_code == 404
    shapes.refresh_from_db()
    assert address_of(shapes) != address


@pytest.mark.parametrize(
    "path", ["scene/1/0000.png", "scene/99/{version}.png", "scene/x/{version}.png", "scene/1/ids/0000.png"]
)
def test_an_unknown_picture_gets_404(client, shapes, path):
    version = version_of(shapes)
    assert client.get(f"/datasets/shapes/train/{path.format(version=version)}").status_code == 404


def test_a_picture_without_its_file_gets_404(client, shapes):
    scene = scene_of(shapes)
    Scene.objects.filter(pk=scene.pk).update(image="gone/away.png")
    assert client.get(address_of(shapes)).status_code == 404


def test_neither_address_nor_headers_reveal_the_name_of_the_file(client, shapes):
    scene, before = scene_of(shapes, "test"), address_of(shapes, "test")
    files.put("odd-name.png", files.get(scene.image))
    Scene.objects.filter(pk=scene.pk).update(image="odd-name.png")
    response = client.get(address_of(shapes, "test"))
    assert response.status_code == 200
    assert address_of(shapes, "test") == before
    assert "odd-name" not in str(response.headers)
    assert 'filename="test-1.png"' in response["Content-Disposition"]


def test_other_verbs_are_refused(client, shapes):
    assert client.post(address_of(shapes)).status_code == 405
    assert client.post(ids_address_of(shapes)).status_code == 405


def test_a_picture_needs_two_queries(client, shapes, django_assert_num_queries):
    address = address_of(shapes)
    with django_assert_num_queries(2):
        client.get(address)


# Sent by the proxy


@pytest.fixture
def with_proxy(settings):
    """Turn on the setting that makes the proxy send files."""
    settings.PROXY_SENDS_FILES = True


def small_address_of(dataset, split="train"):
    scene = scene_of(dataset, split)
    return picture_of(scene, scene.split, small=True).address


def test_the_proxy_is_told_which_file_to_send(client, shapes, with_proxy):
    stored = scene_of(shapes)
    for address, name in ((address_of(shapes), stored.image), (ids_address_of(shapes), stored.ids_image)):
        response = client.get(address)
        assert (response.status_code, response.content) == (200, b"")
        assert response["X-Accel-Redirect"] == f"/{name}"
        assert response["Content-Type"] == "image/png"
        assert response["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response["Content-Disposition"].startswith("inline; filename=")
        assert response["ETag"]


def test_small_pictures_are_sent_by_the_proxy_once_they_are_stored(client, shapes, with_proxy):
    files.drop(name_of(scene_of(shapes).image))
    first = client.get(small_address_of(shapes))
    again = client.get(small_address_of(shapes))
    assert "X-Accel-Redirect" not in first and Image.open(io.BytesIO(first.content)).format == "WEBP"
    assert again["X-Accel-Redirect"] == f"/{name_of(scene_of(shapes).image)}"
    assert (again.content, again["Content-Type"], again["ETag"]) == (b"", "image/webp", first["ETag"])


def test_special_characters_in_the_name_of_a_file_are_quoted(client, shapes, with_proxy):
    files.put("ein Bild? 50%.png", files.get(scene_of(shapes).image))
    Scene.objects.filter(pk=scene_of(shapes).pk).update(image="ein Bild? 50%.png")
    assert client.get(address_of(shapes))["X-Accel-Redirect"] == "/ein%20Bild%3F%2050%25.png"


def test_the_proxy_sends_no_picture_that_the_visitor_may_not_see(client, as_stranger, shapes, private, with_proxy):
    for address in (ids_address_of(shapes, "test"), address_of(private), ids_address_of(private)):
        for who in (client, as_stranger):
            response = who.get(address)
            assert response.status_code == 404
            assert "X-Accel-Redirect" not in response


def test_a_picture_without_its_file_gets_404_with_the_proxy_too(client, shapes, with_proxy):
    Scene.objects.filter(pk=scene_of(shapes).pk).update(image="gone/away.png")
    for address in (address_of(shapes), small_address_of(shapes)):
        response = client.get(address)
        assert response.status_code == 404
        assert "X-Accel-Redirect" not in response


def test_without_the_setting_the_proxy_sends_no_file(client, shapes):
    for address in (address_of(shapes), ids_address_of(shapes), small_address_of(shapes), small_address_of(shapes)):
        assert "X-Accel-Redirect" not in client.get(address)


def test_files_that_are_not_on_this_disk_are_sent_by_the_site(client, shapes, with_proxy, monkeypatch):
    monkeypatch.setattr(files, "local_path", lambda name: None)
    response = client.get(address_of(shapes))
    assert "X-Accel-Redirect" not in response
    assert Image.open(io.BytesIO(body_of(response))).size == (120, 80)


@pytest.mark.parametrize("address", [address_of, ids_address_of, small_address_of])
def test_a_browser_that_has_the_picture_gets_304(client, shapes, address):
    version = client.get(address(shapes))["ETag"]
    response = client.get(address(shapes), headers={"If-None-Match": version})
    assert (response.status_code, response.content, response["ETag"]) == (304, b"", version)
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert client.get(address(shapes), headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_known_version_does_not_reveal_that_a_picture_exists(client, shapes):
    address = ids_address_of(shapes, "test")
    for version in ("*", f'"{version_of(shapes)}"'):
        assert client.get(address, headers={"If-None-Match": version}).status_code == 404
