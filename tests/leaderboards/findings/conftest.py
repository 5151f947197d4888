"""Every test has a folder of its own for records. Tests of runs have one superuser."""

from pathlib import Path

import pytest

from generation.storage.files import local_path
from webapp.leaderboards.findings import records
from webapp.models import User


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of the site's records, which is empty, and hide the records of the repository."""
    monkeypatch.setattr(records, "STORED", f"findings/{tmp_path.name}")
    monkeypatch.setattr(records, "old_folder", lambda: tmp_path / "old")
    monkeypatch.setattr(records, "FOLDER", tmp_path / "repository")
    folder = local_path(records.STORED)
    assert folder is not None
    return folder


@pytest.fixture
def owner() -> User:
    """Give the only superuser, who owns trainings."""
    return User.objects.create_superuser("chief", password="x")
