"""Pictures under our own address."""

import io

import numpy as np
import pytest
from PIL import Image

from generation import files
from generation.models import Dataset, Scene
from generation.pictures import picture_of, read_ids, version_of


def scene_of(dataset, split="train"):
    return Scene.objects.select_related("split__dataset").get(split__dataset=dataset, split__name=split, position=1)


def address_of(dataset, split="train"):
    scene = scene_of(dataset, split)
    return picture_of(scene, scene.split).address


def ids_address_of(dataset, split="train"):
    return f"/datasets/{dataset.slug}/{split}/scene/1/ids/{version_of(dataset)}.png"


def body_of(response):
    return b"".join(response.streaming_content)


def test_a_picture_is_served_to_be_kept_for_ever(client, shapes):
    response = client.get(address_of(shapes))
    assert Image.open(io.BytesIO(body_of(response))).size == (120, 80)
    assert response["Content-Type"] == "image/png"
    assert response["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response["X-Content-Type-Options"] == "nosniff"


def test_object_ids_are_those_stored(client, shapes):
    served = np.asarray(Image.open(io.BytesIO(body_of(client.get(ids_address_of(shapes))))))
    assert np.array_equal(served, read_ids(scene_of(shapes)))


def test_proxies_do_not_keep_what_is_not_public(as_owner, private):
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
def test_what_is_not_there_is_404(client, shapes, path):
    version = version_of(shapes)
    assert client.get(f"/datasets/shapes/train/{path.format(version=version)}").status_code == 404


def test_a_picture_that_is_lost_is_404(client, shapes):
    scene = scene_of(shapes)
    Scene.objects.filter(pk=scene.pk).update(image="gone/away.png")
    assert client.get(address_of(shapes)).status_code == 404


def test_neither_address_nor_headers_tell_the_name_of_the_file(client, shapes):
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
