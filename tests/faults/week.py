"""A site in use: two worker hosts, datasets that are ordered, trainings, people who answer, and a reader of a board.

week = Week(hosts)                 two hosts that share PostgreSQL, Redis and the disk of the files
week.begin(people=50)              start all processes, the study and the reader
week.order_dataset()               order a dataset on the web page; return whether the site acknowledged it
week.live(60)                      let a minute pass; processes that end are started again, as by docker
week.seconds_until_back()          wait until every page and all work is back
week.check_nothing_is_lost(...)    end everything and compare what is stored with what was acknowledged
"""

import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tests import proof
from tests.crowd import Crowd
from tests.faults import studies
from tests.faults.browsers import Browser
from tests.faults.stack import Site
from tests.generation import fake_world, small

ROLES = ("generation", "default")  # of each host; the first one also has the web server and the clock
SPEC: dict[str, Any] = {**fake_world.PRESET, "scenes_per_chunk": 10, "splits": {"train": {"scenes": 50}}}
BOARD = "words"
SHAPES: dict[str, Any] = {**small.SPEC, "splits": {"train": {"scenes": 30}, "val": {"scenes": 8}}}
PAGES = (
    "/", "/datasets/", f"/datasets/{BOARD}/", f"/datasets/{BOARD}/train/?type=count", f"/datasets/{BOARD}/val/q/0/",
    "/leaderboards/", f"/leaderboards/{BOARD}/val/", f"/leaderboards/{BOARD}/val/slices/", "/accounts/login/",
    "/accounts/signup/", "/docs/", "/api/v1/datasets", "/health/live/", "/health/ready/", "/health/web/",
)  # fmt: skip
LOST_PATIENCE = 180.0  # seconds after which a site that is not back counts as lost
END_PATIENCE = 600.0  # seconds until all work must have ended after the last fault
REFUSED, UNAVAILABLE = 400, 503
# Of the site of an earlier release, see tests/earlier_release.py; only those that everybody may see are requested.
EARLIER_PAGES = (
    "/datasets/shapes/", "/datasets/shapes/val/", "/datasets/stories/train/", "/datasets/half/",
    "/leaderboards/shapes/test/", "/methods/1/", "/suites/both/",
)  # fmt: skip
COMPLETE = "SELECT slug, fingerprint FROM generation_dataset WHERE state = 'complete'"
PREPARE = """
shapes = jobs.start(given["shapes"], slug=given["board"], visibility="public", images=False)
jobs.work(dataset=shapes)
from webapp.models import LoginLink
user = User.objects.create_user("grace", is_staff=True, is_superuser=True)
print("", LoginLink.objects.make(user), end="")
"""
TRAIN = """
from generation.models import Split
from webapp.leaderboards.training import orders
from webapp.models import User
train, val = (Split.objects.get(dataset__slug=given["board"], name=name) for name in ("train", "val"))
owner = User.objects.get(username="grace")
orders.create(orders.TrainingOrder(
    "bag-of-words", owner, train, val, (val,), given["config"], "mini", 7, "cpu", given["name"]
))
"""


@dataclass
class Reader(threading.Thread):
    """Somebody who reads a board all the time. The site may be away, but no page may be wrong."""

    site: Site
    statuses: set[int] = field(default_factory=set)
    leaving: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(daemon=True)

    __hash__ = threading.Thread.__hash__

    def run(self) -> None:
        while not self.leaving.wait(0.5):
            with suppress(OSError):
                self.statuses.add(self.site.get(f"/leaderboards/{BOARD}/val/")[0])


class Week:
    """The site, and what it has acknowledged."""

    def __init__(self, hosts: list[Site]) -> None:
        self.hosts, self.first = hosts, hosts[0]
        self.pages = PAGES
        self.browser = Browser(hosts)
        self.datasets: list[str] = []  # that the site acknowledged
        self.trainings: list[str] = []
        self.ordered = 0

    def begin(self, *, people: int, thinking: tuple[float, float], epochs: int) -> None:
        """Start all processes, the people of a study, and the reader of a board.

        The site may have data already, which must then be the same at the end.
        """
        self.epochs = epochs
        self.earlier_datasets = set(self.first.ask(COMPLETE))
        self.earlier_answers = studies.stored(self.first)
        code, token = self._prepare()
        begun = time.monotonic()
        self.first.start("web", "beat")
        for host in self.hosts:
            host.start(*ROLES)
        self.first.wait_for_web("/health/web/")
        self.start_seconds = time.monotonic() - begun  # what this machine needs to start processes
        for form in (None, {}):
            assert self.browser.ask(0, f"/login/{token}/", form)[0] == 200
        if self.earlier_datasets:
            self.pages += tuple(path for path in EARLIER_PAGES if self.first.get(path)[0] == 200)
            assert len(self.pages) > len(PAGES)
        self.crowd = Crowd(self.first.port, code, people=people, patient=True, thinking=thinking, outages=True)
        self.crowd.begin()
        self.reader = Reader(self.first)
        self.reader.start()
        self.seconds_until_back()

    def _prepare(self) -> list[str]:
        """Make the study's dataset and the board's, and return the code of the study and a link that signs in."""
        spec = {**fake_world.PRESET, "questions_per_scene": studies.PER_SCENE, "scenes_per_chunk": 50}
        questions = proof.size(6000, name="questions of the study in a week of faults")
        given = {"spec": {**spec, "splits": {"train": {"scenes": questions // studies.PER_SCENE}}}, "slug": "asked"}
        given |= {"wanted": studies.WANTED, "questions": questions, "shapes": SHAPES, "board": BOARD}
        return self.first.python(studies.BEGIN + PREPARE, given).split(" ")

    # Work

    def order_dataset(self) -> bool:
        """Order a dataset on the web page. Return whether the site acknowledged it.

        Otherwise the site is away, or refuses the order because the dataset does not fit on the disk.
        """
        self.ordered += 1
        slug, text = f"rows-{self.ordered}", json.dumps(SPEC)
        form = {"spec": text, "shown": text, "last": "json", "action": "create", "slug": slug, "images": "on"}
        form |= {"visibility": "public", "licence": "CC BY 4.0"}
        try:
            status, page = self.browser.ask(0, "/datasets/new/", form)
        except OSError:
            return False
        if status == 200 and f"/datasets/{slug}/" in self.browser.address:
            self.datasets.append(slug)
            return True
        has_reason = status == UNAVAILABLE or (status == REFUSED and "on the disk" in page)
        assert has_reason, f"{status} for an order of a dataset: {page}"
        return False

    def order_training(self) -> None:
        """Order a training. All trainings are the same, so that all must learn the same weights."""
        name = f"Words {len(self.trainings)}"
        config = {"epochs": self.epochs}
        self.first.python(TRAIN, {"board": BOARD, "config": config, "name": name})
        self.trainings.append(name)

    def live(self, seconds: float) -> None:
        """Let time pass. Processes that end are started again."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.revive()
            time.sleep(0.1)

    def revive(self) -> None:
        for host in self.hosts:
            host.revive()

    # After a fault

    def seconds_until_back(self) -> float:
        """Wait until every page is there, a person answers, and work on a new dataset begins; return the seconds.

        A site that is not back after three minutes fails the test with what is missing.
        """
        begun = time.monotonic()
        answers, dataset, missing = len(self.crowd.acknowledged), "", "everything"
        while missing:
            self.revive()
            assert time.monotonic() - begun < LOST_PATIENCE, f"not back: {missing}\n{self.first.report()}"
            time.sleep(0.1)
            missing = self._missing_page()
            if not missing and not dataset:
                dataset = self.datasets[-1] if self.order_dataset() else ""
            if not missing and not (dataset and self.first.jobs(dataset)):
                missing = f"work on {dataset or 'a new dataset'}"
            if not missing and self.crowd.is_busy and len(self.crowd.acknowledged) <= answers:
                missing = "a new answer of a participant"
        return time.monotonic() - begun

    def _missing_page(self) -> str:
        """Return the first page that is not there, with its status, or an empty text."""
        for path in self.pages:
            try:
                status, _ = self.first.get(path)
            except OSError as error:
                return f"{path}: {error}"
            if status != 200:
                return f"{path}: {status}"
        return ""

    # The end

    def check_nothing_is_lost(self, fingerprint: str) -> None:
        """Check that all that was acknowledged is stored once, and that all work has ended as without faults."""
        self.crowd.leave()
        self.reader.leaving.set()
        self._wait_for_end()
        assert self.crowd.failures == []
        assert self.reader.statuses <= {200, UNAVAILABLE}
        assert studies.stored(self.first) == self.earlier_answers | studies.plain(self.crowd.acknowledged)
        if not self.earlier_answers:  # its rules are those of the study of this test
            studies.check_consistent(self.first)
        assert self.earlier_datasets <= set(self.first.ask(COMPLETE))
        made = self.first.ask("SELECT slug, state, fingerprint FROM generation_dataset WHERE slug LIKE 'rows-%%'")
        assert set(self.datasets) <= {slug for slug, _, _ in made}
        assert {(state, digest) for _, state, digest in made} == {("complete", fingerprint)}
        for slug, _, _ in made:
            self.first.check_rows(slug)
        trained = self.first.ask("SELECT name, state, model_digest FROM leaderboards_training")
        assert {name for name, _, _ in trained} == set(self.trainings)
        assert len({(state, digest) for _, state, digest in trained}) == 1 and trained[0][1] == "done", trained

    def _wait_for_end(self) -> None:
        def has_ended() -> bool:
            self.revive()
            left = "SELECT 1 FROM generation_dataset WHERE state = 'making' LIMIT 1"
            under_way = "SELECT 1 FROM leaderboards_training WHERE state IN ('waiting', 'running') LIMIT 1"
            return not self.first.ask(left) and not self.first.ask(under_way)

        self.first.wait_until(has_ended, what="the end of all work", seconds=END_PATIENCE)
