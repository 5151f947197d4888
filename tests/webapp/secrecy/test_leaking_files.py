"""Pictures reveal only their content, in all storages, although their files have names that reveal withheld data."""

import functools
from typing import Any, NamedTuple

import pytest
from django.test import override_settings

from generation.browsing.pictures import version_of
from generation.models import Scene
from generation.storage import files
from tests import riddle_site
from tests.crawl import Reply, Request, reply_of
from tests.riddle_site import SECRETS, STRANGERS
from tests.services import S3

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

ON_DISK = ("disk", "proxy")
WAYS = (("GET", ()), ("HEAD", ()), ("GET", (("Range", "bytes=0-9"),)))


@pytest.fixture(params=["disk", "proxy", pytest.param("bucket", marks=pytest.mark.full)])
def kept(request: pytest.FixtureRequest, settings: Any) -> str:
    """Store files on disk, on disk with a proxy that sends them, or in a bucket; give the name of this way."""
    if request.param == "bucket":
        s3: S3 = request.getfixturevalue("s3")
        settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    return str(request.param)


Replies = dict[str, Reply]


class Answers(NamedTuple):
    """The answers to a stranger and to the owner, by the way in which files are sent, and the withheld words."""

    stranger: dict[str, Replies]
    owner: dict[str, Replies]
    words: set[str]


@functools.cache
def request_pictures(ways: tuple[str, ...], secret: str) -> Answers:
    """Request each picture of the withheld split as a stranger and as the owner; all ways have the same storage."""
    with riddle_site.site(secret):
        stranger, owner = ({way: request_as(who, way) for way in ways} for who in (STRANGERS[-1], "owner"))
        return Answers(stranger, owner, riddle_site.canaries())


def request_as(who: str, way: str) -> Replies:
    scenes = Scene.objects.filter(split__dataset__slug="riddles", split__name="test").select_related("split__dataset")
    requests = [
        Request(method, address, headers)
        for scene in scenes
        for address in addresses(scene)
        for method, headers in WAYS
    ]
    client = riddle_site.browser(who)()
    with override_settings(PROXY_SENDS_FILES=way == "proxy"):
        return {f"{one.method} {one.address} {one.headers}": apply_proxy(reply_of(client, one)) for one in requests}


def answers_of(kept: str) -> tuple[Answers, Answers]:
    """Return the answers of the two sites that keep files in this way."""
    first, second = (request_pictures(("bucket",) if kept == "bucket" else ON_DISK, secret) for secret in SECRETS)
    return first, second


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
    first, second = answers_of(kept)
    replies = first.stranger[kept]
    assert [reply.status for reply in replies.values()].count(200) == 4 * 2 * len(WAYS)
    assert [(way, word) for way, reply in replies.items() for word in first.words if reply.contains(word)] == []
    assert second.stranger[kept] == replies


def test_only_the_owner_gets_object_ids_and_they_depend_on_withheld_data(kept: str) -> None:
    first, second = (answers.owner[kept] for answers in answers_of(kept))
    assert {reply.status for reply in first.values()} == {200}
    assert {way.split("/")[-2] for way in first if first[way].body != second[way].body} == {"ids"}
