"""Many requests at once to a running web server.

Of 50 posts to a withheld split, three are accepted and scored. Of ten uploads to an open split, none is lost.
"""

import http.client
import json
import threading
import uuid
from collections import Counter
from typing import Any

import pytest

from tests.faults.stack import SLUG, Site
from tests.generation import small

POSTS, UPLOADS = 50, 10
BEGIN = """
from generation.making import dataset_jobs as jobs
from generation.storage.split_index import SplitIndex
from generation.models import Split
from tests.leaderboards.sent import approve
from webapp.leaderboards.models import Method
from webapp.models import ApiToken, User
made = jobs.start(given["spec"], slug=given["slug"], visibility="public", images=False, secrets=given["secrets"])
jobs.work(dataset=made)
owner = User.objects.create_user("mira", "mira@example.org", "x")
method = Method.objects.create(name="Many", owner=owner)
answers = {}
for split in Split.objects.for_browse().filter(dataset=made):
    index = SplitIndex.open(split)
    approve(split, owner)
    answers[split.name] = [index.answer_values[code] for code in index.answers.tolist()]
print(json.dumps({"token": ApiToken.objects.make(owner, "here"), "method": method.pk, "answers": answers}), end="")
"""


def post_predictions(
    site: Site, known: dict[str, Any], split: str, *, run: str, replies: list[tuple[int, Any]]
) -> None:
    """Post a file of predictions as `curl -F` does, and append the site's answer to `replies`."""
    boundary = uuid.uuid4().hex
    fields = {"split": f"{SLUG}/{split}", "method": str(known["method"]), "run": run}
    head = f"--{boundary}\r\nContent-Disposition: form-data; name="
    parts = [f'{head}"{name}"\r\n\r\n{text}' for name, text in fields.items()]
    content = "\n".join([*known["answers"][split], ""])
    parts.append(f'{head}"file"; filename="a.txt"\r\n\r\n{content}')
    body = "\r\n".join([*parts, f"--{boundary}--", ""]).encode()
    headers = {"Authorization": f"Bearer {known['token']}", "Content-Type": f"multipart/form-data; boundary={boundary}"}
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=120)
    connection.request("POST", "/api/v1/submissions/", body, headers)
    response = connection.getresponse()
    replies.append((response.status, json.loads(response.read())))
    connection.close()


def post_all_at_once(site: Site, known: dict[str, Any], split: str, *, count: int) -> list[tuple[int, Any]]:
    replies: list[tuple[int, Any]] = []
    threads = [
        threading.Thread(
            target=post_predictions, args=(site, known, split), kwargs={"run": str(number), "replies": replies}
        )
        for number in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies


def states(site: Site) -> Counter[str]:
    rows = site.ask("SELECT state FROM leaderboards_submission WHERE filename <> ''")
    return Counter(str(state) for (state,) in rows)


@pytest.mark.full
def test_fifty_posts_score_three_and_ten_uploads_lose_nothing(site: Site) -> None:
    splits = {"train": {"scenes": 4}, "val": {"scenes": 10}, "test": {"scenes": 10, "withheld": True}}
    spec = {**small.SPEC, "splits": splits}
    known = json.loads(site.python(BEGIN, {"spec": spec, "slug": SLUG, "secrets": {"test": "0f" * 16}}))
    site.environment["WEB_PROCESSES"] = "2"
    site.start("web")
    site.wait_for_web("/health/web/")
    replies = post_all_at_once(site, known, "test", count=POSTS)
    assert Counter(status for status, _ in replies) == {202: 3, 429: POSTS - 3}, replies[:3]
    assert all("error" in body for status, body in replies if status == 429)
    uploads = post_all_at_once(site, known, "val", count=UPLOADS)
    assert Counter(status for status, _ in uploads) == {202: UPLOADS}
    site.start("default")
    site.wait_until(lambda: set(states(site)) == {"done"}, what="every submission to be scored")
    assert states(site) == {"done": 3 + UPLOADS}
    assert post_all_at_once(site, known, "test", count=1)[0][0] == 429
    sent = "SELECT id FROM leaderboards_submission WHERE filename <> ''"
    rows = site.ask(f'SELECT "right", n FROM leaderboards_score WHERE submission_id IN ({sent})')
    assert len(rows) == 3 + UPLOADS and all(right == n for right, n in rows)
