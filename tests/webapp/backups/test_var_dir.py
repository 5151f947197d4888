"""Everything in `VAR_DIR` is in a backup and comes back, or `/docs/files/` says that it may be deleted."""

import re
import shutil
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from generation.models import Dataset
from generation.storage import files
from tests.faults.stack import Site
from tests.leaderboards.findings.made_findings import record_of
from tests.services import S3
from tests.webapp.backups.conftest import all_files, lose_everything, restore_archive
from tests.webapp.backups.full_walk import Walk
from tests.webapp.backups.test_earlier_release import read_tables
from tests.webapp.commands import ROOT, environment_of
from webapp.leaderboards.findings import definitions, records
from webapp.settings import BROKER_FILE, NUMBA_CACHE_DIR, VAR_DIR

pytestmark = pytest.mark.slow
ROW = re.compile(r"^\| `([^`]+)` \| .* \| (yes|no)\b.*\|$", re.MULTILINE)
IN_BACKUP = {"horsesense.sqlite3": "the rows", "media/": "all files", "secret_key": "restored, if none is set"}

FEW_PAGES = ("/datasets/shapes/val/q/0/",)
WALK = "from pathlib import Path; from tests.webapp.backups.full_walk import Walk; walk = Walk(Path(given)); "
# No dataset is being made, and every submission is scored or refused.
ALL_IS_DONE = """
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM generation_dataset WHERE state = 'making')
AND NOT EXISTS (SELECT 1 FROM leaderboards_submission WHERE state IN ('waiting', 'running'))
"""
COMPILING = 600.0  # seconds until a site answers whose compiled code was deleted
IN_ONE_PROCESS = {"backups/", "cache/", "media/datasets/*-small.webp", "trainings/", "upgrade.lock"}
FROM_EARLIER_RELEASES = {"beat-schedule*"}


def documented() -> dict[str, bool]:
    """Return the names in the table of `/docs/files/`, and whether each may be deleted."""
    found = ROW.findall((ROOT / "webapp/docs/files.md").read_text(encoding="utf-8"))
    return {name: word == "yes" for name, word in found}


def deletable_rows() -> set[str]:
    return {name for name, may_be_deleted in documented().items() if may_be_deleted}


def deletable_row(name: str) -> str:
    """Return the name in the table that allows to delete a file of a `VAR_DIR`, or an empty text."""
    plain = re.sub(r"-(wal|shm|journal)$", "", name)  # SQLite's own files beside a database
    return next((row for row in deletable_rows() if fnmatch(plain, f"{row}*" if row.endswith("/") else row)), "")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a `VAR_DIR`, without those of the database."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if not path.name.startswith("horsesense.sqlite3")
    }


def strays(files: Mapping[str, bytes], restored: Mapping[str, bytes]) -> list[str]:
    """Return the files of a `VAR_DIR` that its backup does not restore, and that the table does not let one delete."""
    return [name for name, content in files.items() if not deletable_row(name) and restored.get(name) != content]


def delete_what_may_be_deleted(folder: Path, *, but: str = "") -> set[str]:
    """Delete all files that may be deleted, except those of one row of the table; return the rows of the others."""
    rows = {name: row for name in contents(folder) if (row := deletable_row(name)) and row != but}
    for name in rows:
        (folder / name).unlink()
    return set(rows.values())


def test_the_table_names_what_must_stay_and_what_settings_name() -> None:
    table = documented()
    stays = {name for name, may_be_deleted in table.items() if not may_be_deleted}
    assert stays == {"horsesense.sqlite3", "media/", "media/findings/", "findings/"}
    assert set(IN_BACKUP) <= set(table)
    assert BROKER_FILE.relative_to(VAR_DIR).name in table


def test_a_file_of_a_new_kind_is_found() -> None:
    names = ("log/web.log", "broker.sqlite3-wal", "beat-schedule.db", "media/datasets/1/train/0000/0000001-small.webp")
    new = ("strange", "logs/web.log", "media.old/1.png", "media/new-small.webp", "media/.hidden", "caches", "upgrade/x")
    restored = {"media/a": b"1", "media/b": b"1"}
    files = dict.fromkeys((*names, *new), b"") | restored | {"media/b": b"2"}
    assert strays(files, restored) == [*new, "media/b"]


@pytest.mark.django_db(transaction=True)
def test_after_a_walk_each_file_is_in_a_backup_or_is_made_again(
    own_folder: Path, tmp_path: Path, settings: LazySettings
) -> None:
    walk = Walk(tmp_path)
    walk.write_files()
    downloads = walk.downloads(FEW_PAGES)
    call_command("backup", str(tmp_path / "site.tar"))
    files = contents(own_folder)

    assert delete_what_may_be_deleted(own_folder, but="media/imports/") == IN_ONE_PROCESS
    assert walk.downloads(FEW_PAGES) == downloads
    walk.send_light_picture()
    walk.continue_training()
    assert set(contents(own_folder)) >= {name for name in files if name.startswith(("cache/", "media/datasets/"))}

    lose_everything()
    settings.VAR_DIR, settings.MEDIA_ROOT = tmp_path / "elsewhere", tmp_path / "elsewhere" / "media"
    restore_archive(tmp_path / "site.tar")
    assert strays(files, contents(settings.VAR_DIR)) == []


@pytest.mark.full
def test_after_a_walk_on_a_site_each_file_is_in_a_backup_or_is_made_again(migrated_site: Path, tmp_path: Path) -> None:
    folder, elsewhere = (tmp_path / name / "var" for name in ("site", "elsewhere"))
    shutil.copytree(migrated_site, folder)
    shutil.copytree(NUMBA_CACHE_DIR, folder / "numba")
    more = {"DJANGO_SETTINGS_MODULE": "webapp.settings", "NUMBA_CACHE_DIR": "", "DISK_RESERVE_GB": "0"}
    site, other = (Site("embedded", one, environment_of(one, **more)) for one in (folder, elsewhere))
    site.python(WALK + "walk.write_files(); walk.do_the_rest()", str(tmp_path))
    run_for_a_moment(site, until=ALL_IS_DONE)
    downloads = site.python(WALK + "walk.order_import('waits-too'); print(walk.downloads())", str(tmp_path))
    assert site.manage("backup", str(tmp_path / "site.tar")).returncode == 0
    files = contents(folder)
    assert {row for name in files if (row := deletable_row(name))} == deletable_rows() - FROM_EARLIER_RELEASES

    run_for_a_moment(site, until=ALL_IS_DONE)
    delete_what_may_be_deleted(folder)
    run_for_a_moment(site)
    assert site.python(WALK + "print(walk.downloads())", str(tmp_path)) == downloads
    site.python(WALK + "walk.continue_training()", str(tmp_path))
    made_again = {row for name in contents(folder) if (row := deletable_row(name))}
    assert made_again == deletable_rows() - FROM_EARLIER_RELEASES - {"media/imports/", "backups/", "trainings/"}

    assert other.manage("restore", str(tmp_path / "site.tar")).returncode == 0
    assert strays(files, contents(elsewhere)) == []
    assert other.manage("backup", str(tmp_path / "other.tar")).returncode == 0
    assert read_tables(tmp_path / "other.tar") == read_tables(tmp_path / "site.tar")


def run_for_a_moment(site: Site, *, until: str = "SELECT 1") -> None:
    """Run all processes of a site until its pages answer and a query has a row."""
    site.start("quickstart", kept=False)
    try:
        site.wait_until(lambda: site.get("/")[0] == 200, what="the front page", seconds=COMPILING)
        site.wait_until(lambda: site.ask(until), what=until)
        site.stop()
    finally:
        site.end()


@pytest.mark.django_db(transaction=True)
def test_records_of_findings_and_models_are_in_a_backup_and_come_back(rich: Dataset, own_folder: Path) -> None:
    check_that_records_come_back(own_folder)


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
