"""Backups of a site that makes datasets, and kills in the middle of a backup or a restore, with both databases."""

import fcntl
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from generation.making import dataset_jobs
from generation.models import Dataset, Job
from tests.generation.conftest import MANAGE, Child, child_environment, spec_of
from tests.webapp.backups.conftest import SECRET, all_files, everything, lose_everything, restore_archive
from tests.webapp.backups.test_round_trip import members, with_released_jobs
from tests.webapp.commands import ROOT
from webapp.backups.writing import write_backup

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, pytest.mark.full]
# Runs a command, and kills its process at the nth call of a function.
DYING = """
import os, signal, sys
import django; django.setup()
from importlib import import_module
from django.core.management import call_command
place, count, *command = sys.argv[1:]
module, name = place.split(":")
owner = import_module(module)
*path, last = name.split(".")
for step in path:
    owner = getattr(owner, step)
real, calls = getattr(owner, last), []
def dying(*args, **kwargs):
    calls.append(1)
    if len(calls) == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args, **kwargs)
setattr(owner, last, dying)
call_command(*command)
"""


def run_until_killed(place: str, *command: str, after: int, environment: dict[str, str]) -> None:
    """Run a command that is killed at the nth call of a function, where n is `after`."""
    ended = subprocess.run(
        [sys.executable, "-c", DYING, place, str(after), *command],
        env=child_environment(**environment), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def run(*command: str, environment: dict[str, str]) -> str:
    """Run a command and return its output."""
    ended = subprocess.run(
        [sys.executable, MANAGE, *command],
        env=child_environment(**environment), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.full
def test_a_dataset_continues_after_the_restore_of_a_backup_during_its_making(
    child: Child, child_site: dict[str, str], tmp_path: Path
) -> None:
    spec = spec_of(splits={"train": {"scenes": 60}}, scenes_per_chunk=3)
    undisturbed = dataset_jobs.start(spec, slug="expected")
    dataset_jobs.work(dataset=undisturbed)
    fingerprint = undisturbed.splits.get().fingerprint
    dataset = dataset_jobs.start(spec, slug="rows")
    workers = [child(MANAGE, "work", "--dataset", "rows", environment=child_site) for _ in range(2)]
    end = time.monotonic() + 120
    while dataset.jobs.filter(state="done").count() < 4:
        assert time.monotonic() < end
        time.sleep(0.02)
    write_backup(tmp_path / "site.tar")
    assert [worker.wait(120) for worker in workers] == [0, 0]
    assert dataset.splits.get().fingerprint == fingerprint  # the backup did not disturb the workers
    lose_everything()
    restore_archive(tmp_path / "site.tar")
    again = Dataset.objects.get(slug="rows")
    assert again.jobs.filter(state="done").exists() and again.jobs.filter(state="waiting").exists()
    assert not Job.objects.filter(state="running").exists()
    dataset_jobs.work()
    again.refresh_from_db()
    assert (again.state, again.splits.get().fingerprint) == ("complete", fingerprint)


def test_a_backup_that_is_killed_leaves_no_file_and_the_next_one_works(
    rich: Dataset, child_site: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    path = str(folder / "site.tar")
    run_until_killed("webapp.backups.archive:Writer.add_file", "backup", path, after=20, environment=child_site)
    assert [left.name.startswith(".site.tar.") for left in folder.iterdir()] == [True]
    said = run("backup", path, environment=child_site)
    assert said.startswith(f"{path}: ") and "It holds secrets" in said
    assert [left.name for left in folder.iterdir()] == ["site.tar"]
    kept = everything()
    lose_everything()
    restore_archive(folder / "site.tar")
    assert everything() == with_released_jobs(kept)


def test_a_restore_that_is_killed_leaves_an_empty_database_and_the_next_one_works(
    archive: Path, child_site: dict[str, str], own_folder: Path
) -> None:
    empty = everything()
    for place, after in (("webapp.backups.rows:insert", 9), ("webapp.backups.stored_files:write", 20)):
        run_until_killed(place, "restore", str(archive), after=after, environment=child_site)
        assert everything() == empty
    assert len(all_files()) == 19
    said = StringIO()
    call_command("restore", str(archive), stdout=said)
    assert said.getvalue().endswith("Restored.\n") and said.getvalue().count("  proved") == 4
    assert [path.name for path in (own_folder / "media").glob(".*")] == []
    write_backup(own_folder / "again.tar")
    before, after_it = members(archive), members(own_folder / "again.tar")
    assert {name for name in before if before[name] != after_it[name]} == {"tables/generation.Job/000000.jsonl.gz"}


@pytest.mark.full
def test_from_sqlite_to_postgresql_and_back(
    archive: Path, child_site: dict[str, str], postgres_url: str, own_folder: Path
) -> None:
    other = child_site | {
        "HORSESENSE_TEST_DIR": str(own_folder.with_name("other")),
        "DATABASE_URL": postgres_url,
        "HORSESENSE_TEST_DATABASE": postgres_url.rpartition("/")[2],
    }
    said = run("restore", str(archive), environment=other)
    assert said.endswith("Restored.\n") and said.count("  proved") == 4
    back = own_folder.with_name("back.tar")
    run("backup", str(back), environment=other)
    before, after = members(archive), members(back)
    assert {name for name in before if before[name] != after[name]} == {"tables/generation.Job/000000.jsonl.gz"}
    # New rows get new primary keys, and the secret makes the same withheld split again.
    prove = ["generate", "fake-mini", "--name", "again", "--secret", f"test={SECRET}", "--no-images", "--workers", "1"]
    run(*prove, environment=other)
    with psycopg.connect(postgres_url) as connection:
        both = "generation_split s JOIN generation_dataset d ON d.id = s.dataset_id WHERE slug IN ('rows', 'again')"
        both += " AND s.kind = 'generated'"
        query = f"SELECT s.name, count(DISTINCT s.fingerprint), count(*) FROM {both} GROUP BY s.name ORDER BY s.name"
        assert connection.execute(query).fetchall() == [("test", 1, 2), ("train", 1, 2), ("val", 1, 2)]
    restore_archive(back)
    write_backup(own_folder / "again.tar")
    assert members(own_folder / "again.tar") == after


def test_errors_are_one_line(archive: Path, rich: Dataset, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("no archive")
    ours = "Expected an archive that `manage.py backup` wrote, got"
    cases = (
        ("restore", tmp_path / "other", 2, f"other: {ours} something else"),
        ("restore", tmp_path / "none", 2, f"none: {ours} no file."),
        (
            "restore",
            archive,
            2,
            "Expected an empty database, got one with rows of account.EmailAddress.",
        ),
        ("backup", archive, 2, "Expected a new file, got one that exists. Name another, or say --overwrite."),
        ("backup", tmp_path / "no" / "site.tar", 1, "expected to write it, got: No such file or directory."),
    )
    for command, path, returncode, words in cases:
        with pytest.raises(CommandError) as caught:
            call_command(command, str(path), stdout=StringIO())
        assert (caught.value.returncode, words in str(caught.value)) == (returncode, True), str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_check_changes_nothing(archive: Path, own_folder: Path) -> None:
    before, said = everything(), StringIO()
    call_command("restore", str(archive), "--check", stdout=said)
    assert said.getvalue().startswith(f"{archive} is whole: written ") and said.getvalue().count("\n") == 1
    assert everything() == before and not (own_folder / "media").exists()


def test_a_restore_is_refused_while_the_site_runs_in_this_folder(archive: Path, own_folder: Path) -> None:
    with (own_folder / "quickstart.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("4711")
        lock.flush()
        with pytest.raises(CommandError, match="but process 4711 runs there already"):
            call_command("restore", str(archive), stdout=StringIO())
    assert all_files() == {}
