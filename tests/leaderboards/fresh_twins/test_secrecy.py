"""The secret seed of a twin and its answers: no route, file or log reveals them to strangers and submitters."""

import base64
import gzip
import json
import logging
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from generation.models import Question, Split
from generation.splits.withheld_answers import open_answers
from tests.crawl import Browser, PlainClient, Replies, crawl
from tests.leaderboards.disclosure.test_disclosure_budget import with_share_right
from tests.leaderboards.sent import submitted
from webapp.leaderboards.fresh_twins.suite import MadeTwins
from webapp.leaderboards.models import Method
from webapp.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

VARIANTS = (("POST", {}), ("GET", {"Accept": "application/json"}))
QUERIES = ("?split=val", "?answer=yes", "?q=secret")


def forms_of(secret: str) -> list[bytes]:
    """Return the secret as it may be written: hexadecimal in both cases, as a number, in base 64, as bytes."""
    raw = bytes.fromhex(secret)
    numbers = {int.from_bytes(raw, order) for order in ("little", "big")}
    texts = [secret, secret.upper(), *map(str, numbers), base64.b64encode(raw).decode().rstrip("="), repr(raw)[2:-1]]
    return [*(text.encode() for text in texts), base64.urlsafe_b64encode(raw).rstrip(b"="), raw]


def browser_of(user: User | None) -> Browser:
    def new() -> PlainClient:
        client = PlainClient(raise_request_exception=False)
        if user is not None:
            client.force_login(user)
        return client

    return new


def crawled_as(user: User | None, twins: list[Split]) -> Replies:
    values = {
        "slug": [twins[0].dataset.slug, "fresh-twins-of-scored-val"],
        "name": ["val"],
        "split": ["val"],
        "number": ["0"],
        "position": ["0"],
        "kind": ["csv", "json"],
    }
    return crawl(browser_of(user), values=values, queries=QUERIES, variants=VARIANTS, most=1, most_links=1)


@pytest.mark.full  # the gate looks for the secrets of withheld splits, as those of twins are, in the site of riddles
@pytest.mark.parametrize("who", ["visitor", "submitter"])
def test_no_route_and_no_log_reveals_the_secret(
    made: MadeTwins, twins: list[Split], published: Method, member: User, who: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.DEBUG)
    submitted(published, twins[0], with_share_right(twins[0], 0.5))
    replies = crawled_as(member if who == "submitter" else None, twins)
    seen = {request.address for request, reply in replies.items() if reply.status == 200}
    slug = twins[0].dataset.slug
    assert {f"/datasets/{slug}/", f"/datasets/{slug}/spec.json", f"/datasets/{slug}/val/", f"/leaderboards/{slug}/val/",
            "/suites/fresh-twins-of-scored-val/", f"/api/v1/datasets/{slug}/"} <= seen  # fmt: skip
    for twin in twins:
        for form in forms_of(twin.secret):
            assert [request.address for request, reply in replies.items() if form in reply.body] == []
            assert form.decode(errors="replace") not in caplog.text
    hashes = [address for address, reply in pages(replies).items() if twins[0].secret_sha256 in reply]
    assert f"/datasets/{slug}/" in hashes


def pages(replies: Replies) -> dict[str, str]:
    return {request.address: reply.body.decode(errors="replace") for request, reply in replies.items()}


@pytest.mark.full
def test_the_crawler_finds_the_secret_when_it_is_shown(made: MadeTwins, twins: list[Split]) -> None:
    assert open_answers(twins[0])
    found = pages(crawled_as(None, twins))
    named = {address for address, page in found.items() if twins[0].secret in page}
    assert f"/datasets/{twins[0].dataset.slug}/" in named
    assert not any(twins[1].secret in page for page in found.values())


def test_only_the_owner_and_staff_see_the_secret_on_the_page(
    made: MadeTwins, twins: list[Split], as_member: Client, as_researcher: Client, admin_client: Client
) -> None:
    address = twins[0].dataset.get_absolute_url()
    found = [twins[0].secret in client.get(address).content.decode()
             for client in (Client(), as_member, as_researcher, admin_client)]  # fmt: skip
    assert found == [False, False, False, True]


def test_the_questions_of_a_twin_can_be_downloaded_but_not_its_answers(
    made: MadeTwins, twins: list[Split], as_member: Client
) -> None:
    base = f"/api/v1/datasets/{twins[0].dataset.slug}/splits/val/"
    links = as_member.get(base).json()
    response = as_member.get(links["questions_file"])
    content = b"".join(response.streaming_content) if response.streaming else response.content
    text = gzip.decompress(content).decode()
    lines = text.splitlines()
    asked = Question.objects.filter(split=twins[0]).order_by("position")
    assert len(lines) == twins[0].questions and asked[0].text in lines[0]
    assert not re.search(r'"(answer|program|scene)":\s*["\[{]', text)
    template = as_member.get(f"/leaderboards/{twins[0].dataset.slug}/val/template.jsonl")
    assert template.status_code == 200


@pytest.mark.parametrize("more", [[], ["--withheld"]])
def test_an_exported_twin_can_be_verified(made: MadeTwins, twins: list[Split], tmp_path: Path, more: list[str]) -> None:
    slug, folder = twins[0].dataset.slug, tmp_path / "out"
    call_command("export", slug, "--format", "clevr", "--output", str(folder), *more, stderr=StringIO())
    output = StringIO()
    call_command("verify", "--folder", str(folder), "--format", "clevr", "--json", stdout=output, stderr=StringIO())
    assert json.loads(output.getvalue())["findings"] == []
    files = [path for path in folder.rglob("*") if path.is_file()]
    written = b"".join(gzip.decompress(one.read_bytes()) if one.suffix == ".gz" else one.read_bytes() for one in files)
    assert twins[0].secret_sha256.encode() in written
    assert (twins[0].secret.encode() in written) == bool(more)
