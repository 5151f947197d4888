"""Every test has a folder of its own for records."""

from pathlib import Path

import pytest

from webapp.leaderboards.findings import records


@pytest.fixture(autouse=True)
def own_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the folder of the site's records, which is empty, and hide the records of the repository."""
    monkeypatch.setattr(records, "own_folder", lambda: tmp_path / "own")
    monkeypatch.setattr(records, "FOLDER", tmp_path / "repository")
    return tmp_path / "own"
