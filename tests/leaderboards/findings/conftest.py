"""Every test has a folder of its own for records. Tests of runs have one superuser."""

from pathlib import Path

import pytest

from webapp.leaderboards.findings import records
from webapp.models import User


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of the site's records, which is empty, and hide the records of the repository."""
    monkeypatch.setattr(records, "own_folder", lambda: tmp_path / "own")
    monkeypatch.setattr(records, "FOLDER", tmp_path / "repository")
    return tmp_path / "own"


@pytest.fixture
def owner() -> User:
    """Give the only superuser, who owns trainings."""
    return User.objects.create_superuser("chief", password="x")
