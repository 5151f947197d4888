"""Two web servers with separate folders behind one balancer: each of them can answer every request."""

import html
import json
import re
import secrets
import urllib.request
from typing import Any

import pytest

from tests.faults.browsers import ACCOUNT, Browser, File
from tests.faults.stack import SLUG, Site
from tests.generation import small

SPEC: dict[str, Any] = {**small.SPEC, "splits": {"train": {"scenes": 12}}}  # with enough questions for charts
MESH = File("files", "wedge.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")


@pytest.fixture
def hosts(services_site: Site) -> list[Site]:
    """Give two hosts with separate folders that share database, Redis, bucket and secret key."""
    key = secrets.token_hex(20)
    services_site.environment["SECRET_KEY"] = key
    folder = services_site.folder.with_name("second")
    second = Site(
        "services",
        folder,
        services_site.environment | {"VAR_DIR": str(folder)},
        database=services_site.database,
        bucket=services_site.bucket,
    )
    return [services_site, second]


@pytest.mark.full
def test_two_hosts_serve_one_session_uploads_drafts_charts_and_pictures(hosts: list[Site]) -> None:
    first, second = hosts
    try:
        first.begin(SPEC)
        assert first.manage("work", "--dataset", SLUG).returncode == 0
        token = first.python(ACCOUNT).strip()
        for number, site in enumerate(hosts):
            site.start("web", name=f"web{number}")
        for site in hosts:
            site.wait_for_web("/health/ready/")
        browser = Browser(hosts)

        # A session that begins on one host is valid on the other host.
        assert browser.ask(0, f"/login/{token}/")[0] == 200
        assert browser.ask(1, f"/login/{token}/", {})[0] == 200
        assert all("Sign out" in browser.ask(host, "/")[1] for host in (0, 1))
        assert browser.ask(0, f"/login/{token}/")[0] == 410  # the link was used on the other host

        # An uploaded file and typed text of one host are used on the other host.
        data = {**SPEC, "vocabulary": {"shapes": {"wedge": {"solid": "mesh", "mesh": "wedge.obj"}}}}
        text = json.dumps(data)
        about = {"slug": "mine", "visibility": "private", "licence": "CC BY 4.0", "images": "on"}
        status, page = browser.ask(
            0, "/datasets/new/", {"shown": text, "spec": text, "action": "json", **about}, [MESH]
        )
        assert status == 200
        typed = re.search(r'<textarea[^>]*name="spec"[^>]*>(.*?)</textarea>', page, re.DOTALL)
        assert typed is not None
        text = html.unescape(typed[1])
        assert re.search(r'"mesh": "[0-9a-f]{64}"', text)
        sent = {"shown": text, "spec": text, "last": "json", "action": "create", **about}
        status, page = browser.ask(1, "/datasets/new/", sent)
        assert (status, "did not come" in page) == (200, False)
        assert first.ask("SELECT count(*) FROM generation_specfile") == [(1,)]

        # Pages, charts, pictures and files are the same on both hosts, although their folders are separate.
        paths = [f"/datasets/{SLUG}/train/?type=count", f"/datasets/{SLUG}/train/q/0/?step=1", f"/datasets/{SLUG}/"]
        for path in paths:
            assert [browser.ask(host, path)[0] for host in (0, 1)] == [200, 200], path
        chart = f"/datasets/{SLUG}/charts/types.svg"
        for host, site in enumerate(hosts):
            site.wait_until(lambda host=host: browser.ask(host, chart)[0] == 200, what="the chart is drawn")
        drawn = [browser.ask(host, chart)[1] for host in (0, 1)]
        assert drawn[0] == drawn[1] and "<svg" in drawn[0]
        files = [fetch(site, f"/api/v1/datasets/{SLUG}/splits/train/questions.jsonl.gz") for site in hosts]
        assert files[0] == files[1] and files[0].startswith(b"\x1f\x8b")
        assert len(list(first.folder.glob("cache/*/manifest.json"))) == 1  # the host's copy of the index
        assert len(list(second.folder.glob("cache/*/manifest.json"))) == 1

        # If one host goes away, the other host goes on.
        first.processes["web0"].kept = False
        first.kill("web0")
        assert "Sign out" in browser.ask(1, "/")[1]
        assert browser.ask(1, paths[0])[0] == 200
    finally:
        second.end()


def fetch(site: Site, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{site.port}{path}", timeout=60) as answer:
        content: bytes = answer.read()
        return content
