"""A walk through everything by which a site writes files. A test runs it in its process, or `Site.python` in a site.

walk = Walk(outside)   an account, and a folder outside of the site for the files of commands
walk.write_files()     datasets, exports, imports, trainings, studies, submissions, replies, backups
walk.do_the_rest()     the steps that take more than a second
walk.downloads()       the digest of every file to which the pages link
"""

import hashlib
import io
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client, override_settings

from annotations.answering import pictures as participant_pictures
from annotations.results import baseline
from annotations.studies import lifecycle
from generation.exchange import export_jobs, export_requests
from generation.making import dataset_jobs
from generation.models import Dataset, Import, Scene, Split
from generation.specs import previews
from generation.splits.split_recipes import read_recipe
from tests.annotations import answered as people
from tests.asking.model_stub import serving
from tests.generation import small
from tests.leaderboards import sent
from tests.leaderboards.findings.made_findings import small_definition
from tests.leaderboards.replies import replied
from tests.worlds.clevr.formats import releases
from webapp.backups import before_migrating, schema
from webapp.leaderboards import uploads
from webapp.leaderboards.findings import definitions, finding_run
from webapp.leaderboards.models import Method, Submission, Training
from webapp.leaderboards.training import orders, training_jobs
from webapp.models import User

SPLITS = {"train": {"scenes": 6}, "val": {"scenes": 8}, "test": {"scenes": 2, "withheld": True}}
PAGES = (
    "/datasets/shapes/", "/datasets/shapes/val/", "/datasets/shapes/val/?type=count", "/datasets/shapes/val/q/0/",
    "/datasets/shapes/shortcuts/", "/datasets/shapes/export/", "/leaderboards/shapes/val/",
    "/leaderboards/shapes/val/slices/", "/leaderboards/shapes/val/confusion/",
    "/methods/1/", "/trainings/1/", "/submissions/1/", "/datasets/shapes/val/people/",
)  # fmt: skip
API = "/api/v1/datasets/shapes/splits/val"
FILES = (
    f"{API}/images.tar", f"{API}/questions.jsonl.gz", f"{API}/steps.jsonl.gz", "/datasets/shapes/charts/answers.pdf",
    "/trainings/1/model.safetensors",
)  # fmt: skip
FILE_LINK = re.compile(r'(?:href|src)="(/[^"?#]+\.(?:png|webp|svg|pdf|csv|json|jsonl|zip|safetensors|npz))"')


class Walk:
    """The account that does everything, and its browser."""

    def __init__(self, outside: Path) -> None:
        self.outside = outside
        self.owner, _ = User.objects.get_or_create(username="chief", is_superuser=True, is_staff=True)
        self.browser = Client(SERVER_NAME="localhost")
        self.browser.force_login(self.owner)

    def write_files(self) -> None:
        """Do everything once, and leave waiting or stopped what can be so."""
        self.make_dataset()
        self.export()
        self.order_import("waits")
        self.train()
        self.answer_study()
        self.submit()
        self.ask_model()
        self.send_light_picture()
        self.upgrade()

    def do_the_rest(self) -> None:
        """Do the steps that take more than a second."""
        assert previews.preview(self.owner, small.SPEC, split="train", files={}).scenes
        dataset_jobs.work(dataset=self.order_import("theirs").dataset)
        call_command("shortcuts", "shapes", stdout=io.StringIO())
        self.run_finding()

    def make_dataset(self) -> None:
        """Make a dataset with pictures and a question set."""
        small.made("shapes", splits=SPLITS, owner=self.owner)
        dataset_jobs.derive(self.split("val"), name="few", recipe=read_recipe({"parent": "val", "first": 8}))

    def split(self, name: str) -> Split:
        return Split.objects.for_browse().get(dataset__slug="shapes", name=name)

    def export(self) -> None:
        export = export_requests.ask(
            Dataset.objects.get(slug="shapes"), self.owner, name="clevr", splits=["val"], options={}
        )
        export_jobs.RUNNER.take_turn()
        export.refresh_from_db()
        assert export.state == "done", export.message

    def order_import(self, slug: str) -> Import:
        """Send the files of a release on the page of imports, and return the import, which waits."""
        content = {"scenes.json": releases.scenes_of("val"), "questions.json": releases.questions_of("val")}
        files = [SimpleUploadedFile(name, json.dumps(data).encode()) for name, data in content.items()]
        form = {"format": "clevr", "slug": slug, "visibility": "public", "licence": "CC0", "files": files}
        assert self.browser.post("/datasets/new/import/", form).status_code == 302
        return Import.objects.get(slug=slug)

    def train(self) -> None:
        """Train a method until the end, and another one that reaches its time limit."""
        splits = ("--on", "shapes/train", "--val", "shapes/val", "--test", "shapes/val")
        call_command("train", "bag-of-words", *splits, "--size", "mini", "--name", "Words", stdout=io.StringIO())
        assert Training.objects.get().model
        train, val = self.split("train"), self.split("val")
        order = orders.TrainingOrder("bag-of-words", self.owner, train, val, (val,), size="mini", name="Stopped")
        stopped = orders.create(order)
        with override_settings(TRAINING_HOURS=1e-9):
            training_jobs.RUNNER.take_turn()
        assert Training.objects.get(pk=stopped.pk).state == "failed" and training_jobs.folder_of(stopped).exists()

    def continue_training(self) -> None:
        """Continue the training that was stopped, until its end."""
        stopped = Training.objects.get(name="Stopped")
        orders.resume(stopped)
        training_jobs.RUNNER.take_turn()
        assert Training.objects.get(pk=stopped.pk).model

    def run_finding(self) -> None:
        """Run a small finding."""
        with patch.object(finding_run, "load", lambda name: small_definition()):
            call_command("finding", definitions.names()[0], "--workers", "1", stdout=io.StringIO())

    def answer_study(self) -> None:
        """Let people answer a study, and publish its baseline."""
        study = people.answered(Dataset.objects.get(slug="shapes"), random.Random(3))
        lifecycle.close(study)
        baseline.publish(study, by=study.owner_id, seal=baseline.draft(study).seal)

    def submit(self) -> None:
        """Submit answers with replies, a file with many mistakes, and answers that wait to be scored."""
        val, method = self.split("val"), Method.objects.create(name="Oracle with noise", owner=self.owner)
        assert replied.submit(method, val, replied.answers_of(val), replied.records_of(val)).is_scored
        sent.refused(method, val, answered=range(val.questions, 2 * val.questions))
        uploads.receive(self.owner, uploads.Order(method, val), sent.as_file(sent.noisy(val, wrong=0.2)), "later.json")

    def ask_model(self) -> None:
        """Ask a model that always gives the same reply, and submit its answers."""
        with serving(lambda prompt, image: "Answer: yes") as model:
            where = ("--base-url", model.address, "--model", "Stub", "--folder", str(self.outside / "asked"))
            call_command("ask", "shapes/val", *where, "--submit", stdout=io.StringIO())
        assert Submission.objects.filter(method__name="Stub").exists()

    def downloads(self, pages: Sequence[str] = PAGES) -> dict[str, str]:
        """Return the digests of `FILES`, and of every file to which the pages link, by their addresses."""
        addresses = set(FILES)
        for page in pages:
            found = self.browser.get(page)
            assert found.status_code == 200, page
            addresses |= set(FILE_LINK.findall(found.content.decode()))
        with override_settings(CHART_SECONDS=100):  # long, because the machine may be busy
            return {address: self.digest_of(address) for address in sorted(addresses)}

    def digest_of(self, address: str) -> str:
        found: Any = self.browser.get(address)
        assert found.status_code == 200, address
        content = b"".join(found.streaming_content) if found.streaming else found.content
        return hashlib.sha256(content).hexdigest()

    def send_light_picture(self) -> None:
        """Store a picture for participants as if the stored picture was large."""
        scene = Scene.objects.filter(split=self.split("val")).first()
        assert scene is not None
        with patch.object(participant_pictures, "LARGEST", 100):
            participant_pictures.picture_for(scene, self.split("val").dataset)

    def upgrade(self) -> None:
        """Upgrade the site as if migrations were pending."""
        with patch.object(schema, "is_outdated", return_value=True):
            before_migrating.upgrade(say=lambda line: None)
