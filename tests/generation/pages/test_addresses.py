"""Malformed addresses get a page that says what is wrong, never a server error."""

import re

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generation.browsing.pictures import version_of
from generation.models import Scene
from tests.proof import size

TRAIN, TEST = "/datasets/shapes/train/", "/datasets/shapes/test/"
NAMES = ["type", "group", "template", "answer", "length", "objects", "length.from", "length.to", "q", "page"]
OWN = ["step", "ask", "show", "present", "list", "choose", "then"]
VALUES = st.one_of(
    st.sampled_from(["", "1", "0", "3..9", "..", "5..", "count", "yes", "3,1", "the", "-1", "1e9", "²", "x" * 10_000]),
    st.sampled_from(["9" * 5000, "0" * 5000, "\0", "\ud7ff", "%", "&", "<script>", "' OR 1=1 --", "١٢", "null"]),
    st.text(max_size=20),
    st.integers(-(10**12), 10**12).map(str),
)
QUERIES = st.lists(st.tuples(st.sampled_from([*NAMES, *OWN, "nothing", ""]) | st.text(max_size=8), VALUES), max_size=6)


def addresses(dataset):
    version = version_of(dataset)
    places = (f"{version}.png", f"small/{version}.webp", f"ids/{version}.png")
    return [TRAIN, f"{TRAIN}q/5/", *(f"{TRAIN}scene/1/{place}" for place in places)]


@pytest.mark.parametrize("base", [TRAIN, TEST, f"{TRAIN}q/5/", f"{TEST}q/1/"])
@given(query=QUERIES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=size(60, least=15), deadline=None)
def test_any_query_gets_an_answer_or_a_message(shapes, base, query):
    """Names come in any order and may have several values; the client encodes them."""
    pairs = {}
    for name, value in query:
        pairs.setdefault(name, []).append(value)
    client = Client(raise_request_exception=True)
    response = client.get(base, pairs)
    assert response.status_code in (200, 302, 400, 404)
    if response.status_code in (400, 404):
        assert re.search("[Ee]xpected|withheld", response.content.decode())


@pytest.mark.parametrize("verb", ["post", "put", "patch", "delete", "options"])
def test_wrong_verbs_get_405(client, shapes, verb):
    for address in addresses(shapes):
        response = getattr(client, verb)(address)
        assert response.status_code == 405
        assert response["Allow"] == "GET, HEAD"


def test_head_is_answered(client, shapes):
    for address in addresses(shapes):
        assert client.head(address).status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        "?page=999999999",
        "?page=9999999999",
        "?type=count&page=2",
        "?%00=1",
        "?q=%ED%A0%80",
        "?type=count%00",
        "?=1",
        "?list=99",
        "?choose=99",
        "?choose=x&list=3",
        "?then=nothing",
        "?then=step",
        "?list=" + ",".join(["3"] * 600),
        "?" + "&".join(["choose=1"] * 900) + "&list=²",
        "?step=1",
        "?" + "&".join(f"x{number}=1" for number in range(900)),
    ],
)
def test_a_list_refuses_an_invalid_query_with_a_message(client, shapes, query):
    response = client.get(TRAIN + query)
    assert response.status_code in (400, 404) or query == "?q=%ED%A0%80"
    assert re.search("[Ee]xpected", response.content.decode()) or response.status_code == 200


def test_too_many_parameters_are_refused(client, shapes):
    query = "?" + "&".join(f"x{number}=1" for number in range(1500))
    for address in (TRAIN, f"{TRAIN}q/5/"):
        assert client.get(address + query).status_code == 400


@pytest.mark.parametrize("path", ["scene/999999999/small/x.webp", "scene/1/small/x.webp", "scene/1/small/.webp"])
def test_missing_pictures_get_404(client, shapes, path):
    assert client.get(TRAIN + path).status_code == 404


def test_a_scene_without_a_picture_has_no_small_picture(client, shapes):
    Scene.objects.filter(split__dataset=shapes, split__name="train", position=1).update(image="", width=0, height=0)
    assert client.get(f"{TRAIN}scene/1/small/{version_of(shapes)}.webp").status_code == 404
