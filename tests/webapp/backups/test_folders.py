"""A folder of backups: each file is stored once for all backups, and known files are not read again."""

import fcntl
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from generation.models import Dataset
from generation.storage import files
from tests.proof import size
from tests.services import S3
from tests.webapp.backups.conftest import all_files, everything, lose_everything, restore_archive
from tests.webapp.backups.slow_bucket import AT_ONCE, Road, far_away
from tests.webapp.backups.test_faults import run, run_until_killed
from tests.webapp.backups.test_round_trip import with_released_jobs
from webapp.backups import backup_folder, stored_files
from webapp.backups.archive import OBJECTS, BadArchive
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.backup_folder import write_into
from webapp.backups.restoring import check_archive
from webapp.backups.writing import NotWritten, write_backup

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
COUNT = size(32, name="files of a bucket that are backed up", least=12)


@pytest.fixture
def road(s3: S3, settings: LazySettings) -> Iterator[Road]:
    """Store `COUNT` files in a bucket that delays each request, and give the counter of its requests."""
    settings.STORAGES = {**settings.STORAGES, "default": s3.storage}
    for number in range(COUNT):
        files.put(f"datasets/9/val/{number:06d}.png", b"picture %d" % number)
    with far_away(s3) as (bucket, road):
        settings.STORAGES = {**settings.STORAGES, "default": bucket.storage}
        yield road


def objects(place: Path) -> set[str]:
    return {path.name for path in (place / OBJECTS).rglob("*") if path.is_file()}


def test_files_of_a_bucket_are_read_and_written_in_parallel(road: Road, tmp_path: Path) -> None:
    contents = write_backup(tmp_path / "site.tar")
    assert (contents.files, road.requests["GET"], road.requests["HEAD"]) == (
        COUNT,
        COUNT + 4,
        0,
    )  # four of the requests list files
    assert road.most >= AT_ONCE
    before = all_files()
    assert len(before) == COUNT
    stored_files.erase()
    assert not all_files()
    road.forget()
    restore_archive(tmp_path / "site.tar")
    assert all_files() == before
    assert COUNT <= road.requests["PUT"] <= COUNT + 2
    assert road.most >= AT_ONCE


def test_a_second_backup_reads_only_new_files(road: Road, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    first = write_into(place)
    assert first.read == COUNT and len(objects(place)) == COUNT
    files.put("datasets/9/val/000007.png", b"another 7")  # of the same size
    files.put("datasets/9/val/900000.png", b"new")
    files.put("datasets/9/val/900001.png", b"picture 3")  # the same content as another file
    files.drop("datasets/9/val/000011.png")
    road.forget()
    second = write_into(place)
    assert (second.read, second.contents.files, road.requests["GET"]) == (3, COUNT + 1, 3 + 4)
    assert len(objects(place)) == COUNT + 2
    now = all_files()
    stored_files.erase()
    restore_archive(second.path)
    assert all_files() == now and now["datasets/9/val/000007.png"] == b"another 7"
    stored_files.erase()
    lose_everything()
    restore_archive(first.path)
    assert all_files()["datasets/9/val/000011.png"] == b"picture 11"


def test_every_table_and_file_is_restored_from_a_folder(rich: Dataset, tmp_path: Path) -> None:
    before, kept = everything(), all_files()
    written = write_into(tmp_path / "backups")
    assert written.read == len(kept) == written.contents.files
    again = write_into(tmp_path / "backups")
    assert again.read == 0 and again.path > written.path
    lose_everything()
    restore_archive(again.path)
    assert (everything(), all_files()) == (with_released_jobs(before), kept)
    assert [path.stat().st_mode & 0o077 for path in (tmp_path / "backups").rglob("*")] == [0] * (
        len(list((tmp_path / "backups").rglob("*")))
    )


def test_objects_that_are_damaged_or_missing_are_found_before_anything_is_restored(
    rich: Dataset, tmp_path: Path
) -> None:
    path = write_into(tmp_path / "backups").path
    before = everything()
    one = sorted((tmp_path / "backups" / OBJECTS).glob("*/*"))[3]
    good = one.read_bytes()
    for damage in (good[:-1], good + b"x", bytes([good[0] ^ 1]) + good[1:]):
        one.write_bytes(damage)
        with pytest.raises(BadArchive, match="as it was written, got something else"):
            check_archive(path)
    one.unlink()
    with pytest.raises(BadArchive, match=r"got no file: copy the whole folder of the backup\.$"):
        check_archive(path)
    assert everything() == before
    assert write_into(tmp_path / "backups").read >= 1  # the missing file is read again
    assert one.read_bytes() == good
    check_archive(path)


def test_a_damaged_backup_is_not_used_and_files_that_it_may_need_are_not_deleted(rich: Dataset, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    first = write_into(place).path
    content = bytearray(first.read_bytes())
    content[len(content) // 2] ^= 255
    first.write_bytes(content[: len(content) - 3000])
    second = write_into(place, keep=5)
    assert objects(place) >= {file.digest for file in backup_folder._listed_in(second.path)}
    check_archive(second.path)


def test_old_backups_are_deleted_with_files_that_no_other_backup_has(rich: Dataset, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    name = f"datasets/{rich.pk}/note.txt"
    for number in range(4):
        files.put(name, b"note %d" % number)
        (place).mkdir(exist_ok=True)
        (place / "mine.txt").touch()
        write_into(place, keep=2)
    assert len(list(place.glob("site-*.tar"))) == 2
    assert len(objects(place)) == len({*all_files().values()}) + 1
    assert (place / "mine.txt").exists()
    for path in place.glob("*.tar"):
        check_archive(path)


def test_only_one_backup_at_a_time_is_written_into_a_folder(own_folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    place.mkdir()
    with (place / backup_folder.LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(NotWritten, match="Expected no other backup to be written here"):
            write_into(place)
    assert [path.name for path in place.iterdir()] == [backup_folder.LOCK]


def test_a_backup_into_a_folder_that_is_killed_leaves_nothing_half_made(
    rich: Dataset, child_site: dict[str, str], own_folder: Path
) -> None:
    place, kept = own_folder / "backups", everything()
    for function, after in (("webapp.backups.backup_folder:_keep", 9), ("webapp.backups.archive:Writer.finish", 1)):
        run_until_killed(function, "backup", after=after, environment=child_site)
        assert not list(place.glob("*.tar"))
    said = run("backup", environment=child_site)
    assert said.startswith(f"{place}/site-") and " read, the others known from before)" in said
    [path] = place.glob("*.tar")
    assert {left.name for left in place.iterdir()} == {path.name, OBJECTS, backup_folder.LOCK}
    assert objects(place) == {file.digest for file in backup_folder._listed_in(path)}
    lose_everything()
    restore_archive(path)
    assert everything() == with_released_jobs(kept)


def test_a_forged_list_of_files_is_refused(rich: Dataset, tmp_path: Path, monkeypatch: Any) -> None:
    real = backup_folder._compressed
    place = tmp_path / "backups"
    for change in (
        lambda rows: [rows[0]._replace(name="../evil"), *rows[1:]],
        lambda rows: [rows[0]._replace(digest="../../../etc/passwd"), *rows[1:]],
        lambda rows: [rows[0]._replace(size=-1), *rows[1:]],
        lambda rows: [rows[0], rows[0], *rows[2:]],
        lambda rows: [rows[1], rows[0], *rows[2:]],
        lambda rows: [["x"]],
    ):
        monkeypatch.setattr(backup_folder, "_compressed", lambda rows, change=change: real(change(rows)))
        path = write_into(place).path
        with pytest.raises(BadArchive) as caught:
            ArchiveReader(path).verify()
        assert "\n" not in str(caught.value)
        path.unlink()


def test_without_a_path_a_backup_is_written_into_the_folder_of_the_site(
    own_folder: Path, monkeypatch: Any, tmp_path: Path
) -> None:
    said = StringIO()
    call_command("backup", stdout=said)
    [path] = (own_folder / "backups").glob("site-*.tar")
    assert said.getvalue().startswith(f"{path}: ")
    assert (own_folder / "backups").stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError, match="Expected --keep with a number of 1 or more and a folder, got 0"):
        call_command("backup", "--keep", "0", stdout=said)
    with pytest.raises(CommandError, match="Expected --keep"):
        call_command("backup", str(tmp_path / "x.tar"), "--keep", "2", stdout=said)
