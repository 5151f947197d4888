"""A long generation does not block others: short datasets, previews and housekeeping go on."""

import urllib.error
import urllib.parse
import urllib.request
from collections import Counter

import pytest

from generation.specs.editor import text_of
from tests.faults.stack import PATIENCE, SPEC, Site
from tests.generation import small

LONG = {**SPEC, "scenes_per_chunk": 10, "splits": {"train": {"scenes": 4000}}}  # 400 batches; only a few are made
SHORT = {**SPEC, "scenes_per_chunk": 10, "splits": {"train": {"scenes": 20}}}
FIVE_JOBS = {**SPEC, "scenes_per_chunk": 5, "splits": {"train": {"scenes": 20}}}
MANY = 30
TOKEN = "t" * 32
SESSION = """
from datetime import timedelta
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import Group
from django.contrib.sessions.backends.db import SessionStore
from generation.access import RESEARCHERS
from webapp.models import User
user = User.objects.create_user("ada")
user.groups.add(Group.objects.get_or_create(name=RESEARCHERS)[0])
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
old = SessionStore()
old.set_expiry(timedelta(days=-1))
old.save()
print(session.session_key, old.session_key)
"""
TIDY = """
from generation.models import Heartbeat
Heartbeat.objects.filter(name__startswith="housekeeping").delete()  # so it is due now
"""
BEGIN_MANY = """
from generation.making import dataset_jobs as jobs
for number in range(given["count"]):
    jobs.start(given["spec"], slug=f"rows-{number}", images=False)
"""


@pytest.fixture
def busy(site: Site) -> Site:
    """Give a running site with a generation that takes minutes."""
    site.environment.update(FAULTS_PACE="0.05", FAULTS_LOOK="1")
    site.begin(LONG, slug="long", images=False)
    site.start("generation", "default", "web")
    site.wait_until(lambda: site.jobs("long") >= 2, what="the first batches")
    return site


@pytest.mark.full
def test_nothing_waits_behind_a_long_generation(busy: Site) -> None:
    busy.wait_for_web()
    session, old = busy.python(SESSION).split()
    for slug in ("second", "third"):
        busy.begin(SHORT, slug=slug, images=False)
    busy.python(TIDY)
    for slug in ("second", "third"):
        assert busy.wait_for_end(slug).state == "complete"
    query = "SELECT session_key FROM django_session WHERE session_key = %s"
    busy.wait_until(lambda: not busy.ask(query, old), what="the chore on the queue default")
    busy.wait_until(lambda: ask_for_preview(busy, session) == 200, what="a preview")
    assert busy.state("long").state == "making"
    assert busy.jobs("long", state="waiting") > 200
    begun = "SELECT count(*) FROM generation_job WHERE dataset_id = %s AND started > %s AND started < %s"
    for slug in ("second", "third"):
        [(created, completed)] = busy.ask("SELECT created, completed FROM generation_dataset WHERE slug = %s", slug)
        [(long,)] = busy.ask("SELECT id FROM generation_dataset WHERE slug = %s", "long")
        [(meanwhile,)] = busy.ask(begun, long, created, completed)
        assert meanwhile < 100, f"{slug} waited for {meanwhile} batches of another dataset"


def ask_for_preview(site: Site, session: str) -> int:
    """Ask for a preview and return the status of the answer, or 0 if it has no picture.

    The status is 400 if a busy machine was too slow for the preview.
    """
    spec = text_of({key: value for key, value in small.SPEC.items() if key != "title"})
    fields = {"csrfmiddlewaretoken": TOKEN, "action": "preview", "shown": spec, "spec": spec, "slug": "mine"}
    request = urllib.request.Request(
        f"http://127.0.0.1:{site.port}/datasets/new/",
        data=urllib.parse.urlencode(fields).encode(),
        headers={"Cookie": f"sessionid={session}; csrftoken={TOKEN}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return int(answer.status) if b"data:image/webp" in answer.read() else 0
    except urllib.error.HTTPError as error:
        assert error.code == 400, error.code
        return error.code


@pytest.mark.full
def test_many_datasets_take_turns(site: Site) -> None:
    site.environment["FAULTS_PACE"] = "0.002"
    site.python(BEGIN_MANY, {"spec": FIVE_JOBS, "count": MANY})
    site.start("generation")
    for number in range(MANY):
        assert site.wait_for_end(f"rows-{number}").state == "complete"
    order = [dataset for (dataset,) in site.ask("SELECT dataset_id FROM generation_job ORDER BY started, id")]
    # Two processes may choose the same dataset at the same time, so that it gets two turns in a round.
    assert len(set(order[: 2 * MANY])) == MANY
    served = Counter(dict.fromkeys(order, 0))
    for dataset in order:
        served[dataset] += 1
        assert max(served.values()) <= 2 * (min(served.values()) + 2), served
