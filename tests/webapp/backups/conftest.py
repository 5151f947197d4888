"""A site with rows in all tables, and helpers that back it up, empty it and restore it."""

import random
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.utils import timezone

from annotations.results import baseline
from annotations.studies import lifecycle
from generation.making import dataset_jobs
from generation.models import Dataset, PreviewTurn, Quota, SpecFile, Split, Upload
from generation.queue import workers
from generation.splits.split_recipes import read_recipe
from tests.annotations import answered as people
from tests.generation.conftest import child, fake, spec_of  # noqa: F401  # fixtures
from tests.referring.models import Study
from webapp.backups import restoring, stored_files, writing
from webapp.backups.restoring import RestoreResult
from webapp.backups.schema import TRANSIENT, columns_of
from webapp.models import ApiToken, LoginLink, User

Rows = dict[str, list[tuple[Any, ...]]]
SECRET = "0f" * 16
HALF: dict[str, Any] = {"splits": {"train": {"scenes": 40}}, "scenes_per_chunk": 10}


@pytest.fixture(autouse=True)
def own_folder(settings: LazySettings, tmp_path: Path) -> Path:
    """Give each test's site a separate VAR_DIR, which its child processes use, too (`child_site`)."""
    folder = tmp_path / "var"
    folder.mkdir(mode=0o700)
    settings.VAR_DIR, settings.MEDIA_ROOT = folder, folder / "media"
    return folder


@pytest.fixture
def child_site(own_folder: Path) -> dict[str, str]:
    """Return the environment variables by which a child process uses this site."""
    return {"HORSESENSE_TEST_DIR": str(own_folder), "PYTEST_XDIST_WORKER": ""}


@pytest.fixture(scope="session")
def first_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path for the backup of a rich site, which the first test makes."""
    return tmp_path_factory.mktemp("backup") / "site.tar"


@pytest.fixture
def archive(first_archive: Path, tmp_path: Path, transactional_db: None) -> Path:
    """Return the backup of a rich site; the site itself is empty."""
    if not first_archive.exists():
        make_rich_site()
        writing.write_backup(first_archive)
        lose_everything()
    return Path(shutil.copy(first_archive, tmp_path / "site.tar"))


@pytest.fixture
def rich(archive: Path) -> Dataset:
    """Give the complete dataset, with a withheld split, of a site with rows in all tables."""
    restore_archive(archive)
    add_transient_rows()
    return Dataset.objects.get(slug="rows")


def make_rich_site() -> None:
    """Make a complete dataset with a question set, a half-made dataset, and rows in all other tables."""
    made = dataset_jobs.start(spec_of(), slug="rows", secrets={"test": SECRET})
    dataset_jobs.work(dataset=made)
    test = Split.objects.for_browse().get(dataset=made, name="test")
    dataset_jobs.derive(test, name="few", recipe=read_recipe({"parent": "test", "sample": 5, "seed": 7}))
    half = dataset_jobs.start(spec_of(**HALF), slug="half")
    for _ in range(3):
        job = dataset_jobs.claim(dataset=half)
        assert job is not None
        dataset_jobs.RUNNER.run(job)
    assert dataset_jobs.claim(dataset=half) is not None
    grace = User.objects.create_user("grace", "grace@example.org", "a long password", first_name="Grace – ✓")
    grace.groups.add(Group.objects.get_or_create(name="researcher")[0])
    grace.user_permissions.add(*Permission.objects.all()[:2])
    ApiToken.objects.make(grace, "laptop")
    grace.emailaddress_set.create(email=grace.email, verified=True, primary=True)
    Dataset.objects.filter(pk=made.pk).update(owner=grace, authors="One\nTwo", citation='"quoted", \\ \x7f \u2028')
    Quota.objects.create(user=grace, scenes=7)
    SpecFile.objects.create(dataset=made, digest="d" * 64, content=bytes(range(256)))
    Upload.objects.create(user=grace, digest="e" * 64, name="cone.obj", content=b"")
    kind = ContentType.objects.get_for_model(Dataset)
    LogEntry.objects.create(user=grace, content_type=kind, object_id="1", action_flag=CHANGE, change_message="x")
    Study.objects.create(dataset=made, title="first")
    answered = people.answered(made, random.Random(3))
    lifecycle.close(answered)
    baseline.publish(answered, by=answered.owner_id, seal=baseline.draft(answered).seal)
    add_transient_rows()


def add_transient_rows() -> None:
    """Add rows that no backup contains, like sessions."""
    grace = User.objects.get(username="grace")
    Session.objects.create(session_key="s", session_data="x", expire_date=timezone.now() + timedelta(days=1))
    LoginLink.objects.make(grace)
    workers.beat(name="one", queues="generation")
    PreviewTurn.objects.take(grace)


def everything() -> Rows:
    """Return all rows of the tables that a backup contains, by model."""
    kept = {model._meta.label: model for model in apps.get_models(include_auto_created=True)}
    return {label: rows_of(model) for label, model in sorted(kept.items()) if label not in TRANSIENT}


def rows_of(model: Any) -> list[tuple[Any, ...]]:
    """Return all rows of a table."""
    names = [field.attname for field in columns_of(model)]
    return list(model._base_manager.order_by("pk").values_list(*names))


def all_files() -> dict[str, bytes]:
    """Return the content of each file of the storage."""
    return {name: stored_files.files.get(name) for name in stored_files.names()}


def lose_everything() -> None:
    """Delete all rows and files of the site."""
    call_command("flush", interactive=False, verbosity=0)
    folder = stored_files.files.local_path("")
    if folder is None:
        stored_files.erase()
    else:
        shutil.rmtree(folder, ignore_errors=True)


def restore_archive(path: Path, **options: Any) -> RestoreResult:
    """Check an archive, restore it, and return the result."""
    return restoring.restore(restoring.check_archive(path), **options)
