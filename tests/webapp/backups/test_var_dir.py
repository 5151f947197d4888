"""Everything in `VAR_DIR` is in a backup and comes back, or `/docs/files/` says that it may be deleted."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from generation.models import Dataset
from generation.storage import files
from tests.leaderboards.findings.made_findings import record_of
from tests.services import S3
from tests.webapp.backups.conftest import all_files, lose_everything, restore_archive
from tests.webapp.commands import ROOT
from webapp.leaderboards.findings import definitions, records
from webapp.settings import BROKER_FILE, VAR_DIR

pytestmark = pytest.mark.slow
ROW = re.compile(r"^\| `([^`]+)` \| .* \| (yes|no)\b.*\|$", re.MULTILINE)
IN_BACKUP = {"horsesense.sqlite3": "the rows", "media/": "all files", "secret_key": "restored, if none is set"}


def documented() -> dict[str, bool]:
    """Return the names in the table of `/docs/files/`, and whether each may be deleted."""
    found = ROW.findall((ROOT / "webapp/docs/files.md").read_text(encoding="utf-8"))
    return {name: word == "yes" for name, word in found}


def unknown_entries(folder: Path) -> Iterator[str]:
    """Yield what a `VAR_DIR` holds that is neither in a backup nor in the table."""
    names = [name.rstrip("/") for name in documented()]
    for path in sorted(folder.iterdir()):
        name = re.sub(r"-(wal|shm|journal)$", "", path.name)  # SQLite's own files beside a database
        if not any(fnmatch(name, known) for known in names):
            yield path.name


def test_the_table_names_what_must_stay_and_what_settings_name() -> None:
    table = documented()
    stays = {name for name, may_be_deleted in table.items() if not may_be_deleted}
    assert stays == {"horsesense.sqlite3", "media/", "media/findings/", "findings/"}
    assert set(IN_BACKUP) <= set(table)
    assert BROKER_FILE.relative_to(VAR_DIR).name in table


def test_an_unknown_entry_is_found(tmp_path: Path) -> None:
    for name in ("media", "log", "horsesense.sqlite3-wal", "beat-schedule.db", "strange", "media.old"):
        (tmp_path / "place" / name).mkdir(parents=True)
    assert list(unknown_entries(tmp_path / "place")) == ["media.old", "strange"]


@pytest.mark.django_db(transaction=True)
def test_records_of_findings_and_models_are_in_a_backup_and_come_back(rich: Dataset, own_folder: Path) -> None:
    check_that_records_come_back(own_folder)
    assert list(unknown_entries(own_folder)) == []


@pytest.mark.django_db(transaction=True)
def test_records_in_a_bucket_are_in_a_backup_and_come_back(own_folder: Path, s3: S3, settings: LazySettings) -> None:
    settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    check_that_records_come_back(own_folder)
    assert not (own_folder / "media").exists()


def check_that_records_come_back(folder: Path) -> None:
    first, second = definitions.names()[:2]
    record, old = (record_of(name, "mini", definitions.load(name)) for name in (first, second))
    records.store(record)
    records.write(old, folder=folder / "findings")
    assert records.load_own(second, "mini") == old  # before it is moved
    assert records.move_old_files() == 1 and records.move_old_files() == 0
    records.Journal(f"{first}-mini").note("step", 2.5)
    files.put("models/1-0123456789abcdef.npz", b"weights")
    before = all_files()
    assert set(before) > {"findings/" + f"{name}-mini.json" for name in (first, second)}
    call_command("backup")
    [archive] = (folder / "backups").glob("site-*.tar")
    lose_everything()
    files.drop_folder("findings")
    assert records.load_own(first, "mini") is None
    restore_archive(archive)
    assert all_files() == before
    assert (records.load_own(first, "mini"), records.load_own(second, "mini")) == (record, old)
    assert records.Journal(f"{first}-mini").seconds == {"step": 2.5}


@pytest.mark.django_db
def test_the_newer_record_wins_when_files_are_moved(own_folder: Path) -> None:
    name = definitions.names()[0]
    old = record_of(name, "mini", definitions.load(name))
    new = old.model_copy(update={"date": "2031-01-01T00:00:00+00:00"})
    for stored, kept, expected in ((old, new, new), (new, old, new)):
        records.store(stored)
        records.write(kept, folder=own_folder / "findings")
        assert records.load_own(name, "mini") == expected
        assert records.move_old_files() == 1
        assert records.load_own(name, "mini") == expected
    assert list((own_folder / "findings").iterdir()) == []
