"""A site of commit 39e7cc8 is upgraded and restored with all its rows and files, and the way back works."""

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.earlier_release import unpack_archive, unpack_program
from tests.services import temporary_database
from tests.webapp.commands import ROOT, environment_of
from webapp.backups.archive import FILES, FORMAT
from webapp.backups.archive_reader import ArchiveReader
from webapp.backups.before_migrating import STEM

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).with_name("earlier_site.py")
Table = dict[Any, dict[str, Any]]


@pytest.fixture(scope="module")
def old_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_archive(tmp_path_factory.mktemp("old"))


def run_steps(*steps: str, environment: dict[str, str], program: Path = ROOT) -> list[str]:
    """Run steps on a site, check that its pages answer, and return the lines that the steps printed."""
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), *steps], cwd=program, env=environment, capture_output=True, text=True, timeout=500
    )
    assert ended.returncode == 0, ended.stderr
    *lines, last = ended.stdout.splitlines()
    statuses = json.loads(last)
    assert len(statuses) >= 14 and set(statuses.values()) == {200}
    return lines


def read_tables(path: Path) -> dict[str, Table]:
    """Return the rows of an archive by model and primary key; jobs that ran count as waiting."""
    archive = ArchiveReader(path)
    tables: dict[str, Table] = {label: {} for label in archive.header.tables}
    for member in archive.members():
        if member.table:
            names = archive.header.tables[member.table]
            for row in archive.read_rows(member):
                tables[member.table][row[0]] = dict(zip(names, row, strict=True))
    return tables


def read_files(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.name.startswith(FILES)}  # type: ignore[union-attr]


def differences(old: dict[str, Table], new: dict[str, Table]) -> Iterator[str]:
    """Yield each value of the old tables that the new tables lack or have changed."""
    for label, table in old.items():
        for key, row in table.items():
            found = new[label].get(key, {}) if label in new else {}
            yield from (f"{label}.{name}" for name, value in row.items() if name not in found or found[name] != value)


def test_a_site_of_the_earlier_release_is_upgraded_in_place_and_its_rows_are_kept_for_the_way_back(
    old_archive: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.tar"
    lines = run_steps(f"fill={old_archive}", "upgrade", f"backup={new}", environment=environment_of(tmp_path / "var"))
    old, now = read_tables(old_archive), read_tables(new)
    assert sorted(set(differences(old, now))) == []
    assert read_files(new) == read_files(old_archive)
    [kept] = (tmp_path / "var" / "backups").glob(f"{STEM}*.tar")
    assert any(str(kept) in line and "--keep-files" in line and "/docs/backups/#go-back" in line for line in lines)
    before, header = ArchiveReader(kept).header, ArchiveReader(old_archive).header
    assert (before.format, before.migrations, before.tables) == (FORMAT, header.migrations, header.tables)
    assert read_tables(kept) == old and read_files(kept) == {}


@pytest.mark.full
def test_an_archive_of_the_earlier_release_is_restored_on_postgresql(
    old_archive: Path, postgres_url: str, tmp_path: Path
) -> None:
    environment = environment_of(tmp_path / "var") | {"DATABASE_URL": postgres_url}
    lines = run_steps(f"restore={old_archive}", f"backup={tmp_path / 'new.tar'}", environment=environment)
    assert sum("  proved" in line for line in lines) == 8 and not any("DIFFERS" in line for line in lines)
    assert sorted(set(differences(read_tables(old_archive), read_tables(tmp_path / "new.tar")))) == []
    assert read_files(tmp_path / "new.tar") == read_files(old_archive)


@pytest.mark.full
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_earlier_release_itself_restores_what_the_upgrade_kept(
    database: str, old_archive: Path, tmp_path: Path
) -> None:
    program = unpack_program(tmp_path / "program")
    with temporary_database() as first, temporary_database() as second:
        sites = [environment_of(tmp_path / name) for name in ("site", "back")]
        if database == "postgresql":
            sites = [site | {"DATABASE_URL": url} for site, url in zip(sites, (first, second), strict=True)]
        run_steps(f"fill={old_archive}", "upgrade", environment=sites[0])
        [kept] = (tmp_path / "site" / "backups").glob(f"{STEM}*.tar")
        shutil.copytree(tmp_path / "site" / "media", tmp_path / "back" / "media")
        run_steps(f"adopt={kept}", f"backup={tmp_path / 'back.tar'}", environment=sites[1], program=program)
        assert read_tables(tmp_path / "back.tar") == read_tables(old_archive)
        assert read_files(tmp_path / "back.tar") == read_files(old_archive)
