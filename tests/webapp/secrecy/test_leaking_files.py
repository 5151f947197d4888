"""Pictures reveal only their content, in all storages, although their files have names that reveal withheld data."""

import functools
from typing import Any

import pytest

from generation.browsing.pictures import version_of
from generation.models import Scene
from generation.storage import files
from tests import riddle_site
from tests.crawl import Reply, Request, reply_of
from tests.riddle_site import SECRETS, STRANGERS
from tests.services import S3

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

WAYS = (("GET", ()), ("HEAD", ()), ("GET", (("Range", "bytes=0-9"),)))


@pytest.fixture(params=["disk", "proxy", pytest.param("bucket", marks=pytest.mark.full)])
def kept(request: pytest.FixtureRequest, settings: Any) -> str:
    """Store files on disk, on disk with a proxy that sends them, or in a bucket; give the name of this way."""
    settings.PROXY_SENDS_FILES = request.param == "proxy"
    if request.param == "bucket":
        s3: S3 = request.getfixturevalue("s3")
        settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    return str(request.param)


@functools.cache
def request_pictures(kept: str, secret: str) -> tuple[dict[str, dict[str, Reply]], set[str]]:
    """Request each picture of the withheld split, kept in this way, as a stranger and as the owner.

    Return their answers, and the words that those to strangers may not contain.
    """
    with riddle_site.site(secret):
        scenes = Scene.objects.filter(split__dataset__slug="riddles", split__name="test").select_related(
            "split__dataset"
        )
        requests = [
            Request(method, address, headers)
            for scene in scenes
            for address in addresses(scene)
            for method, headers in WAYS
        ]
        replies = {}
        for who in (STRANGERS[-1], "owner"):
            client = riddle_site.browser(who)()
            replies[who] = {
                f"{one.method} {one.address} {one.headers}": apply_proxy(reply_of(client, one)) for one in requests
            }
        return replies, riddle_site.canaries()


def addresses(scene: Scene) -> list[str]:
    place = f"{scene.split.get_absolute_url()}scene/{scene.position}"
    version = version_of(scene.split.dataset)
    return [f"{place}/{version}.png", f"{place}/small/{version}.webp", f"{place}/ids/{version}.png"]


def apply_proxy(reply: Reply) -> Reply:
    """Return an answer as visitors get it, after the proxy has inserted the file that the site names."""
    headers = dict(reply.headers)
    sent = headers.pop("X-Accel-Redirect", "")
    return Reply(reply.status, tuple(headers.items()), files.get(sent.removeprefix("/")) if sent else reply.body)


def test_strangers_get_the_same_pictures_for_all_withheld_data(kept: str) -> None:
    replies, words = request_pictures(kept, SECRETS[0])
    first = replies[STRANGERS[-1]]
    assert [reply.status for reply in first.values()].count(200) == 4 * 2 * len(WAYS)
    assert [(way, word) for way, reply in first.items() for word in words if reply.contains(word)] == []
    assert request_pictures(kept, SECRETS[1])[0][STRANGERS[-1]] == first


def test_only_the_owner_gets_object_ids_and_they_depend_on_withheld_data(kept: str) -> None:
    first, second = (request_pictures(kept, secret)[0]["owner"] for secret in SECRETS)
    assert {reply.status for reply in first.values()} == {200}
    assert {way.split("/")[-2] for way in first if first[way].body != second[way].body} == {"ids"}
