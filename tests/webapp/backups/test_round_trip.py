"""A restore brings back every table, every file and every secret of a backup unchanged."""

import hashlib
import stat
import tarfile
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection, models

from annotations.results import baseline
from generation.making import dataset_jobs, lost_pictures
from generation.models import Chunk, Dataset, Job, Question, Scene, Split
from generation.storage.pictures import thumbnail
from generation.storage.split_index import SplitIndex
from tests.annotations import answered
from tests.generation.conftest import spec_of
from tests.services import S3
from tests.webapp.backups.conftest import (
    SECRET,
    all_files,
    everything,
    lose_everything,
    make_rich_site,
    restore_archive,
)
from webapp.backups import restoring, rows, schema, stored_files, writing
from webapp.backups.archive import BadArchive
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.restoring import NotEmpty
from webapp.backups.writing import BackupProgress, NotWritten, write_backup
from webapp.models import User

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def with_released_jobs(before: dict[str, Any]) -> dict[str, Any]:
    """Return the rows with the changes of a restore: running jobs wait again."""
    names = [field.attname for field in schema.columns_of(Job)]
    free = {"state": "waiting", "token": "", "lease": None, "attempts": 0}
    change = {names.index(name): value for name, value in free.items()}
    state = names.index("state")
    changed = [
        tuple(change.get(at, value) for at, value in enumerate(row)) if row[state] == "running" else row
        for row in before["generation.Job"]
    ]
    return before | {"generation.Job": changed}


def test_every_table_and_every_file_is_restored(archive: Path, tmp_path: Path) -> None:
    make_rich_site()
    write_backup(tmp_path / "own.tar")
    before, files = everything(), all_files()
    assert before != with_released_jobs(before)
    assert sum(1 for found in before.values() if found) >= 18
    lose_everything()
    report = restore_archive(tmp_path / "own.tar")
    assert everything() == with_released_jobs(before)
    assert all_files() == files
    assert report.contents.rows == {label: len(found) for label, found in before.items()}
    assert not report.missing.drawn_again and not report.missing.lost
    for label in schema.TRANSIENT:
        assert not apps.get_model(label)._base_manager.exists()
    assert [(str(split), holds) for split, holds in restoring.proofs()] == [
        ("rows/train", True), ("rows/val", True), ("rows/test", True), ("rows/few", True),
    ]  # fmt: skip
    dataset_jobs.work()
    assert Dataset.objects.get(slug="half").state == "complete"


def test_a_restored_human_baseline_has_the_same_score(rich: Dataset) -> None:
    [row] = baseline.published_baselines()
    assert row.split.dataset == rich
    baseline.load_digest.cache_clear()
    assert answered.rescored(row) == (row.right, row.asked)


def test_each_table_is_backed_up_or_listed_as_transient(archive: Path) -> None:
    labels = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    assert set(schema.TRANSIENT) <= labels
    assert set(ArchiveReader(archive).header.tables) == labels - set(schema.TRANSIENT)
    for model in apps.get_models(include_auto_created=True):
        assert list(model._meta.local_concrete_fields) == list(model._meta.concrete_fields), "a row in two tables"


def test_only_the_owner_can_read_a_backup_and_no_other_file_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    write_backup(folder / "site.tar")
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in folder.iterdir()] == [("site.tar", 0o600)]


def test_two_backups_of_one_state_have_the_same_rows(rich: Dataset, tmp_path: Path) -> None:
    for name in ("one.tar", "two.tar"):
        write_backup(tmp_path / name)
    assert members(tmp_path / "one.tar") == members(tmp_path / "two.tar")


def members(path: Path) -> dict[str, bytes]:
    """Return every member of an archive except those that say who wrote it and when."""
    with tarfile.open(path) as tar:
        names = [name for name in tar.getnames() if name not in ("header.json", "contents.json")]
        return {name: tar.extractfile(name).read() for name in names}  # type: ignore[union-attr]


def test_a_backup_shows_one_moment_while_others_write(rich: Dataset, tmp_path: Path) -> None:
    before = everything()

    def write_something(_count: int) -> None:
        User.objects.create_user(f"late-{User.objects.count()}")
        Dataset.objects.filter(pk=rich.pk).update(title="late")

    write_backup(tmp_path / "own.tar", progress=BackupProgress(rows=write_something))
    assert User.objects.filter(username__startswith="late-").count() > 10
    lose_everything()
    restore_archive(tmp_path / "own.tar")
    assert everything() == with_released_jobs(before)


def test_the_secret_of_a_withheld_split_makes_it_again(rich: Dataset) -> None:
    split = Split.objects.get(dataset__slug="rows", name="test")
    assert split.withheld and split.secret == SECRET
    assert hashlib.sha256(split.secret_bytes).hexdigest() == split.secret_sha256
    again = dataset_jobs.start(split.dataset.spec_data, slug="again", images=False, secrets={"test": split.secret})
    dataset_jobs.work(dataset=again)
    assert again.splits.get(name="test").fingerprint == split.fingerprint


def test_indexes_work_and_new_rows_get_new_primary_keys_after_a_restore(rich: Dataset) -> None:
    split = Split.objects.get(dataset__slug="rows", name="val")
    assert SplitIndex.open(split).n == 24
    new = User.objects.create_user("ada")
    assert new.pk == max(User.objects.values_list("pk", flat=True))


def test_thumbnails_and_drafts_are_not_in_a_backup(rich: Dataset, tmp_path: Path) -> None:
    scene = Scene.objects.filter(split__dataset=rich).exclude(image="").first()
    assert scene is not None
    thumbnail(scene.image)
    stored_files.files.put(f"datasets/{rich.pk}/.draft", b"x")
    contents = write_backup(tmp_path / "own.tar")
    assert contents.files == len(all_files())
    with tarfile.open(tmp_path / "own.tar") as tar:
        assert not [name for name in tar.getnames() if "small" in name or "/." in name]


def test_pictures_that_are_not_in_the_backup_are_drawn_again(rich: Dataset, tmp_path: Path) -> None:
    before, files = rows_of_dataset(rich), all_files()
    contents = write_backup(tmp_path / "own.tar", pictures=False)
    assert 0 < contents.files < len(files)
    lose_everything()
    report = restore_archive(tmp_path / "own.tar")
    drawn = {"rows/train": 30, "rows/val": 8, "rows/test": 7}
    assert {name: count for name, count in report.missing.drawn_again.items() if name.startswith("rows")} == drawn
    assert {label: len(found) for label, found in everything().items()} == report.contents.rows
    dataset = Dataset.objects.get(slug="rows")
    assert (dataset.state, dataset.fingerprint) == ("making", rich.fingerprint)
    assert dataset.splits.get(name="val").is_complete
    assert not Scene.objects.exclude(image="").exists()
    dataset_jobs.work()
    assert rows_of_dataset(rich) == before
    assert all_files().items() >= files.items()


def rows_of_dataset(dataset: Dataset) -> list[Any]:
    """Return all rows of a dataset except its jobs."""
    own: list[Any] = [Dataset.objects.filter(pk=dataset.pk), dataset.splits.all()]
    own += [model._base_manager.filter(split__dataset=dataset) for model in (Chunk, Scene, Question)]
    return [list(rows.order_by("pk").values()) for rows in own]


def test_one_lost_picture_needs_one_job(rich: Dataset) -> None:
    scene = Scene.objects.get(split__dataset=rich, split__name="train", position=26)
    stored_files.files.drop(scene.ids_image)
    train = scene.split
    Dataset.objects.filter(slug="half").update(state="cancelled")
    assert [found.position for found in lost_pictures.lost(train)] == [26]
    assert lost_pictures.draw_again(train) == 1
    assert [
        (job.chunk.number, job.part) for job in Job.objects.filter(kind="images", state="waiting", split=train)
    ] == [(2, 0)]
    dataset_jobs.work()
    assert stored_files.files.get(scene.ids_image)
    assert Dataset.objects.get(pk=rich.pk).state == "complete"


def test_pictures_of_another_engine_version_are_always_in_the_backup(rich: Dataset, tmp_path: Path) -> None:
    Dataset.objects.update(engine_version="0")
    contents = write_backup(tmp_path / "own.tar", pictures=False)
    assert contents.files == len(all_files())
    lose_everything()
    restore_archive(tmp_path / "own.tar")
    stored_files.files.drop(Scene.objects.get(split__dataset=rich, split__name="val", position=3).image)
    assert restoring.look_for_pictures() == ({}, {"rows/val": 1})
    assert Dataset.objects.get(pk=rich.pk).state == "complete"


def test_existing_files_are_kept_with_the_option(rich: Dataset, tmp_path: Path) -> None:
    before, files = everything(), all_files()
    write_backup(tmp_path / "own.tar", pictures=False)
    call_command("flush", interactive=False, verbosity=0)
    with pytest.raises(NotEmpty, match="say --keep-files"):
        restore_archive(tmp_path / "own.tar")
    assert all_files() == files and not User.objects.exists()
    report = restore_archive(tmp_path / "own.tar", keep_files=True)
    assert not report.missing.drawn_again
    assert everything() == with_released_jobs(before) and all_files() == files


def test_rows_without_their_files_are_restored_only_with_the_option(rich: Dataset, tmp_path: Path) -> None:
    before, files = everything(), all_files()
    write_backup(tmp_path / "rows.tar", files=writing.RowsAlone(), pictures=False)
    lose_everything()
    with pytest.raises(BadArchive, match=r"^\S+rows\.tar: Expected an archive with the files .* say --keep-files\."):
        restore_archive(tmp_path / "rows.tar")
    assert not User.objects.exists() and all_files() == {}
    for name, content in files.items():
        stored_files.files.put(name, content)
    restore_archive(tmp_path / "rows.tar", keep_files=True)
    assert everything() == with_released_jobs(before) and all_files() == files


def test_a_site_without_files_is_restored(transactional_db: None, tmp_path: Path) -> None:
    User.objects.create_user("grace")
    assert write_backup(tmp_path / "own.tar").files == 0
    lose_everything()
    restore_archive(tmp_path / "own.tar")
    assert User.objects.get().username == "grace"


def test_a_restore_into_a_database_with_rows_is_refused(archive: Path, rich: Dataset) -> None:
    before, files = everything(), all_files()
    with pytest.raises(NotEmpty, match=r"^Expected an empty database, got one with rows of \S+\. Name a new one"):
        restore_archive(archive)
    assert everything() == before and all_files() == files


def test_an_existing_file_is_overwritten_only_with_the_option(archive: Path) -> None:
    written = archive.read_bytes()
    with pytest.raises(NotWritten, match="Expected a new file, got one that exists"):
        write_backup(archive)
    assert archive.read_bytes() == written
    User.objects.create_user("one-more")
    write_backup(archive, overwrite=True)
    assert archive.read_bytes() != written
    with pytest.raises(NotWritten):
        write_backup(archive.parent, overwrite=True)


def test_a_disk_that_fails_leaves_nothing_behind(rich: Dataset, tmp_path: Path, monkeypatch: Any) -> None:
    target = tmp_path / "out"
    target.mkdir()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.Writer, "add_file", fail)
    with pytest.raises(OSError, match="No space left"):
        write_backup(target / "site.tar")
    assert list(target.iterdir()) == []


@pytest.mark.full
def test_files_are_backed_up_from_a_bucket_and_restored_into_one(
    s3: S3, settings: LazySettings, tmp_path: Path
) -> None:
    dataset = dataset_jobs.start(spec_of(splits={"val": {"scenes": 3}}), slug="rows")
    dataset_jobs.work()
    write_backup(tmp_path / "folder.tar")
    files, before = all_files(), everything()
    lose_everything()
    settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    restore_archive(tmp_path / "folder.tar")
    assert stored_files.files.local_path("x") is None
    assert all_files() == files and everything() == before
    write_backup(tmp_path / "bucket.tar", pictures=False)
    call_command("flush", interactive=False, verbosity=0)
    with pytest.raises(NotEmpty):
        restore_archive(tmp_path / "bucket.tar")
    stored_files.erase()
    assert not all_files()
    assert restore_archive(tmp_path / "bucket.tar").missing.drawn_again == {"rows/val": 3}
    dataset_jobs.work()
    assert all_files() == files
    assert SplitIndex.open(dataset.splits.get()).n == 9


def test_the_secret_key_is_restored(archive: Path, own_folder: Path, monkeypatch: Any, settings: LazySettings) -> None:
    key = own_folder / "secret_key"
    key.write_text("n" * 40)
    assert not restore_archive(archive).keeps_key
    assert key.read_text() == settings.SECRET_KEY
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    lose_everything()
    monkeypatch.setenv("SECRET_KEY", "m" * 40)
    key.write_text("n" * 40)
    settings.SECRET_KEY = "m" * 40
    assert restore_archive(archive).keeps_key
    assert key.read_text() == "n" * 40


def test_every_secret_that_the_site_makes_is_in_the_backup() -> None:
    found = [
        path.name
        for path in Path(stored_files.__file__).parents[2].glob("[wga]*/**/*.py")
        for line in path.read_text().splitlines()
        if "kept_secret(" in line and "def " not in line
    ]
    assert found == ["settings.py"], "a new secret has to go into the backup"


VALUES: list[tuple[Any, Any]] = [
    (models.BinaryField(), bytes(range(256))),
    (models.DateTimeField(), datetime(2026, 11, 20, 12, 0, 0, 123456, tzinfo=UTC)),
    (models.DateField(), date(1, 2, 3)),
    (models.TimeField(), time(1, 2, 3, 4)),
    (models.DurationField(), timedelta(days=-3, microseconds=7)),
    (models.DecimalField(max_digits=30, decimal_places=12), Decimal("123456789.000000000001")),
    (models.UUIDField(), UUID(int=2**127 + 1)),
    (models.JSONField(), {"a": [1, 2.5, None, "ü"]}),
    (models.FloatField(), 0.1 + 0.2),
    (models.BigIntegerField(), -(2**63)),
    (models.BooleanField(), False),
    (models.TextField(), 'line\nline\u2028 "\\ \x00'),
]


@pytest.mark.parametrize(("field", "value"), VALUES, ids=lambda value: type(value).__name__)
def test_every_kind_of_value_is_the_same_after_json(field: Any, value: Any) -> None:
    row = rows.as_json((value, None))
    assert b"\n" not in row
    back = field.to_python(rows.json.loads(row)[0])
    assert (bytes(back) if isinstance(back, memoryview) else back) == value
    assert field.get_db_prep_save(None, connection) is None
